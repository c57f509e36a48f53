/** No object may hold one key twice, compared after unescaping: two readers of such a text may see two different messages. */
import { JsonError } from "./fault.ts";
import { behind, ESCAPED, endAt, SCALAR_CELLS, startAt } from "./tape.ts";

/** Up to this many members are compared pair by pair; more go through a set, so that time stays linear. */
const MAX_PAIRWISE_MEMBERS = 16;

/**
 * Checks the keys of one object whose children are on the tape from `first` up to `top`.
 * `escaped`: at least one of its keys holds a backslash. Throws `duplicate_key` at the second of two equal keys.
 */
export function checkDuplicates(
  bytes: Buffer,
  tape: Int32Array,
  first: number,
  top: number,
  members: number,
  escaped: boolean,
): void {
  if (members < 2) return;
  if (escaped || members > MAX_PAIRWISE_MEMBERS) checkBySet(bytes, tape, first, top, escaped);
  else checkPairwise(bytes, tape, first, top);
}

function checkPairwise(bytes: Buffer, tape: Int32Array, first: number, top: number): void {
  // One bit for each class of keys seen so far: only a key of a class already seen can be a duplicate.
  let seen = 0;
  for (let key = first; key < top; key = behind(tape, key + SCALAR_CELLS)) {
    const start = startAt(tape, key);
    const end = endAt(tape, key);
    const bit =
      1 << (((bytes[start + 1] as number) + 3 * (bytes[end - 2] as number) + 5 * (end - start)) & 31);
    if ((seen & bit) !== 0) {
      for (let other = first; other < key; other = behind(tape, other + SCALAR_CELLS)) {
        if (equalBytes(bytes, startAt(tape, other), endAt(tape, other), start, end)) {
          throw new JsonError("duplicate_key", start);
        }
      }
    }
    seen |= bit;
  }
}

function equalBytes(
  bytes: Buffer,
  start: number,
  end: number,
  otherStart: number,
  otherEnd: number,
): boolean {
  if (end - start !== otherEnd - otherStart) return false;
  for (let i = start, j = otherStart; i < end; i++, j++) if (bytes[i] !== bytes[j]) return false;
  return true;
}

function checkBySet(bytes: Buffer, tape: Int32Array, first: number, top: number, escaped: boolean): void {
  const seen = new Set<string>();
  let members = 0;
  for (let key = first; key < top; key = behind(tape, key + SCALAR_CELLS)) {
    const start = startAt(tape, key);
    // The quotes stay on: V8 hashes strings that look like integers without a seed, and chosen ones would all collide.
    let text = bytes.toString(escaped ? "utf8" : "latin1", start, endAt(tape, key));
    if (((tape[key] as number) & ESCAPED) !== 0) text = `"${JSON.parse(text)}"`;
    seen.add(text);
    if (seen.size !== ++members) throw new JsonError("duplicate_key", start);
  }
}
