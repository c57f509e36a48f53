/** C27: two framings in one request, and bytes that hide a second one. */
import t from "tap";
import { rawExchange, statuses } from "./raw.ts";
import { answers, DONE, request, setScene } from "./scene.ts";

const scene = await setScene(t, { script: answers(DONE) });
const { url } = scene.gateway;
const body = request('"name":"read_note"');
const hidden = request('"name":"delete_note"');
const head = (name: string, ...more: string[]): string =>
  [
    "POST /mcp HTTP/1.1",
    "Host: gateway.test",
    "Content-Type: application/json",
    "Accept: application/json, text/event-stream",
    "MCP-Protocol-Version: 2026-07-28",
    "Mcp-Method: tools/call",
    `Mcp-Name: ${name}`,
    ...more,
    "",
    "",
  ].join("\r\n");
const second = `${head("delete_note", `Content-Length: ${hidden.length}`, "Connection: close")}${hidden}`;
const chunked = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`;
const length = `Content-Length: ${body.length}`;

/** Framing headers, and the bytes that follow them. */
const MESSAGES: readonly (readonly [string, readonly string[], string])[] = [
  ["a length and chunks", ["Content-Length: 4", "Transfer-Encoding: chunked"], chunked(body)],
  ["chunks and a length", ["Transfer-Encoding: chunked", "Content-Length: 4"], chunked(body)],
  ["the true length and chunks", [length, "Transfer-Encoding: chunked"], body],
  ["a length and chunks in another case", [length, "transfer-encoding: CHUNKED"], body],
  ["a length and a coding nobody knows", [length, "Transfer-Encoding: xchunked"], body],
  ["a length and an empty coding", [length, "Transfer-Encoding: "], body],
  ["chunks, then another coding", ["Transfer-Encoding: chunked, gzip"], chunked(body)],
  ["chunks twice", ["Transfer-Encoding: chunked, chunked"], chunked(body)],
  ["chunks on two lines", ["Transfer-Encoding: chunked", "Transfer-Encoding: chunked"], chunked(body)],
  ["chunks and identity", ["Transfer-Encoding: chunked", "Transfer-Encoding: identity"], chunked(body)],
  ["a coding before the chunks", ["Transfer-Encoding: gzip, chunked"], chunked(body)],
  ["a comma after", ["Transfer-Encoding: chunked,"], chunked(body)],
  ["a comma before", ["Transfer-Encoding: ,chunked"], chunked(body)],
  ["a parameter", ["Transfer-Encoding: chunked;q=1"], chunked(body)],
  ["quotes", ['Transfer-Encoding: "chunked"'], chunked(body)],
  ["a vertical tab", ["Transfer-Encoding: \u000bchunked"], chunked(body)],
  ["a space before the colon", ["Transfer-Encoding : chunked"], chunked(body)],
  ["a folded line", ["Transfer-Encoding:\r\n chunked"], chunked(body)],
  ["a NUL after", ["Transfer-Encoding: chunked\0"], chunked(body)],
  ["two lengths", ["Content-Length: 4", "Content-Length: 40"], body],
  ["one length twice", [length, length], body],
  ["a list of lengths", [`Content-Length: ${body.length}, ${body.length}`], body],
  ["a plus sign", [`Content-Length: +${body.length}`], body],
  ["a minus sign", ["Content-Length: -1"], body],
  ["hexadecimal", ["Content-Length: 0x10"], body],
  ["an underscore", ["Content-Length: 1_0"], body],
  ["no number", ["Content-Length: four"], body],
  ["past 64 bits", ["Content-Length: 18446744073709551620"], body],
  ["a bare line feed between headers", ["X: y\nContent-Length: 4"], body],
  ["a bare carriage return in a value", [`X: y\rContent-Length: 4`, length], body],
  ["a chunk size with a sign", ["Transfer-Encoding: chunked"], `+5\r\n12345\r\n0\r\n\r\n`],
  ["a chunk size with 0x", ["Transfer-Encoding: chunked"], `0x5\r\n12345\r\n0\r\n\r\n`],
  ["a chunk that ends in a bare line feed", ["Transfer-Encoding: chunked"], `5\n12345\n0\n\n`],
  ["a chunk longer than it says", ["Transfer-Encoding: chunked"], `5\r\n1234567\r\n0\r\n\r\n`],
  ["a chunk extension", ["Transfer-Encoding: chunked"], chunked(body).replace("\r\n", ";a=b\r\n")],
  [
    "a chunk extension on the last",
    ["Transfer-Encoding: chunked"],
    chunked(body).replace("\n0\r", "\n0;a\r"),
  ],
  ["a chunk size past 64 bits", ["Transfer-Encoding: chunked"], `ffffffffffffffff1\r\n1\r\n0\r\n\r\n`],
];

for (const [name, framing, bytes] of MESSAGES) {
  t.test(name, async (t) => {
    const before = scene.bytesUp();
    const answer = await rawExchange(url, head("read_note", ...framing), bytes, second);
    t.equal(scene.bytesUp(), before, "not a byte went up");
    t.same(statuses(answer), [400], "one refusal, then the connection is closed");
    t.notMatch(answer, /llhttp|HPE_|Parse Error/, "nothing of the parser's own words");
  });
}

t.test(
  "what follows the last request of a connection, or a length that is too short, is no call",
  async (t) => {
    const before = scene.upstream.arrived.length;
    await rawExchange(url, head("read_note", "Connection: close", length), `${body}${second}`);
    const cut = await rawExchange(url, head("read_note", "Content-Length: 4"), body);
    t.same(new Set(statuses(cut)), new Set([400]));
    const names = scene.upstream.arrived.slice(before).map(({ json }) => json.params.name);
    t.notOk(names.includes("delete_note"));
  },
);

t.test(
  "honest: chunks, in any size and case, arrive as one body with the gateway's own length",
  async (t) => {
    const several = `3\r\n${body.slice(0, 3)}\r\n${(body.length - 3).toString(16).toUpperCase()}\r\n${body.slice(3)}\r\n0\r\nX-Trailer: 1\r\n\r\n`;
    for (const [coding, bytes] of [
      ["Chunked", chunked(body)],
      ["chunked", several],
      // White space around a value is not part of it (RFC 9110 section 5.5).
      ["\tchunked", chunked(body)],
    ] as const) {
      const framing = [`Transfer-Encoding:${coding}`, "Connection: close"];
      t.same(statuses(await rawExchange(url, head("read_note", ...framing), bytes)), [200]);
      const arrived = scene.upstream.arrived.at(-1);
      t.equal(arrived?.body, body);
      t.equal(arrived?.headers["content-length"], String(body.length));
      t.equal(arrived?.headers["transfer-encoding"], undefined);
      t.equal(arrived?.headers["x-trailer"], undefined);
    }
  },
);

t.test("honest: two calls behind one another on a connection are two calls, each judged", async (t) => {
  const before = scene.upstream.arrived.length;
  const answer = await rawExchange(url, `${head("read_note", length)}${body}`, second);
  t.same(statuses(answer), [200, 200]);
  t.same(
    scene.upstream.arrived.slice(before).map(({ json }) => json.params.name),
    ["read_note", "delete_note"],
  );
});

/** Another host in the target, which then counts (RFC 9112 section 3.2.2), and targets that are no route. */
const TARGETS: readonly (readonly [string, number])[] = [
  ["http://evil.example/mcp", 421],
  ["http://evil.example:80/mcp", 421],
  ["http://gateway.test@evil.example/mcp", 421],
  ["http://x@gateway.test/mcp", 421],
  ["HTTPS://evil.example/mcp", 421],
  ["//evil.example/mcp", 404],
  ["/mcp/../admin", 404],
  ["/mcp%00", 404],
  ["/MCP", 404],
  ["/mcp/", 404],
  ["/mcp;x", 404],
  ["/mcp\\", 404],
  ["/%", 404],
  ["mcp", 400],
  ["*", 404],
];

t.test("request targets", async (t) => {
  const post = (target: string): Promise<string> => {
    const text = head("read_note", length, "Connection: close");
    return rawExchange(url, text.replace("POST /mcp", `POST ${target}`), body);
  };
  for (const [target, status] of TARGETS) {
    const before = scene.bytesUp();
    t.same(statuses(await post(target)), [status], target);
    t.equal(scene.bytesUp(), before, target);
  }
  for (const target of ["/mcp", "http://gateway.test/mcp", "HTTP://GATEWAY.TEST:8080/mcp", "/mcp?x=/admin"]) {
    t.same(statuses(await post(target)), [200], target);
  }
  t.equal(scene.upstream.arrived.at(-1)?.method, "POST");
});

t.test("versions and methods of HTTP", async (t) => {
  const before = scene.bytesUp();
  for (const line of [
    "CONNECT gateway.test:443 HTTP/1.1",
    "POST /mcp HTTP/2.0",
    "POST /mcp",
    "PRI * HTTP/2.0",
    "post /mcp HTTP/1.1",
  ]) {
    const text = head("read_note", length, "Connection: close").replace("POST /mcp HTTP/1.1", line);
    const answer = await rawExchange(url, text, body);
    t.notMatch(answer, /HTTP\/1\.1 (2|50[0-4])/, line);
    t.equal(scene.bytesUp(), before, line);
  }
});
