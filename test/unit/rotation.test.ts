import t from "tap";
import { type RingView, rotationFaults } from "../../src/rotation.ts";

const ring = (seals: string, ...others: string[]): RingView => ({
  seals,
  names: new Set([seals, ...others]),
});

t.test("a rotation in order has no faults", async (t) => {
  const steps = [ring("old"), ring("old", "new"), ring("new", "old"), ring("new")];
  for (const [index, after] of steps.slice(1).entries()) {
    t.same(rotationFaults(steps[index] ?? ring(""), after, 3), []);
  }
});

t.test("what is out of order", async (t) => {
  t.match(
    rotationFaults(ring("old"), ring("new", "old"), 2),
    [/was not in the ring before/],
    "promoted first",
  );
  t.match(
    rotationFaults(ring("old", "new"), ring("new"), 2),
    [/that sealed before is not in the ring/],
    "removed at once",
  );
  t.match(
    rotationFaults(ring("old"), ring("new"), 2),
    [/was not in the ring/, /is not in the ring any more/],
    "replaced",
  );
});

t.test(
  "one process takes up a whole ring at once: it may add and promote in one step, not replace",
  async (t) => {
    t.same(rotationFaults(ring("old"), ring("new", "old"), 1), []);
    t.match(rotationFaults(ring("old"), ring("new"), 1), [/is not in the ring any more/]);
  },
);
