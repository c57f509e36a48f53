import t, { type Test } from "tap";
import { type Answer, judgeMessage } from "../../src/answer.ts";
import { type Authorizer, createAuthorizer } from "../../src/authorization.ts";
import type { Ask, Call } from "../../src/call.ts";
import { open } from "../../src/envelope/open.ts";
import { Refusal } from "../../src/errors.ts";
import { scan } from "../../src/json/scan.ts";
import { ephemeralKeyring } from "../../src/keyring.ts";
import { parseDeclared } from "../../src/mcp/capabilities.ts";
import { parseClientMessage } from "../../src/mcp/message.ts";
import { targetOf } from "../../src/mcp/methods.ts";
import { createMemoryOverrides } from "../../src/overrides/memory.ts";
import { createMemoryStore } from "../../src/redemption/memory.ts";
import { unknownTarget } from "../../src/server-error.ts";
import { testJourney } from "../support/journey.ts";
import { META } from "../support/meta.ts";

const NOW = Date.UTC(2026, 10, 30);
const ring = ephemeralKeyring();
const store = createMemoryStore({ now: () => NOW });
const limits = {
  body: 65_536,
  event: 65_536,
  depth: 32,
  inFlight: 1,
  streams: 1,
  eventLoopDelay: "off" as const,
};
const everything = createAuthorizer({ default: "allow", policies: [] });
const hidden = createAuthorizer({
  default: "allow",
  policies: [{ id: "no", effect: "deny", tools: ["admin_*"], resources: ["file:///etc/*"], prompts: [] }],
} as Parameters<typeof createAuthorizer>[0]);

interface Asked {
  readonly method?: string;
  readonly params?: string;
  readonly id?: string;
  readonly authorizer?: Authorizer;
  readonly legacy?: "pass" | "refuse";
}

/** Judges a text as the answer to a request. */
function judge(text: string, asked: Asked = {}): Answer {
  const {
    method = "tools/call",
    params = '"name":"add"',
    id = "7",
    authorizer = everything,
    legacy = "refuse",
  } = asked;
  const meta = META.replace("{", '{"progressToken":"p",');
  const body = `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":{"_meta":${meta},${params}}}`;
  const doc = scan(Buffer.from(body), { bytes: 65_536, depth: 32 });
  const message = parseClientMessage(doc);
  if (message.type !== "request") throw new Error("no request");
  const roundTrip = { maxRounds: 3, maxAge: 60_000, rejection: "error", answersWithoutState: "refuse" };
  const config = { path: "/mcp", upstream: { url: "http://u/mcp" }, roundTrip, legacy };
  const call: Call = {
    journey: testJourney(config).journey,
    doc,
    message,
    params: message.params,
    version: "2026-07-28",
    target: targetOf(doc, message),
    declared: parseDeclared(doc, message.meta),
    birth: 0,
    allow: () => new Set<Ask>(["elicitation.form"]),
  };
  const random = (bytes: number): Buffer => Buffer.alloc(bytes, 7);
  const lifetimes = () => ({ skewSeconds: 60, chainSeconds: 3_600 });
  const overrides = createMemoryOverrides({ lifetimes, now: () => NOW });
  const context = {
    keys: { ring },
    audience: "http://g",
    ttl: 60_000,
    maxStateBytes: 1_024,
    maxSchemaBytes: 16_384,
    maxTokenBytes: 100_000,
    clockSkew: 60_000,
    store,
    overrides,
    now: () => NOW,
    random,
  };
  return judgeMessage(
    { roundTrip: context, authorizer, limits, call, redeemed: undefined },
    Buffer.from(text),
  );
}

const result = (text: string, id = "7"): string => `{"jsonrpc":"2.0","id":${id},"result":${text}}`;
const error = (text: string, id = "7"): string => `{"jsonrpc":"2.0","id":${id},"error":${text}}`;

function leaves(t: Test, text: string, expected: string, asked?: Asked): void {
  const judged = judge(text, asked);
  if (judged.kind === "dropped") return void t.fail(`dropped: ${text}`);
  t.equal(judged.bytes.toString(), expected);
}

