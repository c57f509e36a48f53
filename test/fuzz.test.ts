/** A short round of fuzzing, the same on every run, and every input that once found something (see test/fuzz-corpus/README.md). */
import { readdirSync, readFileSync } from "node:fs";
import t from "tap";
import { fuzz } from "../fuzz/engine.ts";
import { Random } from "../fuzz/random.ts";
import { TARGETS } from "../fuzz/targets/targets.ts";

const SEED = 20_260_728;
const EXECUTIONS = 4_000;
const CORPUS = new URL("fuzz-corpus/", import.meta.url);

for (const target of TARGETS) {
  t.test(`${target.name}: ${target.promise}`, async (t) => {
    const { executions, findings } = fuzz(target, new Random(SEED), (done) => done >= EXECUTIONS);
    t.ok(executions >= EXECUTIONS, `${executions} executions`);
    t.same(
      findings.map(({ input, error }) => [error.message, input.toString("latin1")]),
      [],
    );
  });
}

t.test("inputs that found something", async (t) => {
  const folders = readdirSync(CORPUS, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  t.ok(folders.length > 0);
  for (const { name } of folders) {
    const target = TARGETS.find((one) => one.name === name);
    for (const file of readdirSync(new URL(`${name}/`, CORPUS))) {
      const input = readFileSync(new URL(`${name}/${file}`, CORPUS));
      t.doesNotThrow(() => target?.check(input), `${name}/${file}`);
    }
    t.ok(target, `${name} is a target`);
  }
});

t.test("a broken promise is found, made small, and found again by the same seed", async (t) => {
  const target = {
    name: "broken",
    promise: "no input holds an x behind an a",
    seeds: [Buffer.from("aaaa")],
    dictionary: ["x", "y"],
    generate: (random: Random) => Buffer.from(random.pick(["", "aa", "bcd"])),
    check(input: Buffer): void {
      if (/a.*x/s.test(input.toString("latin1"))) throw new Error("broken: a…x");
    },
  };
  const found = [1, 1, 2].map((seed) => fuzz(target, new Random(seed), (done) => done > 5_000).findings);
  for (const findings of found) {
    t.same(
      findings.map(({ input }) => input.toString()),
      ["ax"],
    );
  }
});
