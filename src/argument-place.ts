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
  /** Objects on the way that have no such member. */
  readonly missing: number;
  /** Another reader may find something else: a member in another case or form, a value on the way that holds nothing, too many. */
  readonly unclear: boolean;
}

/** Values looked at for one test. */
const MAX_VALUES = 10_000;
/** A key that is longer than this many times the name is no spelling of it. */
const SPELLING = 4;

/** One step of a path: the name of a member, and what it has in common with other spellings of it. */
export interface PlaceStep {
  readonly name: string;
  readonly spelled: string;
  readonly ascii: boolean;
}

/** Prepares a step. */
export function placeStep(name: string): PlaceStep {
  return { name, spelled: spelling(name), ascii: isAscii(name) };
}

/** @param root the arguments; undefined counts as an empty object */
export function readPlace(doc: JsonText, root: Node | undefined, steps: readonly PlaceStep[]): Found {
  if (root === undefined) return { nodes: [], values: [], missing: 1, unclear: false };
  if (doc.kind(root) !== "object") return { nodes: [], values: [], missing: 0, unclear: true };
  let nodes: readonly Node[] = [root];
  let missing = 0;
  let unclear = false;
  for (const step of steps) {
    const next: Node[] = [];
    const holders = entries(doc, nodes);
    if (holders === undefined) return { nodes: [], values: [], missing, unclear: true };
    for (const holder of holders) {
      if (doc.kind(holder) !== "object") {
        unclear = true;
        continue;
      }
      const { node, twin } = memberAt(doc, holder, step);
      if (twin) unclear = true;
      if (node === undefined) missing += 1;
      else next.push(node);
    }
    nodes = next;
  }
  const values = entries(doc, nodes);
  return { nodes, values: values ?? [], missing, unclear: unclear || values === undefined };
}

/** Nodes with lists replaced by their entries; undefined when there are too many. */
function entries(doc: JsonText, nodes: readonly Node[]): readonly Node[] | undefined {
  if (nodes.every((node) => doc.kind(node) !== "array")) return nodes.length > MAX_VALUES ? undefined : nodes;
  const found: Node[] = [];
  const pending = nodes.toReversed();
  let looked = 0;
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    looked += 1;
    if (looked > MAX_VALUES) return undefined;
    if (doc.kind(node) !== "array") {
      found.push(node);
      continue;
    }
    if (doc.count(node) > MAX_VALUES) return undefined;
    for (const item of doc.items(node).toReversed()) pending.push(item);
  }
  return found;
}

/** A member by its exact key, and whether another key reads like it: in another case, or composed otherwise. */
function memberAt(
  doc: JsonText,
  object: Node,
  { name, spelled, ascii }: PlaceStep,
): { readonly node: Node | undefined; readonly twin: boolean } {
  let node: Node | undefined;
  let twin = false;
  for (const { key, node: value } of doc.members(object)) {
    if (key === name) node = value;
    // Stacked marks take quadratic time to compose, and nobody writes them.
    else if (mayRead(key, name, ascii) && (hasStackedMarks(key) || spelling(key) === spelled)) twin = true;
  }
  return { node, twin };
}

/** Whether a key is worth a closer look: case alone changes no length, and no spelling is many times as long. */
function mayRead(key: string, name: string, ascii: boolean): boolean {
  if (key.length === name.length) return true;
  return key.length <= SPELLING * name.length + SPELLING && !(ascii && isAscii(key));
}

/** Upper case may hold what composes, so it is composed again. */
const spelling = (key: string): string => fold(key.normalize("NFC")).normalize("NFC");

const isAscii = (text: string): boolean => !/[\u0080-\uffff]/.test(text);
