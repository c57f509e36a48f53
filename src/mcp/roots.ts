/** The roots a client answers with. Source: MCP 2026-07-28, roots; RFC 8089 for file URIs. */
import type { JsonText, Node } from "../json/scan.ts";
import type { Finding } from "../rules/finding.ts";
import { hasTwin, knownNames } from "./twins.ts";

/** Why an answer is no list of roots that a server may be given. */
export type RootsFault = "roots_result" | "roots_traversal";

const ROOT_NAMES = knownNames("uri", "name", "_meta");
/** More folders than anybody opens; a bound for the work. */
const MAX_ROOTS = 1024;
const MAX_MEMBERS = 64;
/** Layers of escapes that are undone: a server may undo one more than its URI library. */
const MAX_LAYERS = 3;
const FILE = /^file:\/\//;
/** A segment that climbs: two dots, or more, or some behind which Windows drops what it does not keep in names. */
const CLIMBS = /^\.{2,}[. ]*$/;

/**
 * Judges an untrusted value as an array of roots, 1024 at most, each with a string uri that climbs nowhere and a
 * string name or none.
 */
export function rootsFault(doc: JsonText, roots: Node | undefined): RootsFault | undefined {
  if (roots === undefined || doc.kind(roots) !== "array" || doc.count(roots) > MAX_ROOTS)
    return "roots_result";
  for (const root of doc.items(roots)) {
    const uri = uriOf(doc, root);
    if (uri === undefined) return "roots_result";
    if (climbs(uri)) return "roots_traversal";
  }
  return undefined;
}

/** Whether an untrusted value is an array of roots without any fault. */
export function areRoots(doc: JsonText, roots: Node | undefined): boolean {
  return rootsFault(doc, roots) === undefined && rootsFindings(doc, roots).length === 0;
}

/**
 * What roots of that shape can still break: the uri of one is no file URI, or names another machine. Whoever opens
 * such a folder talks to that machine, on Windows with the user's own credentials.
 */
export function rootsFindings(doc: JsonText, roots: Node | undefined): Finding[] {
  const details = new Set<string>();
  for (const root of roots === undefined ? [] : doc.items(roots)) {
    const uri = uriOf(doc, root) ?? "";
    if (!FILE.test(uri)) details.add("roots_scheme");
    else if (namesMachine(uri)) details.add("roots_host");
  }
  return Array.from(details, (detail) => ({ rule: "roots/file-uri", detail }));
}

function uriOf(doc: JsonText, root: Node): string | undefined {
  if (doc.count(root) > MAX_MEMBERS) return undefined;
  const uri = doc.get(root, "uri");
  const name = doc.get(root, "name");
  if (uri === undefined || doc.kind(uri) !== "string" || hasTwin(doc, root, ROOT_NAMES)) return undefined;
  if (name !== undefined && doc.kind(name) !== "string") return undefined;
  return doc.string(uri);
}

/** Whether a uri has segments of two dots, however they are spelled, or cannot be read one way only. */
function climbs(uri: string): boolean {
  let path = uri;
  for (let layer = 0; ; layer++) {
    if (/\p{Cc}/u.test(path)) return true;
    // Also full-width dots, and one character that stands for two.
    if (
      path
        .normalize("NFKC")
        .split(/[/\\?#;]/)
        .some((segment) => CLIMBS.test(segment))
    )
      return true;
    const next = unescaped(path);
    // A broken escape or bytes that are no UTF-8: no reader is sure to read it as we would. Inside another layer it
    // is a name.
    if (next === undefined) return layer === 0;
    if (next === path || layer === MAX_LAYERS) return false;
    path = next;
  }
}

function unescaped(path: string): string | undefined {
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}

/**
 * Whether a file URI has a host other than this machine, also one in front of which only slashes stand, as shares are
 * written.
 */
function namesMachine(uri: string): boolean {
  const rest = uri.slice("file://".length);
  if (/^(?:localhost)?\/(?![/\\])/i.test(rest))
    return /^\/?[\\/]{2}/.test(unescaped(rest.replace(/^localhost/i, "")) ?? "");
  return true;
}
