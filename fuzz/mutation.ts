/** Changes to an input that say nothing of its format: bytes, ranges, words of a dictionary, parts of other inputs. */
import type { Random } from "./random.ts";

const MAX_BYTES = 2048;
/** Bytes at which readers change their minds. */
const EDGES = [
  0x00, 0x0a, 0x0d, 0x1f, 0x20, 0x22, 0x2c, 0x2d, 0x30, 0x3a, 0x5c, 0x7f, 0x80, 0xbf, 0xc0, 0xed, 0xef, 0xf4,
  0xff,
];

/** One to four changes. The result has at most `MAX_BYTES`. */
export function mutate(
  input: Buffer,
  others: readonly Buffer[],
  dictionary: readonly string[],
  random: Random,
): Buffer {
  let bytes = input;
  for (let left = 1 + random.below(4); left > 0; left--) bytes = change(bytes, others, dictionary, random);
  return bytes.subarray(0, MAX_BYTES);
}

function change(
  bytes: Buffer,
  others: readonly Buffer[],
  dictionary: readonly string[],
  random: Random,
): Buffer {
  const at = random.below(bytes.length + 1);
  const end = Math.min(bytes.length, at + random.below(random.oneIn(3) ? 64 : 4));
  const insert = (part: Uint8Array, to = at): Buffer =>
    Buffer.concat([bytes.subarray(0, at), part, bytes.subarray(to)]);
  switch (random.below(8)) {
    case 0:
      return at === bytes.length ? insert(random.bytes(1)) : flip(bytes, at, 1 << random.below(8));
    case 1:
      return insert(Buffer.of(random.pick(EDGES)), random.oneIn(2) ? at : at + 1);
    case 2:
      return insert(Buffer.alloc(0), end);
    case 3:
      return insert(Buffer.from(random.pick(dictionary)), random.oneIn(2) ? at : end);
    case 4:
      return insert(bytes.subarray(at, end));
    case 5: {
      const other = random.pick(others);
      const from = random.below(other.length + 1);
      return insert(other.subarray(from, from + random.below(64)), random.oneIn(2) ? at : bytes.length);
    }
    case 6: {
      const word = Buffer.from(random.pick(dictionary));
      return insert(Buffer.concat(Array.from({ length: 1 + random.below(24) }, () => word)));
    }
    default:
      return insert(random.bytes(1 + random.below(4)), end);
  }
}

function flip(bytes: Buffer, at: number, bit: number): Buffer {
  const changed = Buffer.from(bytes);
  changed[at] = (changed[at] ?? 0) ^ bit;
  return changed;
}
