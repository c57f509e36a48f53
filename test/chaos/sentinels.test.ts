/** A short run of chaos on a master and a replica with three Sentinels: failovers, split, lost marks. */
import t from "tap";
import { run } from "../../chaos/run.ts";

t.setTimeout(280_000);

t.test("no state is carried out twice, and everybody is told what to do", async (t) => {
  const { tally, faults, executions, faultsFound } = await run({
    store: "sentinels",
    seed: 20_260_728,
    attempts: 500,
    seconds: 40,
  });
  t.same(faultsFound, []);
  t.ok(executions > 0, `${executions} of ${tally.issued} states were carried out`);
  t.ok(tally.attempts > executions, `${tally.attempts} requests brought a state`);
  t.ok(faults.size > 0, `${faults.size} kinds of faults were made`);
});
