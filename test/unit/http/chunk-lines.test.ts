import { strictEqual } from "node:assert/strict";
import fc from "fast-check";
import t from "tap";
import { ChunkLines } from "../../../src/http/chunk-lines.ts";

const HEAD = "POST /mcp HTTP/1.1\r\nHost: a\r\n";
const CHUNKED = `${HEAD}Transfer-Encoding: chunked\r\n\r\n`;
const plain = (body: string): string => `${HEAD}Content-Length: ${body.length}\r\n\r\n${body}`;
const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`;

function isFine(pieces: readonly (string | Buffer)[]): boolean {
  const lines = new ChunkLines();
  return pieces.map((piece) => lines.feed(Buffer.from(piece))).at(-1) ?? true;
}

const bytewise = (text: string): Buffer[] => [...Buffer.from(text, "latin1")].map((byte) => Buffer.of(byte));

const FINE: Readonly<Record<string, string>> = {
  "no body": `GET / HTTP/1.1\r\nHost: a\r\n\r\n${plain("")}`,
  "no header at all": `GET / HTTP/1.1\r\n\r\n${plain("x")}`,
  "a body that looks like chunks": plain("5;a=b\r\nhello\r\n0\r\n\r\n"),
  "a body that looks like a request": plain(`${CHUNKED}5;a=b\r\nhello\r\n0\r\n\r\n`),
  "chunks that look like extensions": `${CHUNKED}${chunk(";a=b\r\n")}${chunk("0;a\r\n\r\n")}0\r\n\r\n`,
  "chunks that look like a request": `${CHUNKED}${chunk(`${CHUNKED}1;a\r\n`)}0\r\n\r\n`,
  "sizes in upper case and with zeros": `${CHUNKED}0000A\r\n0123456789\r\na\r\n0123456789\r\n000\r\n\r\n`,
  trailers: `${CHUNKED}${chunk("x")}0\r\nX-Sum: 1;a=b\r\nY: 2\r\n\r\n${plain("y")}`,
  "empty lines before a request": `\r\n\r\n${plain("x")}\r\n${CHUNKED}${chunk("x")}0\r\n\r\n`,
  "a header that only looks like one": `${HEAD}X: a\r\nX-Transfer-Encoding: chunked\r\nX: transfer-encoding: chunked\r\n\r\n`,
  "an unfinished head": HEAD,
  "an unfinished size": `${CHUNKED}5`,
};

const BROKEN: Readonly<Record<string, string>> = {
  "an extension": `${CHUNKED}1;a=b\r\nx\r\n0\r\n\r\n`,
  "an extension without a value": `${CHUNKED}1;a\r\n`,
  "an extension on a later chunk": `${CHUNKED}${chunk("x")}1;a\r\n`,
  "an extension on the last chunk": `${CHUNKED}${chunk("x")}0;a\r\n`,
  "an extension on a later request": `${plain("x")}${CHUNKED}${chunk("x")}0\r\n\r\n${CHUNKED}1;`,
  "an extension behind trailers": `${CHUNKED}0\r\nX: y\r\n\r\n${CHUNKED}0;`,
  "an extension of a coding in another case": `${HEAD}TRANSFER-encoding:chunked\r\n\r\n1;`,
  "no size": `${CHUNKED}\r\n`,
  "a space": `${CHUNKED}1 \r\n`,
  "a sign": `${CHUNKED}+1\r\n`,
  "a size that no number holds": `${CHUNKED}${"f".repeat(14)}\r\n`,
  "a bare line feed": `${CHUNKED}1\nx`,
  "a bare carriage return": `${CHUNKED}1\rx`,
  "a head without an end": `${HEAD}X: ${"x".repeat(40_000)}`,
};

t.test("one answer however the bytes are cut", async (t) => {
  for (const [table, expected] of [
    [FINE, true],
    [BROKEN, false],
  ] as const) {
    for (const [name, text] of Object.entries(table)) {
      t.equal(isFine([text]), expected, name);
      t.equal(isFine(bytewise(text)), expected, `${name}, byte by byte`);
      for (let at = 1; at < Math.min(text.length, 400); at++) {
        strictEqual(isFine([text.slice(0, at), text.slice(at)]), expected, `${name}, cut at ${at}`);
      }
    }
  }
});

t.test("what was broken once stays so", async (t) => {
  const lines = new ChunkLines();
  t.equal(lines.feed(Buffer.from(`${CHUNKED}1;`)), false);
  t.equal(lines.feed(Buffer.from(plain("x"))), false);
});

t.test("finds the one extension among any requests, and none where there is none", async () => {
  const text = fc.string({
    unit: fc.constantFrom("a", ";", "\r", "\n", "0", ":", " ", "1;a\r\n"),
    maxLength: 12,
  });
  const message = fc.oneof(
    text.map(plain),
    fc
      .tuple(fc.array(text.filter((one) => one !== "")), text)
      .map(([chunks]) => `${CHUNKED}${chunks.map(chunk).join("")}0\r\n\r\n`),
  );
  fc.assert(
    fc.property(
      fc.array(message),
      fc.boolean(),
      fc.array(fc.nat({ max: 2_000 })),
      (messages, isBroken, cuts) => {
        const stream = messages.join("") + (isBroken ? `${CHUNKED}${chunk("x")}1;x\r\n` : "");
        const edges = [0, ...cuts.filter((cut) => cut < stream.length).sort((a, b) => a - b), stream.length];
        strictEqual(isFine(edges.slice(1).map((end, i) => stream.slice(edges[i], end))), !isBroken);
      },
    ),
    { numRuns: 500 },
  );
});
