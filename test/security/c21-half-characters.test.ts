/** C21: half of a character in a text, and bytes that are no text. */
import t from "tap";
import { passes, refuses, request, setScene } from "./scene.ts";

const scene = await setScene(t);
const like = { method: "tools/call", params: { name: "find" } };

/** Where a reader decides by a text, half a character is refused: keys, names, states, answers. */
const HALVES: readonly (readonly [string, number])[] = [
  ['"name":"find","arguments":{"\\udfff":1}', -32700],
  ['"name":"find","arguments":{"a":[[{"b\\ud800":"x"}]]}', -32700],
  ['"name":"find\\ud800"', -32602],
  ['"name":"find","requestState":"sg1.\\ud800"', -32602],
];

/** Elsewhere it is passed as sent, since it means something to the two ends. */
const PASSED = ['"\\ud800"', '"\\uDC00"', '"\\udc00\\ud800"', '"\\ud83d \\ude00"', '[[{"b":"x\\ud800y"}]]'];

t.test("refused where a text decides", async (t) => {
  for (const [params, code] of HALVES) {
    await refuses(t, scene, () => scene.raw(request(params), like), { status: 400, code });
  }
});

t.test("passed as sent in arguments, and bound apart from every repaired form", async (t) => {
  for (const q of PASSED) {
    const first = await scene.raw(request(`"name":"find","arguments":{"q":${q}}`), like);
    t.equal(first.status, 200, first.body);
    const rest = `,"requestState":"${first.json.result.requestState}","inputResponses":{}`;
    for (const repaired of ['"\ufffd"', '"\\ufffd\\ufffd"', '"?"', '""', "null"]) {
      const body = request(`"name":"find","arguments":{"q":${repaired}}${rest}`, "tools/call", "8");
      await refuses(t, scene, () => scene.raw(body, like), { status: 400, code: -32602 });
    }
    const body = request(`"name":"find","arguments":{"q":${q}}${rest}`, "tools/call", "8");
    const arrived = await passes(t, scene, () => scene.raw(body, like));
    t.ok(arrived.body.includes(`"q":${q}`));
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
    await refuses(t, scene, () => scene.raw(body, like), { status: 400, code: -32602 });
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
