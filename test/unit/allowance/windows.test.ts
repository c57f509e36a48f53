import t from "tap";
import { Windows } from "../../../src/allowance/windows.ts";

const RATE = { points: 3, per: 3_600_000 };

t.test("so many pass, the rest is told how long to wait, without being counted", async (t) => {
  let now = 1_000;
  const windows = new Windows(undefined, () => now);
  for (let i = 0; i < RATE.points; i++) t.equal(await windows.count(RATE, "a", "requests"), 0);
  t.ok(windows.blockedFor(RATE, "a", "requests") > 3_599_000, "known as soon as the last one has passed");
  const wait = await windows.count(RATE, "a", "requests");
  t.ok(wait > 3_599_000 && wait <= 3_600_000, `${wait}`);
  t.equal(await windows.count(RATE, "b", "requests"), 0, "another caller");
  t.equal(await windows.count(RATE, "a", "polls"), 0, "another count of the same");
  now += 3_600_001;
  t.equal(windows.blockedFor(RATE, "a", "requests"), 0, "a new window");
});

t.test("a changed rate holds at once", async (t) => {
  const windows = new Windows(undefined, () => 0);
  for (let i = 0; i < 4; i++) await windows.count(RATE, "a", "requests");
  const more = { ...RATE, points: 5 };
  t.equal(windows.blockedFor(more, "a", "requests"), 0);
  t.equal(await windows.count(more, "a", "requests"), 0);
});

t.test("people beyond the bound share one count, and nobody before them is touched", async (t) => {
  const windows = new Windows(undefined, () => 0, { addresses: 0, people: 2 });
  t.equal(await windows.count(RATE, "p-a", "requests"), 0);
  t.equal(await windows.count(RATE, "p-b", "requests"), 0);
  const passed: number[] = [];
  for (let i = 0; i < 50; i++) if ((await windows.count(RATE, `p-x${i}`, "requests")) === 0) passed.push(i);
  t.equal(passed.length, RATE.points, "as many as for one caller, together");
  t.equal(await windows.count(RATE, "p-a", "requests"), 0);
  t.equal(await windows.count(RATE, "p-b", "requests"), 0);
});

t.test("addresses beyond the bound share one count, and no person is among them", async (t) => {
  let now = 0;
  const windows = new Windows(undefined, () => now, { addresses: 2, people: 100 });
  const passes = async (caller: string) => (await windows.count(RATE, caller, "requests")) === 0;
  t.same([await passes("a-1"), await passes("a-2")], [true, true]);
  const passed: number[] = [];
  for (let i = 0; i < 50; i++) if (await passes(`a-x${i}`)) passed.push(i);
  t.equal(passed.length, RATE.points);
  t.ok(windows.blockedFor(RATE, "a-y", "requests") > 0, "also whoever has not come yet");
  t.same([await passes("a-1"), await passes("p-1"), await passes("p-2")], [true, true, true]);
  now += RATE.per + 1;
  t.ok(await passes("a-y"), "in the next window there is room");
});
