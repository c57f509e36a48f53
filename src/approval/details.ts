/**
 * The arguments of a call as lines for people: one for each value, by its path. Values that look like secrets are not shown, nor is
 * anything about them. Pure; the lines depend on what the arguments mean and not on how they are spelled, and stop at a bound.
 */
import { createHash } from "node:crypto";
import type { Arguments } from "../argument-reading.ts";
import type { ApprovalSettings } from "../config/approval-settings.ts";
import type { Kind, Member, Node } from "../json/scan.ts";
import { credentialsIn, isRandom } from "../mcp/credential-values.ts";
import { namesSecret } from "../mcp/secret-name.ts";
import { quote } from "./visible.ts";

/** Which values are hidden. */
export type Mask = ApprovalSettings["mask"];

/** Where a value stands: names of members, and places in lists. */
export type Path = readonly (string | number)[];

/** In the place of a value that is hidden. */
export const HIDDEN = "(hidden)";
/** In the place of one that is not there. */
export const MISSING = "(nothing)";
/** In the place of one that readers would not agree on. */
export const UNCLEAR = "(unclear)";

/** Characters of one value, and of one name on the way to it. */
const MOST_OF_VALUE = 160;
const MOST_OF_NAME = 40;
/** Digits of a number; no quantity has more. */
const MOST_DIGITS = 40;
/** Characters of a text that are looked into for credentials: more than are ever shown. */
const LOOKED_INTO = 4_096;
/** A name that is longer is no name, and what it holds is hidden. */
const LONGEST_NAME = 256;
const SIMPLE_NAME = /^[A-Za-z0-9](?:[A-Za-z0-9_-]{0,38}[A-Za-z0-9])?$/;

/** Shows one value that is no object and no list; `place` as for `quote`. */
export function showScalar(
  { doc }: Pick<Arguments, "doc">,
  node: Node,
  place: "alone" | "amid",
  most = MOST_OF_VALUE,
): string {
  const kind = doc.kind(node);
  if (kind === "string") return showText(doc.looseString(node), place, most);
  if (kind !== "number") return kind;
  const text = doc.raw(node);
  return text.length <= MOST_DIGITS
    ? text
    : `${text.slice(0, MOST_DIGITS)}… (${withLength(text, "digits and signs")})`;
}

/** Shows an untrusted text; of a long one the beginning, its length and its digest. */
export function showText(text: string, place: "alone" | "amid", most = MOST_OF_VALUE): string {
  if (text === "") return "(empty)";
  const quoted = quote(text, most, place);
  return quoted.whole ? quoted.text : `${quoted.text}… (${withLength(text, "characters")})`;
}

/** Half of a SHA-256, which somebody can compare with that of a file. Unpaired surrogates count as U+FFFD there. */
const withLength = (text: string, unit: string): string =>
  `${text.length} ${unit}, SHA-256 ${createHash("sha256").update(text, "utf8").digest("hex").slice(0, 32)}…`;

/** Whether a value at a path is hidden. Of a guess the generous side: whatever is below a name of a secret, and every long name. */
export function isHidden(arguments_: Pick<Arguments, "doc">, node: Node, path: Path, mask: Mask): boolean {
  if (mask !== "secrets") return mask === "all";
  const { doc } = arguments_;
  const kind = doc.kind(node);
  if (kind === "null" || kind === "true" || kind === "false") return false;
  if (path.some((name) => typeof name === "string" && (name.length > LONGEST_NAME || namesSecret(name))))
    return true;
  if (kind !== "string") return false;
  return isCredential(doc.looseString(node));
}

const isCredential = (text: string): boolean =>
  credentialsIn(text.slice(0, LOOKED_INTO)).length > 0 || isRandom(text);

/** What is left of a walk through the arguments: a container that has been entered. */
interface Open {
  /** Of many the first: there are never that many lines. */
  readonly items: readonly (readonly [name: string | number, node: Node])[];
  readonly count: number;
  next: number;
}

/** Items of a list, and members of an object, that are looked at: more than there are lines. */
const MOST_LOOKED_AT = 128;

/**
 * Prints a line for each value, in the order of names.
 * @param put takes a line; false when there is no more room
 * @returns how many values are not shown, at least: what they hold is not counted
 */
export function printDetails(given: Arguments, mask: Mask, put: (line: string) => boolean): number {
  const { doc, node: root } = given;
  if (root === undefined) return 0;
  const open: Open[] = doc.count(root) === 0 ? [] : [enter(given, root)];
  for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
    const item = top.items[top.next];
    if (item === undefined) break;
    const path = open.map(({ items, next }) => items[next]?.[0] ?? "");
    const [, node] = item;
    const kind = doc.kind(node);
    if (isContainer(kind) && doc.count(node) > 0 && !(mask === "all" && kind === "array")) {
      open.push(enter(given, node));
      continue;
    }
    const shown = isContainer(kind) ? containerText(kind, mask) : valueText(given, node, path, mask);
    if (!put(`- ${showPath(path, mask)}: ${shown}`)) break;
    advance(open);
  }
  return open.reduce(
    (sum, { count, next }, depth) => sum + count - next - (depth < open.length - 1 ? 1 : 0),
    0,
  );
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

const valueText = (given: Arguments, node: Node, path: Path, mask: Mask): string =>
  isHidden(given, node, path, mask) ? HIDDEN : showScalar(given, node, "alone");

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

/** Names that could be taken for anything else stand in quotes. */
function showPath(path: Path, mask: Mask): string {
  return path
    .map((name, at) => {
      if (typeof name === "number") return `[${name}]`;
      const hides = mask !== "none" && isCredential(name);
      const shown = hides ? HIDDEN : SIMPLE_NAME.test(name) ? name : showText(name, "amid", MOST_OF_NAME);
      return at === 0 ? shown : `/${shown}`;
    })
    .join("");
}
