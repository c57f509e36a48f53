/**
 * What an audit record holds: the type in `record.ts`, the published JSON Schema and the table in docs/audit.md all come from here.
 * Members that do not apply are absent, never null. What is secret has no member: no state, token, answer, question text or
 * credential; texts of servers and users are here as digests only.
 */
import * as z from "zod";
import { REFUSALS, type RefusalCode } from "../errors.ts";
import { RULE_IDS } from "../rules/catalogue.ts";
import { digest, id, instant, sensitivity, text, word } from "./members.ts";

const count = () => z.int().min(0);
const person = {
  issuer: text(2_048),
  subject: text(2_048),
  client: text(2_048).exactOptional(),
  tenant: text(2_048).exactOptional(),
};

const principal = z.strictObject({
  anonymous: z
    .literal(true)
    .exactOptional()
    .describe("Nobody knows who it is; then no other member stands here."),
  issuer: text(2_048).exactOptional().describe("Who vouches."),
  subject: text().exactOptional().describe("Whom the issuer vouches for."),
  client: text().exactOptional().describe("The client that acts for the subject."),
  tenant: text().exactOptional().describe("The tenant of the subject."),
  groups: z.array(text()).max(64).exactOptional().describe("The first 64 groups."),
  scopes: z.array(text()).max(64).exactOptional().describe("The first 64 scopes."),
});

const question = z.strictObject({
  kind: z.enum(["form", "url", "sampling", "roots"]).describe("What is asked for."),
  key: digest().describe("Digest of the key of the question among `inputRequests`."),
  message: digest().exactOptional().describe("Of a form or a url: digest of the message."),
  schema: digest()
    .exactOptional()
    .describe("Of a form: digest of the JSON text of its schema, as it was sent."),
  url: digest().exactOptional().describe("Of a url: digest of the address."),
  params: digest()
    .exactOptional()
    .describe("Of sampling: digest of the canonical JSON text of its parameters."),
});

const brought = z.strictObject({
  chain: id().describe("The chain it belongs to."),
  round: count().min(1).describe("Its round."),
  jti: id().describe("Its id; another record has sealed it."),
  rpcId: digest().describe(
    "Digest of the JSON-RPC id of the request that it was given out to: `rpcId` of that record.",
  ),
});

const approver = z.union([z.strictObject(person), z.strictObject({ operator: text(64) })]);

const approval = z.strictObject({
  policies: z.array(text(64)).min(1).max(64).describe("Ids of the policies that ask."),
  code: z
    .string()
    .regex(/^[0-9A-F]{1,64}$/)
    .describe("What people tell calls apart by, shown in the question."),
  message: digest().describe("Digest of the message that was shown."),
  schema: digest().describe("Digest of the JSON text of the form that was shown."),
  action: z
    .enum(["accept", "decline", "cancel"])
    .exactOptional()
    .describe("What the user did, where this request brought the answer."),
  fields: z
    .record(z.string(), z.string())
    .exactOptional()
    .describe("What was filled in, of the fields that policy keeps, by their names."),
  others: z.array(approver).max(16).exactOptional().describe("Who else approved."),
  deniedBy: approver.exactOptional().describe("Who else said no, so that the call did not run."),
  remembered: id()
    .exactOptional()
    .describe("The chain of an earlier approval that this call ran on: nobody was asked."),
  waiting: id().exactOptional().describe("The id of somebody else's call that the answer was for."),
});

const rule = z.strictObject({
  id: z.enum(RULE_IDS).describe("The rule that was broken."),
  mode: z.enum(["enforce", "report"]).describe("What became of it."),
  detail: word().describe("How it was broken."),
});

