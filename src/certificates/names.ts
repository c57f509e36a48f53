/**
 * The names in a certificate, read from its bytes: subject (RFC 5280 section 4.1.2.4) and subject alternative names (section
 * 4.2.1.6). Texts that joined names into one string have been read wrongly before; here nothing is joined, and a name that holds
 * a NUL, a control character or bytes of another encoding is no name at all. Pure.
 */
import { isUtf8 } from "node:buffer";
import { childrenOf, type Der, DerError, expect, readOid, TAG } from "./der.ts";

/** One attribute of a distinguished name. */
export interface Attribute {
  /** Dotted object identifier of its type. */
  readonly type: string;
  /** Undefined where the value is no text of a kind that is read. */
  readonly text: string | undefined;
  /** The value as it stands, in DER. */
  readonly value: Buffer;
}

/** A distinguished name: relative names in their order, each with its attributes. */
export type DistinguishedName = readonly (readonly Attribute[])[];

/** A kind of alternative name that can say who somebody is. */
export type SanKind = "uri" | "dns" | "email";

/** The alternative names by their kind. */
export type SubjectAltNames = Readonly<Record<SanKind, readonly string[]>>;

const COMMON_NAME = "2.5.4.3";
const ORGANIZATIONAL_UNIT = "2.5.4.11";

/** RFC 4514 section 3: types that have a name; all others are written as numbers. */
const TYPE_NAMES: ReadonlyMap<string, string> = new Map([
  [COMMON_NAME, "CN"],
  ["2.5.4.7", "L"],
  ["2.5.4.8", "ST"],
  ["2.5.4.10", "O"],
  [ORGANIZATIONAL_UNIT, "OU"],
  ["2.5.4.6", "C"],
  ["2.5.4.9", "STREET"],
  ["0.9.2342.19200300.100.1.25", "DC"],
  ["0.9.2342.19200300.100.1.1", "UID"],
]);

/** Identifier octets of a general name (context-specific, primitive). */
const SAN_TAGS: ReadonlyMap<number, SanKind> = new Map([
  [0x81, "email"],
  [0x82, "dns"],
  [0x86, "uri"],
]);
/** More names are no client's. */
const MAX_NAMES = 256;

/** @throws DerError */
export function readName(der: Der): DistinguishedName {
  const sets = childrenOf(expect(der, TAG.sequence));
  if (sets.length > MAX_NAMES) throw new DerError("the name is too long");
  return sets.map((set) => {
    const attributes = childrenOf(expect(set, TAG.set)).map(readAttribute);
    if (attributes.length === 0 || attributes.length > MAX_NAMES)
      throw new DerError("a relative name is empty");
    return attributes;
  });
}

/** The contents of the extension. A name of a kind that is read, and that is no name, makes all of them unreadable. @throws DerError */
export function readSubjectAltNames(extension: Der): SubjectAltNames {
  const found: Record<SanKind, string[]> = { uri: [], dns: [], email: [] };
  const names = childrenOf(expect(extension, TAG.sequence));
  if (names.length === 0 || names.length > MAX_NAMES) throw new DerError("no alternative names, or too many");
  for (const { tag, contents } of names) {
    const kind = SAN_TAGS.get(tag);
    if (kind === undefined) continue;
    const text = contents.toString("latin1");
    // IA5String allows controls and blanks; a URI, a host name and a mailbox do not.
    if (!/^[!-~]{1,2048}$/.test(text)) throw new DerError("an alternative name is not printable");
    found[kind].push(text);
  }
  return found;
}

/** The texts of all attributes of one type; undefined where one of them is no readable text. */
function textsOf(name: DistinguishedName, type: string): readonly string[] | undefined {
  const texts = name.flat().flatMap((attribute) => (attribute.type === type ? [attribute.text] : []));
  return texts.every((text) => text !== undefined) ? texts : undefined;
}

/** All common names of a subject; undefined where one of them is no readable text. */
export const commonNames = (name: DistinguishedName): readonly string[] | undefined =>
  textsOf(name, COMMON_NAME);

/** The same for organizational units. */
export const organizationalUnits = (name: DistinguishedName): readonly string[] | undefined =>
  textsOf(name, ORGANIZATIONAL_UNIT);

/**
 * The name as text (RFC 4514 section 2): last relative name first, one spelling for each name. Undefined for the empty name, and
 * where an attribute that has a named type is no readable text.
 */
export function printName(name: DistinguishedName): string | undefined {
  const parts: string[] = [];
  for (const relative of name.toReversed()) {
    const printed: string[] = [];
    for (const { type, text, value } of relative) {
      const known = TYPE_NAMES.get(type);
      if (known === undefined) printed.push(`${type}=#${value.toString("hex")}`);
      else if (text === undefined) return undefined;
      else printed.push(`${known}=${escaped(text)}`);
    }
    parts.push(printed.join("+"));
  }
  return parts.length === 0 ? undefined : parts.join(",");
}

function readAttribute(der: Der): Attribute {
  const [type, value, ...more] = childrenOf(expect(der, TAG.sequence));
  if (value === undefined || more.length > 0) throw new DerError("an attribute is not a type and a value");
  return { type: readOid(type), text: textOf(value), value: value.whole };
}

/** UTF8String, PrintableString and IA5String without controls; other kinds of string are read in more than one way. */
function textOf({ tag, contents }: Der): string | undefined {
  const ascii = tag === TAG.printableString || tag === TAG.ia5String;
  if (!ascii && tag !== TAG.utf8String) return undefined;
  if (ascii ? contents.some((byte) => byte > 0x7e) : !isUtf8(contents)) return undefined;
  const text = contents.toString("utf8");
  return /^[^\p{Cc}\p{Cs}]{1,2048}$/u.test(text) ? text : undefined;
}

/** RFC 4514 section 2.4. */
function escaped(text: string): string {
  return text.replace(/["+,;<>\\]|^[ #]| $/g, "\\$&");
}
