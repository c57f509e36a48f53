/** What the console holds of audit records: bounded by count and size, paged, and nothing while it is off. */
import t from "tap";
import type { AuditRecord } from "../../../src/audit/record.ts";
import { Recorder, watched } from "../../../src/console/recorder.ts";

const record = (more: Partial<AuditRecord> = {}): AuditRecord => ({
  type: "audit",
  time: "2026-12-01T09:00:00.000Z",
  requestId: "00000000-0000-4000-8000-000000000000",
  route: "/mcp",
  outcome: "complete",
  latencyMs: 1,
  ...more,
});
const ALL = { records: 10_000, characters: 1e9 };
const open = (bounds = { records: 100, characters: 1e6 }, on = () => true) =>
  new Recorder(on, () => 5_000, bounds);

t.test("the newest stay, the oldest go, and numbers go on", async (t) => {
  const recorder = open({ records: 100, characters: 1e6 });
  for (let at = 0; at < 1_000; at++) {
    recorder.take(record());
    t.ok(recorder.report().held <= 100);
  }
  const { held, dropped } = recorder.report();
  t.equal(held + dropped, 1_000);
  t.ok(held >= 90);
  const page = recorder.after(0, ALL);
  t.equal(page.at(-1)?.number, 1_000);
  t.equal(page[0]?.number, dropped + 1);
  t.equal(recorder.after(998, ALL).length, 2);
  t.same(recorder.after(1_000, ALL), []);
  t.same(recorder.after(5_000, ALL), []);
});

t.test("size is bounded too, also by one record that is larger than everything", async (t) => {
  const recorder = open({ records: 100, characters: 10_000 });
  for (let at = 0; at < 50; at++) {
    recorder.take(record({ target: { kind: "tool", name: "x".repeat(600) } }));
    t.ok(recorder.report().characters <= 10_000);
  }
  t.ok(recorder.report().held > 5);
  recorder.take(record({ policy: "y".repeat(20_000) }));
  t.same([recorder.report().held, recorder.report().characters], [0, 0]);
  recorder.take(record());
  t.equal(recorder.report().held, 1);
});

t.test("pages: by count and by size, and at least one record", async (t) => {
  const recorder = open();
  for (let at = 0; at < 10; at++) recorder.take(record());
  t.same(
    recorder.after(0, { records: 3, characters: 1e6 }).map(({ number }) => number),
    [1, 2, 3],
  );
  t.same(
    recorder.after(3, { records: 1e3, characters: 1 }).map(({ number }) => number),
    [4],
  );
});

t.test("arguments are left out, and everything that is not there is absent", async (t) => {
  const recorder = open();
  recorder.take(record({ arguments: '{"pin":"4711"}' }));
  t.notMatch(recorder.after(0, ALL)[0]?.text ?? "", /arguments|4711/);
});

t.test("off: nothing is held, and what was held is forgotten", async (t) => {
  let on = true;
  const recorder = open(undefined, () => on);
  recorder.take(record({ outcome: "refused", code: "unauthorized" }));
  on = false;
  recorder.take(record());
  t.match(recorder.report(), { held: 0, characters: 0 });
  t.equal(recorder.tallies.total, 0);
  on = true;
  recorder.take(record());
  t.equal(recorder.after(0, ALL)[0]?.number, 2, "a number is given out once");
});

t.test("a watched log writes as before", async (t) => {
  const written: unknown[] = [];
  const recorder = open();
  const losses = new Map([["stdout", 3]]);
  const log = watched(
    { write: (one) => void written.push(one), losses: () => losses, close: async () => undefined },
    recorder,
  );
  log.write(record());
  t.equal(written.length, 1);
  t.equal(log.losses(), losses);
  t.equal(recorder.report().held, 1);
  await log.close();
});

t.test("a flood of strangers pushes out strangers only, and the order is that of time", async (t) => {
  const recorder = open({ records: 100, characters: 1e6 });
  const principal = { issuer: "https://a.example", subject: "dana" };
  for (let at = 0; at < 50; at++) recorder.take(record({ principal }));
  for (let at = 0; at < 5_000; at++) recorder.take(record({ outcome: "refused", code: "unauthorized" }));
  recorder.take(record({ principal, policy: "last" }));
  const numbers = recorder.after(0, ALL).map(({ number }) => number);
  t.equal(numbers.filter((number) => number <= 50).length, 50);
  t.ok(numbers.length <= 61);
  t.same(
    numbers,
    numbers.toSorted((a, b) => a - b),
  );
  t.equal(numbers.at(-1), 5_051);
  t.equal(recorder.after(5_049, ALL).length, 2);
});