function refuses(t: Test, text: string, code: string, detail: string, asked?: Asked): void {
  try {
    judge(text, asked);
    t.fail(`passed: ${text}`);
  } catch (thrown) {
    if (!(thrown instanceof Refusal)) throw thrown;
    t.same([thrown.code, thrown.detail], [code, detail], text.slice(0, 100));
  }
}

t.test("a complete result leaves as it came", async (t) => {
  for (const text of [
    result('{"content":[],"n":1.10,"big":12345678901234567890,"s":"\\u00e9\\/"}'),
    ` ${result(' { "resultType" : "complete" , "b":1,"a":2 } ')} `,
    result('{"result_type":"input_required"}'),
  ])
    leaves(t, text, text);
});

t.test("the id leaves in the client's own spelling", async (t) => {
  leaves(t, result("{}", '"abc"'), result("{}", '"a\\u0062c"'), { id: '"a\\u0062c"' });
  leaves(t, error('{"code":-1,"message":"x"}', "7.0"), error('{"code":-1,"message":"x"}'));
  leaves(t, error('{"code":-1,"message":"x"}', "null"), error('{"code":-1,"message":"x"}'));
  leaves(
    t,
    '{"jsonrpc":"2.0","error":{"code":-1,"message":"x"}}',
    '{"jsonrpc":"2.0","error":{"code":-1,"message":"x"},"id":7}',
  );
  for (const id of ["8", '"7"', '"8"']) refuses(t, result("{}", id), "upstream_fault", "id_mismatch");
});

t.test("a state never leaves in clear, and questions only where they belong", async (t) => {
  leaves(t, result('{"requestState":"inner","content":[]}'), result('{"content":[]}'));
  leaves(t, result('{"resultType":"complete","requestState":null}'), result('{"resultType":"complete"}'));
  refuses(t, result('{"inputRequests":{}}'), "upstream_fault", "questions_in_complete");
  refuses(
    t,
    result('{"resultType":"complete","inputRequests":null}'),
    "upstream_fault",
    "questions_in_complete",
  );
  refuses(t, error('{"code":-32042,"message":"x","data":{}}'), "upstream_fault", "questions_in_error");
  for (const type of ['"tasks"', '"Input_Required"', "null", "7", '""'])
    refuses(t, result(`{"resultType":${type}}`), "upstream_fault", "result_type");
  refuses(t, result('{"resultType":"task"}'), "upstream_fault", "unasked_task");
});

t.test("an input_required is sealed and holds the state, the questions and the operation", async (t) => {
  const ask =
    '{"a":{"method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}}}}}';
  const judged = judge(
    result(`{"resultType":"input_required","inputRequests":${ask},"requestState":"inner","ttlMs":5}`),
  );
  t.match(judged, {
    kind: "final",
    outcome: "input_required",
    sealed: { round: 1, state: "inner", target: "add" },
  });
  if (judged.kind !== "final") return;
  t.notMatch(judged.bytes.toString(), /inner|ttlMs/);
  const { requestState, inputRequests } = JSON.parse(judged.bytes.toString()).result;
  t.same(inputRequests, JSON.parse(ask));
  t.match(open(ring, "http://g", requestState, 8_192), {
    state: "inner",
    method: "tools/call",
    exp: NOW / 1000 + 60,
  });
  refuses(t, result('{"resultType":"input_required"}'), "upstream_fault", "nothing_asked");
  refuses(t, result('{"resultType":"input_required","requestState":7}'), "upstream_fault", "state_shape");
  refuses(
    t,
    result(`{"resultType":"input_required","requestState":"${"x".repeat(1_025)}"}`),
    "upstream_fault",
    "state_too_large",
  );
  refuses(
    t,
    result('{"resultType":"input_required","requestState":"x"}'),
    "upstream_fault",
    "input_required_method",
    {
      method: "tools/list",
      params: '"x":1',
    },
  );
});

