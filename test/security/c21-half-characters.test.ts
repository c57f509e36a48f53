/** C21: half of a character in a text, and bytes that are no text. */
import t from "tap";
import { META, passes, refuses, request, setScene } from "./scene.ts";

const scene = await setScene(t, {
  sections: (url) => ({ routes: [{ path: "/mcp", upstream: { url }, legacy: "pass" }] }),
});
const like = { method: "tools/call", params: { name: "find" } };

const HALVES = [
  '"name":"find","arguments":{"q":"\\ud800"}',
  '"name":"find","arguments":{"q":"\\uDC00"}',
  '"name":"find","arguments":{"q":"\\udc00\\ud800"}',
  '"name":"find","arguments":{"q":"\\ud83d \\ude00"}',
  '"name":"find","arguments":{"q":"\\ud83d\\\\ude00"}',
  '"name":"find","arguments":{"\\udfff":1}',
  '"name":"find","arguments":{"a":[[{"b":"x\\ud800y"}]]}',
  '"name":"find\\ud800"',
  '"name":"find","inputResponses":{"c":{"action":"accept","content":{"v":"\\ud800"}}}',
  '"name":"find","requestState":"sg1.\\ud800"',
];

t.test("refused on arrival, in either era", async (t) => {
  for (const params of HALVES) {
    const expected = { status: 400, code: -32700, reason: "parse_error" };
    await refuses(t, scene, () => scene.raw(request(params), like), expected);
    const legacy = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{${params}}}`;
    const headers = { "mcp-protocol-version": "2025-06-18", "mcp-method": undefined, "mcp-name": undefined };
    await refuses(t, scene, () => scene.raw(legacy, like, headers), expected);
  }
  for (const meta of ['"x":"\\ud800"', '"progressToken":"\\udfff"']) {
    const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":${META.replace("{", `{${meta},`)},"name":"find"}}`;
    await refuses(t, scene, () => scene.raw(body, like), { status: 400, code: -32700 });
  }
});

t.test("bytes that are no UTF-8", async (t) => {
  for (const bytes of [[0xc3], [0xff], [0xed, 0xa0, 0x80], [0xc0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0x80]]) {
    const [head = "", tail = ""] = request('"name":"find","arguments":{"q":"@"}').split("@");
    const body = Buffer.concat([Buffer.from(head), Buffer.from(bytes), Buffer.from(tail)]);
    await refuses(t, scene, () => send(body), {
      status: 400,
      code: -32700,
    });
  }
});

t.test("a redeemed text is never a repaired one", async (t) => {
  const sealed = await scene.raw(request('"name":"find","arguments":{"q":"\ufffd"}'), like);
  const rest = `,"requestState":"${sealed.json.result.requestState}","inputResponses":{}`;
  for (const q of ["\\ud800", "\\udfff"]) {
    const body = request(`"name":"find","arguments":{"q":"${q}"}${rest}`, "tools/call", "8");
    await refuses(t, scene, () => scene.raw(body, like), { status: 400, code: -32700 });
  }
  const body = request(`"name":"find","arguments":{"q":"\\ufffd"}${rest}`, "tools/call", "8");
  await passes(t, scene, () => scene.raw(body, like));
});

t.test("honest: whole characters, written out or escaped, pass and redeem", async (t) => {
  for (const [one, other] of [
    ["\\ud83d\\ude00", "\ud83d\ude00"],
    ["\ud83d\ude00", "\\uD83D\\uDE00"],
    ["\\\\ud800", "\\\\ud800"],
  ] as const) {
    const first = await scene.raw(request(`"name":"find","arguments":{"q":"${one}"}`), like);
    t.equal(first.status, 200, first.body);
    const rest = `,"requestState":"${first.json.result.requestState}","inputResponses":{}`;
    const body = request(`"name":"find","arguments":{"q":"${other}"}${rest}`, "tools/call", "8");
    const arrived = await passes(t, scene, () => scene.raw(body, like));
    t.match(arrived.body, `"q":"${other}"`);
  }
});

function send(body: Buffer) {
  const headers = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": "tools/call",
    "mcp-name": "find",
  };
  return scene.gateway.send({ headers, body });
}
