import t from "tap";
import {
  type Ask,
  discoveredCalls,
  isAnswered,
  type Listing,
  NoReview,
  survey,
  unreadLists,
} from "../../../src/review/discovery.ts";
import type { Exchange, Received } from "../../../src/review/exchange.ts";

const HEAD = { status: 200, headers: {} };

/** Answers by method; a number is an HTTP status without a response. */
function asking(answers: Record<string, unknown>): { readonly ask: Ask; readonly asked: string[] } {
  const asked: string[] = [];
  const ask: Ask = async (method, params = {}) => {
    asked.push(method);
    const given = answers[method];
    const result = typeof given === "function" ? given(params) : given;
    const received: Received =
      typeof result === "number"
        ? {
            kind: "none",
            why: "http",
            status: result,
            headers: {},
            words: `HTTP ${result} without a JSON-RPC response`,
          }
        : result === undefined
          ? { kind: "error", ...HEAD, code: -32601, message: "?", data: undefined }
          : { kind: "result", ...HEAD, resultType: "complete", result };
    const sent = { caller: "first", headers: {}, message: { method } } as const;
    return { number: asked.length, label: "", sent, received, at: 0, ms: 0 } satisfies Exchange;
  };
  return { ask, asked };
}

const tool = (name: string, readOnlyHint: boolean, properties: object = {}): object => ({
  name,
  annotations: { readOnlyHint },
  inputSchema: { type: "object", properties, required: Object.keys(properties) },
});

const TOOLS = [
  tool("balance", true),
  tool("search", true, { words: { type: "string" } }),
  tool("odd", true, { code: { type: "string", pattern: "^x" } }),
  tool("transfer", false, { amount: { type: "number" } }),
];

const listing = {
  name: undefined,
  version: undefined,
  versions: [],
  tools: TOOLS,
  prompts: [{ name: "briefing", arguments: [{ name: "topic", required: true }, { name: "style" }] }],
  resources: [{ uri: "note://ledger" }],
  asked: [],
} as unknown as Listing;

t.test("what a server says of itself, page by page", async (t) => {
  const { ask } = asking({
    "server/discover": {
      supportedVersions: ["2026-07-28", 1],
      _meta: { "io.modelcontextprotocol/serverInfo": { name: "s", version: "1" } },
    },
    "tools/list": ({ cursor }: { cursor?: string }) =>
      cursor === undefined ? { tools: [TOOLS[0], "no tool"], nextCursor: "2" } : { tools: [TOOLS[1]] },
    "resources/list": { resources: "none" },
  });
  t.match(await survey(ask), {
    ...{ name: "s", version: "1", versions: ["2026-07-28"], prompts: [], resources: [] },
    tools: [{ name: "balance" }, { name: "search" }],
  });
});

t.test("a list without an end is left", async (t) => {
  const { ask, asked } = asking({
    "server/discover": {},
    "tools/list": { tools: [TOOLS[0]], nextCursor: "again" },
  });
  t.equal((await survey(ask)).tools.length, 50);
  t.ok(asked.length < 60);
});

t.test("no endpoint, no review", async (t) => {
  for (const status of [401, 403, 404, 500])
    await t.rejects(survey(asking({ "server/discover": status }).ask), NoReview);
  await t.resolves(survey(asking({}).ask), "a policy may forbid to discover");
  await t.rejects(survey(asking({ "server/discover": 401 }).ask, true), /was not accepted/);
  await t.rejects(survey(asking({ "server/discover": 401 }).ask), /was not given/);
});

t.test("a server that answers nothing is not one without tools", async (t) => {
  const away: Ask = async (method) => ({
    number: 1,
    label: "",
    sent: { caller: "first", headers: {}, message: { method } },
    received: {
      kind: "error",
      status: 502,
      headers: {},
      code: -32603,
      message: "upstream away",
      data: undefined,
    },
    at: 0,
    ms: 0,
  });
  await t.rejects(survey(away), /none of 4 requests .* error -32603 \(HTTP 502\): "upstream away"/);
  const one = asking({ "server/discover": {}, "tools/list": 500 });
  const listing = await survey(one.ask);
  t.ok(isAnswered(listing), "its neighbour answers one of them");
  t.strictSame(unreadLists(listing), ["tools/list: HTTP 500 without a JSON-RPC response"]);
  const missing = discoveredCalls(listing, ["transfer"]).unreviewed;
  t.match(missing, [{ words: /could not be read: tools\/list: HTTP 500/ }]);
  t.equal(missing[0]?.exchanges.length, 3);
});

t.test("nothing is called without a word", async (t) => {
  t.match(discoveredCalls(listing, "nothing"), { calls: [], left: [/--allow/] });
});

t.test("read-only: tools that say so, with arguments from their schemas", async (t) => {
  const { calls, left } = discoveredCalls(listing, "read-only");
  t.strictSame(
    calls.map(({ target }) => target),
    ["balance", "search"],
  );
  t.match(calls[1], {
    arguments: { words: "review" },
    otherArguments: { words: "another review" },
    otherTarget: { target: "balance" },
  });
  t.equal(calls[0]?.otherArguments, undefined);
  t.match(left, [
    /odd: its arguments cannot be made from its schema \(property "code" has "pattern"/,
    /tools that do not say they only read: 1/,
  ]);
});

t.test("names: those and no others", async (t) => {
  const { calls, left, unreviewed } = discoveredCalls(listing, [
    "transfer",
    "briefing",
    "note://ledger",
    "Balance",
    "odd",
    "transfer",
  ]);
  t.match(
    calls.map(({ method, target, arguments: args }) => [method, target, args]),
    [
      ["tools/call", "transfer", { amount: 1 }],
      ["prompts/get", "briefing", { topic: "review" }],
      ["resources/read", "note://ledger", {}],
    ],
  );
  t.equal(calls.length, 3);
  t.strictSame(left, []);
  t.match(unreviewed, [
    { name: "Balance", words: /the server lists no/, exchanges: [] },
    { name: "odd", words: /"pattern"/ },
  ]);
});
