import fc from "fast-check";
import t from "tap";
import {
  createSseParser,
  EventStreamError,
  printComment,
  printEvent,
  printLegacyEvent,
  type SseEvent,
} from "../../src/sse.ts";

type Seen = [kind: string, text: string];

function read(chunks: readonly Uint8Array[], maxEventBytes = 1024): { seen: Seen[]; cut: boolean } {
  const seen: Seen[] = [];
  const parser = createSseParser({
    maxEventBytes,
    onEvent: ({ data, type }) => seen.push([type, data.toString()]),
    onComment: (comment) => seen.push([":", comment.toString()]),
  });
  for (const chunk of chunks) parser.feed(chunk);
  return { seen, cut: parser.end() };
}

const bytewise = (text: string | Buffer): Buffer[] => [...Buffer.from(text)].map((byte) => Buffer.of(byte));

const cases: [name: string, stream: string, seen: Seen[], cut: boolean][] = [
  ["one line", "data: a\n\n", [["message", "a"]], false],
  ["no space after the colon", "data:a\n\n", [["message", "a"]], false],
  ["only one space is taken", "data:  a\n\n", [["message", " a"]], false],
  ["several data lines", "data: a\ndata: b\n\n", [["message", "a\nb"]], false],
  ["CRLF", "data: a\r\ndata: b\r\n\r\n", [["message", "a\nb"]], false],
  ["CR alone", "data: a\rdata: b\r\r", [["message", "a\nb"]], false],
  ["line ends mixed", "data: a\rdata: b\r\n\ndata: c\n\r", [["message", "a\nb"], ["message", "c"]], false], // biome-ignore format: one case, one line
  ["byte order mark", "\ufeffdata: a\n\n", [["message", "a"]], false],
  ["byte order mark later is text", "\ufeff\n\ufeffdata: a\n\n", [], false],
  ["event type", "event: ping\ndata: a\n\n", [["ping", "a"]], false],
  ["event type does not carry over", "event: ping\n\ndata: a\n\n", [["message", "a"]], false],
  ["last event type wins", "event: x\nevent:\ndata: a\n\n", [["message", "a"]], false],
  ["comments", ":\n: hi\n:a:b\ndata: a\n\n", [[":", ""], [":", " hi"], [":", "a:b"], ["message", "a"]], false], // biome-ignore format: one case, one line
  [
    "comment between data lines",
    "data: a\n: c\ndata: b\n\n",
    [
      [":", " c"],
      ["message", "a\nb"],
    ],
    false,
  ],
  ["id and retry are read over", "id: 7\nretry: 10\ndata: a\n\n", [["message", "a"]], false],
  ["unknown and look-alike fields", "Data: x\ndatax: x\n data: x\ndataaaaaaa: x\ndata: a\n\n", [["message", "a"]], false], // biome-ignore format: one case, one line
  ["field without a colon", "data\ndata\n\n", [["message", "\n"]], false],
  ["priming event with empty data", "id: 1\ndata:\n\n", [["message", ""]], false],
  ["no data, no event", "event: x\nid: 1\n\n", [], false],
  ["blank lines", "\n\r\n\r\rdata: a\n\n\n\n", [["message", "a"]], false],
  ["colon in data", 'data: {"a":1}\n\n', [["message", '{"a":1}']], false],
  ["unterminated event is discarded", "data: a\n\ndata: b\n", [["message", "a"]], true],
  ["unterminated line is discarded", "data: a\n\ndata: b", [["message", "a"]], true],
  ["many characters of many bytes", "data: 北京 🌍 é\n\n", [["message", "北京 🌍 é"]], false],
  ["empty stream", "", [], false],
];

t.test("reads streams the same way however they are cut", async (t) => {
  for (const [name, stream, seen, cut] of cases) {
    const expected = { seen, cut };
    t.same(read([Buffer.from(stream)]), expected, name);
    t.same(read(bytewise(stream)), expected, `${name}, byte by byte`);
    for (let at = 0; at <= Buffer.byteLength(stream); at++) {
      const bytes = Buffer.from(stream);
      const halves = [bytes.subarray(0, at), Buffer.alloc(0), bytes.subarray(at)];
      t.same(read(halves), expected, `${name}, cut at ${at}`);
    }
  }
});

