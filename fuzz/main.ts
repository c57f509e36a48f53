/**
 * `npm run fuzz -- [--seconds 60] [--seed N] [--target NAME]`: fuzzes all targets, or one, for so many seconds together.
 * Guided by V8's block coverage; grammar and mutation make the inputs. A finding is printed, kept under test/fuzz-corpus/, where
 * a test replays it, and makes the exit status 1.
 */
import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { Coverage } from "./coverage.ts";
import { type Finding, fuzz } from "./engine.ts";
import { Random } from "./random.ts";

const USAGE = "usage: npm run fuzz -- [--seconds N] [--seed N] [--target NAME]\n";
const CORPUS = new URL("../test/fuzz-corpus/", import.meta.url);

const { seconds, seed, target: only } = readArguments();
// Before the code under test is loaded, or its blocks would not be counted.
const coverage = new Coverage();
const { TARGETS } = await import("./targets/targets.ts");
const targets = TARGETS.filter(({ name }) => only === undefined || name === only);
if (targets.length === 0) usage(`no such target; there are ${TARGETS.map(({ name }) => name).join(", ")}\n`);

console.log(`seed ${seed}, ${seconds} s for ${targets.length} targets, Node ${process.version}`);
let total = 0;
let findings = 0;
for (const target of targets) {
  const ends = performance.now() + (seconds * 1000) / targets.length;
  const outcome = fuzz(target, new Random(seed), () => performance.now() >= ends, coverage);
  total += outcome.executions;
  findings += outcome.findings.length;
  console.log(
    `  ${target.name.padEnd(10)} ${String(outcome.executions).padStart(9)} executions, ${String(outcome.kept).padStart(3)} inputs kept for new code, ${outcome.findings.length} findings`,
  );
  for (const finding of outcome.findings) report(target.name, finding);
}
coverage.close();
console.log(`${total} executions, ${findings} findings`);
process.exitCode = findings === 0 ? 0 : 1;

function report(name: string, { input, error }: Finding): void {
  const folder = new URL(`${name}/`, CORPUS);
  const file = new URL(createHash("sha256").update(input).digest("hex").slice(0, 16), folder);
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, input);
  console.log(`    ${error.name}: ${error.message}`);
  console.log(`    input ${JSON.stringify(input.toString("latin1"))}, kept as test/fuzz-corpus/${name}/`);
}

function readArguments(): { seconds: number; seed: number; target: string | undefined } {
  try {
    const { values } = parseArgs({
      options: {
        seconds: { type: "string", default: "60" },
        seed: { type: "string", default: String(Date.now() >>> 0) },
        target: { type: "string" },
      },
    });
    const numbers = [Number(values.seconds), Number(values.seed)] as const;
    if (!(numbers[0] > 0) || !Number.isSafeInteger(numbers[1])) return usage();
    return { seconds: numbers[0], seed: numbers[1], target: values.target };
  } catch {
    return usage();
  }
}

function usage(problem = ""): never {
  process.stderr.write(problem + USAGE);
  process.exit(64);
}
