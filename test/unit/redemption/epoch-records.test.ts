import t from "tap";
import { EpochRecords } from "../../../src/redemption/epoch-records.ts";
import { LOOK_SECONDS } from "../../../src/redemption/server-clock.ts";
import type { Connection } from "../../../src/redis/connection.ts";

const LINK = {} as Connection;
const START = 1_000;

/** Records of one server, all told. */
function told(count: number): EpochRecords {
  const keys = Array.from({ length: count }, (_, index) => `{${index}}`);
  const records = new EpochRecords(keys, () => LINK);
  for (const record of records.all) Object.assign(record, { value: "e", teller: LINK });
  return records;
}

/** The longest time without a look at some record, in seconds, where a look begins each time that `next` tells of the one before. */
function longest(records: EpochRecords, next: (second: number) => number): number {
  const last = new Map(records.all.map(({ key }) => [key, START]));
  let worst = 0;
  for (
    let before = START, second = next(START);
    second < START + 1_000;
    before = second, second = next(second)
  ) {
    for (const { key } of records.due(LINK, second, second - before)) {
      worst = Math.max(worst, second - (last.get(key) ?? 0));
      last.set(key, second);
    }
  }
  return Math.max(worst, ...[...last.values()].map((second) => START + 1_000 - second));
}

t.test("each second a sixteenth is due, and in sixteen all of it", async (t) => {
  const records = told(256);
  t.equal(records.due(LINK, START, 1).length, 256 / LOOK_SECONDS);
  t.ok(longest(records, (second) => second + 1) <= LOOK_SECONDS);
});

t.test("a second without a look leaves nothing out", async (t) => {
  const records = told(256);
  for (const step of [2, 3, 5, 7])
    t.ok(longest(records, (second) => second + step) < LOOK_SECONDS + step, `every ${step} s`);
  t.ok(longest(records, (second) => second + (second % 4) + 1) < LOOK_SECONDS + 4, "now and then");
  t.equal(records.due(LINK, START, 100).length, 256, "after a long time all of it");
});

t.test("what was not told, or not well, is due in each second; few are always", async (t) => {
  const records = told(256);
  const [first, second] = records.all;
  Object.assign(first ?? {}, { teller: undefined });
  Object.assign(second ?? {}, { failure: "error" });
  for (let at = START; at < START + LOOK_SECONDS; at++) {
    const due = records.due(LINK, at, 1);
    t.ok(first !== undefined && second !== undefined && due.includes(first) && due.includes(second));
  }
  t.equal(told(LOOK_SECONDS - 1).due(LINK, START, 1).length, LOOK_SECONDS - 1);
});