/** The whole record, in the order in which it is explained. */
export const auditRecord = z.strictObject({
  type: z.literal("audit").describe("Tells a record from other lines."),
  time: instant().describe("When the request was over and this was written, RFC 3339 in UTC."),
  requestId: z
    .uuid()
    .describe("Of the request at the gateway: `X-Request-Id` of its answer, and in the log."),
  route: z.string().max(256).describe("The path of the route."),
  era: z
    .enum(["modern", "legacy"])
    .exactOptional()
    .describe("Of the protocol: revision 2026-07-28 on, or before."),
  version: text(64).exactOptional().describe("The protocol version."),
  address: text(64)
    .exactOptional()
    .describe("Where the request came from; behind `server.trustedProxies`, what they say."),
  principal: principal
    .exactOptional()
    .describe("Who called. Of a token that is refused, what its issuer had signed."),
  authenticatedBy: z
    .enum(["jwt", "introspection", "certificate", "forwarded"])
    .exactOptional()
    .describe("The kind of credential that said so; absent of anonymous callers."),
  confirmedBy: z
    .array(z.enum(["certificate", "dpop"]))
    .max(2)
    .exactOptional()
    .describe("What showed that a bound token was its sender's."),
  client: z
    .strictObject({
      name: text().exactOptional().describe("Its name."),
      version: text().exactOptional().describe("Its version."),
    })
    .exactOptional()
    .describe(
      "What the client calls itself (`clientInfo`), cut after 128 characters; only with `audit.client: true`. Nothing shows that it is true.",
    ),
  declared: z
    .array(z.enum(["form", "url", "sampling", "samplingTools", "samplingContext", "roots"]))
    .max(6)
    .exactOptional()
    .describe("What the client says it can be asked."),
  method: text(64).exactOptional().describe("The MCP method, or `(not a method name)`."),
  target: z
    .strictObject({
      kind: z.enum(["tool", "prompt", "resource"]).describe("What it is."),
      name: text().describe("Its name, cut after 256 characters; a URI without user, query and fragment."),
    })
    .exactOptional()
    .describe("What the method is aimed at."),
  arguments: text(16_385)
    .exactOptional()
    .describe("The arguments as sent, cut after 16384 characters; only with `audit.arguments: true`."),
  params: digest()
    .exactOptional()
    .describe("Digest of the parameters that a state is bound to: the same in all rounds of one call."),
  rpcId: digest().exactOptional().describe("Digest of the JSON-RPC id, where a state came or was given out."),
  policy: text(64)
    .exactOptional()
    .describe("Id of the policy that decided, or what else did, in parentheses."),
  sensitivity: z
    .array(sensitivity())
    .max(64)
    .exactOptional()
    .describe("How sensitive the data is: labels of the policies that matched, or else of the route."),
  outcome: z
    .enum([
      "preflight",
      "complete",
      "tool_error",
      "input_required",
      "task",
      "error",
      "accepted",
      "stream",
      "refused",
      "cancelled",
    ])
    .describe("How the request ended. `tool_error` is a result with `isError`."),
  code: z
    .enum(Object.keys(REFUSALS) as [RefusalCode, ...RefusalCode[]])
    .exactOptional()
    .describe("Of a refusal: what the client was told."),
  cause: word().exactOptional().describe("Of a refusal: the true cause, which the client is not told."),
  state: z
    .enum([
      "opened",
      "redeemed",
      "released",
      "rejected",
      "reprompted",
      "repeated",
      "already_redeemed",
      "outcome_unknown",
    ])
    .exactOptional()
    .describe(
      "What became of the state that came. `opened`: it fits, and the request was refused for another cause, nothing was spent; `released`: given back.",
    ),
  replay: z
    .enum([
      "first_use",
      "already_redeemed",
      "repeated",
      "other_epoch",
      "expired",
      "store_unavailable",
      "revoked",
    ])
    .exactOptional()
    .describe(
      "Whether the state had been used before, as the store said when it was to be redeemed. `repeated`: it had, and the answer of that run was returned.",
    ),
  chain: id().exactOptional().describe("Joins the rounds of one call: the id of the first state."),
  round: count().min(1).exactOptional().describe("The round, from 1."),
  jti: id()
    .exactOptional()
    .describe("Id of the state that was sealed with this answer, or else of the one that came."),
  brought: brought
    .exactOptional()
    .describe("The state that came, where it was one of ours; also where it was refused."),
  roundLimit: count().min(1).exactOptional().describe("Rounds that one call may take here."),
  ageLimitMs: count()
    .min(1)
    .exactOptional()
    .describe("Milliseconds that one call may take, from its first question on."),
  task: digest()
    .exactOptional()
    .describe("Digest of a task's own id: joins the records of one task, and of attempts on it."),
  hidden: count().min(1).exactOptional().describe("Items of a list that this caller may not see."),
  rules: z
    .array(rule)
    .max(32)
    .exactOptional()
    .describe("Rules that were broken, the first 32 different ones."),
  asked: z
    .array(z.enum(["form", "url", "sampling", "roots"]))
    .max(256)
    .exactOptional()
    .describe("Kinds of the questions that went out with this answer."),
  questions: z
    .array(question)
    .max(256)
    .exactOptional()
    .describe("The same questions: what the user was shown. Absent where a kept answer was repeated."),
  approval: approval.exactOptional().describe("The consent that policy asks for."),
  answers: z
    .array(z.enum(["accept", "decline", "cancel", "result"]))
    .max(256)
    .exactOptional()
    .describe("What was done with the questions; never what was answered."),
  credential: z
    .enum(["bearer", "header", "assertion", "exchange", "client_credentials"])
    .exactOptional()
    .describe("The kind of credential that was to go to the server."),
  upstreamStatus: count().exactOptional().describe("HTTP status of the server's answer."),
  upstreamCode: z.int().exactOptional().describe("JSON-RPC error code of the server's answer."),
  cut: z
    .literal(true)
    .exactOptional()
    .describe("In Redis only: the record was longer than 8192 characters, and its lists were left out."),
  latencyMs: z.number().min(0).describe("Milliseconds from the head of the request to this record."),
});
