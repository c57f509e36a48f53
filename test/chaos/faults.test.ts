import t from "tap";
import { type Fault, makeFaults } from "../../chaos/faults.ts";
import { Random } from "../../fuzz/random.ts";

const CALM = { least: 0, most: 1 };

t.test("a fault that cannot be made ends the making, and whoever stops it hears why", async (t) => {
  const reached = Promise.withResolvers<void>();
  const broken: Fault = {
    name: "broken",
    async run() {
      reached.resolve();
      throw new Error("no such process");
    },
  };
  const making = makeFaults([broken], new Random(1), CALM);
  await reached.promise;
  await t.rejects(making.stop(), { message: "no such process" });
  t.equal(making.failed(), true);
});

t.test("faults that could be made are counted by name", async (t) => {
  const names = ["one", "two"];
  const turned = Promise.withResolvers<void>();
  let runs = 0;
  const faults = names.map((name) => ({
    name,
    run: async () => void (++runs === 2 && turned.resolve()),
  }));
  const making = makeFaults(faults, new Random(1), CALM);
  await turned.promise;
  const made = await making.stop();
  t.equal(making.failed(), false);
  t.ok(names.every((name) => (made.get(name) ?? 0) >= 1));
});