t.test("messages that are no answer", async (t) => {
  refuses(
    t,
    '{"jsonrpc":"2.0","id":7,"method":"sampling/createMessage"}',
    "upstream_fault",
    "server_request",
  );
  const progress =
    '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":1.0}}';
  leaves(t, progress, progress);
  for (const [params, method, detail] of [
    ['"requestState":"x"', "notifications/progress", "state_in_notification"],
    ['"inputRequests":{}', "notifications/message", "state_in_notification"],
    ['"a":1', "notifications/tasks/status", "tasks"],
    ['"uri":"file:///etc/passwd"', "notifications/resources/updated", "hidden_resource"],
    ['"uri":7', "notifications/resources/updated", "hidden_resource"],
  ] as const) {
    const text = `{"jsonrpc":"2.0","method":"${method}","params":{${params}}}`;
    t.same(judge(text, { authorizer: hidden }), { kind: "dropped", detail }, method);
  }
  const shown =
    '{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"file:///home"}}';
  leaves(t, shown, shown, { authorizer: hidden });
});

t.test("state and questions outside a result", async (t) => {
  for (const name of ["requestState", "inputRequests"]) {
    for (const text of [
      `{"jsonrpc":"2.0","id":7,"result":{},"${name}":"x"}`,
      result(`{"_meta":{"${name}":"x"}}`),
      error(`{"code":-32000,"message":"x","${name}":"x"}`),
      error(`{"code":-32000,"message":"x","data":{"${name}":"x"}}`),
    ])
      refuses(t, text, "upstream_fault", "misplaced_state");
    const spoken = result(
      `{"content":[{"type":"text","text":"${name}"}],"structuredContent":{"${name}":"x"}}`,
    );
    leaves(t, spoken, spoken);
  }
});

t.test("a tool that failed is told from one that did not", async (t) => {
  t.match(judge(result('{"content":[],"isError":true}')), { outcome: "tool_error" });
  t.match(judge(result('{"content":[],"isError":false}')), { outcome: "complete" });
  t.match(judge(result('{"isError":true}'), { method: "prompts/get" }), { outcome: "complete" });
});

t.test("what policy can hide from others is in no shared cache", async (t) => {
  const read = '{"contents":[],"ttlMs":9,"cacheScope":"public"}';
  const asked = { method: "resources/read", params: '"uri":"a:b"' };
  leaves(t, result(read), result(read), asked);
  leaves(t, result(read), result(read.replace("public", "private")), { ...asked, authorizer: hidden });
});

t.test("a method that is not there reads the same, whoever says so", async (t) => {
  const text = error('{"code":-32601,"message":"no such method: vendor/run","data":{"hint":1}}');
  for (const method of ["vendor/run", "tools/call", "server/discover"]) {
    leaves(t, text, text, { method });
    refuses(t, text, "method_not_found", "upstream", { method, authorizer: hidden });
  }
  const other = error('{"code":-32600,"message":"Method not found"}');
  leaves(t, other, other, { method: "vendor/run", authorizer: hidden });
});

t.test("lists and versions that are none are faults of the server", async (t) => {
  for (const value of ["null", "1", '"x"', "true", '{"2026-07-28":1}', '"2026-07-28"']) {
    const discover = { method: "server/discover" };
    refuses(t, result(`{"supportedVersions":${value}}`), "upstream_fault", "supported_versions", discover);
    refuses(t, result(`{"tools":${value}}`), "upstream_fault", "list_shape", { method: "tools/list", authorizer: hidden }); // biome-ignore format: one case, one line
  }
  const versions = '{"supportedVersions":[1,null,["2026-07-28"],{"a":1},"\\ud800","2026-07-28"]}';
  leaves(t, result(versions), result('{"supportedVersions":["2026-07-28"]}'), { method: "server/discover" });
  const tools = '{"tools":[null,1,"a",["a"],{},{"name":1},{"name":"\\ud800"},{"name":"a"}],"ttlMs":0,"cacheScope":"private"}'; // biome-ignore format: one text
  leaves(t, result(tools), result('{"tools":[{"name":"a"}],"ttlMs":0,"cacheScope":"private"}'), { method: "tools/list", authorizer: hidden }); // biome-ignore format: one case, one line
});

