/** How checks of a configuration say what they found. */
import type { Step } from "./json-schema.ts";
import { valueAt } from "./problems.ts";
import type { Sections } from "./schema.ts";

/** The sections that can be read, without what is wrong in them. */
export type Sound = Partial<Sections>;

/** Takes what a check finds. Messages quote no value that the operator wrote, except names of settings and listeners. */
export interface Report {
  problem(path: readonly Step[], message: string): void;
  warning(path: readonly Step[], message: string): void;
  /**
   * Whether something that cannot be read stands at `path`, in it or around it. A problem or warning that rests on an
   * absence must ask: what is absent may be what is wrong.
   */
  lost(path: readonly Step[]): boolean;
}

/** The lists whose entries must differ, and the member by which. */
const UNIQUE: readonly (readonly [list: readonly Step[], member: string])[] = [
  [["authentication", "issuers"], "issuer"],
  [["authentication", "introspection"], "issuer"],
  [["authorization", "policies"], "id"],
  [["keys", "ring"], "id"],
  [["assertions", "ring"], "id"],
  [["routes"], "path"],
];

/**
 * Entries of lists that are the same as an earlier one.
 * @param written the whole file, as written: whatever else is wrong with an entry, this can be told
 * @param name a setting and its place, in words
 */
export function checkTwins(
  written: unknown,
  report: Pick<Report, "problem">,
  name: (path: readonly Step[]) => string,
): void {
  for (const [list, member] of UNIQUE) {
    const entries = valueAt(written, list);
    if (!Array.isArray(entries)) continue;
    const first = new Map<string, number>();
    for (const index of entries.keys()) {
      const path = [...list, index, member];
      const value = valueAt(written, path);
      if (typeof value !== "string") continue;
      const earlier = first.get(value);
      if (earlier === undefined) first.set(value, index);
      else report.problem(path, `is the same ${member} as ${name([...list, earlier, member])}, allowed once`);
    }
  }
}
