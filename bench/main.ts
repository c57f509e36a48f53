/**
 * Benchmarks as ratios in one run on one machine: `npm run bench`, or `npm run bench -- envelope|micro|gateway|streams|redis`.
 * Nothing here is a test; figures of one run are in bench/results.md.
 */
import { benchEnvelope } from "./envelope.ts";
import { benchGateway } from "./gateway.ts";
import { benchMicro } from "./micro.ts";
import { benchRedis } from "./redis.ts";
import { benchStreams } from "./streams.ts";

const PARTS = {
  envelope: benchEnvelope,
  micro: benchMicro,
  gateway: benchGateway,
  streams: benchStreams,
  redis: benchRedis,
};

const only = process.argv[2];
if (only !== undefined && !Object.hasOwn(PARTS, only)) {
  process.stderr.write(`usage: npm run bench -- [${Object.keys(PARTS).join(" | ")}]\n`);
  process.exit(64);
}
console.log(`Node ${process.version}, ${process.arch}, ${new Date().toISOString().slice(0, 10)}\n`);
for (const [name, bench] of Object.entries(PARTS)) {
  if (only === undefined || only === name) await bench();
}
