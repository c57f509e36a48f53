/**
 * What a review leaves behind: the one thing that every report is printed from. The type, and the JSON Schema that is published as
 * `config/review.schema.json`, come from here. Everything in it is redacted before it gets here (`redaction.ts`): no token, state,
 * answer or personal value. What the server wrote is still what a stranger wrote: reports escape it.
 */
import * as z from "zod";
import type { Frozen } from "../audit/members.ts";
import { instant } from "../audit/members.ts";

const count = () => z.int().min(0);
const text = () => z.string();
const headers = () => z.record(z.string(), z.string());
/** JSON as it was sent, redacted. */
const json = () => z.record(z.string(), z.unknown());

/** In the order in which reports list them: what needs an eye first. */
export const VERDICTS = ["fail", "inconclusive", "warn", "not_applicable", "pass"] as const;

const verdict = z.enum(VERDICTS);

const caller = z.enum(["first", "second", "nobody"]);

const received = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("result"),
    status: count().describe("HTTP status."),
    headers: headers(),
    resultType: text().describe("As the server says it; `complete` where it says none."),
    result: json(),
  }),
  z.strictObject({
    kind: z.literal("error"),
    status: count().describe("HTTP status."),
    headers: headers(),
    code: z.number().describe("Of the JSON-RPC error."),
    message: text().describe("The server's own words."),
    data: z.unknown().optional(),
  }),
  z.strictObject({
    kind: z.literal("none").describe("No JSON-RPC response to what was sent."),
    why: z.enum(["cut", "lost", "timeout", "too_large", "unreadable", "http"]),
    status: count().exactOptional().describe("HTTP status, if there was one."),
    headers: headers(),
    words: text().describe("What was there instead, without a byte of it."),
  }),
]);

const exchange = z.strictObject({
  number: count().min(1).describe("Counts from 1 over the whole review; results and maps point to it."),
  label: text().describe("What it was for."),
  caller: caller.describe("Which principal of the plan called; `nobody` sent no credential."),
  at: instant().describe("When it was sent, RFC 3339 in UTC."),
  ms: z.number().min(0).describe("Milliseconds until the answer was over."),
  sent: z.strictObject({ headers: headers(), message: json().describe("The JSON-RPC message.") }),
  received: received.describe("What came back."),
});

const question = z.strictObject({
  key: text().describe("Its key among `inputRequests`."),
  kind: z.enum(["form", "url", "sampling", "roots", "unknown"]).describe("What is asked for."),
  fields: z
    .array(
      z.strictObject({
        name: text(),
        type: text().describe("As the form's schema says it."),
        required: z.boolean(),
      }),
    )
    .exactOptional()
    .describe("Of a form: the shape of its answer."),
});

const step = z.strictObject({
  kind: z.enum(["call", "retry"]).describe("The first call, or a retry with answers."),
  exchange: count().min(1).describe("Its number among `exchanges`."),
  answers: z
    .array(z.strictObject({ key: text(), action: z.enum(["accept", "decline", "cancel", "result"]) }))
    .exactOptional()
    .describe("Of a retry: what was done with each question, never what was answered."),
  ends: z
    .enum(["input_required", "complete", "tool_error", "task", "error", "none"])
    .describe("What came back; `none` is no answer, `error` a JSON-RPC error."),
  questions: z.array(question).exactOptional().describe("What was asked, where it ends in questions."),
  state: z
    .boolean()
    .exactOptional()
    .describe("Where it ends in questions: whether a `requestState` came along."),
});

const call = z.strictObject({
  name: text().describe("Its name in the plan."),
  method: z.enum(["tools/call", "prompts/get", "resources/read"]),
  target: text().describe("The tool, prompt or resource."),
  consentSurface: text().exactOptional().describe("Where people are asked, in the owner's words."),
  dataSensitivity: text().exactOptional().describe("In the owner's words."),
  sideEffects: text().exactOptional().describe("What it does once answered, in the owner's words."),
  map: z.array(step).describe("The round trip as it was before checks began, in order."),
});

const result = z.strictObject({
  check: z
    .string()
    .regex(/^[a-z0-9-]+\/[a-z0-9-]+$/)
    .describe("Id of the check."),
  call: text()
    .exactOptional()
    .describe("Name of the call that it was tried on; absent of the endpoint as a whole."),
  title: text(),
  clause: z.strictObject({
    level: z.enum(["MUST", "SHOULD", "advice"]),
    text: text().describe("The rule, one sentence."),
    source: text().describe("A page of the specification, or an RFC with its section."),
  }),
  advice: text().describe("What the owner of a server that fails does about it."),
  verdict: verdict.describe(
    "`warn`: against a SHOULD, or not to be told for certain. `inconclusive`: what the check builds on did not come about. `not_applicable`: nothing of the kind is there, or the plan does not allow to try it.",
  ),
  words: text().describe("What was tried and what came of it."),
  exchanges: z.array(count().min(1)).describe("Numbers of those that show it, in order."),
});

const options = z.strictObject({
  plan: z.enum(["file", "discovery"]).describe("Where the calls come from."),
  secondPrincipal: z.boolean().describe("Whether there was a second principal to try with."),
  effectProbe: text().exactOptional().describe("The read-only call that effects were looked for with."),
  limits: z.strictObject({
    requests: count().exactOptional().describe("Requests in all, at most."),
    requestsPerSecond: z.number().min(0).exactOptional(),
    timeoutMs: count().describe("How long one answer was waited for."),
    waitMs: count().describe("How long the reviewer was allowed to wait for an expiry; 0 is not at all."),
  }),
  forbidden: z.array(text()).describe("What the plan or the command did not allow, a sentence each."),
});

/** The whole record. */
export const reviewRecord = z.strictObject({
  version: z.literal(1).describe("Of this form."),
  program: z.strictObject({ name: z.literal("sealgate"), version: text() }),
  startedAt: instant().describe("RFC 3339 in UTC."),
  endedAt: instant(),
  endpoint: text().describe("The URL that was reviewed, without user, query and fragment."),
  options,
  server: z.strictObject({
    name: text().exactOptional().describe("What the server calls itself; nothing shows that it is true."),
    version: text().exactOptional(),
    protocolVersion: text().exactOptional().describe("What the review spoke with it."),
    listed: z
      .strictObject({
        tools: z.array(
          z.strictObject({
            name: text(),
            annotations: z
              .record(z.string(), z.boolean())
              .describe("Hints such as `readOnlyHint`, as the server gives them."),
          }),
        ),
        prompts: z.array(text()).describe("Names."),
        resources: z.array(text()).describe("URIs."),
      })
      .exactOptional()
      .describe("What it lists, where there was no plan file."),
  }),
  counts: z
    .strictObject({
      pass: count(),
      fail: count(),
      warn: count(),
      not_applicable: count(),
      inconclusive: count(),
    })
    .describe("Results per verdict."),
  calls: z.array(call),
  results: z.array(result).describe("Every check on every call, in the order in which they ran."),
  exchanges: z.array(exchange).describe("Everything that was sent and what came back, redacted."),
});

/** The record of a review. */
export type ReviewRecord = Frozen<z.infer<typeof reviewRecord>>;
/** One check on one call. */
export type RecordedResult = ReviewRecord["results"][number];
/** One call with its round trip. */
export type RecordedCall = ReviewRecord["calls"][number];
/** One exchange. */
export type RecordedExchange = ReviewRecord["exchanges"][number];
