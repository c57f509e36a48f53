import { EventEmitter } from "node:events";
import type { ServerResponse } from "node:http";
import t, { type Test } from "tap";
import { Refusal } from "../../../src/errors.ts";
import type { BodySink, UpstreamResponse } from "../../../src/upstream/dispatch.ts";
import { type EventVerdict, relayStream } from "../../../src/upstream/stream.ts";
import { underClock } from "../../support/clock.ts";

/** Where a reply is written by hand: `full` makes it a client that does not read. */
class Raw extends EventEmitter {
  headersSent = false;
  destroyed = false;
  full = false;
  isEnded = false;
  written = "";
  writeHead(): void {
    this.headersSent = true;
  }
  flushHeaders(): void {}
  write(bytes: Buffer): boolean {
    this.written += bytes.toString();
    return !this.full;
  }
  end(): void {
    this.isEnded = true;
  }
}

/** The upstream's side of a relay: hand it pieces of a body. */
class Source implements UpstreamResponse {
  readonly status = 200;
  readonly headers = {};
  sink: BodySink | undefined;
  resumed = 0;
  aborted = 0;
  collect = async (): Promise<Buffer> => Buffer.alloc(0);
  pipe(sink: BodySink): void {
    this.sink = sink;
  }
  resume(): void {
    this.resumed += 1;
  }
  abort(): void {
    this.aborted += 1;
  }
  data(text: string): boolean | undefined {
    return this.sink?.data(Buffer.from(text));
  }
}

/** `answer` is final, `drop` is not passed on, all else is. */
const plain = ({ data }: { data: Buffer }): EventVerdict => ({
  write: data.toString() === "drop" ? undefined : Buffer.from(`<${data}>`),
  final: data.toString() === "answer",
});

function setUp(t: Test, judge: (event: { data: Buffer }) => EventVerdict = plain, mayEnd = false) {
  const raw = new Raw();
  const source = new Source();
  const stop = new AbortController();
  let opened = 0;
  const { built: done, clock } = underClock(() =>
    relayStream(
      source,
      { raw: raw as unknown as ServerResponse, headers: {}, printRefusal: ({ code }) => code },
      judge,
      { maxEventBytes: 1000, stop: stop.signal, mayEnd },
      () => {
        opened += 1;
      },
    ),
  );
  t.teardown(() => clock.restore());
  done.catch(() => undefined);
  return { raw, source, stop, done, opened: () => opened, tick: clock.tick };
}

t.test("the head waits a second, no longer", (t) => {
  const { raw, opened, tick } = setUp(t);
  tick(999);
  t.equal(raw.headersSent, false);
  tick(1);
  t.equal(raw.headersSent, true);
  t.equal(opened(), 1);
  t.end();
});

t.test("an event that is dropped does not open the head; one that passes and a comment do", (t) => {
  for (const [text, opens] of [
    ["data: drop\n\n", false],
    ["data: x\n\n", true],
    [": c\n", true],
  ] as const) {
    const { raw, source } = setUp(t);
    source.data(text);
    t.equal(raw.headersSent, opens, text);
  }
  t.end();
});

t.test("after every 15 seconds of silence the gateway says something itself", (t) => {
  const { raw, source, tick } = setUp(t);
  source.data("data: x\n\n");
  tick(14_999);
  t.equal(raw.written, "<x>");
  tick(1);
  t.equal(raw.written, "<x>: keep-alive\n\n");
  tick(30_000);
  t.equal(raw.written, `<x>${": keep-alive\n\n".repeat(3)}`);
  t.end();
});

t.test("nothing is said after the end, whatever comes", async (t) => {
  const { raw, source, stop, done, tick } = setUp(t);
  source.data("data: x\n\ndata: answer\n\ndata: y\n\n: c\n");
  t.same(await done, { delivered: true, refusal: undefined });
  t.equal(source.data("data: z\n\n"), true);
  source.sink?.end();
  source.sink?.fail(new Refusal("upstream_unreachable", "connection_lost"));
  stop.abort(new Refusal("cancelled", "client_left"));
  tick(60_000);
  t.equal(raw.written, "<x><answer>");
  t.equal(raw.isEnded, true);
  t.ok(source.aborted > 0);
  t.equal(raw.listenerCount("drain"), 0);
});

