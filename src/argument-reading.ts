/**
 * What one decision reads of the arguments of a call and of its caller: each thing once, however many policies ask, and no more
 * than is bounded here. What lies beyond is unclear to all tests, so a deny holds and an allow does not.
 */

import {
  type Found,
  type Place,
  type PlaceNames,
  type PlaceSource,
  readPlace,
  type Spellings,
  spellingsIn,
  UNICODE_STEPS,
} from "./argument-place.ts";
import type { COMPARED_CLAIMS } from "./config/argument-settings.ts";
import type { JsonText, Node } from "./json/scan.ts";
import { hasStackedMarks } from "./mcp/resource-uri.ts";
import type { Principal } from "./principal/principal.ts";

/** The `arguments` of a call as they stand in its message; no node where the message has none, which counts as `{}`. */
export interface Arguments {
  readonly doc: JsonText;
  readonly node: Node | undefined;
}

export type ClaimName = (typeof COMPARED_CLAIMS)[number];

/** A text, and its composed form (NFC); none where not all readers would compose it alike, or nothing is left to spend. */
export interface ReadText {
  readonly text: string;
  readonly composed: string | undefined;
}

/** The caller's own; no composed forms where one of them has none. */
export interface ReadClaim {
  readonly texts: ReadonlySet<string>;
  readonly composed: ReadonlySet<string> | undefined;
}

/** Bytes of the longest text that is compared; a longer one is unclear. */
export const MAX_TEXT_BYTES = 65_536;
/**
 * Steps of one decision: a value looked at, or a character held against 32 of a pattern. A few tenths of a second; a text of
 * 60 KB can be held against sixty patterns.
 */
const MAX_STEPS = 4_000_000;
const BEYOND_ASCII = /[^\0-\x7f]/;

export class ArgumentReading implements PlaceSource {
  readonly doc: JsonText;
  readonly root: Node | undefined;
  readonly #principal: Principal;
  readonly #names: PlaceNames;
  readonly #places = new Map<string, Found>();
  readonly #objects = new Map<Node, Spellings>();
  readonly #texts = new Map<Node, ReadText>();
  readonly #claims = new Map<ClaimName, ReadClaim>();
  #left = MAX_STEPS;

  /** @param names of all places that will be asked for */
  constructor(principal: Principal, { doc, node }: Arguments, names: PlaceNames) {
    this.doc = doc;
    this.root = node;
    this.#principal = principal;
    this.#names = names;
  }

  /** Takes so many steps; false from when there are not enough left. */
  readonly spend = (steps: number): boolean => {
    this.#left -= steps;
    return this.#left >= 0;
  };

  spellings(object: Node): Spellings {
    return once(this.#objects, object, () => spellingsIn(this, object, this.#names));
  }

  place(place: Place): Found {
    return once(this.#places, place.path, () => readPlace(this, place));
  }

  /** The text, where it is one, of a length that can be compared, and without halves of surrogate pairs. */
  text(node: Node): ReadText | undefined {
    const { doc } = this;
    if (doc.kind(node) !== "string" || !doc.wellFormed(node)) return undefined;
    if (doc.end(node) - doc.start(node) > MAX_TEXT_BYTES) return undefined;
    return once(this.#texts, node, () => readText(doc.string(node), this.spend));
  }

  /** Empty where the caller has none. */
  claim(name: ClaimName): ReadClaim {
    return once(this.#claims, name, () => {
      const read = claimsOf(this.#principal, name).map((text) => readText(text, this.spend));
      const composed = read.flatMap((one) => one.composed ?? []);
      return {
        texts: new Set(read.map(({ text }) => text)),
        composed: composed.length === read.length ? new Set(composed) : undefined,
      };
    });
  }
}

function once<K, V>(kept: Map<K, V>, key: K, read: () => V): V {
  const known = kept.get(key);
  if (known !== undefined) return known;
  const value = read();
  kept.set(key, value);
  return value;
}

function readText(text: string, spend: (steps: number) => boolean): ReadText {
  if (!BEYOND_ASCII.test(text)) return { text, composed: text };
  if (!spend(text.length * UNICODE_STEPS)) return { text, composed: undefined };
  return { text, composed: hasStackedMarks(text) ? undefined : text.normalize("NFC") };
}

function claimsOf(principal: Principal, name: ClaimName): readonly string[] {
  if (principal.anonymous) return [];
  const value = principal[name];
  return value === undefined ? [] : typeof value === "string" ? [value] : value;
}
