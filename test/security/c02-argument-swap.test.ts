/** C02: a state minted for one operation is used on another. */
import t from "tap";
import type { Message } from "../support/gateway.ts";
import { META, passes, refusesState, request, setScene } from "./scene.ts";

const scene = await setScene(t, {
  sections: (url) => ({
    routes: ["/mcp", "/other"].map((path) => ({ path, upstream: { url } })),
  }),
});
const EXPORT: Message = {
  method: "tools/call",
  params: { name: "export_report", arguments: { path: "/reports/q1.csv" } },
};
const PROMPT: Message = { method: "prompts/get", params: { name: "export_report" } };
const READ: Message = { method: "resources/read", params: { uri: "file:///reports/q1.csv" } };

/** Sealed for the first, redeemed with the second. */
const SWAPS: readonly (readonly [string, Message, Message, string])[] = [
  ["another value", EXPORT, tool("export_report", { path: "/reports/payroll.csv" }), "params"],
  [
    "one more argument",
    EXPORT,
    tool("export_report", { path: "/reports/q1.csv", overwrite: true }),
    "params",
  ],
  ["no arguments left", EXPORT, tool("export_report", {}), "params"],
  ["arguments absent", EXPORT, { method: "tools/call", params: { name: "export_report" } }, "params"],
  [
    "arguments null",
    tool("x", {}),
    { method: "tools/call", params: { name: "x", arguments: null } },
    "params",
  ],
  ["another tool", EXPORT, tool("export_all", { path: "/reports/q1.csv" }), "target"],
  ["the tool in another case", EXPORT, tool("Export_report", { path: "/reports/q1.csv" }), "target"],
  [
    "one more member of params",
    EXPORT,
    { ...EXPORT, params: { ...EXPORT.params, task: { ttl: 1 } } },
    "params",
  ],
  ["a prompt of the tool's name", EXPORT, { ...EXPORT, method: "prompts/get" }, "method"],
  ["a tool of the prompt's name", PROMPT, { ...PROMPT, method: "tools/call" }, "method"],
  ["another uri", READ, uri("file:///reports/q2.csv"), "target"],
  ["the uri, percent-encoded", uri("file:///a b"), uri("file:///a%20b"), "target"],
  ["the uri with a trailing slash", uri("file:///a"), uri("file:///a/"), "target"],
  ["a key of arguments in another case", tool("x", { id: 1 }), tool("x", { ID: 1 }), "params"],
  ["a number as a string", tool("x", { id: 1 }), tool("x", { id: "1" }), "params"],
  ["an array as an object", tool("x", { id: ["a"] }), tool("x", { id: { 0: "a" } }), "params"],
  ["items in another order", tool("x", { id: [1, 2] }), tool("x", { id: [2, 1] }), "params"],
  ["null for absent", tool("x", {}), tool("x", { id: null }), "params"],
  ["false for null", tool("x", { id: null }), tool("x", { id: false }), "params"],
  ["a string in another normal form", tool("x", { q: "\u00e9" }), tool("x", { q: "e\u0301" }), "params"],
  [
    "a member named like Object.prototype's",
    tool("x", {}),
    tool("x", JSON.parse('{"__proto__":{"a":1}}')),
    "params",
  ],
];

for (const [name, sealed, used, cause] of SWAPS) {
  t.test(name, async (t) => {
    const state = await scene.ask(sealed);
    await refusesState(t, scene, () => scene.retry(state, used), { cause });
    await passes(t, scene, () => scene.retry(state, sealed));
  });
}

t.test("on another route to the same upstream", async (t) => {
  const state = await scene.ask(EXPORT);
  await refusesState(t, scene, () => scene.retry(state, EXPORT, { path: "/other" }), { cause: "route" });
  await passes(t, scene, () => scene.retry(state, EXPORT));
});

/** Texts of the same operation on which readers agree; white space, key order and escapes carry no meaning. */
const RESPELLED: readonly (readonly [string, string])[] = [
  ["the same bytes", '"name":"put","arguments":{"id":1,"q":"\u00e9"}'],
  ["other key order", '"arguments":{"q":"\u00e9","id":1},"name":"put"'],
  ["white space", '"name" : "put",\n"arguments":{ "id":1 ,\t"q":"\u00e9" }'],
  ["escapes", '"n\\u0061me":"p\\u0075t","arguments":{"\\u0069d":1,"q":"\\u00E9"}'],
];
/** Numbers are bound by their text: servers tell 1 from 1.0. */
const RENUMBERED = ["1.0", "1e0", "10e-1", "1E0", "-1", "1.00"];

const put = { method: "tools/call", params: { name: "put" } };
const sealPut = async (): Promise<string> => {
  const reply = await scene.raw(request('"name":"put","arguments":{"id":1,"q":"\u00e9"}'), put);
  return reply.json.result.requestState;
};
const withState = (params: string, state: string, id: string): string =>
  request(
    `${params},"requestState":"${state}","inputResponses":{"confirm":{"action":"decline"}}`,
    "tools/call",
    id,
  );

for (const [name, params] of RESPELLED) {
  t.test(`honest: ${name}`, async (t) => {
    const state = await sealPut();
    const arrived = await passes(t, scene, () => scene.raw(withState(params, state, "8"), put));
    const sent = request(
      `${params},"requestState":"U1==","inputResponses":{"confirm":{"action":"decline"}}`,
      "tools/call",
      "8",
    );
    t.equal(arrived.body, sent, "what goes up is what was sent, but for the state");
  });
}

t.test("a number spelled another way", async (t) => {
  const state = await sealPut();
  for (const text of RENUMBERED) {
    const body = withState(`"name":"put","arguments":{"id":${text},"q":"\u00e9"}`, state, "8");
    await refusesState(t, scene, () => scene.raw(body, put), { id: "8", cause: "params" });
  }
  await passes(t, scene, () =>
    scene.raw(withState('"name":"put","arguments":{"id":1,"q":"\u00e9"}', state, "8"), put),
  );
});

t.test("_meta may change between the rounds", async (t) => {
  const state = await scene.ask(EXPORT);
  const meta = { ...JSON.parse(META), progressToken: 5, "example.com/trace": "x" };
  await passes(t, scene, () => scene.retry(state, { ...EXPORT, params: { ...EXPORT.params, _meta: meta } }));
});

function tool(name: string, args: Record<string, unknown>): Message {
  return { method: "tools/call", params: { name, arguments: args } };
}

function uri(text: string): Message {
  return { method: "resources/read", params: { uri: text } };
}
