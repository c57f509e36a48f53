/**
 * One X.509 certificate, with what this gateway asks of it. OpenSSL reads it first; names and constraints are then read strictly
 * from the same bytes. Nothing here says that it is trusted: that is the path's to say (path.ts).
 */
import { createHash, type KeyObject, X509Certificate } from "node:crypto";
import { childrenOf, type Der, DerError, expect, readBoolean, readDer, readOid, TAG } from "./der.ts";
import { type DistinguishedName, readName, readSubjectAltNames, type SubjectAltNames } from "./names.ts";

/** Larger ones are no client's, and are not read. */
export const MAX_CERTIFICATE_BYTES = 16 * 1024;

const EXTENSION = {
  keyUsage: "2.5.29.15",
  subjectAltName: "2.5.29.17",
  basicConstraints: "2.5.29.19",
  nameConstraints: "2.5.29.30",
  extendedKeyUsage: "2.5.29.37",
} as const;
/** Critical extensions that are understood here or by `X509Certificate`; with any other the certificate is refused. */
const UNDERSTOOD: ReadonlySet<string> = new Set([
  EXTENSION.keyUsage,
  EXTENSION.subjectAltName,
  EXTENSION.basicConstraints,
  EXTENSION.extendedKeyUsage,
]);
const NO_NAMES: SubjectAltNames = { uri: [], dns: [], email: [] };

/** See the file's header. */
export interface Certificate {
  readonly x509: X509Certificate;
  readonly publicKey: KeyObject;
  /** DER. */
  readonly raw: Buffer;
  /** SHA-256 of the DER, base64url: `x5t#S256` (RFC 8705 section 3.1). */
  readonly thumbprint: string;
  /** Milliseconds since the epoch; both ends belong to it. */
  readonly notBefore: number;
  readonly notAfter: number;
  readonly subject: DistinguishedName;
  readonly altNames: SubjectAltNames;
  readonly isAuthority: boolean;
  /** `pathLenConstraint`. */
  readonly maxBelow: number | undefined;
  /** Bits of `keyUsage`, from `digitalSignature` at 0; undefined where the extension is absent. */
  readonly keyUsage: ReadonlySet<number> | undefined;
  /** Object identifiers; undefined where the extension is absent. */
  readonly extendedKeyUsage: readonly string[] | undefined;
  /** Object identifier of the algorithm of its signature. */
  readonly signature: string;
  /** A constraint that is not understood here: the certificate vouches for nothing. */
  readonly isUnjudgeable: boolean;
}

/** @throws DerError for what OpenSSL cannot read either, or reads more leniently than this gateway */
export function readCertificate(der: Buffer): Certificate {
  if (der.length > MAX_CERTIFICATE_BYTES) throw new DerError("the certificate is too large");
  const x509 = parsed(der);
  const [tbs, algorithm, signature, ...more] = childrenOf(expect(readDer(der), TAG.sequence));
  if (more.length > 0) throw new DerError("the certificate has more parts than three");
  expect(signature, TAG.bitString);
  const fields = childrenOf(expect(tbs, TAG.sequence));
  // [0] version: only version 3 has extensions, and earlier ones have no names that are read here.
  const [, , , , subject, , ...rest] = fields[0]?.tag === 0xa0 ? fields.slice(1) : fields;
  const extensions = readExtensions(rest.filter(({ tag }) => tag === 0xa3));
  const basic = extensions.get(EXTENSION.basicConstraints)?.value;
  const usage = extensions.get(EXTENSION.keyUsage)?.value;
  const names = extensions.get(EXTENSION.subjectAltName)?.value;
  return {
    x509,
    publicKey: readKey(x509),
    raw: der,
    thumbprint: createHash("sha256").update(der).digest("base64url"),
    notBefore: readTime(x509.validFromDate),
    // The second that it names is the last one of it.
    notAfter: readTime(x509.validToDate) + 999,
    subject: readName(expect(subject, TAG.sequence)),
    altNames: names === undefined ? NO_NAMES : readSubjectAltNames(readDer(names)),
    ...readBasicConstraints(basic),
    keyUsage: usage === undefined ? undefined : readBits(readDer(usage)),
    extendedKeyUsage: readExtendedKeyUsage(extensions.get(EXTENSION.extendedKeyUsage)?.value),
    signature: readOid(childrenOf(expect(algorithm, TAG.sequence))[0]),
    isUnjudgeable:
      extensions.has(EXTENSION.nameConstraints) ||
      [...extensions].some(([id, { critical }]) => critical && !UNDERSTOOD.has(id)),
  };
}

