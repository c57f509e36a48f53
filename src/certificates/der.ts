/**
 * A strict reader of DER (X.690 sections 8 and 10): what a certificate's names are read with. Anything that two readers could
 * take for two things is refused: indefinite and overlong lengths, long tags, bytes left over. Pure.
 */

/** The bytes are no DER, or not what was expected. The message is fixed text. */
export class DerError extends Error {
  override readonly name = "DerError";
}

/** One value: its identifier octet, and what it holds. Views into the bytes that were read. */
export interface Der {
  readonly tag: number;
  readonly contents: Buffer;
  /** Identifier, length and contents. */
  readonly whole: Buffer;
}

/** Identifier octets of the universal types that certificates are made of (X.690 section 8.1.2). */
export const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  oid: 0x06,
  utf8String: 0x0c,
  printableString: 0x13,
  ia5String: 0x16,
  sequence: 0x30,
  set: 0x31,
} as const;

/** The only value in `bytes`. */
export function readDer(bytes: Buffer): Der {
  const der = readAt(bytes, 0);
  if (der.whole.length !== bytes.length) throw new DerError("bytes are left over");
  return der;
}

/** The values in a constructed one. */
export function childrenOf(der: Der): Der[] {
  if ((der.tag & 0x20) === 0) throw new DerError("the value is not constructed");
  const children: Der[] = [];
  for (let at = 0; at < der.contents.length; ) {
    const child = readAt(der.contents, at);
    children.push(child);
    at += child.whole.length;
  }
  return children;
}

/** `der` if it has this tag. */
export function expect(der: Der | undefined, tag: number): Der {
  if (der?.tag !== tag) throw new DerError("another value was expected");
  return der;
}

/** Those of real certificates have less than 40. Reading one takes time by the square of its length. */
const MAX_OID_BYTES = 64;

/** An object identifier in dotted form. */
export function readOid(der: Der | undefined): string {
  const { contents } = expect(der, TAG.oid);
  if (contents.length > MAX_OID_BYTES) throw new DerError("an object identifier is too long");
  const arcs: bigint[] = [];
  let arc = 0n;
  let fresh = true;
  for (const byte of contents) {
    if (fresh && byte === 0x80) throw new DerError("an arc is padded");
    arc = (arc << 7n) | BigInt(byte & 0x7f);
    fresh = (byte & 0x80) === 0;
    if (!fresh) continue;
    arcs.push(arc);
    arc = 0n;
  }
  const [first] = arcs;
  if (first === undefined || !fresh) throw new DerError("an object identifier is cut off");
  const root = first < 40n ? 0n : first < 80n ? 1n : 2n;
  return [root, first - root * 40n, ...arcs.slice(1)].join(".");
}

/** DER knows one byte for true; false is left out where it is the default, and read all the same. */
export function readBoolean(der: Der): boolean {
  const { contents } = expect(der, TAG.boolean);
  const value = contents.length === 1 ? contents[0] : undefined;
  if (value !== 0xff && value !== 0x00) throw new DerError("a boolean is neither true nor false");
  return value === 0xff;
}

function readAt(bytes: Buffer, at: number): Der {
  const tag = bytes[at];
  const first = bytes[at + 1];
  if (tag === undefined || first === undefined) throw new DerError("the value is cut off");
  if ((tag & 0x1f) === 0x1f) throw new DerError("the tag is a long one");
  let start = at + 2;
  let length = first;
  if (first >= 0x80) {
    const octets = first & 0x7f;
    if (octets === 0 || octets > 3) throw new DerError("the length is of no form that certificates have");
    if (start + octets > bytes.length) throw new DerError("the value is cut off");
    length = bytes.readUIntBE(start, octets);
    start += octets;
    if (length < 0x80 || length < 2 ** (8 * (octets - 1))) throw new DerError("the length is overlong");
  }
  const end = start + length;
  if (end > bytes.length) throw new DerError("the value is cut off");
  return { tag, contents: bytes.subarray(start, end), whole: bytes.subarray(at, end) };
}