t.test("any text, any cut, one outcome", async () => {
  const piece = fc.constantFrom("data:", "data: ", "event: ", ":", "id", "\n", "\r", "\r\n", "x", "é", "🌍", " ", "\ufeff"); // biome-ignore format: one list
  fc.assert(
    fc.property(fc.array(piece), fc.array(fc.nat({ max: 60 })), (pieces, cuts) => {
      const bytes = Buffer.from(pieces.join(""));
      const edges = [0, ...cuts.filter((cut) => cut < bytes.length).sort((a, b) => a - b), bytes.length];
      const chunks = edges.slice(1).map((end, i) => bytes.subarray(edges[i], end));
      t.same(read(chunks), read([bytes]));
    }),
    { numRuns: 300 },
  );
});

t.test("what is printed is read back", async () => {
  fc.assert(
    fc.property(fc.array(fc.json()), (texts) => {
      const stream = Buffer.concat(texts.flatMap((text) => [printEvent(text), printComment("keep-alive")]));
      const seen = read([stream], 1 << 20).seen.filter(([kind]) => kind !== ":");
      t.same(
        seen,
        texts.map((text) => ["message", text]),
      );
    }),
    { numRuns: 100 },
  );
});

/** As Python's `str.splitlines` and others have it; JSON has none of the first five inside a line. */
const ANY_LINE_END = new RegExp(["\r\n", ..."\n\r\v\f\u001c\u001d\u001e\u0085\u2028\u2029"].join("|"));

t.test("no reader ends a line where it does not end", async (t) => {
  const forged = "x\u2028\u2028event: message\u2029data: {}\u0085\u0085";
  const text = JSON.stringify({ [forged]: [forged, "é\u2027\u202a\u0084\u0086", "\\\u2028"] });
  for (const data of [
    text,
    Buffer.from(text),
    text.replace("[", "[\n"),
    Buffer.from(text.replace("[", "[\r\n")),
  ]) {
    const printed = printEvent(data).toString();
    t.same(printed.split(ANY_LINE_END), printed.split("\n"), "the line ends are ours");
    const [[, seen = ""] = []] = read([Buffer.from(printed)]).seen;
    t.same(JSON.parse(seen), JSON.parse(text), "the value is the server's");
    t.match(printed, "é\u2027\u202a\u0084\u0086", "its neighbours stay");
  }
  fc.assert(
    fc.property(fc.json({ stringUnit: "binary" }), (text) => {
      const printed = printEvent(Buffer.from(text)).toString();
      t.equal(printed.split(ANY_LINE_END).length, 4);
      t.same(JSON.parse(printed.slice("event: message\ndata: ".length)), JSON.parse(text));
    }),
    { numRuns: 100 },
  );
});

t.test("prints one fixed form", async (t) => {
  t.equal(printEvent('{"a":1}').toString(), 'event: message\ndata: {"a":1}\n\n');
  t.equal(printEvent(Buffer.from('{"a":"é"}')).toString(), 'event: message\ndata: {"a":"é"}\n\n');
  const broken = 'event: message\ndata: {\ndata: "a":\ndata: 1\ndata: }\n\n';
  t.equal(printEvent('{\n"a":\r\n1\r}').toString(), broken);
  t.equal(printEvent(Buffer.from('{\n"a":\r\n1\r}')).toString(), broken);
  t.equal(printComment("keep-alive").toString(), ": keep-alive\n\n");
  t.equal(printComment("a\ndata: b").toString(), ": a\n: data: b\n\n", "a comment cannot become an event");
});

