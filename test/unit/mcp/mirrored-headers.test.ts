import fc from "fast-check";
import t from "tap";
import type { Message } from "../../../src/mcp/message.ts";
import {
  checkMirrored,
  decodeMirrored,
  encodeMirrored,
  isParamHeader,
} from "../../../src/mcp/mirrored-headers.ts";

type Call = Extract<Message, { method: string }>;
const request = (method: string): Call => ({
  type: "request",
  id: "1",
  method,
  params: undefined,
  meta: undefined,
});
const notification: Call = {
  type: "notification",
  method: "notifications/x",
  params: undefined,
  meta: undefined,
};
const base64 = (bytes: string | Buffer) => `=?base64?${Buffer.from(bytes).toString("base64")}?=`;

t.test("headers that say what the body says", async (t) => {
  const cases: [headers: { method?: string; name?: string }, message: Call, name?: string][] = [
    [{ method: "tools/list" }, request("tools/list")],
    [{ method: " tools/list\t" }, request("tools/list")],
    [{ method: "tools/list", name: "whatever" }, request("tools/list")],
    [{ method: "tools/call", name: "x" }, request("tools/call"), "x"],
    [{ method: "tools/call", name: " a, b " }, request("tools/call"), "a, b"],
    [{ method: "tools/call", name: base64("x") }, request("tools/call"), "x"],
    [{ method: "tools/call", name: base64(" x ") }, request("tools/call"), " x "],
    [{ method: "tools/call", name: base64("") }, request("tools/call"), ""],
    [{ method: "tools/call", name: "" }, request("tools/call"), ""],
    [{ method: "tools/call", name: base64("=?base64?eA==?=") }, request("tools/call"), "=?base64?eA==?="],
    [{ method: "tools/call", name: "=?BASE64?eA==?=" }, request("tools/call"), "=?BASE64?eA==?="],
    [{ method: "resources/read", name: "=?base64?ZmlsZTovLy/QvtGC0YfRkdGC0Ysv0L/Qu9Cw0L0udHh0?=" }, request("resources/read"), "file:///отчёты/план.txt"], // biome-ignore format: one case, one line
    [{}, notification],
    [{ method: "notifications/x" }, notification],
  ];
  for (const [headers, message, name] of cases)
    t.doesNotThrow(() => checkMirrored({ headers, message, name }), JSON.stringify(headers));
});

t.test("headers that do not", async (t) => {
  const cases: [headers: { method?: string; name?: string }, header: string, message: Call, name?: string][] =
    [
      [{}, "Mcp-Method", request("tools/list")],
      [{ method: "" }, "Mcp-Method", request("tools/list")],
      [{ method: "Tools/list" }, "Mcp-Method", request("tools/list")],
      [{ method: "tools/list, tools/call" }, "Mcp-Method", request("tools/call"), "x"],
      [{ method: base64("tools/call"), name: "x" }, "Mcp-Method", request("tools/call"), "x"],
      [{ method: "tools/call" }, "Mcp-Name", request("tools/call"), "x"],
      [{ method: "tools/call" }, "Mcp-Name", request("tools/call"), ""],
      [{ method: "tools/call", name: "X" }, "Mcp-Name", request("tools/call"), "x"],
      [{ method: "tools/call", name: "" }, "Mcp-Name", request("tools/call"), "x"],
      [{ method: "tools/call", name: base64("") }, "Mcp-Name", request("tools/call"), "x"],
      [{ method: "tools/call", name: "x" }, "Mcp-Name", request("tools/call"), " x"],
      [
        { method: "tools/call", name: "=?base64?eA==?=" },
        "Mcp-Name",
        request("tools/call"),
        "=?base64?eA==?=",
      ],
      [{ method: "tools/call", name: "=?BASE64?eA==?=" }, "Mcp-Name", request("tools/call"), "x"],
      [{ method: "tools/call", name: "%78" }, "Mcp-Name", request("tools/call"), "x"],
      [{ method: "notifications/y" }, "Mcp-Method", notification],
    ];
  for (const [headers, header, message, name] of cases) {
    const check = () => checkMirrored({ headers, message, name });
    t.throws(check, { code: "header_mismatch", data: { header } }, `${JSON.stringify(headers)} for ${name}`);
  }
});

t.test("the base64 form is read strictly", async (t) => {
  const bad = [
    "=?base64?eA?=",
    "=?base64?eA=?=",
    "=?base64?eB==?=",
    "=?base64?eA===?=",
    "=?base64?e A==?=",
    "=?base64?_w==?=",
    "=?base64?eA==eA==?=",
    "=?base64?=",
    base64(Buffer.from("ff", "hex")),
    base64(Buffer.from("eda080", "hex")),
    "x\u0000",
    "x\r\nMcp-Name: y",
    "naïve",
    "x\u007f",
  ];
  for (const value of bad) t.equal(decodeMirrored(value), undefined, JSON.stringify(value));
  t.equal(decodeMirrored("=?base64?eA=="), "=?base64?eA==", "without its end it is a plain value");
  t.equal(decodeMirrored(base64("\ufeffx")), "\ufeffx", "a byte order mark is part of the name");
});

t.test("what we send can be read again and is safe", async (t) => {
  t.equal(encodeMirrored("read_note"), "read_note");
  t.equal(encodeMirrored("a, b"), "a, b");
  t.equal(encodeMirrored(""), "=?base64??=");
  t.equal(encodeMirrored(" x"), base64(" x"));
  t.equal(encodeMirrored("x\t"), base64("x\t"));
  t.equal(encodeMirrored("a\r\nb"), base64("a\r\nb"));
  t.equal(encodeMirrored("=?base64?eA==?="), base64("=?base64?eA==?="));
  t.equal(encodeMirrored("=?BASE64?eA==?="), base64("=?BASE64?eA==?="));
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (name) => {
      const value = encodeMirrored(name);
      return /^[\x20-\x7e]+$/.test(value) && decodeMirrored(value) === name;
    }),
  );
});

t.test("parameter headers", async (t) => {
  for (const [name, value] of [
    ["Mcp-Param-Region", "eu"],
    ["mcp-param-x_1", ""],
    ["MCP-PARAM-A", "a\tb c"],
  ] as const)
    t.ok(isParamHeader(name.toLowerCase(), value), name);
  for (const [name, value] of [
    ["Mcp-Param-", "x"],
    ["Mcp-Param", "x"],
    ["X-Mcp-Param-A", "x"],
    ["Mcp-Param-a b", "x"],
    ["Mcp-Param-a:", "x"],
    ["Mcp-Param-é", "x"],
    ["Mcp-Param-A", "é"],
    ["Mcp-Param-A", "x\r\ny"],
    ["Mcp-Param-A\n", "x"],
  ] as const)
    t.notOk(isParamHeader(name, value), JSON.stringify([name, value]));
});
