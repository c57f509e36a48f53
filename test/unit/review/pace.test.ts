import t from "tap";
import { createPace } from "../../../src/review/pace.ts";

function fakeClock(): {
  now(): number;
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  readonly slept: number[];
} {
  let now = 1_000;
  const slept: number[] = [];
  return {
    now: () => now,
    async sleep(ms) {
      slept.push(ms);
      now += ms;
    },
    slept,
  };
}

t.test("requests go no faster than the rate", async (t) => {
  const clock = fakeClock();
  const pace = createPace(10, clock, new AbortController().signal);
  for (let request = 0; request < 4; request += 1) await pace();
  t.strictSame(clock.slept, [100, 100, 100]);
});

t.test("those that are asked for at once go at once, and the next one waits for all of them", async (t) => {
  const clock = fakeClock();
  const pace = createPace(10, clock, new AbortController().signal);
  await Promise.all([pace(), pace(), pace()]);
  t.strictSame(clock.slept, []);
  await pace();
  t.strictSame(clock.slept, [300]);
});

t.test("nothing goes once it is stopped, also not those that wait", async (t) => {
  const controller = new AbortController();
  const clock = fakeClock();
  const pace = createPace(
    1,
    {
      ...clock,
      sleep: () =>
        new Promise((_, no) =>
          controller.signal.addEventListener("abort", () => no(controller.signal.reason)),
        ),
    },
    controller.signal,
  );
  await pace();
  const waiting = pace();
  await new Promise(setImmediate);
  controller.abort(new Error("stopped"));
  await t.rejects(waiting, { message: "stopped" });
  await t.rejects(pace(), { message: "stopped" });
});
