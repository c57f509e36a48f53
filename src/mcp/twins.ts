/**
 * Members that differ from a known name only by case. Some JSON readers match names without regard to case and take the
 * last one, so such a twin would let two readers see two messages.
 */
import type { JsonText, Node } from "../json/scan.ts";

/** Known names, folded. Made once per list by `knownNames`. */
export type KnownNames = ReadonlyMap<string, string>;

/**
 * One spelling for all spellings that a case-insensitive reader may take for equal. Upper case first: `ſ` becomes `S` and
 * the Kelvin sign `k`, as Unicode simple folding has it.
 */
export function fold(name: string): string {
  return name.toUpperCase().toLowerCase();
}

/** Prepares a list of names for `hasTwin`. */
export function knownNames(...names: string[]): KnownNames {
  return new Map(names.map((name) => [fold(name), name]));
}

/** Whether a member of `object` is a known name in another spelling; false when `object` is absent or no object. */
export function hasTwin(doc: JsonText, object: Node | undefined, known: KnownNames): boolean {
  if (object === undefined) return false;
  for (const { key } of doc.members(object)) {
    const name = known.get(fold(key));
    if (name !== undefined && name !== key) return true;
  }
  return false;
}
