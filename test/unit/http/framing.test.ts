import type { IncomingMessage } from "node:http";
import t, { type Test } from "tap";
import { Refusal } from "../../../src/errors.ts";
import {
  acceptsAnswers,
  checkMediaTypes,
  mediaType,
  readHeaders,
  waitsForContinue,
} from "../../../src/http/framing.ts";

const request = (rawHeaders: string[], httpVersionMajor = 1, httpVersionMinor = 0) =>
  ({ rawHeaders, httpVersionMajor, httpVersionMinor }) as IncomingMessage;

function refuses(t: Test, run: () => unknown, code: string, detail: string, name?: string): void {
  try {
    run();
    t.fail(`${name ?? detail}: was not refused`);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    t.same([error.code, error.detail], [code, detail], name ?? detail);
  }
}

t.test("names in lower case, values as sent, lists joined", async (t) => {
  const headers = readHeaders(
    request(["HOST", "a", "Accept", "text/html", "accept", "*/*", "Mcp-Name", " x ", "X-A", "1", "x-a", "1"]),
  );
  t.same(Object.fromEntries(headers), {
    host: "a",
    accept: "text/html, */*",
    "mcp-name": " x ",
    "x-a": "1, 1",
  });
  t.equal(readHeaders(request([])).size, 0);
  t.equal(readHeaders(request(["__proto__", "x"])).get("__proto__"), "x");
});

t.test("a header that stands for one thing stands once", async (t) => {
  for (const name of [
    ...[
      "Authorization",
      "content-encoding",
      "Content-Length",
      "content-type",
      "HOST",
      "last-event-id",
      "Origin",
    ],
    ...["traceparent", "transfer-encoding"],
  ]) {
    for (const second of ["a", "b", ""])
      refuses(
        t,
        () => readHeaders(request([name, "a", name.toUpperCase(), second])),
        "malformed_http",
        "repeated_header",
        name,
      );
  }
  for (const name of ["Mcp-Method", "mcp-name", "MCP-SESSION-ID", "Mcp-Param-Region", "Mcp-Unknown"])
    refuses(
      t,
      () => readHeaders(request([name, "a", name.toLowerCase(), "a"])),
      "header_mismatch",
      "repeated_header",
      name,
    );
});

t.test("the version may be repeated if it is the same", async (t) => {
  const twice = ["MCP-Protocol-Version", "2026-07-28", "mcp-protocol-version"];
  t.equal(readHeaders(request([...twice, "2026-07-28"])).get("mcp-protocol-version"), "2026-07-28");
  for (const other of ["2025-11-25", "2026-07-28 ", ""])
    refuses(t, () => readHeaders(request([...twice, other])), "header_mismatch", "repeated_header", other);
});

t.test("Connection names no header that the protocol needs", async (t) => {
  for (const value of [
    ...[
      "authorization",
      "Close, Content-Type",
      "mcp-name",
      "x,\tMCP-Protocol-Version ",
      "accept",
      "mcp-param-a",
    ],
    ...["host", "origin", "content-length", "transfer-encoding"],
  ])
    refuses(
      t,
      () => readHeaders(request(["connection", value])),
      "malformed_http",
      "connection_names_header",
      value,
    );
  refuses(
    t,
    () => readHeaders(request(["connection", "close", "Connection", "mcp-method"])),
    "malformed_http",
    "connection_names_header",
    "on a second line",
  );
  for (const value of ["close", "keep-alive, Upgrade", "x-mcp-name", ",,", ""])
    readHeaders(request(["connection", value]));
});

t.test("one version of HTTP and one transfer coding", async (t) => {
  for (const major of [0, 2, 3])
    refuses(t, () => readHeaders(request([], major)), "malformed_http", "http_version");
  refuses(t, () => readHeaders(request(["x-host", "a"], 1, 1)), "malformed_http", "no_host");
  readHeaders(request(["Host", ""], 1, 1));
  for (const coding of ["gzip", "gzip, chunked", "chunked, chunked", "identity", "xchunked", ""])
    refuses(
      t,
      () => readHeaders(request(["transfer-encoding", coding])),
      "malformed_http",
      "transfer_coding",
      coding,
    );
  readHeaders(request(["Transfer-Encoding", " Chunked ", "Host", "a"], 1, 1));
  refuses(
    t,
    () => readHeaders(request(["Transfer-Encoding", "chunked"], 1, 0)),
    "malformed_http",
    "transfer_coding",
    "no chunks on 1.0",
  );
});

t.test("who waits for a 100", async (t) => {
  const waits = (minor: number, ...expectations: string[]) => {
    const message = request(["Host", "a", ...expectations.flatMap((value) => ["Expect", value])], 1, minor);
    return waitsForContinue(message, readHeaders(message));
  };
  t.equal(waits(1, "100-continue"), true);
  t.equal(waits(1, "100-Continue"), true);
  t.equal(waits(1, "x", "100-continue"), true);
  t.equal(waits(0, "100-continue"), false, "a 1.0 client does not know of it");
  t.equal(waits(1), false);
  t.equal(waits(1, "200-ok"), false);
});

const BOTH = "application/json, text/event-stream";
const media = (type: string | undefined, coding?: string) => () =>
  checkMediaTypes(
    new Map(
      Object.entries({ "content-type": type, "content-encoding": coding }).filter(
        (entry): entry is [string, string] => entry[1] !== undefined,
      ),
    ),
  );

t.test("Content-Type is JSON in UTF-8, uncoded", async (t) => {
  for (const type of [
    "application/json",
    "APPLICATION/JSON",
    "application/json; charset=utf-8",
    'application/json;charset="UTF-8"; x=y',
    "application/json;",
    "application/json ; Charset=utf8",
  ])
    t.doesNotThrow(media(type), type);
  for (const type of [
    undefined,
    "",
    "text/json",
    "application/jsonx",
    "application/json-rpc",
    "application/x-www-form-urlencoded",
    "text/plain; application/json",
    "application/json, text/plain",
    "application/json; charset=utf-16",
    "application/json; charset=",
  ])
    refuses(t, media(type), "unsupported_media_type", "media_type", String(type));
  t.doesNotThrow(media("application/json", " Identity"));
  refuses(t, () => readHeaders(request(["x-host", "a"], 1, 1)), "malformed_http", "no_host");
  readHeaders(request(["Host", ""], 1, 1));
  for (const coding of ["gzip", "identity, gzip", "br"])
    refuses(t, media("application/json", coding), "unsupported_media_type", "content_coding", coding);
});

t.test("Accept takes both forms of an answer", async (t) => {
  for (const accept of [
    BOTH,
    "text/event-stream,application/json",
    "*/*",
    "application/*, text/*",
    "Application/JSON;q=0.1, text/EVENT-stream; q=1",
    "text/html, */*;q=0.8",
  ])
    t.ok(acceptsAnswers(new Map([["accept", accept]])), accept);
  for (const accept of [
    "",
    "application/json",
    "text/event-stream",
    "application/json, text/event-stream;q=0",
    "application/json;q=0.000, text/event-stream",
    "*/*;q=0",
    "application/*",
    "application/jsonx, text/event-streams",
  ])
    t.notOk(acceptsAnswers(new Map([["accept", accept]])), accept);
  t.notOk(acceptsAnswers(new Map()));
});

t.test("a media type and its parameters", async (t) => {
  const { type, parameters } = mediaType(' Text/HTML ;A="B" ; c=d;e ');
  t.equal(type, "text/html");
  t.same(Object.fromEntries(parameters), { a: "b", c: "d" });
});
