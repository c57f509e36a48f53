/** C09: parts of a binding that slide into one another's place. The principal's parts are in c01. */
import t from "tap";
import type { Message } from "../support/gateway.ts";
import { passes, refusesState, setScene } from "./scene.ts";

const scene = await setScene(t);
const call = (name: string, args?: unknown): Message => ({
  method: "tools/call",
  params: { name, ...(args === undefined ? {} : { arguments: args }) },
});

const PAIRS: readonly (readonly [string, Message, Message])[] = [
  ["a name with the separator and the arguments in it", call("run|{}"), call("run", {})],
  ["the other way round", call("run", {}), call("run|{}")],
  ["the method in the name", call("x"), { method: "prompts/get", params: { name: "tools/call|x" } }],
  ["a name that ends in a NUL", call("run\0"), call("run")],
  ["a name that holds JSON", call('run","arguments":{"a":1}'), call("run", { a: 1 })],
  ["a line feed between name and arguments", call("run\n{}"), call("run")],
  ["a key that holds its value", call("run", { 'a":1,"b': 2 }), call("run", { a: 1, b: 2 })],
  ["a value that holds the next member", call("run", { a: '1","b":"2' }), call("run", { a: "1", b: "2" })],
  ["two short arrays for one", call("run", { a: [["x"], ["y"]] }), call("run", { a: [["x", "y"]] })],
  ["an empty array for none", call("run", { a: [] }), call("run", { a: [[]] })],
  ["an empty key", call("run", { "": {} }), call("run", {})],
  ["a uri for a name", { method: "resources/read", params: { uri: "run" } }, call("run")],
  [
    "arguments moved to params",
    call("run", { level: "high" }),
    { method: "tools/call", params: { name: "run", arguments: {}, level: "high" } },
  ],
];

for (const [name, sealed, used] of PAIRS) {
  t.test(name, async (t) => {
    const state = await scene.ask(sealed, headers(sealed));
    await refusesState(t, scene, () => scene.retry(state, used, headers(used)));
    await passes(t, scene, () => scene.retry(state, sealed, headers(sealed)));
  });
}

t.test("absent arguments are the empty object: some clients drop it between the rounds", async (t) => {
  for (const [sealed, used] of [
    [call("run"), call("run", {})],
    [call("run", {}), call("run")],
  ] as const) {
    const state = await scene.ask(sealed);
    await passes(t, scene, () => scene.retry(state, used));
  }
});

/** Names that no plain header can carry go in the base64 form. */
function headers(message: Message): { headers: Record<string, string> } {
  const name = String(message.params?.["name"] ?? message.params?.["uri"]);
  return { headers: { "mcp-name": `=?base64?${Buffer.from(name).toString("base64")}?=` } };
}
