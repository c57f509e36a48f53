/** C17: the same key twice, or the same key in another case. */
import t from "tap";
import { META, passes, refuses, request, setScene } from "./scene.ts";

const scene = await setScene(t, {
  sections: (url) => ({ routes: [{ path: "/mcp", upstream: { url }, legacy: "pass" }] }),
});
const read = { method: "tools/call", params: { name: "read_note" } };
const wipe = { method: "tools/call", params: { name: "delete_note" } };

/** Params on which two readers can disagree. */
const PARAMS: readonly (readonly [string, string, number])[] = [
  ["a name twice", '"name":"read_note","name":"delete_note","arguments":{}', -32700],
  ["the same name twice", '"name":"read_note","name":"read_note"', -32700],
  ["a name in another case", '"name":"read_note","Name":"delete_note","arguments":{}', -32600],
  ["a name once escaped", '"name":"read_note","n\\u0061me":"delete_note","arguments":{}', -32700],
  ["only a name in another case", '"NAME":"delete_note"', -32600],
  ["arguments twice", '"name":"read_note","arguments":{"id":1},"arguments":{"id":2}', -32700],
  ["arguments in another case", '"name":"read_note","arguments":{"id":1},"Arguments":{"id":2}', -32600],
  ["_meta twice", `"name":"read_note","_meta":{}`, -32700],
  ["_meta in another case", `"name":"read_note","_META":${META}`, -32600],
  ["a key twice in arguments", '"name":"put","arguments":{"id":1,"id":2}', -32700],
  ["a key twice, deep", '"name":"put","arguments":{"a":[[{"b":{"c":1,"\\u0063":2}}]]}', -32700],
  ["the empty key twice", '"name":"put","arguments":{"":1,"":2}', -32700],
  ["__proto__ twice", '"name":"put","arguments":{"__proto__":1,"__proto__":2}', -32700],
  ["a key of two halves, twice", '"name":"put","arguments":{"\ud83d\ude00":1,"\\ud83d\\ude00":2}', -32700],
  ["state in the long s", '"name":"put","reque\u017ftState":"x"', -32600],
  ["answers in the long s", '"name":"put","inputRespon\u017fes":{}', -32600],
];

t.test("params", async (t) => {
  for (const [name, params, code] of PARAMS) {
    t.comment(name);
    for (const like of [read, wipe]) {
      const { json } = await refuses(t, scene, () => scene.raw(request(params), like), { status: 400 });
      t.equal(json.error.code, code, name);
    }
  }
});

const params = `{"_meta":${META},"name":"read_note"}`;
/** The message itself. */
const ENVELOPES: readonly string[] = [
  `{"jsonrpc":"2.0","id":1,"method":"tools/call","method":"tools/list","params":${params}}`,
  `{"jsonrpc":"2.0","id":1,"method":"tools/call","Method":"tools/list","params":${params}}`,
  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params},"Params":{"name":"delete_note"}}`,
  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params},"par\\u0061ms":{"name":"delete_note"}}`,
  `{"jsonrpc":"2.0","id":1,"ID":2,"method":"tools/call","params":${params}}`,
  `{"jsonrpc":"2.0","jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`,
  `{"JSONRPC":"1.0","jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`,
  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params},"result":{}}`,
  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params},"Result":{}}`,
  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}{"jsonrpc":"2.0","id":2}`,
  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}\0`,
  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params},}`,
  `{"jsonrpc":"2.0","id":1,"method":"tools/call",/**/"params":${params}}`,
  `\ufeff{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`,
  `{"jsonrpc":"2.0","id":1,"method":"tools/call\\u0000","params":${params}}`,
];

t.test("the message", async (t) => {
  for (const body of ENVELOPES) await refuses(t, scene, () => scene.raw(body, read), { status: 400 });
});

t.test("keys of _meta and of capabilities", async (t) => {
  const twins = [
    META.replace("{", '{"io.modelcontextprotocol/ProtocolVersion":"2025-11-25",'),
    META.replace("{", '{"IO.modelcontextprotocol/clientCapabilities":{},'),
    META.replace('"elicitation":{', '"Elicitation":{},"elicitation":{'),
    META.replace('"form":{}', '"form":{},"URL":{}'),
  ];
  for (const meta of twins) {
    const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":${meta},"name":"read_note"}}`;
    await refuses(t, scene, () => scene.raw(body, read), { status: 400 });
  }
});

t.test("honest: inside arguments case matters, and everything arrives as it was sent", async (t) => {
  for (const args of [
    '{"id":1,"ID":2}',
    '{"name":"a","Name":"b","method":"c"}',
    '{"requestState":"mine","inputResponses":{}}',
    '{"__proto__":{"admin":true},"constructor":1}',
    '{"\u00e9":1,"e\u0301":2}',
  ]) {
    const body = request(`"name":"read_note","arguments":${args}`);
    const arrived = await passes(t, scene, () => scene.raw(body, read));
    t.equal(arrived.body, body);
  }
});
