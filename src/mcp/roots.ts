/** The roots a client answers with. Source: MCP 2026-07-28, roots; RFC 8089 for file URIs. */
import type { JsonText, Node } from "../json/scan.ts";
import type { Finding } from "../rules/finding.ts";
import { readName } from "./names.ts";
import { hasStackedMarks, unescapeOnce } from "./resource-uri.ts";
import { hasTwin, knownNames } from "./twins.ts";

/** Why an answer is no list of roots that a server may be given. */
export type RootsFault = "roots_result" | "roots_traversal";

const ROOT_NAMES = knownNames("uri", "name", "_meta");
/** More folders than anybody opens; a bound for the work. */
const MAX_ROOTS = 1024;
const MAX_MEMBERS = 64;
/** Layers of escapes that are undone: a server may undo one more than its URI library. */
const MAX_LAYERS = 3;
/** Dots and slashes in more bytes than they need, which careless readers take for themselves. */
const OVERLONG = /%(?:c[01]|e0%[89]|f0%8)/i;
const INVISIBLE = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;
const FILE = /^file:\/\//;
/**
 * A segment that climbs: two dots, or more, or some behind which Windows drops what it does not keep in names; there also
 * behind a drive, from the folder that a process is in on that drive.
 */
const CLIMBS = /^(?:[a-z][:|])?\.{2,}[. ]*$/i;
/** Segments that name the folder they stand in, which readers drop, and parameters behind them. */
const STAYING = /([\\/])(?:\. *(?:;[^\\/]*)?[\\/])+/g;
/** What Windows takes for a slash where it writes names in one of its older code pages (best fit). */
const LIKE_SLASHES = /[\u2044\u2215\u2216\u29f5\u29f8\u29f9]/g;
/** How paths of other machines begin, behind the slash of the URI or without it: as shares, or by the names of Windows' objects. */
const SHARE = /^(?:\/?[\\/]{2}|[\\/]\?\?[\\/])/;

/**
 * Judges an untrusted value as an array of roots, 1024 at most, each with a uri of 8 KiB at most that climbs nowhere and
 * a string name or none.
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
 * What roots without a `rootsFault` can still break: the uri of one is no file URI, or names another machine. Whoever opens
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
  const name = doc.get(root, "name");
  if (hasTwin(doc, root, ROOT_NAMES) || (name !== undefined && doc.kind(name) !== "string")) return undefined;
  // Measured before it is decoded: what follows normalises it, layer by layer.
  const uri = readName(doc, doc.get(root, "uri"), "resource");
  return "fault" in uri ? undefined : uri.name;
}

/** Whether a uri has segments of two dots, however they are spelled, or cannot be read one way only. */
function climbs(uri: string): boolean {
  // A broken escape or bytes that are no UTF-8: no reader is sure to read it as we would. Inside another layer it is a
  // name.
  if (!isDecodable(uri)) return true;
  const { texts, isSettled } = layersOf(uri);
  return !isSettled || texts.some(isClimbing);
}

function isClimbing(path: string): boolean {
  if (/\p{Cc}/u.test(path) || OVERLONG.test(path) || hasClimb(path)) return true;
  // Also full-width dots, and one character that stands for two. Stacked marks take quadratic time, and no name has
  // them.
  return hasStackedMarks(path) || hasClimb(folded(path));
}

/** Characters of other widths, and such as count as a slash, as the ones that they are taken for. */
const folded = (path: string): string => path.normalize("NFKC").replace(LIKE_SLASHES, "/");

function hasClimb(path: string): boolean {
  return path.split(/[/\\?#;]/).some((segment) => CLIMBS.test(segment));
}

/**
 * What a text says when its escapes are undone once, twice, and so on, the text itself first. Without characters that
 * nobody sees: a reader may drop them, at any layer. Not settled when the last one still holds escapes.
 */
function layersOf(text: string): { readonly texts: readonly string[]; readonly isSettled: boolean } {
  let layer = text.replace(INVISIBLE, "");
  const texts = [layer];
  for (let undone = 0; undone <= MAX_LAYERS; undone++) {
    const next = unescapeOnce(layer).replace(INVISIBLE, "");
    if (next === layer) return { texts, isSettled: true };
    texts.push(next);
    layer = next;
  }
  return { texts, isSettled: false };
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * Whether a file URI has a host other than this machine, also one in front of which only slashes stand, as shares are
 * written, or segments that readers drop.
 */
function namesMachine(uri: string): boolean {
  const rest = uri.slice("file://".length);
  if (!/^(?:localhost)?\/(?![/\\])/i.test(rest)) return true;
  const { texts } = layersOf(rest.replace(/^localhost/i, ""));
  return texts.some((path) => SHARE.test(folded(path).replace(STAYING, "$1")));
}
