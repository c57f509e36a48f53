/** The roots a client answers with. Source: MCP 2026-07-28, roots; RFC 8089 for file URIs. */
import type { JsonText, Node } from "../json/scan.ts";
import { hasTwin, knownNames } from "./twins.ts";

const ROOT_NAMES = knownNames("uri", "name", "_meta");
/** More folders than anybody opens; a bound for the work. */
const MAX_ROOTS = 1024;
const MAX_MEMBERS = 64;
const FILE = /^file:\/\//;

/** Whether an untrusted value is an array of roots, 1024 at most: file URIs that climb nowhere, each with a string name or none. */
export function areRoots(doc: JsonText, roots: Node | undefined): boolean {
  if (roots === undefined || doc.kind(roots) !== "array") return false;
  return doc.count(roots) <= MAX_ROOTS && doc.items(roots).every((root) => isRoot(doc, root));
}

function isRoot(doc: JsonText, root: Node): boolean {
  if (doc.count(root) > MAX_MEMBERS) return false;
  const uri = doc.get(root, "uri");
  const name = doc.get(root, "name");
  if (uri === undefined || doc.kind(uri) !== "string" || hasTwin(doc, root, ROOT_NAMES)) return false;
  if (name !== undefined && doc.kind(name) !== "string") return false;
  return isFileUri(doc.string(uri));
}

/** A file URI without `..` segments, however they are spelled. */
function isFileUri(uri: string): boolean {
  if (!FILE.test(uri) || /\p{Cc}/u.test(uri)) return false;
  let path: string;
  try {
    path = decodeURIComponent(uri.slice("file://".length));
  } catch {
    // A broken escape or bytes that are no UTF-8: no reader is sure to read it as we would.
    return false;
  }
  return !/\p{Cc}/u.test(path) && !path.split(/[/\\?#;]/).includes("..");
}
