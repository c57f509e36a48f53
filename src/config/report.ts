/** How checks of a configuration say what they found. */
import type { Step } from "./json-schema.ts";
import type { Sections } from "./schema.ts";

/** The sections that are sound. */
export type Sound = Partial<Sections>;

/** Takes what a check finds. Messages quote no value that the operator wrote, except names of settings and listeners. */
export interface Report {
  problem(path: readonly Step[], message: string): void;
  warning(path: readonly Step[], message: string): void;
}

/** Reports every entry of `names` that stands earlier in the list too. */
export function reportTwins(
  report: Report,
  names: readonly string[],
  pathOf: (index: number) => readonly Step[],
  what: string,
): void {
  const first = new Map<string, number>();
  for (const [index, name] of names.entries()) {
    const earlier = first.get(name);
    if (earlier === undefined) first.set(name, index);
    else report.problem(pathOf(index), `is the same ${what} as entry ${earlier}, allowed once`);
  }
}
