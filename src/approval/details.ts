/**
 * The arguments of a call as lines for people: one for each value, by its path. Pure; the lines depend on what the arguments mean and not
 * on how they are spelled. Where there is no room for all, every argument has its share before any has more: none can be pushed
 * out by what another holds.
 */
import type { Arguments } from "../argument-reading.ts";
import type { Kind, Member, Node } from "../json/scan.ts";
import { HIDDEN, isCredential, type Mask, type Path, showText, showValue } from "./values.ts";

/** Characters of a value and of a name, from what is shown where there is room to what always is. */
const SIZES = [
  { value: 160, name: 40 },
  { value: 60, name: 24 },
  { value: 24, name: 12 },
] as const;
type Size = (typeof SIZES)[number];
/** Bytes of a path, of which the middle is left out if it is longer. */
const MOST_OF_PATH = 200;
const SIMPLE_NAME = /^[A-Za-z0-9](?:[A-Za-z0-9_-]{0,38}[A-Za-z0-9])?$/;
/** What stands before other lines of the question: as names of arguments in quotes. */
const FRAME: ReadonlySet<string> = new Set(["tool", "prompt", "resource", "server", "code", "arguments"]);

/** A value that has a line. */
interface Place {
  readonly path: Path;
  readonly node: Node;
}

/** The lines, and how many values are not shown, at least: what they hold is not counted. */
export interface Details {
  readonly lines: readonly string[];
  readonly left: number;
}

/** Prints a line for each value, in the order of names. */
export function printDetails(
  given: Arguments,
  mask: Mask,
  room: { readonly lines: number; readonly bytes: number },
): Details {
  const { node: root } = given;
  if (root === undefined || given.doc.count(root) === 0) return { lines: [], left: 0 };
  const { items, count } = enter(given, root);
  const walks = items.slice(0, room.lines).map((item) => new Walk(given, mask, item));
  const places = share(walks, room.lines);
  let groups: string[][] = [];
  for (const size of SIZES) {
    groups = places.map((own) => own.map((place) => printLine(given, place, mask, size)));
    if (bytesOf(groups.flat()) <= room.bytes) break;
  }
  while (bytesOf(groups.flat()) > room.bytes) longestOf(groups).pop();
  const lines = groups.flat();
  const unread = walks.reduce((sum, walk) => sum + walk.left, 0);
  return { lines, left: count - walks.length + unread + places.flat().length - lines.length };
}

/** The lines of the argument that takes most room. */
const longestOf = (groups: readonly string[][]): string[] =>
  groups.reduce((most, one) => (bytesOf(one) >= bytesOf(most) ? one : most), []);

const bytesOf = (lines: readonly string[]): number =>
  lines.reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0);

/** A value of each in turn, until there are as many as there is room for. */
function share(walks: readonly Walk[], most: number): Place[][] {
  const taken = walks.map((): Place[] => []);
  let left = most;
  for (let goes = true; goes; ) {
    goes = false;
    for (const [index, walk] of walks.entries()) {
      const place = left > 0 ? walk.next() : undefined;
      if (place === undefined) continue;
      taken[index]?.push(place);
      left--;
      goes = true;
    }
  }
  return taken;
}

function printLine(given: Arguments, { path, node }: Place, mask: Mask, size: Size): string {
  const kind = given.doc.kind(node);
  const value = isContainer(kind)
    ? containerText(kind, mask)
    : showValue(given, node, path, { mask, place: "alone", most: size.value });
  return `- ${showPath(path, mask, size.name)}: ${value}`;
}

/** What is left of a walk through the arguments: a container that has been entered. */
interface Open {
  /** Of many the first: there are never that many lines. */
  readonly items: readonly (readonly [name: string | number, node: Node])[];
  readonly count: number;
  next: number;
}

/** Items of a list, and members of an object, that are looked at: more than there are lines. */
const MOST_LOOKED_AT = 128;

/** One argument, value for value. */
class Walk {
  readonly #given: Arguments;
  readonly #mask: Mask;
  readonly #open: Open[];

  constructor(given: Arguments, mask: Mask, item: Open["items"][number]) {
    this.#given = given;
    this.#mask = mask;
    this.#open = [{ items: [item], count: 1, next: 0 }];
  }

  /** The next value, or a container with nothing to show of it. */
  next(): Place | undefined {
    const { doc } = this.#given;
    const open = this.#open;
    for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
      const item = top.items[top.next];
      if (item === undefined) return undefined;
      const [, node] = item;
      const kind = doc.kind(node);
      if (isContainer(kind) && doc.count(node) > 0 && !(this.#mask === "all" && kind === "array")) {
        open.push(enter(this.#given, node));
        continue;
      }
      const path = open.map(({ items, next }) => items[next]?.[0] ?? "");
      advance(open);
      return { path, node };
    }
    return undefined;
  }

  /** Values that were not taken, at least. */
  get left(): number {
    const open = this.#open;
    return open.reduce(
      (sum, { count, next }, depth) => sum + count - next - (depth < open.length - 1 ? 1 : 0),
      0,
    );
  }
}

/** To what comes next; of what is walked through, its last value leads back to what stands behind it. */
function advance(open: Open[]): void {
  for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
    top.next++;
    if (top.next < top.count) return;
    open.pop();
  }
}

const isContainer = (kind: Kind): boolean => kind === "object" || kind === "array";

function containerText(kind: Kind, mask: Mask): string {
  if (mask === "all") return HIDDEN;
  return kind === "object" ? "(empty object)" : "(empty list)";
}

function enter({ doc }: Arguments, node: Node): Open {
  const count = doc.count(node);
  const items: [string | number, Node][] = [];
  if (doc.kind(node) === "array") {
    let item = doc.inside(node);
    for (let index = 0; index < Math.min(count, MOST_LOOKED_AT); index++, item = doc.behind(item))
      items.push([index, item]);
  } else {
    for (const { key, node: value } of first(doc.members(node))) items.push([key, value]);
  }
  return { items, count, next: 0 };
}

/** The members that come first by their keys, in order: as many as there can be lines. */
function first(members: readonly Member[]): readonly Member[] {
  const byKey = (a: Member, b: Member): number => (a.key < b.key ? -1 : 1);
  let kept: Member[] = [];
  let bound: string | undefined;
  for (const member of members) {
    if (bound !== undefined && bound < member.key) continue;
    kept.push(member);
    // Not sorted again for each of them.
    if (kept.length < 2 * MOST_LOOKED_AT) continue;
    kept = kept.sort(byKey).slice(0, MOST_LOOKED_AT);
    bound = kept.at(-1)?.key;
  }
  return kept.sort(byKey).slice(0, MOST_LOOKED_AT);
}

/** Names that could be taken for anything else stand in quotes; of a long way the ends. */
function showPath(path: Path, mask: Mask, most: number): string {
  const parts = path.map((name, at) => {
    if (typeof name === "number") return `[${name}]`;
    const hides = mask !== "none" && isCredential(name);
    const isPlain = SIMPLE_NAME.test(name) && !(at === 0 && FRAME.has(name.toLowerCase()));
    const shown = hides ? HIDDEN : isPlain ? name : showText(name, "amid", most);
    return at === 0 ? shown : `/${shown}`;
  });
  const whole = parts.join("");
  if (parts.length < 5 || Buffer.byteLength(whole) <= MOST_OF_PATH) return whole;
  return `${parts[0]}/(${parts.length - 3} names)${parts.slice(-2).join("")}`;
}
