/**
 * Benchmarks as ratios in one run on one machine: `npm run bench`, or `npm run bench -- PART [--quick] [--write]`. Nothing here is a
 * test. `--write` keeps the figures of a part in bench/results, for bench/results.md and other pages to cite; `--quick` shows in a
 * minute that a part works, and its figures say nothing.
 */
import { benchEnvelope } from "./envelope.ts";
import { benchGateway } from "./gateway.ts";
import { benchLatency } from "./latency.ts";
import { benchMicro } from "./micro.ts";
import { print, type Row, write } from "./record.ts";
import { benchRedis } from "./redis.ts";
import { benchScale } from "./scale.ts";
import { benchStreams } from "./streams.ts";

/** Parts that give rows; the others print by themselves. */
const PARTS: Readonly<Record<string, (quick: boolean) => unknown>> = {
  envelope: () => benchEnvelope(),
  micro: () => benchMicro(),
  gateway: benchGateway,
  latency: benchLatency,
  scale: benchScale,
  streams: () => benchStreams(),
  redis: () => benchRedis(),
};
const SWITCHES = ["--quick", "--write"];

const args = process.argv.slice(2);
const switches = args.filter((arg) => arg.startsWith("--"));
const [part, ...more] = args.filter((arg) => !arg.startsWith("--"));
const wrong = more.length > 0 || switches.length > 1 || switches.some((name) => !SWITCHES.includes(name));
if (wrong || (part !== undefined && !Object.hasOwn(PARTS, part))) {
  process.stderr.write(`usage: npm run bench -- [${Object.keys(PARTS).join(" | ")}] [--quick | --write]\n`);
  process.exit(64);
}
console.log(`Node ${process.version}, ${process.arch}, ${new Date().toISOString().slice(0, 10)}\n`);
for (const [name, bench] of Object.entries(PARTS)) {
  if (part !== undefined && part !== name) continue;
  const rows = (await bench(switches.includes("--quick"))) as readonly Row[] | undefined;
  if (rows === undefined) continue;
  print(rows);
  if (switches.includes("--write")) write(name, rows);
}
