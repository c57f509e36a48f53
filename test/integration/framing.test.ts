/** HTTP that is odd or broken: always an answer in JSON with a request id that stands in the log. */
import { connect } from "node:net";
import t from "tap";
import { mirrored, startGateway } from "../support/gateway.ts";
import { startUpstream } from "../support/upstream.ts";
import { asksOnce, TRANSFER, textOf } from "./rounds.ts";

const upstream = await startUpstream(asksOnce);
t.teardown(() => upstream.close());
const gateway = await startGateway(upstream.url);
t.teardown(() => gateway.close(0));
const CLOSE = "connection: close";
const BODY = textOf("1", TRANSFER);
const HEADERS = Object.entries({ ...mirrored(TRANSFER), "content-length": String(BODY.length) })
  .map(([name, value]) => `${name}: ${value}\r\n`)
  .join("");

/** Writes bytes on a connection of its own; gives all that comes back. A client that ends its side has left. */
const raw = (text: string, { leave = true } = {}): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(gateway.url).port), "127.0.0.1");
    let back = "";
    socket.on("data", (piece: Buffer) => {
      back += piece.toString();
    });
    socket.on("close", () => resolve(back)).on("error", reject);
    if (leave) socket.end(text);
    else socket.write(text);
  });

const post = (version: string, ...lines: string[]): string =>
  `POST /mcp HTTP/${version}\r\n${lines.map((line) => `${line}\r\n`).join("")}${HEADERS}\r\n${BODY}`;

t.test("refused in JSON, with a request id", async (t) => {
  for (const [name, text, status, reason] of [
    ["no Host", post("1.1"), 400, "malformed_http"],
    ["no Host on 1.0", post("1.0"), 421, "misdirected_host"],
    ["an empty Host", post("1.1", "host:"), 421, "misdirected_host"],
    ["no HTTP", "\x16\x03\x01 hello\r\n\r\n", 400, "malformed_http"],
    ["a broken header", post("1.1", "host: 127.0.0.1", "no colon"), 400, "malformed_http"],
    ["a header too large", post("1.1", "host: 127.0.0.1", `x: ${"a".repeat(20_000)}`), 431, "malformed_http"],
    ["two lengths", post("1.1", "host: 127.0.0.1", "content-length: 1"), 400, "malformed_http"],
    [
      "length and chunks",
      post("1.1", "host: 127.0.0.1", "transfer-encoding: chunked"),
      400,
      "malformed_http",
    ],
    ["a path that cannot be decoded", "POST /mcp%zz HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n", 404, "not_found"],
    ["another method", "PATCH /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n", 405, "method_not_allowed"],
  ] as const) {
    const back = await raw(text);
    t.match(back, new RegExp(`^HTTP/1\\.1 ${status} `), name);
    const body = JSON.parse(back.slice(back.indexOf("\r\n\r\n") + 4));
    t.match(body, { jsonrpc: "2.0", id: null, error: { data: { reason } } }, name);
    const { requestId } = body.error.data;
    t.match(back.toLowerCase(), `x-request-id: ${requestId}`);
    t.match(gateway.logged(), requestId, `${name}: in the log`);
  }
  t.equal(upstream.arrived.length, 0);
});

t.test("odd but served", async (t) => {
  for (const [name, text] of [
    ["HTTP/1.0", post("1.0", "host: 127.0.0.1")],
    ["an expectation to go on", post("1.1", "host: 127.0.0.1", CLOSE, "expect: 100-continue")],
    ["an expectation that means nothing", post("1.1", "host: 127.0.0.1", CLOSE, "expect: 200-ok")],
    [
      "an upgrade that is not taken up",
      post("1.1", "host: 127.0.0.1", "connection: upgrade, close", "upgrade: websocket"),
    ],
    ["the absolute form", post("1.1", "host: 127.0.0.1", CLOSE).replace("/mcp", "http://127.0.0.1/mcp")],
  ] as const) {
    const back = await raw(text, { leave: false });
    t.match(back, /(?:^|\r\n\r\n)HTTP\/1\.1 200 /, name);
    t.match(back, '"resultType":"input_required"', name);
  }
});
