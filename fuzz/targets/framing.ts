/** The watch over chunk lines: of sound requests it says nothing, and it says the same however their bytes are cut. */
import { ChunkLines } from "../../src/http/chunk-lines.ts";
import { randomOf } from "../random.ts";
import { same, type Target } from "../target.ts";

const HEAD = "POST /mcp HTTP/1.1\r\nHost: a\r\n";
const CODED = `${HEAD}Transfer-Encoding: chunked\r\n\r\n`;
const BODIES = [
  "",
  "x",
  "1;a\r\n",
  "0\r\n\r\n",
  "\r\n\r\n",
  CODED,
  "POST / HTTP/1.1\r\n\r\n",
  "y".repeat(300),
];

/** Messages that were sound when they were made, behind a byte that says so; a mutation of them is judged by cuts only. */
export const framing: Target = {
  name: "framing",
  promise: "no sound request is held against a client, and one verdict at any cuts",
  seeds: [
    `${CODED}1\r\nx\r\n0\r\n\r\n`,
    `${HEAD}Content-Length: 1\r\n\r\nx`,
    `${CODED}1;a\r\nx\r\n0\r\n\r\n`,
  ].map((text) => Buffer.from(text)),
  dictionary: [
    HEAD,
    CODED,
    "\r\n",
    "\r",
    "\n",
    ";a=b",
    ";",
    "0\r\n\r\n",
    "1\r\nx\r\n",
    "Content-Length: 5\r\n",
    "transfer-encoding:",
    "A: b\r\n",
    "f",
    "00",
  ],
  generate(random) {
    const texts = Array.from({ length: 1 + random.below(4) }, () => {
      const body = random.pick(BODIES);
      if (random.oneIn(2)) return `${HEAD}Content-Length: ${body.length}\r\n\r\n${body}`;
      const chunks = random.shuffle(BODIES.filter((one) => one !== "")).slice(0, random.below(4));
      const size = (text: string): string => `${random.oneIn(3) ? "00" : ""}${text.length.toString(16)}`;
      const trailers = random.oneIn(3) ? "A: b;c\r\n" : "";
      return `${CODED}${chunks.map((chunk) => `${size(chunk)}\r\n${chunk}\r\n`).join("")}0\r\n${trailers}\r\n`;
    });
    return Buffer.from(texts.join(random.oneIn(4) ? "\r\n" : ""));
  },
  check(input) {
    const random = randomOf(input);
    const whole = isFine([input]);
    const cuts = Array.from({ length: random.below(8) }, () => random.below(input.length + 1));
    const edges = [0, ...cuts.sort((a, b) => a - b), input.length];
    same(isFine(edges.slice(1).map((end, i) => input.subarray(edges[i], end))), whole, "in pieces");
    same(isFine([...input].map((byte) => Buffer.of(byte))), whole, "byte by byte");
    const expected = reference(input.toString("latin1"));
    if (expected !== undefined) same(whole, expected, "by the grammar");
  },
};

function isFine(pieces: readonly Buffer[]): boolean {
  const lines = new ChunkLines();
  return pieces.reduce((fine, piece) => lines.feed(piece) && fine, true);
}

const MESSAGE =
  /^(?:\r\n)*POST \/mcp HTTP\/1\.1\r\nHost: a\r\n(?:(Transfer-Encoding: chunked)|Content-Length: ([0-9]{1,4}))\r\n\r\n/;
const CHUNK = /^([0-9a-f]{1,8})(;[^\r\n]*)?\r\n/;

/** Whether whole messages hold a chunk extension; undefined for bytes that are no messages in their plainest form. */
function reference(text: string): boolean | undefined {
  let rest = text;
  let isPlain = true;
  while (rest !== "") {
    const head = MESSAGE.exec(rest);
    if (head === null) return undefined;
    rest = rest.slice(head[0].length);
    if (head[1] === undefined) {
      const length = Number(head[2]);
      if (rest.length < length) return undefined;
      rest = rest.slice(length);
      continue;
    }
    for (let size = -1; size !== 0; ) {
      const line = CHUNK.exec(rest);
      if (line === null) return undefined;
      size = Number.parseInt(line[1] ?? "", 16);
      isPlain &&= line[2] === undefined;
      rest = rest.slice(line[0].length);
      if (size === 0) break;
      if (rest.length < size + 2 || rest.slice(size, size + 2) !== "\r\n") return undefined;
      rest = rest.slice(size + 2);
    }
    const trailers = /^(?:[^\r\n]+\r\n)*\r\n/.exec(rest);
    if (trailers === null) return undefined;
    rest = rest.slice(trailers[0].length);
  }
  return isPlain;
}
