/** The loop: make inputs, check them, keep those that reach new code, and make findings small. */
import type { Coverage } from "./coverage.ts";
import { mutate } from "./mutation.ts";
import type { Random } from "./random.ts";
import type { Target } from "./target.ts";

/** Inputs that run between two looks at coverage. */
const BATCH = 64;
const MAX_FINDINGS = 5;
/** Tries to make one finding smaller. */
const MAX_SHRINKS = 2_000;

/** An input that broke a promise. */
export interface Finding {
  readonly input: Buffer;
  readonly error: Error;
}

/** What came of one target. */
export interface Outcome {
  readonly executions: number;
  /** Inputs kept since they reached code that none had reached before. */
  readonly kept: number;
  readonly findings: readonly Finding[];
}

/**
 * Fuzzes one target until `isEnough`, or until it has several findings that differ.
 * @param coverage guides which inputs are changed further; without it only the seeds are, and grammar does the rest
 */
export function fuzz(
  target: Target,
  random: Random,
  isEnough: (executions: number) => boolean,
  coverage?: Coverage,
): Outcome {
  const corpus = [...target.seeds];
  const findings = new Map<string, Finding>();
  let executions = 0;
  const run = (input: Buffer): void => {
    executions += 1;
    const error = errorOf(target, input);
    if (error === undefined || findings.has(kindOf(error))) return;
    findings.set(kindOf(error), shrink(target, { input, error }));
  };
  for (const seed of target.seeds) run(seed);
  coverage?.look(true);
  while (!isEnough(executions) && findings.size < MAX_FINDINGS) {
    const batch = Array.from({ length: BATCH }, () => {
      const fresh = target.generate(random);
      if (random.oneIn(3)) return fresh;
      return mutate(random.oneIn(3) ? fresh : random.pick(corpus), corpus, target.dictionary, random);
    });
    for (const input of batch) run(input);
    if (coverage?.look(false) !== true) continue;
    // Some of the batch did it; which ones shows when each runs alone.
    for (const input of batch) {
      run(input);
      if (coverage.look(true)) corpus.push(input);
    }
  }
  return { executions, kept: corpus.length - target.seeds.length, findings: [...findings.values()] };
}

function errorOf(target: Target, input: Buffer): Error | undefined {
  try {
    target.check(input);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** What tells one finding from another: what broke, and where in the code. */
function kindOf({ name, message, stack }: Error): string {
  return `${name} ${message.split(":")[0]} ${/\/(?:src|fuzz)\/[^\s)]+/.exec(stack ?? "")?.[0]}`;
}

/** Takes parts out of an input while it still breaks the same promise. */
function shrink(target: Target, finding: Finding): Finding {
  let smallest = finding;
  let tries = 0;
  for (let size = finding.input.length >> 1; size >= 1; size >>= 1) {
    for (let at = 0; at < smallest.input.length && tries < MAX_SHRINKS; tries++) {
      const { input } = smallest;
      const less = Buffer.concat([input.subarray(0, at), input.subarray(at + size)]);
      const error = errorOf(target, less);
      if (error !== undefined && kindOf(error) === kindOf(finding.error)) smallest = { input: less, error };
      else at += size;
    }
  }
  return smallest;
}
