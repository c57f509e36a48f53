/** The framer of event streams beside a plain reading of the standard, at any cuts. */
import { isUtf8 } from "node:buffer";
import { createSseParser, EventStreamError, printEvent } from "../../src/sse.ts";
import { randomOf } from "../random.ts";
import { attempt, same, type Target } from "../target.ts";

const MAX_EVENT_BYTES = 120;
const WORDS = [
  ...[
    "data:",
    "data: ",
    "data",
    "event:",
    "event: message",
    "id: 1",
    "retry: 5",
    ":",
    ": c",
    "x: y",
    "\n",
    "\r",
    "\r\n",
    "\n\n",
    "\r\r",
    "\r\n\r\n",
  ],
  ...[
    "\ufeff",
    "\u00e9",
    "\ud83d\ude00",
    "\u0000",
    " ",
    '{"a":1}',
    "y".repeat(50),
    "\u2028",
    "\u0085",
    "\u000b",
  ],
];

export const events: Target = {
  name: "events",
  promise: "the events of a stream are those of the standard, however it is cut; no event is over the bound",
  seeds: ["", "data: a\n\n", ": c\r\ndata: a\rdata:b\n\r", "\ufeffevent: x\nid: 7\nretry: 1\ndata\n\n"].map(
    (text) => Buffer.from(text),
  ),
  dictionary: WORDS,
  generate: (random) =>
    Buffer.from(Array.from({ length: random.below(30) }, () => random.pick(WORDS)).join("")),
  check(input) {
    const random = randomOf(input);
    const whole = read([input]);
    const cuts = Array.from({ length: random.below(8) }, () => random.below(input.length + 1));
    const edges = [0, ...cuts.sort((a, b) => a - b), input.length];
    same(read(edges.slice(1).map((end, i) => input.subarray(edges[i], end))), whole, "in pieces");
    same(read([...input].map((byte) => Buffer.of(byte))), whole, "byte by byte");
    const isFault = /^fault: /m.test(whole);
    if (!isFault) same(whole, reference(input.toString("utf8")), "by the standard");
    same(isFault || !hasBrokenLine(input), true, "a line that is no UTF-8 is a fault");
    const text = input.toString("utf8").replaceAll(/\r\n|\r/g, "\n");
    if (!text.includes("\ufffd")) {
      const [printed] = collect([printEvent(input)], 1 << 20).data;
      // Line ends of other standards leave as escapes.
      const escaped = text.replaceAll("\u0085", "\\u0085").replaceAll(/[\u2028\u2029]/g, (end) => end === "\u2028" ? "\\u2028" : "\\u2029"); // biome-ignore format: one expression
      same(printed?.toString(), escaped, "printed and read again");
    }
  },
};

/** What a stream says, as one text. */
function read(pieces: readonly Buffer[]): string {
  const { seen, data } = collect(pieces, MAX_EVENT_BYTES);
  for (const { length } of data) same(length <= MAX_EVENT_BYTES, true, "data within the bound");
  return seen.join("\n");
}

function collect(pieces: readonly Buffer[], maxEventBytes: number): { seen: string[]; data: Buffer[] } {
  const seen: string[] = [];
  const data: Buffer[] = [];
  const parser = createSseParser({
    maxEventBytes,
    onEvent(event) {
      data.push(event.data);
      seen.push(say(event.type, event.data.toString("utf8"), event.id, event.retry));
    },
    onComment: (comment) => seen.push(`comment ${JSON.stringify(comment.toString("utf8"))}`),
  });
  const outcome = attempt(() => {
    for (const piece of pieces) parser.feed(piece);
  }, EventStreamError);
  seen.push("error" in outcome ? `fault: ${outcome.error.fault}` : `cut off: ${parser.end()}`);
  return { seen, data };
}

function say(type: string, data: string, id: string | undefined, retry: string | undefined): string {
  return `event ${JSON.stringify([type, data, id ?? null, retry ?? null])}`;
}

/** Whether a line that has ended is no UTF-8. */
function hasBrokenLine(input: Buffer): boolean {
  const lines = input.toString("latin1").split(/[\r\n]/);
  return lines.slice(0, -1).some((line) => !isUtf8(Buffer.from(line, "latin1")));
}

/** WHATWG HTML, section 9.2.6, on text. */
function reference(stream: string): string {
  const seen: string[] = [];
  const lines = stream.replace(/^\ufeff/, "").split(/\r\n|\r|\n/);
  const rest = lines.pop() ?? "";
  let data: string[] = [];
  let field: Readonly<Partial<Record<"type" | "id" | "retry", string>>> = {};
  let isOpen = false;
  for (const line of lines) {
    const [, name = line, value = ""] = /^([^:]*):(?: )?(.*)$/s.exec(line) ?? [];
    if (line === "") {
      if (data.length > 0) seen.push(say(field.type || "message", data.join("\n"), field.id, field.retry));
      data = [];
      field = {};
      isOpen = false;
    } else if (line.startsWith(":")) {
      seen.push(`comment ${JSON.stringify(line.slice(1))}`);
    } else {
      isOpen = true;
      if (name === "data") data.push(value);
      if (name === "event") field = { ...field, type: value };
      if (name === "id" && !value.includes("\0")) field = { ...field, id: value };
      if (name === "retry" && /^[0-9]{1,9}$/.test(value)) field = { ...field, retry: value };
    }
  }
  // A mark that is all there is of a line is still a line that was begun.
  const isCut = isOpen || rest !== "" || (lines.length === 0 && stream !== "");
  return [...seen, `cut off: ${isCut}`].join("\n");
}
