/** Records for tests of reports: one of an ordinary review with every verdict in it, and one of a server that wishes the reader ill. */
import type { RecordedExchange, RecordedResult, ReviewRecord } from "../../../src/review/record.ts";

/** Everything a record may not put into a report as it is: markup, control functions, directions, half and unseen characters. */
export const HOSTILE = [
  `<script>alert(1)</script>`,
  `</title></style><img src=x onerror=alert(2)>`,
  `"><svg onload=alert(3)>' ]]> --> &lt; &#x3c;`,
  "\u001b[31m\u001b]8;;http://evil.example/\u0007link\u009b2J\u0000\r\n\t",
  "user\u202egpj.exe\u2066\u2069\u200b\ufeff\u2028\u{e0041}\u180e",
  "half \ud800 \udfff \uffff e\u0301\u0302\u0303\u0304\u0305\u0306",
  "[press here](http://evil.example/) {0} {U+0041}",
  "javascript:alert(4)",
].join(" ");

/** A name of 100 kB. */
export const LONG = `${"w".repeat(50_000)}${"\u{1f600}".repeat(12_500)}`;

const AT = Date.parse("2026-12-01T09:00:00.000Z");
const instant = (ms: number): string => new Date(AT + ms).toISOString();

const headers = { "content-type": "application/json", "mcp-protocol-version": "2026-07-28" };

function exchange(
  number: number,
  label: string,
  params: object,
  received: RecordedExchange["received"],
  caller: RecordedExchange["caller"] = "first",
): RecordedExchange {
  return {
    ...{ number, label, caller, received },
    at: instant(number * 250),
    ms: 12.4 + number,
    sent: {
      headers: { ...headers, authorization: "(redacted)" },
      message: {
        jsonrpc: "2.0",
        id: number,
        method: "tools/call",
        params: { name: "transfer", arguments: { to: "acct-4", amount: 250 }, ...params },
      },
    },
  };
}

const asking = {
  kind: "result",
  status: 200,
  headers,
  resultType: "input_required",
  result: {
    resultType: "input_required",
    requestState: "(redacted, 88 characters)",
    inputRequests: {
      confirm: { method: "elicitation/create", params: { mode: "form", message: "Send 250 to acct-4?" } },
    },
  },
} as const;
const done = {
  kind: "result",
  status: 200,
  headers,
  resultType: "complete",
  result: { content: [{ type: "text", text: "(redacted)" }] },
} as const;
const refused = {
  kind: "error",
  status: 400,
  headers,
  code: -32602,
  message: "Invalid or expired requestState",
  data: { reason: "invalid_request_state" },
} as const;
const state = { requestState: "(redacted, 88 characters)", inputResponses: { confirm: "(redacted)" } };

const EXCHANGES: readonly RecordedExchange[] = [
  exchange(1, "first call", {}, asking),
  exchange(2, "honest retry", state, done),
  exchange(3, "first call", {}, asking),
  exchange(4, "retry with one bit of the state turned", state, done),
  exchange(5, "retry by the second principal", state, refused, "second"),
  exchange(6, "retry once more after completion", state, refused),
  exchange(7, "retry that is cut off", state, {
    kind: "none",
    why: "cut",
    headers: {},
    words: "The reviewer cut the connection, as it was to.",
  }),
  exchange(
    8,
    "call without a credential",
    {},
    { kind: "none", why: "http", status: 401, headers, words: "No JSON-RPC response in 0 bytes." },
    "nobody",
  ),
];

function result(
  check: string,
  title: string,
  verdict: RecordedResult["verdict"],
  words: string,
  exchanges: readonly number[],
  more: Partial<RecordedResult> = {},
): RecordedResult {
  return {
    ...{ check, title, verdict, words, exchanges, call: "transfer" },
    clause: {
      level: "MUST",
      text: "Servers must treat requestState as input of an attacker and must not act on one that they did not write.",
      source: "basic/patterns/mrtr",
    },
    advice:
      "Protect the state with an authenticated cipher or a signature, and refuse what does not verify with one error.",
    ...more,
  };
}

const RESULTS: readonly RecordedResult[] = [
  result(
    "answers/refusal",
    "A declined question is not carried out",
    "pass",
    "The question was declined, and the call ended without its effect.",
    [1, 2],
  ),
  result(
    "state/tampered",
    "A tampered state is refused",
    "fail",
    "One bit of the state was turned, and the call was carried out all the same.",
    [3, 4],
  ),
  result(
    "binding/other-principal",
    "A state is good for its own principal only",
    "pass",
    "The second principal got an error for the state of the first.",
    [3, 5],
  ),
  result(
    "redemption/replay",
    "A state is good once",
    "pass",
    "The same retry was refused after it had completed.",
    [2, 6],
  ),
  result(
    "connection/cut",
    "A lost connection does not carry a call out twice",
    "inconclusive",
    "The probe of effects gave no answer, so nobody can tell whether the call ran.",
    [7],
  ),
  result(
    "state/expiry",
    "A state expires",
    "not_applicable",
    "The plan does not allow to wait for the expiry.",
    [],
    { clause: { level: "SHOULD", text: "A state should expire soon.", source: "basic/patterns/mrtr" } },
  ),
  result(
    "question/secret",
    "No secret is asked for in a form",
    "not_applicable",
    "No field of a form looks like a secret.",
    [1],
  ),
  result(
    "question/schema",
    "Forms are flat",
    "warn",
    "The form has a member that is neither a string, a number nor a boolean.",
    [1],
    {
      clause: { level: "SHOULD", text: "Form schemas should be flat objects.", source: "client/elicitation" },
    },
  ),
  result(
    "protocol/nobody",
    "Nobody is served without a credential",
    "pass",
    "The call without a credential got HTTP 401.",
    [8],
  ),
].map((one) => (one.check === "protocol/nobody" ? withoutCall(one) : one));

