/** C23: names that no plain header can carry: read strictly, compared with the body, written anew. */
import t from "tap";
import type { Message } from "../support/gateway.ts";
import { answers, DONE, passes, refuses, request, setScene } from "./scene.ts";

const scene = await setScene(t, { script: answers(DONE) });
const PATH = "file:///\u043e\u0442\u0447\u0451\u0442\u044b/\u043f\u043b\u0430\u043d.txt";
const base64 = (text: string | Buffer): string => `=?base64?${Buffer.from(text).toString("base64")}?=`;
const read = (uri: string): Message => ({ method: "resources/read", params: { uri } });
const call = (uri: string, name: string) => () =>
  scene.gateway.call(read(uri), { headers: { "mcp-name": name } });

t.test("honest: it passes, and the upstream gets a header of the gateway's own making", async (t) => {
  for (const [uri, header, up] of [
    [PATH, "=?base64?ZmlsZTovLy/QvtGC0YfRkdGC0Ysv0L/Qu9Cw0L0udHh0?=", base64(PATH)],
    ["file:///a", base64("file:///a"), "file:///a"],
    ["file:///a", " file:///a\t", "file:///a"],
    ["file:///a b", "file:///a b", "file:///a b"],
    [" x", base64(" x"), base64(" x")],
    ["x\ty", base64("x\ty"), base64("x\ty")],
    ["=?base64?eA==?=", base64("=?base64?eA==?="), base64("=?base64?eA==?=")],
    ["=?BASE64?eA==?=", "=?BASE64?eA==?=", base64("=?BASE64?eA==?=")],
    ["\ud83d\ude00", base64("\ud83d\ude00"), base64("\ud83d\ude00")],
    [
      "a\r\nMcp-Method: tools/list",
      base64("a\r\nMcp-Method: tools/list"),
      base64("a\r\nMcp-Method: tools/list"),
    ],
    ["", base64(""), base64("")],
  ] as const) {
    const arrived = await passes(t, scene, call(uri, header));
    t.equal(arrived.headers["mcp-name"], up);
    t.equal(arrived.headers["mcp-method"], "resources/read");
    t.equal(arrived.json.params.uri, uri);
  }
});

const encoded = Buffer.from(PATH).toString("base64");
const MISMATCH: readonly (readonly [string, string, string])[] = [
  ["another name", PATH, base64("file:///other")],
  ["the marker in another case", PATH, `=?Base64?${encoded}?=`],
  ["the marker in upper case", PATH, `=?BASE64?${encoded}?=`],
  ["no end marker", PATH, `=?base64?${encoded}`],
  [
    "no padding",
    "file:///ab",
    `=?base64?${Buffer.from("file:///ab").toString("base64").replaceAll("=", "")}?=`,
  ],
  ["the url alphabet", "file:///\u00ff\u00fe?", base64("file:///\u00ff\u00fe?").replaceAll("/", "_")],
  ["a space inside", PATH, `=?base64?${encoded.slice(0, 8)} ${encoded.slice(8)}?=`],
  ["unused bits set", "x", "=?base64?eB==?="],
  ["bytes that are no UTF-8", "\ufffd", `=?base64?${Buffer.from([0xff]).toString("base64")}?=`],
  ["a byte order mark too much", "x", base64("\ufeffx")],
  ["a Q word", "x", "=?utf-8?q?x?="],
  ["percent encoding", "file:///a b", "file:///a%20b"],
  ["two words", "xx", "=?base64?eA==?==?base64?eA==?="],
  ["encoded twice", "x", base64(base64("x"))],
  ["the word as it stands for the word it means", "x", base64("=?base64?eA==?=")],
  ["another normal form", "\u00e9", base64("e\u0301")],
  ["another case", "file:///A", "file:///a"],
];

t.test("mismatch or malformed", async (t) => {
  for (const [name, uri, header] of MISMATCH) {
    t.comment(name);
    await refuses(t, scene, call(uri, header), { status: 400, code: -32020, reason: "header_mismatch" });
  }
  // Raw bytes of UTF-8 in a header are Latin-1 to some readers.
  const headers = { "mcp-name": Buffer.from(PATH).toString("latin1") };
  await refuses(
    t,
    scene,
    () => scene.raw(request(`"uri":${JSON.stringify(PATH)}`, "resources/read"), read("x"), headers),
    {
      status: 400,
      code: -32020,
    },
  );
});

t.test("missing, or there where none belongs", async (t) => {
  const without = (name: string) => () =>
    scene.gateway.call(read("file:///a"), { headers: { [name]: undefined } });
  for (const name of ["mcp-name", "mcp-method"]) {
    await refuses(t, scene, without(name), { status: 400, code: -32020 });
  }
  const list = await passes(t, scene, () =>
    scene.gateway.call({ method: "tools/list" }, { headers: { "mcp-name": "delete_note" } }),
  );
  t.equal(list.headers["mcp-name"], undefined, "what no check has seen does not go up");
});
