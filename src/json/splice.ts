/**
 * Changing a scanned text without printing it again: every byte outside an edit stays as it came, so numbers keep their digits
 * and strings their spelling.
 */
import { JsonError, type JsonText, type Node } from "./scan.ts";

/** The bytes from `start` up to `end` give way to `text`. */
export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** What becomes of an object's members. A key in both counts as set. */
export interface ObjectChange {
  /** Key → JSON text (trusted to be valid). Replaces the value in place, or adds a member at the end. */
  readonly set?: Readonly<Record<string, string>>;
  /** Keys after unescaping; absent ones do no harm. */
  readonly remove?: ReadonlySet<string>;
}

interface Span {
  readonly start: number;
  readonly end: number;
}

/**
 * Gives a new buffer with all edits done, or the bytes themselves where there are none; they may come in any order. Edits that overlap, insert at one place twice, lie
 * outside, or hold an unpaired surrogate are a mistake of the caller: throws a plain Error.
 */
export function splice(bytes: Buffer, edits: readonly Edit[]): Buffer {
  if (edits.length === 0) return bytes;
  const sorted = edits.toSorted((a, b) => a.start - b.start || a.end - b.end);
  let length = bytes.length;
  let last: Edit | undefined;
  for (const edit of sorted) {
    const { start, end, text } = edit;
    if (!(start >= 0 && start <= end && end <= bytes.length)) throw new Error("edit lies outside the text");
    if (last !== undefined && (start < last.end || (start === last.start && end === last.end))) {
      throw new Error("edits overlap");
    }
    // Encoding would put U+FFFD in its place: the message would not say what was meant.
    if (!text.isWellFormed()) throw new Error("edit holds an unpaired surrogate");
    length += Buffer.byteLength(text) - (end - start);
    last = edit;
  }
  const result = Buffer.allocUnsafe(length);
  let from = 0;
  let to = 0;
  for (const { start, end, text } of sorted) {
    to += bytes.copy(result, to, from, start);
    to += result.write(text, to);
    from = end;
  }
  bytes.copy(result, to, from);
  return result;
}

/** Puts `json` (JSON text, trusted to be valid) in the place of a value. */
export function replace(doc: JsonText, node: Node, json: string): Edit {
  return { start: doc.start(node), end: doc.end(node), text: json };
}

/**
 * The edits that change an object's own members, commas included. One object takes one call per splice: two that add to it
 * would insert at the same place. Throws `JsonError` `kind` when `object` is no object.
 */
export function editObject(doc: JsonText, object: Node, change: ObjectChange): Edit[] {
  if (doc.kind(object) !== "object") throw new JsonError("kind", doc.start(object));
  const added = new Map(Object.entries(change.set ?? {}));
  const replaced: Edit[] = [];
  const spans: Span[] = [];
  const keep: boolean[] = [];
  for (const { key, node, start } of doc.members(object)) {
    const json = added.get(key);
    if (json !== undefined) replaced.push(replace(doc, node, json));
    spans.push({ start, end: doc.end(node) });
    keep.push(json !== undefined || change.remove?.has(key) !== true);
    added.delete(key);
  }
  const edits = replaced.concat(removals(spans, keep));
  if (added.size > 0) {
    const members = Array.from(added, ([key, json]) => `${JSON.stringify(key)}:${json}`).join(",");
    const at = spans.at(-1)?.end ?? doc.start(object) + 1;
    edits.push({ start: at, end: at, text: keep.includes(true) ? `,${members}` : members });
  }
  return edits;
}

/**
 * The edits that drop the items `keep` says no to, commas included; none when all are kept.
 * Throws `JsonError` `kind` when `array` is no array.
 */
export function keepItems(doc: JsonText, array: Node, keep: (item: Node) => boolean): Edit[] {
  if (doc.kind(array) !== "array") throw new JsonError("kind", doc.start(array));
  const items = doc.items(array);
  return removals(
    items.map((item) => ({ start: doc.start(item), end: doc.end(item) })),
    items.map((item) => keep(item)),
  );
}

/**
 * Deletes elements of one comma-separated list, one edit for each run of them, with as many commas: those before them once
 * something is kept, else those behind.
 */
function removals(spans: readonly Span[], keep: readonly boolean[]): Edit[] {
  const edits: Edit[] = [];
  let run: { start: number; end: number } | undefined;
  let lastKept: Span | undefined;
  for (const [i, span] of spans.entries()) {
    if (keep[i] === true) {
      if (run !== undefined)
        edits.push({ ...run, end: lastKept === undefined ? span.start : run.end, text: "" });
      run = undefined;
      lastKept = span;
    } else {
      run ??= { start: lastKept?.end ?? span.start, end: span.end };
      run.end = span.end;
    }
  }
  if (run !== undefined) edits.push({ ...run, text: "" });
  return edits;
}
