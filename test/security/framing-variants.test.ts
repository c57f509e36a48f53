/** One framing, written in the one way: folded lines, bare line ends and chunk extensions, wherever they can stand. */
import t, { type Test } from "tap";
import { BODY, call, chunked, head } from "../integration/raw-requests.ts";
import { asksOnce } from "../integration/rounds.ts";
import { startGateway } from "../support/gateway.ts";
import { startUpstream } from "../support/upstream.ts";
import { rawExchange, statuses } from "./raw.ts";

const upstream = await startUpstream(asksOnce);
t.teardown(() => upstream.close());
const gateway = await startGateway(upstream.url);
t.teardown(() => gateway.close(0));

/** An honest call that hides behind the bytes in doubt, in the same write. */
const BEHIND = call(BODY, "Connection: close");

async function refuses(t: Test, text: string, name: string): Promise<void> {
  const before = upstream.arrived.length;
  const back = await rawExchange(gateway.url, text + BEHIND);
  t.same(statuses(back), [400], name);
  t.match(back, /"reason":"malformed_http"/);
  t.equal(upstream.arrived.length, before, `${name}: nothing went up`);
}

/** Every text that comes from `text` by writing `by` in the place of one of its line ends, from the offset `from` on. */
function* atEachLineEnd(text: string, by: string, from = 0): Generator<[string, number]> {
  for (let at = text.indexOf("\r\n", from); at !== -1; at = text.indexOf("\r\n", at + 2)) {
    yield [text.slice(0, at) + by + text.slice(at + 2), at];
  }
}

const LENGTH = call();
const CHUNKS = chunked(400, "0\r\nX-Trailer: 1\r\n\r\n");

t.test("honest: both are served as they are, and so is what is behind them", async (t) => {
  for (const text of [LENGTH, CHUNKS, chunked(1), chunked(BODY.length)]) {
    const before = upstream.arrived.length;
    t.same(statuses(await rawExchange(gateway.url, text + BEHIND)), [200, 200]);
    t.same(
      upstream.arrived.slice(before).map(({ body }) => body),
      [BODY, BODY],
    );
  }
});

for (const [name, by] of [
  ["a bare line feed", "\n"],
  ["a bare carriage return", "\r"],
  ["two carriage returns", "\r\r\n"],
  ["a line feed before", "\n\r\n"],
] as const) {
  t.test(`${name} for a line end`, async (t) => {
    for (const [text, at] of atEachLineEnd(LENGTH, by))
      await refuses(t, text, `at ${at} of a call with a length`);
    for (const [text, at] of atEachLineEnd(CHUNKS, by, head([]).length)) {
      await refuses(t, text, `at ${at} of a call in chunks`);
    }
  });
}

t.test("a folded line, behind every line of a head and of trailers", async (t) => {
  for (const fold of ["\r\n ", "\r\n\t", "\r\n  x\r\n", "\r\n \r\n"]) {
    const ends = [...atEachLineEnd(head([`Content-Length: ${BODY.length}`]), fold)];
    // Behind the empty line stands the body.
    for (const [text, at] of ends.slice(0, -1))
      await refuses(t, text + BODY, `${JSON.stringify(fold)} at ${at}`);
    await refuses(t, chunked(400, `0\r\nX: 1${fold}Y: 2\r\n\r\n`), `${JSON.stringify(fold)} in trailers`);
  }
});

t.test("a chunk extension, on every chunk", async (t) => {
  for (const extension of [
    ";a",
    ";a=b",
    ';a="b"',
    ';a="b;\\"c"',
    ";",
    ";;",
    "; a=b",
    " ;a",
    ";a\n",
    ";a=b;c=d",
  ]) {
    for (const size of [1, 100, BODY.length]) {
      const text = chunked(size);
      const lines = [...text.slice(head([]).length).matchAll(/^([0-9a-f]+)\r$/gm)];
      for (const line of [lines.at(0), lines.at(-1)]) {
        const at = head([]).length + (line?.index ?? 0) + (line?.[1]?.length ?? 0);
        await refuses(t, text.slice(0, at) + extension + text.slice(at), `${extension} at ${at}`);
      }
    }
  }
});

t.test("a chunk size that is no plain number", async (t) => {
  const text = chunked(BODY.length);
  const size = BODY.length.toString(16);
  for (const spelt of [
    ` ${size}`,
    `${size} `,
    `${size}\t`,
    `+${size}`,
    `0x${size}`,
    "",
    `${size}.`,
    `${"0".repeat(20)}${size}`,
    "-1",
  ]) {
    await refuses(t, text.replace(`\r\n\r\n${size}\r\n`, `\r\n\r\n${spelt}\r\n`), JSON.stringify(spelt));
  }
});

/** Heads that are refused for what they say of the body: what is behind them is nobody's request. */
const IN_DOUBT: Readonly<Record<string, readonly string[]>> = {
  "a coding before the chunks": ["Transfer-Encoding: gzip, chunked"],
  "chunks twice": ["Transfer-Encoding: chunked, chunked"],
  "a coding on two lines": ["Transfer-Encoding: chunked", "Transfer-Encoding: chunked"],
  "two hosts": ["Transfer-Encoding: chunked", "Host: 127.0.0.1"],
  "two media types": ["Transfer-Encoding: chunked", "Content-Type: application/json"],
};

t.test("what is pipelined behind a framing in doubt is not served, on any path", async (t) => {
  for (const [name, lines] of Object.entries(IN_DOUBT)) {
    for (const path of ["/mcp", "/elsewhere", "/.well-known/oauth-protected-resource/mcp"]) {
      const text = chunked(400).replace("Transfer-Encoding: chunked", lines.join("\r\n"));
      await refuses(t, text.replace("/mcp", path), `${name} ${path}`);
    }
  }
  await refuses(t, chunked(400).replace("HTTP/1.1", "HTTP/1.0"), "chunks of HTTP/1.0");
  await refuses(t, call().replace("HTTP/1.1", "HTTP/2.0"), "HTTP/2.0");
});

t.test("more headers than the parsed list would hold", async (t) => {
  const many = Array.from({ length: 2_500 }, () => "a:");
  const text = call(BODY, ...many, "Connection: close");
  t.same(statuses(await rawExchange(gateway.url, text)), [200]);
  await refuses(t, call(BODY, ...many, "Host: 127.0.0.1"), "a second host at the end");
});
