/** No object may hold one key twice, compared after unescaping: two readers of such a text may see two different messages. */
import { randomInt } from "node:crypto";
import { JsonError } from "./fault.ts";
import { behind, ESCAPED, endAt, SCALAR_CELLS, startAt } from "./tape.ts";

/** Up to this many members are compared pair by pair; more by their hashes, so that time stays linear. */
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
  if (escaped || members > MAX_PAIRWISE_MEMBERS) checkByHash(bytes, tape, first, top, members, escaped);
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

/**
 * Equal keys have equal hashes, and few others have: only those go through a set, which is slow. Sorting numbers is not. Who
 * could choose keys of equal hashes would win nothing but the set for all of them.
 */
function checkByHash(
  bytes: Buffer,
  tape: Int32Array,
  first: number,
  top: number,
  members: number,
  escaped: boolean,
): void {
  const hashes = new Int32Array(members);
  for (let key = first, i = 0; key < top; key = behind(tape, key + SCALAR_CELLS), i++) {
    const start = startAt(tape, key);
    const end = endAt(tape, key);
    if (((tape[key] as number) & ESCAPED) === 0) hashes[i] = hash(bytes, start + 1, end - 1);
    else {
      const text = Buffer.from(JSON.parse(bytes.toString("utf8", start, end)) as string);
      hashes[i] = hash(text, 0, text.length);
    }
  }
  const sorted = hashes.toSorted();
  const twice = new Set<number>();
  for (let i = 1; i < members; i++) if (sorted[i] === sorted[i - 1]) twice.add(sorted[i] as number);
  if (twice.size === 0) return;
  const seen = new Set<string>();
  let looked = 0;
  for (let key = first, i = 0; key < top; key = behind(tape, key + SCALAR_CELLS), i++) {
    if (!twice.has(hashes[i] as number)) continue;
    const start = startAt(tape, key);
    // The quotes stay on: V8 hashes strings that look like integers without a seed, and chosen ones would all collide.
    let text = bytes.toString(escaped ? "utf8" : "latin1", start, endAt(tape, key));
    if (((tape[key] as number) & ESCAPED) !== 0) text = `"${JSON.parse(text)}"`;
    seen.add(text);
    if (seen.size !== ++looked) throw new JsonError("duplicate_key", start);
  }
}

/** Chosen anew by each process. The second has to be odd. */
const SEED = randomInt(2 ** 32);
const FACTOR = randomInt(2 ** 31) * 2 + 1;

function hash(bytes: Buffer, start: number, end: number): number {
  let value = SEED;
  for (let i = start; i < end; i++) {
    value = Math.imul(value ^ (bytes[i] as number), FACTOR);
    value ^= value >>> 15;
  }
  return value | 0;
}