t.test("what is no message", async (t) => {
  for (const [text, detail] of [
    ["", "json_empty"],
    ["{", "json_syntax"],
    [`[${result("{}")}]`, "batch"],
    [result("7"), "result"],
    [result('{"a":1,"a":2}'), "json_duplicate_key"],
    [error('{"message":"x"}'), "error"],
    ['{"jsonrpc":"1.0","id":7,"result":{}}', "jsonrpc"],
  ] as const)
    refuses(t, text, "upstream_fault", detail);
});

t.test(
  "an error leaves as it came, with its code; a hidden name and an unknown one read the same",
  async (t) => {
    const plain = error('{"code":-32000,"message":"no","data":{"n":1.0}}');
    leaves(t, plain, plain);
    t.match(judge(plain), { kind: "final", outcome: "error", rpcCode: -32000 });
    const unknown = error('{"code":-32602,"message":"Tool add not found"}');
    leaves(t, unknown, unknown);
    refuses(t, unknown, "unknown_tool", "upstream", { authorizer: hidden });
    const other = error('{"code":-32602,"message":"amount not found in add"}');
    for (const words of [
      "amount not found in add",
      "add: customer unknown to the tool",
      "Tool add not found in cache",
    ])
      leaves(
        t,
        error(`{"code":-32602,"message":"${words}"}`),
        error(`{"code":-32602,"message":"${words}"}`),
        {
          authorizer: hidden,
        },
      );
    t.match(unknownTarget({ kind: "prompt", name: "x" }, "policy"), { code: "unknown_prompt" });
    leaves(t, other, other);
  },
);

t.test("lists: what may not be used is gone, and what is personal is not cached", async (t) => {
  const list = (tools: string, rest = ""): string => result(`{"tools":[${tools}]${rest}}`);
  const asked = { method: "tools/list", params: '"x":1', authorizer: hidden };
  t.match(judge(list('{"name":"admin_x"},{"name":"add"},{}'), asked), { hidden: 2 });
  leaves(
    t,
    list('{"name":"admin_x"},{"name":"add","n":1.0}'),
    list('{"name":"add","n":1.0}', ',"cacheScope":"private","ttlMs":0'),
    asked,
  );
  const open_ = list('{"name":"admin_x"}', ',"cacheScope":"public","ttlMs":9');
  leaves(t, open_, open_, { ...asked, authorizer: everything });
});

t.test("server/discover offers what both sides serve, and no tasks", async (t) => {
  const asked = { method: "server/discover", params: '"x":1' };
  const offer = (versions: string, extensions = ""): string =>
    result(`{"supportedVersions":[${versions}],"capabilities":{"extensions":{${extensions}}}}`);
  leaves(t, offer('"2025-11-25","2026-07-28","2030-01-01"'), offer('"2026-07-28"'), asked);
  leaves(t, offer('"2025-11-25","2026-07-28"'), offer('"2025-11-25","2026-07-28"'), {
    ...asked,
    legacy: "pass",
  });
  leaves(
    t,
    offer('"2026-07-28"', '"io.modelcontextprotocol/tasks":{},"a":{}'),
    offer('"2026-07-28"', '"a":{}'),
    asked,
  );
  refuses(t, offer('"2030-01-01"'), "unsupported_version", "upstream_versions", asked);
  refuses(t, offer('"2025-11-25"'), "unsupported_version", "upstream_versions", asked);
});

t.test("a capability that the server misses", async (t) => {
  const missing = (required: string): string =>
    error(`{"code":-32021,"message":"inner","data":{"requiredCapabilities":${required}}}`);
  refuses(t, missing('{"sampling":{}}'), "missing_capability", "undeclared");
  refuses(t, missing('{"elicitation":{"url":{}}}'), "question_forbidden", "elicitation.url");
  refuses(t, missing("7"), "upstream_fault", "required_capabilities");
});
