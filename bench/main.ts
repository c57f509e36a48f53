/**
 * Benchmarks as ratios in one run on one machine: `npm run bench`, or `npm run bench -- micro|gateway`.
 * Nothing here is a test; figures of one run are in bench/results.md.
 */
import { benchGateway } from "./gateway.ts";
import { benchMicro } from "./micro.ts";

const only = process.argv[2];
if (only !== undefined && only !== "micro" && only !== "gateway") {
  process.stderr.write("usage: npm run bench -- [micro | gateway]\n");
  process.exit(64);
}
console.log(`Node ${process.version}, ${process.arch}, ${new Date().toISOString().slice(0, 10)}\n`);
if (only !== "gateway") await benchMicro();
if (only !== "micro") await benchGateway();