function withoutCall({ call: _, ...rest }: RecordedResult): RecordedResult {
  return rest;
}

/** An ordinary review; each verdict is in it. */
export const RECORD: ReviewRecord = {
  version: 1,
  program: { name: "sealgate", version: "0.1.0" },
  startedAt: instant(0),
  endedAt: instant(9_400),
  endpoint: "http://127.0.0.1:4700/mcp",
  options: {
    plan: "file",
    secondPrincipal: true,
    effectProbe: "tools/call balance",
    limits: { requests: 500, requestsPerSecond: 10, timeoutMs: 5_000, waitMs: 0 },
    forbidden: ["No call of the plan is to wait for an expiry.", "The tool close-account is not called."],
  },
  server: { name: "payments", version: "2.1.0", protocolVersion: "2026-07-28" },
  counts: countsOf(RESULTS),
  calls: [
    {
      name: "transfer",
      method: "tools/call",
      target: "transfer",
      consentSurface: "The bank's app asks, on the phone of the account's owner.",
      dataSensitivity: "financial",
      sideEffects: "Moves money; cannot be taken back.",
      map: [
        {
          kind: "call",
          exchange: 1,
          ends: "input_required",
          state: true,
          questions: [
            {
              key: "confirm",
              kind: "form",
              fields: [
                { name: "approve", type: "boolean", required: true },
                { name: "note", type: "string", required: false },
              ],
            },
          ],
        },
        { kind: "retry", exchange: 2, answers: [{ key: "confirm", action: "accept" }], ends: "complete" },
      ],
    },
  ],
  results: RESULTS,
  exchanges: EXCHANGES,
};

/** As many as there are of each verdict. */
export function countsOf(results: readonly RecordedResult[]): ReviewRecord["counts"] {
  const of = (verdict: RecordedResult["verdict"]): number =>
    results.filter((one) => one.verdict === verdict).length;
  return {
    pass: of("pass"),
    fail: of("fail"),
    warn: of("warn"),
    not_applicable: of("not_applicable"),
    inconclusive: of("inconclusive"),
  };
}

/** The same record with a text in place of every one that a server or a plan can choose. */
export function hostileRecord(text: string): ReviewRecord {
  const poisoned = (value: unknown, depth = 0): unknown => {
    if (typeof value === "string") return text;
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) return value.map((one) => poisoned(one, depth + 1));
    return Object.fromEntries(
      Object.entries(value)
        .map(([name, inner]) => [name, name === "method" ? inner : poisoned(inner, depth + 1)])
        .concat(depth === 0 ? [[text, text]] : []),
    );
  };
  return {
    ...RECORD,
    endpoint: `http://127.0.0.1:4700/${text}`,
    server: { name: text, version: text, protocolVersion: text },
    options: { ...RECORD.options, effectProbe: text, forbidden: [text] },
    calls: RECORD.calls.map((call) => ({
      ...{
        ...call,
        name: text,
        target: text,
        consentSurface: text,
        dataSensitivity: text,
        sideEffects: text,
      },
      map: call.map.map((step) => ({
        ...step,
        ...(step.answers === undefined
          ? {}
          : { answers: step.answers.map((answer) => ({ ...answer, key: text })) }),
        ...(step.questions === undefined
          ? {}
          : {
              questions: step.questions.map((question) => ({
                ...question,
                key: text,
                fields: [{ name: text, type: text, required: true }],
              })),
            }),
      })),
    })),
    results: RESULTS.map((one) => ({
      ...one,
      ...(one.call === undefined ? {} : { call: text }),
      words: text,
      title: text,
      advice: text,
    })),
    exchanges: EXCHANGES.map((one) => ({
      ...one,
      label: text,
      sent: {
        headers: { "x-name": text, [text]: text },
        message: poisoned(one.sent.message) as Record<string, unknown>,
      },
      received:
        one.received.kind === "result"
          ? {
              ...one.received,
              headers: { [text]: text },
              resultType: text,
              result: poisoned(one.received.result) as Record<string, unknown>,
            }
          : one.received.kind === "error"
            ? { ...one.received, headers: { [text]: text }, message: text, data: poisoned({ reason: text }) }
            : { ...one.received, words: text },
    })),
  };
}
