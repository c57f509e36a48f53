/** Spans go out in batches, nobody waits for it, and each span is counted once, whatever becomes of it. */
import t, { type Test } from "tap";
import { SpanExporter, type SpanOutcome } from "../../../src/telemetry/exporter.ts";
import { KIND, type Span } from "../../../src/telemetry/span.ts";
import { recordingLog } from "../../support/authentication.ts";
import { type Collector, startCollector } from "../../support/otlp.ts";

const SPAN: Span = {
  traceId: "0af7651916cd43dd8448eb211c80319c",
  spanId: "b7ad6b7169203331",
  name: "tools/call pay",
  kind: KIND.server,
  start: 1_790_000_000_000.25,
  end: 1_790_000_000_001.5,
  attributes: { text: "t\ud800", number: 7, part: 0.5, yes: true, absent: undefined },
  failed: false,
};
const spans = (count: number): Span[] => Array.from({ length: count }, () => SPAN);

interface Scene {
  readonly exporter: SpanExporter;
  readonly counted: Record<SpanOutcome, number>;
  readonly log: ReturnType<typeof recordingLog>;
}

function open(t: Test, endpoint: string, closeWithin?: number): Scene {
  const counted = { exported: 0, dropped: 0, rejected: 0, lost: 0 };
  const log = recordingLog();
  const exporter = new SpanExporter({
    ...{
      endpoint,
      headers: { "x-api-key": "geheim-4711" },
      resource: { "service.name": "s" },
      version: "1",
      log,
    },
    count: (outcome, count) => {
      counted[outcome] += count;
    },
    ...(closeWithin === undefined ? {} : { closeWithin }),
  });
  t.teardown(() => exporter.close());
  return { exporter, counted, log };
}

async function collector(t: Test): Promise<Collector> {
  const started = await startCollector();
  t.teardown(() => started.close());
  return started;
}

t.test("what is written is sent at the end, in the form that collectors take", async (t) => {
  const taken = await collector(t);
  const { exporter, counted } = open(t, taken.url);
  exporter.add(spans(3));
  await exporter.close();
  t.same(taken.wrong, []);
  t.equal(taken.headers[0]?.["x-api-key"], "geheim-4711");
  t.match(taken.spans, [{ attributes: { text: "t\ufffd", number: "7", part: "0.5", yes: "true" } }, {}, {}]);
  t.match(
    taken.bodies[0],
    '"startTimeUnixNano":"1790000000000250000","endTimeUnixNano":"1790000000001500000"',
  );
  t.notOk("absent" in (taken.spans[0]?.attributes ?? {}));
  t.same(counted, { exported: 3, dropped: 0, rejected: 0, lost: 0 });
});

t.test("a full batch does not wait, and is no larger than one", async (t) => {
  const taken = await collector(t);
  const { exporter } = open(t, taken.url);
  const arrival = taken.arrival();
  exporter.add(spans(1_100));
  await arrival;
  await exporter.close();
  t.same(
    taken.bodies.map((body) => body.split('"traceId"').length - 1),
    [512, 512, 76],
  );
});

t.test(
  "a collector that says nothing: what does not fit is dropped, and the end does not wait",
  async (t) => {
    const taken = await collector(t);
    taken.silent = true;
    const { exporter, counted } = open(t, taken.url, 20);
    const arrival = taken.arrival();
    exporter.add(spans(512));
    await arrival;
    exporter.add(spans(2_048));
    exporter.add(spans(3));
    t.equal(counted.dropped, 3);
    await exporter.close();
    t.equal(counted.exported, 0);
    t.equal(counted.lost, 512 + 2_048);
    exporter.add(spans(1));
    t.equal(counted.dropped, 4, "after the end");
  },
);

t.test("what a collector does not take", async (t) => {
  for (const [answer, expected] of [
    [{ status: 400 }, { exported: 0, rejected: 0, lost: 2 }],
    [{ status: 307 }, { exported: 0, rejected: 0, lost: 2 }],
    [{ status: 503 }, { exported: 0, rejected: 0, lost: 2 }],
    [
      { status: 200, body: '{"partialSuccess":{"rejectedSpans":"1"}}' },
      { exported: 1, rejected: 1, lost: 0 },
    ],
    [
      { status: 200, body: '{"partialSuccess":{"rejectedSpans":99}}' },
      { exported: 0, rejected: 2, lost: 0 },
    ],
    [
      { status: 200, body: '{"partialSuccess":{"rejectedSpans":-5}}' },
      { exported: 2, rejected: 0, lost: 0 },
    ],
    [
      { status: 200, body: "<html>" },
      { exported: 2, rejected: 0, lost: 0 },
    ],
  ] as const) {
    const taken = await collector(t);
    taken.answers = [answer];
    const { exporter, counted } = open(t, taken.url);
    exporter.add(spans(2));
    await exporter.close();
    t.match(counted, { ...expected, dropped: 0 }, JSON.stringify(answer));
  }
});

t.test("a collector that is away: told once, without the key", async (t) => {
  const taken = await startCollector();
  await taken.close();
  const { exporter, counted, log } = open(t, `${taken.url}?token=geheim`);
  exporter.add(spans(2));
  await exporter.close();
  t.equal(counted.lost, 2);
  const text = JSON.stringify(log.lines);
  t.match(text, "traces are not taken, requests go on");
  t.match(text, "ECONNREFUSED");
  t.notMatch(text, "geheim");
});
