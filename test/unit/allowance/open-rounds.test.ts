import t from "tap";
import { OpenRounds } from "../../../src/allowance/open-rounds.ts";

const NOW = 1_798_000_000_000;
const exp = NOW / 1000 + 600;

t.test("chains that cannot be counted are too many; people are not refused for addresses", async (t) => {
  let now = NOW;
  const rounds = new OpenRounds(undefined, () => now, { addresses: 3, people: 2 });
  const count = (caller: string): number => {
    const view = rounds.look(caller);
    view.end();
    return view.count();
  };
  for (let i = 0; i < 10; i++) rounds.opened(`a-${i}`, { chain: "x", exp }, true);
  t.equal(count("a-99"), Number.POSITIVE_INFINITY);
  t.equal(count("p-1"), 0);
  rounds.opened("p-1", { chain: "x", exp }, true);
  t.equal(count("p-1"), 1);
  rounds.closed("a-0", "x");
  t.equal(count("a-99"), 0, "one has ended");
  rounds.closed("a-0", "x");
  rounds.closed("a-nobody", "x");
  rounds.opened("a-5", { chain: "y", exp }, true);
  t.equal(count("a-99"), Number.POSITIVE_INFINITY, "and was counted once");
  now += 600_000;
  t.equal(count("a-99"), 0, "all have expired");
});

t.test("a chain is one, however often it is sealed, and lives by its last state", async (t) => {
  let now = NOW;
  const rounds = new OpenRounds(undefined, () => now);
  rounds.opened("p-1", { chain: "x", exp }, true);
  rounds.opened("p-1", { chain: "x", exp: exp + 600 }, false);
  const view = rounds.look("p-1");
  t.equal(view.count(), 1);
  now += 700_000;
  t.equal(view.count(), 1);
  now += 600_000;
  t.equal(view.count(), 0);
  view.end();
});
