/**
 * The tokens of RFC 8259 over bytes that are known to be UTF-8: strings (section 7), numbers (section 6), literal names
 * (section 3), whitespace (section 2). Each function gets the offset of a token's first byte and gives the offset behind it.
 */
import { JsonError } from "./fault.ts";
import { ESCAPED, LONE, START_SHIFT } from "./tape.ts";

const SPACE = 0x20;
const TAB = 0x09;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const QUOTE = 0x22;
const PLUS = 0x2b;
const MINUS = 0x2d;
const DOT = 0x2e;
const DIGIT_0 = 0x30;
const DIGIT_9 = 0x39;
const BACKSLASH = 0x5c;
const LOWER_E = 0x65;
const LOWER_U = 0x75;
const HEX_DIGITS = 4;

/** Byte → value of the hex digit, or -1. */
const HEX = Int8Array.from({ length: 256 }, (_, byte) => {
  const digit = Number.parseInt(String.fromCharCode(byte), 16);
  return Number.isNaN(digit) ? -1 : digit;
});

/** Byte → 1 where it stands for itself inside a string. */
const PLAIN = new Uint8Array(256).fill(1).fill(0, 0, SPACE);
PLAIN[QUOTE] = 0;
PLAIN[BACKSLASH] = 0;

/** Byte → 1 where it may follow a backslash alone, and what it then stands for. */
const SHORT_ESCAPE = new Uint8Array(256);
const ESCAPE_UNIT = new Uint8Array(256);
for (const [sign, meaning] of Object.entries({
  '"': '"',
  "\\": "\\",
  "/": "/",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
})) {
  SHORT_ESCAPE[sign.charCodeAt(0)] = 1;
  ESCAPE_UNIT[sign.charCodeAt(0)] = meaning.charCodeAt(0);
}

/** Offset of the first byte at or behind `at` that is no whitespace; `end` when there is none. */
export function skipSpace(bytes: Uint8Array, at: number, end: number): number {
  let i = at;
  while (i < end) {
    const byte = bytes[i] as number;
    if (byte > SPACE || (byte !== SPACE && byte !== LINE_FEED && byte !== CARRIAGE_RETURN && byte !== TAB))
      break;
    i++;
  }
  return i;
}

/**
 * Scans the string whose opening quote is at `at`. Gives the offset behind it shifted left by `START_SHIFT`, with the flags
 * `ESCAPED` and `LONE` in the low bits. Throws `syntax`.
 */
export function scanString(bytes: Uint8Array, at: number, end: number): number {
  let i = at + 1;
  while (i < end && PLAIN[bytes[i] as number] === 1) i++;
  if (i < end && bytes[i] === QUOTE) return (i + 1) << START_SHIFT;
  return scanEscaped(bytes, i, end);
}

/** The rest of a string from its first backslash on, or from where it breaks. */
function scanEscaped(bytes: Uint8Array, at: number, end: number): number {
  let flags = ESCAPED;
  let i = at;
  while (i < end) {
    const byte = bytes[i] as number;
    if (byte === QUOTE) return ((i + 1) << START_SHIFT) | flags;
    if (byte < SPACE) break;
    if (byte !== BACKSLASH) {
      i++;
    } else if (i + 1 < end && SHORT_ESCAPE[bytes[i + 1] as number] === 1) {
      i += 2;
    } else {
      const unit = escapedUnit(bytes, i, end);
      if (unit < 0) break;
      i += 2 + HEX_DIGITS;
      if (unit < 0xd800 || unit > 0xdfff) continue;
      const next = unit < 0xdc00 ? escapedUnit(bytes, i, end) : -1;
      if (next >= 0xdc00 && next <= 0xdfff) i += 2 + HEX_DIGITS;
      else flags |= LONE;
    }
  }
  throw new JsonError("syntax", i);
}

/** The UTF-16 code unit that `\uXXXX` at `at` stands for; -1 when something else stands there. */
function escapedUnit(bytes: Uint8Array, at: number, end: number): number {
  if (at + 2 + HEX_DIGITS > end || bytes[at] !== BACKSLASH || bytes[at + 1] !== LOWER_U) return -1;
  let unit = 0;
  for (let i = at + 2; i < at + 2 + HEX_DIGITS; i++) {
    const digit = HEX[bytes[i] as number] as number;
    if (digit < 0) return -1;
    unit = unit * 16 + digit;
  }
  return unit;
}

/**
 * Whether the string that stands between its quotes from `start` up to `end` means `text`; the scan has passed it. Nothing is
 * decoded into a string, and the first unit that differs ends it.
 */
export function means(bytes: Uint8Array, start: number, end: number, text: string): boolean {
  let at = start;
  for (let i = 0; i < text.length; i++) {
    if (at >= end) return false;
    let unit = bytes[at] as number;
    if (unit === BACKSLASH) {
      const sign = bytes[at + 1] as number;
      unit = sign === LOWER_U ? escapedUnit(bytes, at, end) : (ESCAPE_UNIT[sign] as number);
      at += sign === LOWER_U ? 2 + HEX_DIGITS : 2;
    } else if (unit < 0x80) {
      at++;
    } else if (unit < 0xe0) {
      unit = ((unit & 0x1f) << 6) | tail(bytes, at + 1);
      at += 2;
    } else if (unit < 0xf0) {
      unit = ((unit & 0xf) << 12) | (tail(bytes, at + 1) << 6) | tail(bytes, at + 2);
      at += 3;
    } else {
      const high = ((unit & 7) << 18) | (tail(bytes, at + 1) << 12);
      if (text.codePointAt(i++) !== (high | (tail(bytes, at + 2) << 6) | tail(bytes, at + 3))) return false;
      at += 4;
      continue;
    }
    if (unit !== text.charCodeAt(i)) return false;
  }
  return at === end;
}

/** The six bits of a byte that continues a UTF-8 character. */
function tail(bytes: Uint8Array, at: number): number {
  return (bytes[at] as number) & 0x3f;
}

/** Scans the number whose minus or first digit is at `at`. Throws `syntax`. */
export function scanNumber(bytes: Uint8Array, at: number, end: number): number {
  let i = at;
  if (bytes[i] === MINUS) i++;
  const first = i;
  i = scanDigits(bytes, i, end);
  if (i - first > 1 && bytes[first] === DIGIT_0) throw new JsonError("syntax", first + 1);
  if (i < end && bytes[i] === DOT) i = scanDigits(bytes, i + 1, end);
  // The bit that tells upper from lower case is the one of the space.
  if (i < end && ((bytes[i] as number) | SPACE) === LOWER_E) {
    i++;
    if (i < end && (bytes[i] === PLUS || bytes[i] === MINUS)) i++;
    i = scanDigits(bytes, i, end);
  }
  return i;
}

/** One digit or more. */
function scanDigits(bytes: Uint8Array, at: number, end: number): number {
  let i = at;
  while (i < end) {
    const byte = bytes[i] as number;
    if (byte < DIGIT_0 || byte > DIGIT_9) break;
    i++;
  }
  if (i === at) throw new JsonError("syntax", at);
  return i;
}

/** Scans the literal name whose first byte is at `at`. Throws `syntax`. */
export function scanLiteral(bytes: Uint8Array, at: number, end: number, name: string): number {
  for (let i = 0; i < name.length; i++) {
    if (at + i >= end || bytes[at + i] !== name.charCodeAt(i)) throw new JsonError("syntax", at + i);
  }
  return at + name.length;
}
