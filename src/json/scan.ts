/**
 * The strict scan: RFC 8259 and nothing else, one pass over the bytes, no recursion, no object per node.
 * Stricter than the RFC where two readers could differ: one value, UTF-8 without a byte order mark, no key twice in an object,
 * no unpaired surrogate in a key, bounded depth. Unpaired surrogates in other strings are flagged for the caller to judge.
 */
import { isUtf8 } from "node:buffer";
import { checkDuplicates } from "./duplicate.ts";
import { JsonError } from "./fault.ts";
import {
  ARRAY,
  CONTAINER_CELLS,
  ESCAPED,
  FALSE,
  KIND_MASK,
  LONE,
  MAX_BYTES,
  NULL,
  NUMBER,
  OBJECT,
  SCALAR_CELLS,
  START_SHIFT,
  STRING,
  TRUE,
} from "./tape.ts";
import { JsonText } from "./text.ts";
import { scanLiteral, scanNumber, scanString, skipSpace } from "./token.ts";

export { JsonError, type JsonFault } from "./fault.ts";
export type { Kind, Node } from "./tape.ts";
export { JsonText, type Key, type Member } from "./text.ts";

export interface ScanLimits {
  /** Largest text in bytes; above 128 MiB the scanner's own limit counts. */
  readonly bytes: number;
  /** Deepest nesting of arrays and objects: `[]` has depth 1, `[{}]` depth 2. */
  readonly depth: number;
}

const FLAGS = ESCAPED | LONE;
const NONE = -1;
const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const DIGIT_0 = 0x30;
const DIGIT_9 = 0x39;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const LOWER_F = 0x66;
const LOWER_N = 0x6e;
const LOWER_T = 0x74;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/**
 * Scans one JSON value out of untrusted bytes. The result keeps the bytes, it does not copy them.
 * Throws `JsonError` with any fault but `kind`.
 */
export function scan(bytes: Uint8Array, limits: ScanLimits): JsonText {
  if (bytes.length > limits.bytes || bytes.length > MAX_BYTES) throw new JsonError("too_large", 0);
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) throw new JsonError("bom", 0);
  if (!isUtf8(bytes)) throw new JsonError("utf8", 0);
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return new JsonText(buffer, scanTape(buffer, limits.depth));
}

/** Cells that are held on to between two scans, four bytes each. */
const MOST_SCRATCH = 1 << 20;
/** Where tapes are written, one at a time: nothing waits in a scan, and how long a tape becomes is known at its end. */
let scratch = new Int32Array(1 << 12);

/**
 * While a container is open its cells hold other things than at the end: cell 1 the number of its members or items so far,
 * cell 2 the tape index of its parent. So the tape is the stack too.
 */
function scanTape(bytes: Buffer, maxDepth: number): Int32Array {
  const end = bytes.length;
  let tape = scratch;
  let top = 0;
  let open = NONE;
  let depth = 0;
  let at = skipSpace(bytes, 0, end);
  if (at === end) throw new JsonError("empty", 0);

  for (;;) {
    // Here a value begins. Before the next one at most one container, or scalar, and one key are written: room for both.
    if (top + CONTAINER_CELLS + SCALAR_CELLS > tape.length) tape = grow(tape);
    const byte = at < end ? (bytes[at] as number) : NONE;
    let entered = false;
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      if (++depth > maxDepth) throw new JsonError("depth", at);
      tape[top] = (at << START_SHIFT) | (byte === OPEN_BRACE ? OBJECT : ARRAY);
      tape[top + 1] = 0;
      tape[top + 2] = open;
      open = top;
      top += CONTAINER_CELLS;
      at = skipSpace(bytes, at + 1, end);
      entered = true;
    } else {
      let head = at << START_SHIFT;
      if (byte === QUOTE) {
        const string = scanString(bytes, at, end);
        at = string >>> START_SHIFT;
        head |= STRING | (string & FLAGS);
        if (open !== NONE) tape[open] = (tape[open] as number) | (string & LONE);
      } else if ((byte >= DIGIT_0 && byte <= DIGIT_9) || byte === MINUS) {
        at = scanNumber(bytes, at, end);
        head |= NUMBER;
      } else if (byte === LOWER_T) {
        at = scanLiteral(bytes, at, end, "true");
        head |= TRUE;
      } else if (byte === LOWER_F) {
        at = scanLiteral(bytes, at, end, "false");
        head |= FALSE;
      } else if (byte === LOWER_N) {
        at = scanLiteral(bytes, at, end, "null");
        head |= NULL;
      } else {
        throw new JsonError("syntax", at);
      }
      tape[top] = head;
      tape[top + 1] = at;
      top += SCALAR_CELLS;
    }

    // Behind a value, or just inside a container: close what closes here, then stand before the next value.
    for (;;) {
      if (open === NONE) {
        at = skipSpace(bytes, at, end);
        if (at !== end) throw new JsonError("trailing", at);
        return kept(tape, top);
      }
      at = skipSpace(bytes, at, end);
      const next = at < end ? (bytes[at] as number) : NONE;
      const head = tape[open] as number;
      const isObject = (head & KIND_MASK) === OBJECT;
      if (next === (isObject ? CLOSE_BRACE : CLOSE_BRACKET)) {
        const parent = tape[open + 2] as number;
        if (isObject) {
          const first = open + CONTAINER_CELLS;
          checkDuplicates(bytes, tape, first, top, tape[open + 1] as number, (head & ESCAPED) !== 0);
        }
        at++;
        tape[open + 1] = at;
        tape[open + 2] = top;
        if (parent !== NONE) tape[parent] = (tape[parent] as number) | (head & LONE);
        open = parent;
        depth--;
        entered = false;
        continue;
      }
      if (entered) {
        if (!isObject) break;
      } else {
        if (next !== COMMA) throw new JsonError("syntax", at);
        at = skipSpace(bytes, at + 1, end);
        if (!isObject) break;
      }
      // A key and its colon.
      if (at >= end || bytes[at] !== QUOTE) throw new JsonError("syntax", at);
      const key = scanString(bytes, at, end);
      if ((key & LONE) !== 0) throw new JsonError("lone_surrogate", at);
      tape[top] = (at << START_SHIFT) | STRING | (key & ESCAPED);
      at = key >>> START_SHIFT;
      tape[top + 1] = at;
      top += SCALAR_CELLS;
      tape[open] = head | (key & ESCAPED);
      tape[open + 1] = (tape[open + 1] as number) + 1;
      at = skipSpace(bytes, at, end);
      if (at >= end || bytes[at] !== COLON) throw new JsonError("syntax", at);
      at = skipSpace(bytes, at + 1, end);
      break;
    }
  }
}

function grow(tape: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(tape.length * 2);
  larger.set(tape);
  if (larger.length <= MOST_SCRATCH) scratch = larger;
  return larger;
}

/** What was written of a tape, for as long as its text is read. Small ones share memory, as small buffers do. */
function kept(tape: Int32Array, top: number): Int32Array {
  const { buffer, byteOffset } = Buffer.allocUnsafe(top * Int32Array.BYTES_PER_ELEMENT);
  const copy = new Int32Array(buffer, byteOffset, top);
  copy.set(tape.subarray(0, top));
  return copy;
}
