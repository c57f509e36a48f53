/**
 * Which of the names that a server offers may stand in an allow-list as they are. A pattern has two signs, and a server can
 * call a tool `*`: a name that would be read as more than itself is never written as a setting. Pure.
 */
import { foreignSign } from "../config/pattern-signs.ts";
import type { Entry } from "./catalogue.ts";

/** Names of one list, each once, sorted by code units. */
export interface Selection {
  /** For an allow policy: each is a pattern of exactly itself. */
  readonly plain: readonly string[];
  /** What the server itself says may change something. The operator decides. */
  readonly marked: readonly string[];
  /** Why a name is in neither list → the names. */
  readonly odd: ReadonlyMap<Oddity, readonly string[]>;
  /** Groups of names that one reader or another takes for equal. */
  readonly twins: readonly (readonly string[])[];
}

/** Why a name cannot stand as a pattern of itself. */
export type Oddity = "wildcard" | "unprintable" | "long" | "foreign";

/** The longest pattern that the configuration takes, in characters. */
const MAX_PATTERN = 512;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CONTROL = /[\0-\x1f\x7f]/;

/**
 * @param free names are URIs, in which more signs are usual
 */
export function select(entries: readonly Entry[], free: boolean): Selection {
  const marked = new Set(entries.filter(({ effects }) => effects === "marked").map(({ name }) => name));
  const odd = new Map<Oddity, string[]>();
  const plain: string[] = [];
  // One entry that is marked marks its name, however many others say otherwise.
  const names = [...new Set(entries.map(({ name }) => name))].sort();
  for (const name of names) {
    const oddity = oddityOf(name, free);
    if (oddity !== undefined) odd.set(oddity, [...(odd.get(oddity) ?? []), name]);
    else if (!marked.has(name)) plain.push(name);
  }
  const isSound = (name: string): boolean => oddityOf(name, free) === undefined;
  return {
    plain,
    marked: names.filter((name) => marked.has(name) && isSound(name)),
    odd,
    twins: twinsOf(names),
  };
}

function oddityOf(name: string, free: boolean): Oddity | undefined {
  if (name === "" || CONTROL.test(name)) return "unprintable";
  if (/[*?]/.test(name)) return "wildcard";
  if (name.length > MAX_PATTERN) return "long";
  return foreignSign(name, free) === undefined ? undefined : "foreign";
}

/** What is left of a name when case, width, marks and what shows as nothing are taken off. */
function skeleton(name: string): string {
  return name
    .normalize("NFKD")
    .replaceAll(/[\p{M}\p{C}\p{Z}]/gu, "")
    .toUpperCase()
    .toLowerCase();
}

function twinsOf(names: readonly string[]): readonly (readonly string[])[] {
  const groups = Map.groupBy(names, skeleton);
  return [...groups.values()].filter((group) => group.length > 1);
}
