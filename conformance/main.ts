/**
 * `npm run conformance [-- --write]`: the official suite against a server of ours, directly and through the gateway. Prints what
 * differs, and with `--write` puts it into docs/conformance.md. Exit status 1 if anything differs that should not.
 */
import { writeFile } from "node:fs/promises";
import { compare } from "./comparison.ts";
import { faultsOf, report } from "./report.ts";

const found = await compare();
const text = await report(found);
console.log(text);
if (process.argv.includes("--write"))
  await writeFile(new URL("../docs/conformance.md", import.meta.url), text);
const faults = faultsOf(found);
for (const fault of faults) console.error(fault);
process.exitCode = faults.length === 0 ? 0 : 1;