t.test("an event over the bound stops the stream for good", async (t) => {
  const tooLarge = (chunks: Buffer[]): void => {
    t.throws(() => read(chunks, 64), { name: "EventStreamError", fault: "event_too_large" });
  };
  const long = "x".repeat(80);
  tooLarge([Buffer.from(`data: ${long}\n\n`)]);
  tooLarge(bytewise(`data: ${long}`));
  tooLarge(bytewise(`: ${long}`));
  tooLarge(bytewise(`junk${long}`));
  tooLarge([Buffer.from("data: 12345678\n".repeat(10))]);
  tooLarge([Buffer.from("data\n".repeat(100))]);
  t.same(read([Buffer.from(`data: ${"x".repeat(58)}\n\n`)], 64).seen.length, 1, "exactly at the bound");
  t.same(
    read([Buffer.from(`: ${"y".repeat(50)}\n`.repeat(20))], 64).seen.length,
    20,
    "comments do not add up",
  );
  t.same(read([Buffer.from("data: 12345678\n\n".repeat(20))], 64).seen.length, 20, "events do not add up");

  const parser = createSseParser({ maxEventBytes: 8, onEvent: () => t.fail("no event after a fault") });
  t.throws(() => parser.feed(Buffer.from("data: 123456789")), EventStreamError);
  t.throws(() => parser.feed(Buffer.from("\n\ndata: 1\n\n")), EventStreamError, "also on later calls");
});

t.test("bytes that are not UTF-8 stop the stream", async (t) => {
  for (const bad of ["ff", "c3", "eda080", "c0af", "f0908d"]) {
    const stream = Buffer.concat([Buffer.from("data: "), Buffer.from(bad, "hex"), Buffer.from("\n\n")]);
    t.throws(() => read([stream]), { name: "EventStreamError", fault: "utf8" }, bad);
    t.throws(
      () => read([...stream].map((byte) => Buffer.of(byte))),
      { name: "EventStreamError", fault: "utf8" },
      `${bad}, byte by byte`,
    );
  }
});

t.test("an error of the receiver passes through", async (t) => {
  const parser = createSseParser({
    maxEventBytes: 64,
    onEvent: () => {
      throw new Error("receiver");
    },
  });
  t.throws(() => parser.feed(Buffer.from("data: 1\n\ndata: 2\n\n")), { message: "receiver" });
  t.throws(() => parser.feed(Buffer.from("data: 3\n\n")), { message: "receiver" });
});

t.test("the data handed out stays as it was", async (t) => {
  const kept: Buffer[] = [];
  const parser = createSseParser({ maxEventBytes: 64, onEvent: ({ data }) => kept.push(data) });
  const chunk = Buffer.from("data: one\n\n");
  parser.feed(chunk);
  chunk.fill(0);
  parser.feed(Buffer.from("data: two\n\n"));
  t.same(kept.map(String), ["one", "two"]);
});

t.test("id and retry of older revisions", async (t) => {
  const events = (stream: string): Omit<SseEvent, "data">[] => {
    const seen: Omit<SseEvent, "data">[] = [];
    const parser = createSseParser({
      maxEventBytes: 64,
      onEvent: ({ type, id, retry }) => seen.push({ type, id, retry }),
    });
    for (const byte of Buffer.from(stream)) parser.feed(Buffer.of(byte));
    return seen;
  };
  t.same(events("id: 7\nretry: 10\ndata:\n\ndata: a\n\n"), [
    { type: "message", id: "7", retry: "10" },
    { type: "message", id: undefined, retry: undefined },
  ]);
  t.match(events("id: a\u0000b\nretry: 1s\ndata: a\n\n"), [{ id: undefined, retry: undefined }], "malformed");
  const event = { data: Buffer.from('{\n"a":1}'), type: "x", id: "7", retry: "10" };
  const printed = 'event: x\nid: 7\nretry: 10\ndata: {\ndata: "a":1}\n\n';
  t.equal(printLegacyEvent(event).toString(), printed);
  t.equal(
    printLegacyEvent({ ...event, data: Buffer.alloc(0), id: undefined, retry: undefined }).toString(),
    "event: x\ndata: \n\n",
  );
});
