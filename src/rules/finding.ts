/** What a check finds. Checks are pure and say only that a rule is broken; what becomes of it, the rule's mode decides. */
import type { RuleId } from "./catalogue.ts";
import type { Mode } from "./rule.ts";

/** One broken rule. */
export interface Finding {
  readonly rule: RuleId;
  /** Which way it was broken, from a bounded set of words: it is written to audit and metrics, and holds nothing of the input. */
  readonly detail: string;
  /** What it is about, such as the name of a tool, for the log only. */
  readonly about?: string;
  /** What the client may be told beside the rule, if the message is refused: bounded, and nothing secret. */
  readonly data?: Readonly<Record<string, unknown>>;
}

/** One finding as audit shows it. */
export interface NotedFinding {
  readonly id: RuleId;
  readonly mode: Exclude<Mode, "off">;
  readonly detail: string;
}

/** Different findings that one record shows. All are counted. */
const MAX_NOTED = 32;

/**
 * Adds a finding to the list of a record, once.
 * @returns the list with it, or the same list where it stands there already or the list is full
 */
export function noteFinding(
  noted: readonly NotedFinding[] | undefined,
  finding: NotedFinding,
): readonly NotedFinding[] {
  if (noted === undefined) return [finding];
  const { id, mode, detail } = finding;
  const known = noted.some((other) => other.id === id && other.mode === mode && other.detail === detail);
  return known || noted.length >= MAX_NOTED ? noted : [...noted, finding];
}
