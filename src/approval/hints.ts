/**
 * What a server says of its own tools, where approval asks for it (`when`): the annotations in its `tools/list`. They are hints of
 * somebody who is not trusted, so they only ever raise a demand. Source: MCP 2026-07-28 schema, ToolAnnotations.
 */
import type { JsonText, Node } from "../json/scan.ts";
import { readName } from "../mcp/names.ts";
import { hasTwin, knownNames } from "../mcp/twins.ts";

/** One tool by its annotations, each absent one by its default. */
export interface Hints {
  /** `destructiveHint` true, which is also its default, unless the tool only reads. */
  readonly destructive: boolean;
  /** `readOnlyHint` not true. */
  readonly notReadOnly: boolean;
}

/** A tool of which nothing is known, or nothing that all readers agree on. */
export const UNKNOWN: Hints = { destructive: true, notReadOnly: true };

const TOOL_NAMES = knownNames("name", "annotations");
const ANNOTATION_NAMES = knownNames("readOnlyHint", "destructiveHint");

/** Reads an entry of `tools/list`, untrusted. What contradicts itself counts as unknown. */
export function readHints(doc: JsonText, tool: Node): Hints {
  const annotations = doc.get(tool, "annotations");
  if (hasTwin(doc, tool, TOOL_NAMES) || hasTwin(doc, annotations, ANNOTATION_NAMES)) return UNKNOWN;
  if (annotations === undefined || doc.kind(annotations) !== "object") return UNKNOWN;
  const readOnly = kindAt(doc, annotations, "readOnlyHint") === "true";
  const destructive = kindAt(doc, annotations, "destructiveHint");
  if (readOnly) return destructive === "true" ? UNKNOWN : { destructive: false, notReadOnly: false };
  return { destructive: destructive !== "false", notReadOnly: true };
}

function kindAt(doc: JsonText, object: Node, name: string): string | undefined {
  const node = doc.get(object, name);
  return node === undefined ? undefined : doc.kind(node);
}

/** Where hints are remembered. */
export interface HintNotes {
  noteHints(tool: string, hints: Hints): void;
}

/** Notes every tool in the untrusted value of `tools`, as the server sent it. */
export function noteHints(doc: JsonText, tools: Node | undefined, notes: HintNotes): void {
  if (tools === undefined || doc.kind(tools) !== "array") return;
  for (const tool of doc.items(tools)) {
    const read = readName(doc, doc.get(tool, "name"), "tool");
    if ("name" in read) notes.noteHints(read.name, readHints(doc, tool));
  }
}
