/** What is fuzzed: how inputs are made, and what must hold for each of them. */
import { strictEqual } from "node:assert/strict";
import type { Random } from "./random.ts";

/** One target. An input is bytes, whatever a target makes of them, so that it can be kept as a file. */
export interface Target {
  readonly name: string;
  /** What holds, in one line. */
  readonly promise: string;
  readonly seeds: readonly Buffer[];
  /** Words that mean something to the code. */
  readonly dictionary: readonly string[];
  /** A new input out of the target's grammar, sound or nearly so. */
  generate(random: Random): Buffer;
  /** Throws when a promise is broken; any error at all is a finding. */
  check(input: Buffer): void;
}

/** Runs `read`; gives what it gives, or the error if it is one of the allowed class. Other errors are findings. */
export function attempt<Value, Allowed extends Error>(
  read: () => Value,
  allowed: abstract new (...args: never) => Allowed,
): { readonly value: Value } | { readonly error: Allowed } {
  try {
    return { value: read() };
  } catch (error) {
    if (error instanceof allowed) return { error };
    throw error;
  }
}

/** `strictEqual` with a message that is there also when the values are long. */
export function same(actual: unknown, expected: unknown, what: string): void {
  if (actual !== expected) strictEqual(actual, expected, `${what}: ${show(actual)} is not ${show(expected)}`);
}

function show(value: unknown): string {
  const text = typeof value === "string" ? JSON.stringify(value) : String(value);
  return text.length > 400 ? `${text.slice(0, 400)}…` : text;
}
