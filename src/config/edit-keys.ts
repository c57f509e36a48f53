/**
 * Edits of the `keys` section in the text of a configuration. Only the bytes of what changes are touched, so comments,
 * order and layout stay; the result is read again and must hold exactly the wanted values, or nothing is given out.
 */
import { isDeepStrictEqual } from "node:util";
import { isCollection, isMap, isNode, isScalar, isSeq, parseDocument, type YAMLMap } from "yaml";
import { readDocument } from "./document.ts";
import { EditRefused } from "./edit-refused.ts";

/** A change of the section; members that are absent change nothing. */
export interface KeysEdit {
  /** The id that `primary` names from now on. */
  readonly primary?: string;
  /** An entry at the end of `ring`; `file` as it is to stand in the text. */
  readonly add?: { readonly id: string; readonly file: string };
  /** The id of an entry of `ring` to take out. */
  readonly remove?: string;
  /** Takes `next` out. */
  readonly dropNext?: boolean;
}

interface Span {
  readonly start: number;
  readonly end: number;
}

interface Values {
  readonly keys: { primary: string; next?: unknown; ring?: { id: string; secret: unknown }[] };
}

/** @param text a configuration that was loaded without a problem @throws EditRefused */
export function editKeys(text: string, edit: KeysEdit): string {
  let edited = text;
  if (edit.primary !== undefined) {
    const { primary } = edit;
    edited = splice(edited, spanOf(keysOf(edited).get("primary", true)), JSON.stringify(primary));
  }
  if (edit.dropNext === true) edited = dropMember(edited, keysOf(edited), "next");
  if (edit.add !== undefined) edited = addEntry(edited, edit.add);
  if (edit.remove !== undefined) edited = removeEntry(edited, edit.remove);
  const found = readDocument(Buffer.from(edited, "utf8"));
  if (found.problems.length > 0 || !isDeepStrictEqual(found.value, wanted(text, edit))) throw unclear();
  return edited;
}

/** What the edited text must say. */
function wanted(text: string, edit: KeysEdit): unknown {
  const values = structuredClone(readDocument(Buffer.from(text, "utf8")).value) as Values;
  const { keys } = values;
  if (edit.primary !== undefined) keys.primary = edit.primary;
  if (edit.dropNext === true) delete keys.next;
  if (edit.add !== undefined) keys.ring?.push({ id: edit.add.id, secret: { file: edit.add.file } });
  if (edit.remove !== undefined && keys.ring !== undefined) {
    keys.ring = keys.ring.filter(({ id }) => id !== edit.remove);
  }
  return values;
}

function keysOf(text: string): YAMLMap {
  const { contents } = parseDocument(text, { version: "1.2" });
  const keys = isMap(contents) ? contents.get("keys", true) : undefined;
  if (!isMap(keys)) throw unclear();
  return keys;
}

function spanOf(node: unknown): Span {
  const [start, end] = (isNode(node) ? node.range : undefined) ?? [];
  if (start === undefined || end === undefined) throw unclear();
  return { start, end };
}

function addEntry(text: string, { id, file }: { readonly id: string; readonly file: string }): string {
  const entry = `{ id: ${JSON.stringify(id)}, secret: { file: ${JSON.stringify(file)} } }`;
  const ring = keysOf(text).get("ring", true);
  if (!isSeq(ring)) throw unclear();
  const last = spanOf(ring.items.at(-1));
  if (ring.flow === true) return splice(text, { start: last.end, end: last.end }, `, ${entry}`);
  const dash = dashBefore(text, last.start);
  const indent = text.slice(lineStart(text, dash), dash);
  const at = lineEnd(text, last.end);
  const before = text.slice(0, at);
  const lineBreak = text.includes("\r\n") ? "\r\n" : "\n";
  return `${before}${before.endsWith("\n") ? "" : lineBreak}${indent}- ${entry}${lineBreak}${text.slice(at)}`;
}

function removeEntry(text: string, id: string): string {
  const ring = keysOf(text).get("ring", true);
  if (!isSeq(ring)) throw unclear();
  const index = ring.items.findIndex((item) => isMap(item) && item.get("id") === id);
  const spans = ring.items.map(spanOf);
  const span = spans[index];
  if (span === undefined) throw unclear();
  if (ring.flow === true) return dropFlow(text, spans, index);
  return dropLines(text, { start: dashBefore(text, span.start), end: span.end });
}

function dropMember(text: string, map: YAMLMap, name: string): string {
  const spans = map.items.map(({ key, value }) => ({ start: spanOf(key).start, end: spanOf(value).end }));
  const index = map.items.findIndex(({ key }) => isScalar(key) && key.value === name);
  const span = spans[index];
  if (span === undefined) return text;
  return isCollection(map) && map.flow === true ? dropFlow(text, spans, index) : dropLines(text, span);
}

/** Takes one of several entries between brackets out, with the comma that is then too much. */
function dropFlow(text: string, spans: readonly Span[], index: number): string {
  const [before, span, after] = [spans[index - 1], spans[index], spans[index + 1]];
  if (span === undefined) throw unclear();
  if (after !== undefined) return splice(text, { start: span.start, end: after.start }, "");
  return splice(text, { start: before?.end ?? span.start, end: span.end }, "");
}

/** Takes whole lines out: from the one where the span starts to the one where it ends. */
function dropLines(text: string, { start, end }: Span): string {
  return splice(text, { start: lineStart(text, start), end: lineEnd(text, end) }, "");
}

const splice = (text: string, { start, end }: Span, by: string): string =>
  text.slice(0, start) + by + text.slice(end);
const lineStart = (text: string, at: number): number => text.lastIndexOf("\n", at - 1) + 1;

/** The start of the line after the one that a value ends on; a value may end with its line. */
function lineEnd(text: string, at: number): number {
  if (text[at - 1] === "\n") return at;
  const end = text.indexOf("\n", at);
  return end < 0 ? text.length : end + 1;
}

function dashBefore(text: string, at: number): number {
  const dash = text.slice(0, at).search(/-\s*$/);
  if (dash < 0) throw unclear();
  return dash;
}

function unclear(): EditRefused {
  return new EditRefused(
    "the keys section is written in a way that cannot be edited with certainty; nothing was changed, edit it by hand",
  );
}
