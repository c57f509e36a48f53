/** A short run of chaos on one Redis, and proof that a run sees what it looks for. `npm run chaos` makes long ones. */
import t from "tap";
import { run } from "../../chaos/run.ts";

const SHORT = { store: "standalone", seed: 20_260_728, attempts: 500, seconds: 40 } as const;

t.setTimeout(280_000);

t.test("no state is carried out twice, and everybody is told what to do", async (t) => {
  const { tally, faults, executions, faultsFound } = await run(SHORT);
  t.same(faultsFound, []);
  t.ok(executions > 0, `${executions} of ${tally.issued} states were carried out`);
  t.ok(tally.attempts > executions, `${tally.attempts} requests brought a state`);
  t.ok(faults.size > 0, `${faults.size} kinds of faults were made`);
});

t.test("without epochs such a run finds states that were carried out twice", async (t) => {
  const only = /flushed|comes back empty/;
  const { twice, faultsFound } = await run({ ...SHORT, epoch: "off", only });
  t.not(twice.length, 0);
  t.not(faultsFound.length, 0);
});
