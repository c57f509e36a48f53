/** C18: an array walks past the check for `method`. */
import t from "tap";
import { answers, DONE, META, passes, refuses, request, setScene } from "./scene.ts";

const scene = await setScene(t, {
  script: answers(DONE),
  sections: (url) => ({ routes: [{ path: "/mcp", upstream: { url }, legacy: "pass" }] }),
});
const wipe = { method: "tools/call", params: { name: "delete_note" } };
const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"delete_note","arguments":{}}}`;
const modern = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":${META},"name":"delete_note"}}`;
const BODIES = [
  `\n  [${call}]`,
  `[${call},${call}]`,
  `[${modern}]`,
  `[[${call}]]`,
  `[${call},{"jsonrpc":"2.0","method":"notifications/initialized"}]`,
  `[{"jsonrpc":"2.0","method":"notifications/initialized"}]`,
  `[{"jsonrpc":"2.0","id":1,"result":{}}]`,
  "[]",
  "[1]",
  "null",
  '"tools/call"',
  "1",
  "true",
  '{"0":{}}',
];
/** Requests by lines are no one value. */
const STREAMS = [`${call}\n${call}`, `\u001e${call}\n`, `${call},${call}`, ""];

t.test("no array and no other value is a message, in either era", async (t) => {
  for (const headers of [{}, LEGACY(), NONE()]) {
    for (const body of BODIES) {
      const expected = { status: 400, code: -32600, reason: "invalid_request" };
      const { json } = await refuses(t, scene, () => scene.raw(body, wipe, headers), expected);
      t.equal(json.id, null);
    }
    for (const body of STREAMS) {
      await refuses(t, scene, () => scene.raw(body, wipe, headers), { status: 400, code: -32700 });
    }
  }
});

t.test("an array from the upstream is its fault, in either era, as a body and as an event", async (t) => {
  const secret = `[{"jsonrpc":"2.0","id":7,"result":{"secret_word":1}}]`;
  for (const [type, text] of [
    ["application/json", secret],
    ["application/json", ` \n${secret}`],
    ["application/json", "[]"],
    ["text/event-stream", `data: ${secret}\n\n`],
    ["text/event-stream", `data: [\ndata: ${secret.slice(1)}\n\n`],
  ] as const) {
    scene.upstream.script = (_arrived, response) => {
      response.writeHead(200, { "content-type": type });
      response.end(text);
    };
    for (const [body, headers] of [
      [request('"name":"delete_note"'), {}],
      [call.replace('"id":1', '"id":7'), LEGACY()],
    ] as const) {
      const reply = await scene.raw(body, wipe, headers);
      t.equal(reply.json.error.code, -32603);
      t.equal(reply.json.id, 7);
      t.notMatch(reply.body, /secret_word/);
    }
  }
  scene.upstream.script = answers(DONE);
});

t.test("honest: one message, also with white space around it", async (t) => {
  const body = `\n\t ${modern}\r\n`;
  const arrived = await passes(t, scene, () => scene.raw(body, wipe));
  t.equal(arrived.body, body);
  await passes(t, scene, () => scene.raw(call, wipe, LEGACY()));
});

function LEGACY(): Record<string, string | undefined> {
  return { ...NONE(), "mcp-protocol-version": "2025-06-18" };
}

function NONE(): Record<string, string | undefined> {
  return { "mcp-protocol-version": undefined, "mcp-method": undefined, "mcp-name": undefined };
}
