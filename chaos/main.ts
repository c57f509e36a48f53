/**
 * `npm run chaos -- [--store KIND] [--seconds N] [--attempts N] [--users N] [--late N] [--seed N]`: gateways, Redis and a server are killed,
 * stopped, cut off and failed over while every state is replayed. Exit status 1 if a state was carried out twice, or if anybody got
 * an answer that does not say what to do.
 */
import { parseArgs } from "node:util";
import { type Outcome, run, type Size, STORES } from "./run.ts";

const USAGE = `usage: npm run chaos -- [--store ${Object.keys(STORES).join("|")}] [--seconds N] [--attempts N] [--users N] [--late N] [--seed N]\n`;

const { stores, ...size } = readArguments();
const { seconds, attempts, seed } = size;
let failed = false;
for (const store of stores) {
  console.log(`${store}: seed ${seed}, at most ${seconds} s or ${attempts} requests with a state`);
  const begun = performance.now();
  const outcome = await run({ store, ...size });
  print(outcome, (performance.now() - begun) / 1_000);
  failed ||= outcome.faultsFound.length > 0;
}
process.exitCode = failed ? 1 : 0;

function print({ tally, faults, executions, twice, faultsFound }: Outcome, took: number): void {
  const list = (counts: ReadonlyMap<string, number>): string =>
    [...counts]
      .sort(([, a], [, b]) => b - a)
      .map(([name, times]) => `    ${String(times).padStart(9)}  ${name}`)
      .join("\n");
  console.log(`  states issued          ${tally.issued}`);
  console.log(`  requests with a state  ${tally.attempts}`);
  console.log(`  carried out            ${executions}, of these twice: ${twice.length}`);
  console.log(`  answers\n${list(tally.answers)}`);
  console.log(`  rounds of honest users\n${list(tally.honest)}`);
  console.log(`  faults\n${list(faults)}`);
  console.log(`  ${took.toFixed(0)} s, ${faultsFound.length} findings`);
  for (const finding of faultsFound.slice(0, 20)) console.log(`    ${finding}`);
}

function readArguments(): { readonly stores: Size["store"][] } & Required<
  Pick<Size, "seconds" | "attempts" | "seed" | "users" | "late">
> {
  const kinds = Object.keys(STORES) as Size["store"][];
  try {
    const { values } = parseArgs({
      options: {
        store: { type: "string", multiple: true, default: kinds },
        seconds: { type: "string", default: "60" },
        attempts: { type: "string", default: "1000000000" },
        users: { type: "string", default: "48" },
        late: { type: "string", default: "8" },
        seed: { type: "string", default: String(Date.now() >>> 0) },
      },
    });
    const stores = kinds.filter((kind) => values.store.includes(kind));
    const numbers = [values.seconds, values.attempts, values.users, values.late, values.seed].map(Number);
    const [seconds = 0, attempts = 0, users = 0, late = 0, seed = 0] = numbers;
    const known = stores.length === new Set(values.store).size && stores.length > 0;
    if (!known || !numbers.every((n) => Number.isSafeInteger(n) && n > 0)) return usage();
    return { stores, seconds, attempts, users, late, seed };
  } catch {
    return usage();
  }
}

function usage(): never {
  process.stderr.write(USAGE);
  process.exit(64);
}
