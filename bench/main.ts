/**
 * Benchmarks as ratios in one run on one machine: `npm run bench`, or `npm run bench -- PART [--quick | --write]`. Nothing here is a
 * test. `--write` keeps the figures of a part in bench/results and writes them into bench/results.md; `--quick` shows in less than a
 * minute that a part works, and its figures say nothing.
 */
import { benchEnvelope } from "./envelope.ts";
import { benchGateway } from "./gateway.ts";
import { benchLatency } from "./latency.ts";
import { benchMicro } from "./micro.ts";
import { CORES, PROGRAM } from "./programs.ts";
import { keep, type Row, tableOf } from "./record.ts";
import { benchRedis } from "./redis.ts";
import { writePage } from "./results-page.ts";
import { benchScale } from "./scale.ts";
import { benchStreams } from "./streams.ts";

/** Parts that give rows, and have a short form. */
const MEASURED: Readonly<Record<string, (quick: boolean) => Promise<readonly Row[]>>> = {
  gateway: benchGateway,
  latency: benchLatency,
  scale: benchScale,
  streams: benchStreams,
};
/** Parts that print by themselves. */
const PRINTED: Readonly<Record<string, () => unknown>> = {
  envelope: benchEnvelope,
  micro: benchMicro,
  redis: benchRedis,
};
const SWITCHES = ["--quick", "--write"];

const args = process.argv.slice(2);
const switches = args.filter((arg) => arg.startsWith("--"));
const [part, ...more] = args.filter((arg) => !arg.startsWith("--"));
const choice = switches.length > 0 ? MEASURED : { ...MEASURED, ...PRINTED };
const parts = part === undefined ? Object.keys(choice) : [part];
const known = parts.every((name) => Object.hasOwn(choice, name));
const allowed = switches.every((name) => SWITCHES.includes(name)) && switches.length < 2;
if (more.length > 0 || !known || !allowed) {
  const [measured, printed] = [MEASURED, PRINTED].map((some) => Object.keys(some).join(" | "));
  process.stderr.write(`usage: npm run bench -- [${measured} | ${printed}]
       npm run bench -- [${measured}] (--quick | --write)
`);
  process.exit(64);
}
const place = CORES
  ? `pinned to core ${CORES.measured}, the rest to ${CORES.others}`
  : "not pinned: no taskset, or one core";
console.log(`Node ${process.version}, ${process.arch}; ${PROGRAM}, ${place}\n`);
for (const name of parts) {
  const bench = MEASURED[name];
  if (bench === undefined) {
    await PRINTED[name]?.();
    continue;
  }
  const started = performance.now();
  const rows = await bench(switches.includes("--quick"));
  const seconds = (performance.now() - started) / 1_000;
  console.log(`${tableOf(rows)}\n\n${name}: ${Math.round(seconds)} s\n`);
  if (switches.includes("--write")) writePage(name, keep(name, rows, seconds));
}
