/**
 * Finds what stands at a place of the arguments, in every way that a server may read them. Pure; at most as many values as are
 * bounded below, so a place inside of long lists costs no more than the message itself.
 */
import type { JsonText, Node } from "./json/scan.ts";
import { hasStackedMarks } from "./mcp/resource-uri.ts";
import { fold } from "./mcp/twins.ts";

/** What was found at one place. Lists on the way and at the end stand for their entries. */
export interface Found {
  /** What stands at the place itself, lists as they are. */
  readonly nodes: readonly Node[];
  /** The same with lists replaced by their entries, however deep. */
  readonly values: readonly Node[];
  /** Objects on the way that have no such member, and lists on the way or at the end that have no entry. */
  readonly missing: number;
  /** Another reader may find something else: a member in another case or form, a value on the way that holds nothing, too many. */
  readonly unclear: boolean;
}

/** Values looked at for one test. */
const MAX_VALUES = 10_000;
/** What a character beyond ASCII costs until it is composed. */
export const UNICODE_STEPS = 8;
/** A key that is longer than this many times the name is no spelling of it. */
const SPELLING = 4;

/** One step of a path: the name of a member, and what it has in common with other spellings of it. */
interface PlaceStep {
  readonly name: string;
  readonly spelled: string;
}

/** A place, prepared. */
export interface Place {
  /** The JSON Pointer: equal places have equal ones. */
  readonly path: string;
  readonly steps: readonly PlaceStep[];
}

/** RFC 6901 section 4. @param path not empty */
export function compilePlace(path: string): Place {
  const names = path
    .slice(1)
    .split("/")
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
  return { path, steps: names.map((name) => ({ name, spelled: spelling(name) })) };
}

/** The names on the way to some places. */
export interface PlaceNames {
  readonly spelled: ReadonlySet<string>;
  /** Characters of the longest key that can be a spelling of one. */
  readonly longest: number;
}

export function namesOf(paths: readonly string[]): PlaceNames {
  const steps = paths.flatMap((path) => compilePlace(path).steps);
  return {
    spelled: new Set(steps.map((step) => step.spelled)),
    longest: steps.reduce((most, { name }) => Math.max(most, SPELLING * name.length + SPELLING), 0),
  };
}

/** The members of one object that may be read as a name that matters: spelling → key → value. */
export interface Spellings {
  readonly members: ReadonlyMap<string, ReadonlyMap<string, Node>>;
  /** A key is one that must not be normalised, or one too many: nobody knows what it reads like. */
  readonly unread: boolean;
}

/** Goes over an object once, for all places. */
export function spellingsIn({ doc, spend }: PlaceSource, object: Node, names: PlaceNames): Spellings {
  const members = new Map<string, Map<string, Node>>();
  let unread = false;
  for (const { key, node } of doc.members(object)) {
    if (key.length > names.longest) continue;
    const ascii = isAscii(key);
    if (!spend(ascii ? 1 : key.length * UNICODE_STEPS) || (!ascii && hasStackedMarks(key))) {
      unread = true;
      continue;
    }
    const spelled = spelling(key);
    if (!names.spelled.has(spelled)) continue;
    const same = members.get(spelled);
    if (same === undefined) members.set(spelled, new Map([[key, node]]));
    else same.set(key, node);
  }
  return { members, unread };
}

/** Where places are looked for. */
export interface PlaceSource {
  readonly doc: JsonText;
  /** The arguments; undefined counts as an empty object. */
  readonly root: Node | undefined;
  /** Takes so many steps; false when there are none left. */
  spend(steps: number): boolean;
  spellings(object: Node): Spellings;
}

export function readPlace(source: PlaceSource, { steps }: Place): Found {
  const { doc, root } = source;
  if (root === undefined) return { nodes: [], values: [], missing: 1, unclear: false };
  if (doc.kind(root) !== "object") return { nodes: [], values: [], missing: 0, unclear: true };
  let nodes: readonly Node[] = [root];
  let missing = 0;
  let unclear = false;
  for (const step of steps) {
    const next: Node[] = [];
    const holders = entries(source, nodes);
    if (holders === undefined) return { nodes: [], values: [], missing, unclear: true };
    missing += holders.empty;
    for (const holder of holders.found) {
      if (doc.kind(holder) !== "object") {
        unclear = true;
        continue;
      }
      const { node, twin } = memberAt(source.spellings(holder), step);
      if (twin) unclear = true;
      if (node === undefined) missing += 1;
      else next.push(node);
    }
    nodes = next;
  }
  const values = entries(source, nodes);
  if (values === undefined) return { nodes, values: [], missing, unclear: true };
  return { nodes, values: values.found, missing: missing + values.empty, unclear };
}

/** Nodes with lists replaced by their entries, and how many lists have none; undefined when there are too many. */
function entries(
  { doc, spend }: PlaceSource,
  nodes: readonly Node[],
): { readonly found: readonly Node[]; readonly empty: number } | undefined {
  const found: Node[] = [];
  let empty = 0;
  const pending = nodes.toReversed();
  let looked = 0;
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    looked += 1;
    if (looked > MAX_VALUES || !spend(1)) return undefined;
    if (doc.kind(node) !== "array") {
      found.push(node);
      continue;
    }
    const count = doc.count(node);
    if (count > MAX_VALUES || !spend(count)) return undefined;
    if (count === 0) empty += 1;
    for (const item of doc.items(node).toReversed()) pending.push(item);
  }
  return { found, empty };
}

/** A member by its exact key, and whether another key reads like it: in another case, or composed otherwise. */
function memberAt(
  { members, unread }: Spellings,
  { name, spelled }: PlaceStep,
): { readonly node: Node | undefined; readonly twin: boolean } {
  const same = members.get(spelled);
  const node = same?.get(name);
  return { node, twin: unread || (same?.size ?? 0) > (node === undefined ? 0 : 1) };
}

/** Upper case may hold what composes, so it is composed again. */
const spelling = (key: string): string =>
  isAscii(key) ? key.toLowerCase() : fold(key.normalize("NFC")).normalize("NFC");

const isAscii = (text: string): boolean => !/[\u0080-\uffff]/.test(text);
