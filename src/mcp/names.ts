/**
 * Names of tools, prompts and resources as they stand in messages. Bounded before any pattern is held against them: the time of
 * policy grows with their length, and nothing honest comes near the bound.
 */
import type { JsonText, Node } from "../json/scan.ts";

/** Bytes of a name in UTF-8, the longest that is read: MCP asks for 128 characters at most. */
const MAX_NAME_BYTES = 1024;
/** Bytes of a uri or uri template in UTF-8, the longest that is read. */
export const MAX_URI_BYTES = 8192;
/** Bytes of an escaped character in JSON, `\uXXXX`, for one byte or more of UTF-8. */
const ESCAPE_BYTES = 6;

/** What is wrong with a name, in one word. */
export type NameFault = "kind" | "lone_surrogate" | "name_too_long";

/**
 * The string at `node`, or why it is no name. Not decoded before its length is known to be near the bound.
 * @param kind a resource goes by its uri
 */
export function readName(
  doc: JsonText,
  node: Node | undefined,
  kind: "tool" | "prompt" | "resource",
): { readonly name: string } | { readonly fault: NameFault } {
  if (node === undefined || doc.kind(node) !== "string") return { fault: "kind" };
  const most = kind === "resource" ? MAX_URI_BYTES : MAX_NAME_BYTES;
  if (doc.end(node) - doc.start(node) > most * ESCAPE_BYTES + 2) return { fault: "name_too_long" };
  if (!doc.wellFormed(node)) return { fault: "lone_surrogate" };
  const name = doc.string(node);
  return Buffer.byteLength(name) > most ? { fault: "name_too_long" } : { name };
}
