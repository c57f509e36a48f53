/**
 * One form for all spellings of a value, and the digest of a request's params that a state is bound to. Close to RFC 8785, with
 * one difference on purpose: a number is its text as sent, since doubles would make different numbers equal (1e400 and 1e401,
 * 9007199254740993 and …992).
 */
import { createHash } from "node:crypto";
import { JsonError, type JsonText, type Member, type Node } from "./scan.ts";

/** Separates this use of SHA-256 from all others; a new form gets a new number. */
const DOMAIN = "sealgate/params/1";

/** Members of params that a retry may or must change. */
const UNBOUND: ReadonlySet<string> = new Set(["_meta", "inputResponses", "requestState"]);

/**
 * The canonical text of a value: members sorted by the UTF-16 code units of their keys, no whitespace, strings as
 * `JSON.stringify` writes them (an unpaired surrogate stays one, as an escape), numbers as sent. Equal texts mean equal values.
 */
export function canonical(doc: JsonText, node: Node): string {
  // What is still to be written, last first: texts as they are, nodes to open. No recursion, so no depth can break it.
  const pending: (string | Node)[] = [node];
  let text = "";
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (typeof next === "string") {
      text += next;
      continue;
    }
    const kind = doc.kind(next);
    if (kind === "string") {
      text += JSON.stringify(doc.looseString(next));
    } else if (kind === "object") {
      pushObject(pending, doc.members(next));
    } else if (kind === "array") {
      pushArray(pending, doc.items(next));
    } else {
      text += doc.raw(next);
    }
  }
  return text;
}

/**
 * The digest of a request's params (an object, or undefined where the request has none): base64url of SHA-256 over a label,
 * the canonical form of all members but `_meta`, `inputResponses` and `requestState`, and that of the members of `_meta` named
 * in `boundMeta`. Absent `arguments` count as `{}`. What cannot be digested throws (`JsonError` `kind`); there is no default.
 */
export function digestParams(
  doc: JsonText,
  params: Node | undefined,
  boundMeta: readonly string[] = [],
): string {
  const bound = membersOf(doc, params).filter(({ key }) => !UNBOUND.has(key));
  const texts = bound.map(({ key, node }): Entry => [key, canonical(doc, node)]);
  if (!bound.some(({ key }) => key === "arguments")) texts.push(["arguments", "{}"]);

  const named = new Set(boundMeta);
  const meta = named.size === 0 ? [] : membersOf(doc, doc.get(params, "_meta"));
  const metaTexts = meta
    .filter(({ key }) => named.has(key))
    .map(({ key, node }): Entry => [key, canonical(doc, node)]);

  // A canonical text holds no line feed, so nothing can move from one part to the other.
  return createHash("sha256")
    .update(`${DOMAIN}\n${objectText(texts)}\n${objectText(metaTexts)}`)
    .digest("base64url");
}

type Entry = readonly [key: string, text: string];

function objectText(entries: readonly Entry[]): string {
  const sorted = entries.toSorted(([a], [b]) => byCodeUnits(a, b));
  return `{${sorted.map(([key, text]) => `${JSON.stringify(key)}:${text}`).join(",")}}`;
}

function membersOf(doc: JsonText, object: Node | undefined): readonly Member[] {
  if (object === undefined) return [];
  if (doc.kind(object) !== "object") throw new JsonError("kind", doc.start(object));
  return doc.members(object);
}

function pushObject(pending: (string | Node)[], members: readonly Member[]): void {
  const sorted = members.toSorted((a, b) => byCodeUnits(a.key, b.key));
  pending.push("}");
  for (const { key, node } of sorted.reverse()) {
    pending.push(node, `${JSON.stringify(key)}:`, ",");
  }
  if (sorted.length > 0) pending.pop();
  pending.push("{");
}

function pushArray(pending: (string | Node)[], items: readonly Node[]): void {
  pending.push("]");
  for (const node of items.toReversed()) pending.push(node, ",");
  if (items.length > 0) pending.pop();
  pending.push("[");
}

/** Keys of one object are never equal. */
function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : 1;
}
