/**
 * Members that differ from a known name only by case. Some JSON readers match names without regard to case and take the
 * last one, so such a twin would let two readers see two messages.
 */
import type { JsonText, Key, Node } from "../json/scan.ts";

/** Names that are known, all ASCII. Made once per list by `knownNames`. */
export interface KnownNames {
  /** Folded spelling → name. */
  readonly folded: ReadonlyMap<string, string>;
  /** By their length: what is ASCII itself can be another spelling of none but these. */
  readonly ofLength: readonly (readonly string[])[];
}

const NONE: readonly string[] = [];

/**
 * One spelling for all spellings that a case-insensitive reader may take for equal. Upper case first: `ſ` becomes `S` and
 * the Kelvin sign `k`, as Unicode simple folding has it.
 */
export function fold(name: string): string {
  return name.toUpperCase().toLowerCase();
}

/** Prepares a list of ASCII names for `hasTwin` and `hasSpelling`. */
export function knownNames(...names: string[]): KnownNames {
  const longest = Math.max(...names.map(({ length }) => length));
  const ofLength = Array.from({ length: longest + 1 }, (_, length) =>
    names.filter((name) => name.length === length),
  );
  return { folded: new Map(names.map((name) => [fold(name), name])), ofLength };
}

/** Whether a member of `object` is a known name in another spelling; false when `object` is absent or no object. */
export function hasTwin(doc: JsonText, object: Node | undefined, known: KnownNames): boolean {
  if (object === undefined) return false;
  return doc.someKey(object, (key) => {
    const like = alike(doc, key, known);
    if (like?.some((name) => doc.isKey(key, name))) return false;
    const text = like === NONE ? undefined : doc.key(key);
    const name = text === undefined ? undefined : known.folded.get(fold(text));
    return name !== undefined && name !== text;
  });
}

/** Whether a member of `object` is a known name, in whatever spelling; false when `object` is absent or no object. */
export function hasSpelling(doc: JsonText, object: Node | undefined, known: KnownNames): boolean {
  if (object === undefined) return false;
  return doc.someKey(
    object,
    (key) => alike(doc, key, known) !== NONE && known.folded.has(fold(doc.key(key))),
  );
}

/** The names that a key can be a spelling of, as far as its length tells; undefined where it tells nothing. */
function alike(doc: JsonText, key: Key, known: KnownNames): readonly string[] | undefined {
  const length = doc.plainLength(key);
  if (length < 0) return undefined;
  const names = known.ofLength[length];
  return names === undefined || names.length === 0 ? NONE : names;
}