t.test("a client that does not read pauses the upstream until it has read", (t) => {
  const { raw, source } = setUp(t);
  t.equal(source.data("data: x\n\n"), true);
  raw.full = true;
  t.equal(source.data("data: y\n\n"), false);
  t.equal(source.data("data: dr"), false, "still");
  raw.full = false;
  raw.emit("drain");
  t.equal(source.resumed, 1);
  t.equal(source.data("op\n\n"), true);
  t.end();
});

t.test("a keep-alive that fills the client's side pauses too", (t) => {
  const { raw, source, tick } = setUp(t);
  raw.full = true;
  tick(15_000);
  t.equal(source.data("data: drop\n\n"), false);
  t.end();
});

const REFUSED: [string, (source: Source, stop: AbortController) => void, string][] = [
  ["a judge's refusal", (source) => source.data("data: refuse\n\n"), "missing_capability"],
  ["a judge's mistake", (source) => source.data("data: break\n\n"), "internal"],
  ["an event too large", (source) => source.data(`data: ${"x".repeat(1001)}`), "upstream_fault"],
  ["an end without an answer", (source) => source.sink?.end(), "upstream_fault"],
  [
    "a broken connection",
    (source) => source.sink?.fail(new Refusal("upstream_timeout", "x")),
    "upstream_timeout",
  ],
  ["a shutdown", (_source, stop) => stop.abort(new Refusal("shutting_down", "x")), "shutting_down"],
];

const judge = (event: { data: Buffer }): EventVerdict => {
  if (event.data.toString() === "refuse") throw new Refusal("missing_capability", "x");
  if (event.data.toString() === "break") throw new TypeError("SECRET");
  return plain(event);
};

for (const [name, happen, code] of REFUSED) {
  t.test(`${name} is thrown before the head and the last event after it`, async (t) => {
    const before = setUp(t, judge);
    happen(before.source, before.stop);
    await t.rejects(before.done, { code });
    t.equal(before.raw.written, "");
    t.equal(before.opened(), 0);
    before.tick(60_000);
    t.equal(before.raw.headersSent, false);

    const after = setUp(t, judge);
    after.source.data("data: x\n\n");
    happen(after.source, after.stop);
    t.match(await after.done, { delivered: true, refusal: { code } });
    t.equal(after.raw.written, `<x>event: message\ndata: ${code}\n\n`);
    t.equal(after.raw.isEnded, true);
    t.ok(after.source.aborted > 0);
  });
}

t.test("a stream that may end needs no answer", async (t) => {
  const { source, done, raw } = setUp(t, plain, true);
  source.sink?.end();
  t.same(await done, { delivered: true, refusal: undefined });
  t.equal(raw.headersSent && raw.isEnded, true);
});

t.test("a client that has gone is written nothing more", async (t) => {
  const { raw, source, stop, done, opened } = setUp(t);
  raw.destroyed = true;
  stop.abort(new Refusal("cancelled", "client_left"));
  t.same(await done, { delivered: false, refusal: undefined });
  t.equal(raw.written, "");
  t.equal(opened(), 1, "the framework writes nothing either");
  t.ok(source.aborted > 0);
});

t.test("a client that had gone before the relay began", async (t) => {
  const raw = new Raw();
  raw.destroyed = true;
  const source = new Source();
  const done = await relayStream(
    source,
    { raw: raw as unknown as ServerResponse, headers: {}, printRefusal: () => "" },
    plain,
    { maxEventBytes: 1, stop: AbortSignal.abort(new Refusal("cancelled", "x")), mayEnd: false },
    () => undefined,
  );
  t.same(done, { delivered: false, refusal: undefined });
  t.equal(source.sink?.data(Buffer.from("data: x\n\n")), true, "what still comes is let through to nobody");
  t.equal(raw.written, "");
});
