/**
 * One untrusted value as people are shown it: quoted, shortened, and hidden where it is, or looks like, a secret. Of a text that only
 * holds one the rest is shown: whoever makes a call must not be able to hide what it does behind a token. Pure.
 */
import { createHash } from "node:crypto";
import type { Arguments } from "../argument-reading.ts";
import type { ApprovalSettings } from "../config/approval-settings.ts";
import type { Node } from "../json/scan.ts";
import { credentialPlaces, credentialsIn, isRandom } from "../mcp/credential-values.ts";
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

/** Characters of one value. */
const MOST_OF_VALUE = 160;
/** Digits of a number; no quantity has more. */
const MOST_DIGITS = 40;
/** Characters of a text that are looked into for credentials: more than are ever shown. */
const LOOKED_INTO = 4_096;
/** A name that is longer is no name, and what it holds is hidden. */
const LONGEST_NAME = 256;

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

/** Shows a value at a path; what is hidden of it is not in the digest of a long one either. Of objects and lists their kind. */
export function showValue(
  { doc }: Pick<Arguments, "doc">,
  node: Node,
  path: Path,
  { mask, place, most = MOST_OF_VALUE }: Showing,
): string {
  if (doc.kind(node) !== "string" || mask !== "secrets")
    return isHidden({ doc }, node, path, mask) ? HIDDEN : showScalar({ doc }, node, place, most);
  const text = doc.looseString(node);
  if (namesSecrets(path) || isRandom(text)) return HIDDEN;
  const places = credentialPlaces(text.slice(0, LOOKED_INTO));
  return places.length === 0 ? showText(text, place, most) : showAround(text, places, most);
}

/** How a value is shown. */
export interface Showing {
  readonly mask: Mask;
  readonly place: "alone" | "amid";
  readonly most?: number;
}

/** What stands around credentials, in quotes each. */
function showAround(text: string, places: readonly (readonly [number, number])[], most: number): string {
  const shown: string[] = [];
  let left = most;
  let from = 0;
  const put = (to: number): boolean => {
    // One space on either side is that of the words around.
    const piece = text.slice(from, to).replace(/^ (?=\S)|(?<=\S) $/g, "");
    if (piece === "" || piece === " ") return true;
    const quoted = quote(piece, Math.max(1, left), "amid");
    shown.push(quoted.text);
    left -= piece.length;
    return quoted.whole;
  };
  for (const [start, end] of places) {
    if (!put(start) || left <= 0) return `${shown.join(" ")}… (and more)`;
    shown.push(HIDDEN);
    left -= HIDDEN.length;
    from = end;
  }
  return put(text.length) ? shown.join(" ") : `${shown.join(" ")}… (and more)`;
}

/** Whether anything of a value at a path is hidden. Of a guess the generous side: whatever is below a name of a secret, and every long name. */
export function isHidden(arguments_: Pick<Arguments, "doc">, node: Node, path: Path, mask: Mask): boolean {
  if (mask !== "secrets") return mask === "all";
  const { doc } = arguments_;
  const kind = doc.kind(node);
  if (kind === "null" || kind === "true" || kind === "false") return false;
  if (namesSecrets(path)) return true;
  if (kind !== "string") return false;
  return isCredential(doc.looseString(node));
}

/** Whatever is below the name of a secret, and below every long name. */
const namesSecrets = (path: Path): boolean =>
  path.some((name) => typeof name === "string" && (name.length > LONGEST_NAME || namesSecret(name)));

/** Whether a text is, or holds, what looks like a secret. */
export const isCredential = (text: string): boolean =>
  credentialsIn(text.slice(0, LOOKED_INTO)).length > 0 || isRandom(text);
