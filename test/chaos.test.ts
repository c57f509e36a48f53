/** A short run of chaos on each kind of store, and proof that a run sees what it looks for. `npm run chaos` is the long one. */
import t from "tap";
import { run, STORES } from "../chaos/run.ts";

const SEED = 20_260_728;

t.setTimeout(110_000);

for (const store of Object.keys(STORES) as (keyof typeof STORES)[]) {
  t.test(`${store}: no state is carried out twice, and everybody is told what to do`, async (t) => {
    const { tally, faults, executions, faultsFound } = await run({
      store,
      seed: SEED,
      attempts: 1_000,
      seconds: 45,
    });
    t.same(faultsFound, []);
    t.ok(executions > 0, `${executions} of ${tally.issued} states were carried out`);
    t.ok(tally.attempts > executions, `${tally.attempts} requests brought a state`);
    t.ok(faults.size > 3, `${faults.size} kinds of faults were made`);
  });
}

t.test("without epochs the same run finds states that were carried out twice", async (t) => {
  const { twice, faultsFound } = await run({
    store: "standalone",
    seed: SEED,
    attempts: 1_000,
    seconds: 45,
    epoch: "off",
    only: /flushed|comes back empty/,
  });
  t.not(twice.length, 0);
  t.not(faultsFound.length, 0);
});