function parsed(der: Buffer): X509Certificate {
  try {
    return new X509Certificate(der);
  } catch {
    throw new DerError("not a certificate");
  }
}

/** OpenSSL reads a certificate whose key it cannot, and says so only when it is asked for the key. */
function readKey(x509: X509Certificate): KeyObject {
  try {
    return x509.publicKey;
  } catch {
    throw new DerError("the key cannot be read");
  }
}

/** OpenSSL reads a certificate whose times are none; compared with those, no time would be wrong. */
function readTime(date: Date): number {
  const time = date.getTime();
  if (!Number.isFinite(time)) throw new DerError("a time is none");
  return time;
}

interface Extension {
  readonly critical: boolean;
  readonly value: Buffer;
}

function readExtensions(wrapped: readonly Der[]): ReadonlyMap<string, Extension> {
  const extensions = new Map<string, Extension>();
  if (wrapped.length > 1) throw new DerError("extensions stand twice");
  const [list, ...more] = wrapped[0] === undefined ? [] : childrenOf(wrapped[0]);
  if (list === undefined || more.length > 0) return extensions;
  for (const entry of childrenOf(expect(list, TAG.sequence))) {
    const [id, ...parts] = childrenOf(expect(entry, TAG.sequence));
    const value = expect(parts.pop(), TAG.octetString);
    const [flag, ...others] = parts;
    const name = readOid(id);
    // RFC 5280 section 4.2: never more than one of a kind.
    if (others.length > 0 || extensions.has(name)) throw new DerError("an extension stands twice");
    extensions.set(name, { critical: flag !== undefined && readBoolean(flag), value: value.contents });
  }
  return extensions;
}

function readBasicConstraints(value: Buffer | undefined): Pick<Certificate, "isAuthority" | "maxBelow"> {
  if (value === undefined) return { isAuthority: false, maxBelow: undefined };
  const parts = childrenOf(expect(readDer(value), TAG.sequence));
  const [first] = parts;
  const isAuthority = first?.tag === TAG.boolean && readBoolean(first);
  const most = isAuthority ? parts[1] : undefined;
  if (most === undefined) return { isAuthority, maxBelow: undefined };
  const { contents } = expect(most, TAG.integer);
  // A number that nobody writes is more than any path here is long.
  if (contents.length === 0 || (contents[0] ?? 0) > 0x7f) throw new DerError("a path length is negative");
  return { isAuthority, maxBelow: contents.length > 2 ? undefined : contents.readUIntBE(0, contents.length) };
}

/** Positions of the ones in a BIT STRING. */
function readBits(der: Der): ReadonlySet<number> {
  const { contents } = expect(der, TAG.bitString);
  const bits = new Set<number>();
  for (let at = 1; at < contents.length; at++) {
    for (let bit = 0; bit < 8; bit++) {
      if (((contents[at] ?? 0) & (0x80 >> bit)) !== 0) bits.add((at - 1) * 8 + bit);
    }
  }
  return bits;
}

function readExtendedKeyUsage(value: Buffer | undefined): readonly string[] | undefined {
  return value === undefined ? undefined : childrenOf(expect(readDer(value), TAG.sequence)).map(readOid);
}
