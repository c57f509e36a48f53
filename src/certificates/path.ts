/**
 * Whether a certificate is a client's that configured authorities vouch for, here and now (RFC 5280 section 6.1, as far as
 * clients need it). TLS judges a certificate once, when the connection is made, by the authorities of that time and the clock of the
 * system; this judges it for each request, and judges those that a proxy has seen. What it does not understand it refuses.
 * Signatures and the match of issuer and subject are OpenSSL's.
 */
import { type Certificate, readCertificate } from "./certificate.ts";
import { DerError } from "./der.ts";
import { readPem } from "./pem.ts";

/** Why a certificate is nobody's; one word for audit. */
export type PathFault = "expired" | "not_yet" | "purpose" | "authority" | "constraint" | "weak" | "untrusted";

const CLIENT_AUTH = "1.3.6.1.5.5.7.3.2";
const DIGITAL_SIGNATURE = 0;
const KEY_AGREEMENT = 4;
const KEY_CERT_SIGN = 5;
/** Certificates between the client's and an authority of the bundle. */
const MAX_BETWEEN = 5;
/** Certificates that are looked at beside the client's. */
export const MAX_PRESENTED = 8;
/** Signatures checked for one certificate: many issuers of one name are an attack on the processor. */
const MAX_SIGNATURES = 12;
const MAX_REMEMBERED = 1_000;
const MIN_RSA_BITS = 2_048;
/** Of keys that were presented. A longer key, or exponent, takes a hundred times as long, and no authority has one. */
const MAX_RSA_BITS = 4_096;
const MAX_RSA_EXPONENT = 2n ** 32n;
const CURVES: ReadonlySet<unknown> = new Set(
  "prime256v1 secp384r1 secp521r1 secp256k1 brainpoolP256r1 brainpoolP384r1 brainpoolP512r1".split(" "),
);

/** RSA and ECDSA with SHA-2 (RSASSA-PSS with any hash OpenSSL admits), Ed25519, Ed448. */
const SIGNATURES: ReadonlySet<string> = new Set([
  "1.2.840.113549.1.1.10",
  "1.2.840.113549.1.1.11",
  "1.2.840.113549.1.1.12",
  "1.2.840.113549.1.1.13",
  "1.2.840.10045.4.3.2",
  "1.2.840.10045.4.3.3",
  "1.2.840.10045.4.3.4",
  "1.3.101.112",
  "1.3.101.113",
]);

/** The times in which all certificates of a path are good, in milliseconds since the epoch. */
interface Window {
  readonly from: number;
  readonly to: number;
}

interface Search {
  readonly presented: readonly Certificate[];
  readonly now: number;
  left: number;
}

/** The authorities of one bundle. Never changes; another bundle is another object. */
export class Authorities {
  readonly #anchors: readonly Certificate[];
  readonly #between: readonly Certificate[];
  /** Paths that were found, by what was presented. Faults are not remembered: anybody can present something new. */
  readonly #known = new Map<string, Window>();

  private constructor(certificates: readonly Certificate[]) {
    this.#anchors = certificates.filter(isAnchor);
    this.#between = certificates.filter((certificate) => !isAnchor(certificate));
  }

  /** @throws DerError with a text for the operator */
  static read(pem: Buffer): Authorities {
    const certificates = readPem(pem.toString("latin1"), "bundle").map((der) => readCertificate(der));
    const authorities = new Authorities(certificates);
    if (authorities.#anchors.length === 0) throw new DerError("the file holds no self-signed authority");
    if (!certificates.every(({ isAuthority }) => isAuthority)) {
      throw new DerError("the file holds a certificate that is no authority's");
    }
    if (certificates.some(({ isUnjudgeable }) => isUnjudgeable)) {
      throw new DerError("the file holds an authority with name constraints or another critical extension");
    }
    return authorities;
  }

  /** When the last authority of the bundle expires, in milliseconds since the epoch. */
  get expires(): number {
    return Math.max(...this.#anchors.map(({ notAfter }) => notAfter));
  }

  /**
   * @param presented further certificates that came with it, in any order
   * @param now milliseconds since the epoch
   * @returns what is wrong; undefined for a client's certificate with a path to an authority of the bundle
   */
  judge(leaf: Certificate, presented: readonly Certificate[], now: number): PathFault | undefined {
    const fault = judgeLeaf(leaf, now);
    if (fault !== undefined) return fault;
    const key = [leaf, ...presented].map(({ thumbprint }) => thumbprint).join();
    const known = this.#known.get(key);
    if (known !== undefined && now >= known.from && now <= known.to) return undefined;
    const quick = presented.slice(0, MAX_PRESENTED).filter(isQuick);
    const search = { presented: quick, now, left: MAX_SIGNATURES };
    const found = this.#climb(leaf, 0, search);
    if (found === undefined) return "untrusted";
    if (this.#known.size >= MAX_REMEMBERED) this.#known.clear();
    this.#known.set(key, found);
    return undefined;
  }

  /** @param below certificates of authorities between `child` and the client's, it included */
  #climb(child: Certificate, below: number, search: Search): Window | undefined {
    for (const issuer of [...this.#anchors, ...this.#between, ...search.presented]) {
      if (!mayIssue(issuer, below, search.now) || !child.x509.checkIssued(issuer.x509)) continue;
      if (search.left <= 0) return undefined;
      search.left -= 1;
      if (!child.x509.verify(issuer.publicKey)) continue;
      // A self-signed certificate that was presented is not one of ours.
      const above = this.#anchors.includes(issuer)
        ? { from: issuer.notBefore, to: issuer.notAfter }
        : below < MAX_BETWEEN && isSound(issuer) && !isAnchor(issuer)
          ? this.#climb(issuer, below + 1, search)
          : undefined;
      if (above === undefined) continue;
      return {
        from: Math.max(above.from, child.notBefore),
        to: Math.min(above.to, child.notAfter),
      };
    }
    return undefined;
  }
}

function isAnchor({ x509, publicKey }: Certificate): boolean {
  return x509.checkIssued(x509) && x509.verify(publicKey);
}

function judgeLeaf(leaf: Certificate, now: number): PathFault | undefined {
  const { keyUsage, extendedKeyUsage } = leaf;
  if (now < leaf.notBefore) return "not_yet";
  if (now > leaf.notAfter) return "expired";
  if (leaf.isAuthority) return "authority";
  if (leaf.isUnjudgeable) return "constraint";
  // Absent, both allow any use (RFC 5280 sections 4.2.1.3 and 4.2.1.12).
  const signs = keyUsage === undefined || keyUsage.has(DIGITAL_SIGNATURE) || keyUsage.has(KEY_AGREEMENT);
  if (!signs || extendedKeyUsage?.includes(CLIENT_AUTH) === false) return "purpose";
  return isSound(leaf) ? undefined : "weak";
}

/** Whether a certificate may vouch for another with so many authorities below it. */
function mayIssue(issuer: Certificate, below: number, now: number): boolean {
  const { keyUsage, extendedKeyUsage, maxBelow } = issuer;
  return (
    issuer.isAuthority &&
    !issuer.isUnjudgeable &&
    now >= issuer.notBefore &&
    now <= issuer.notAfter &&
    (maxBelow === undefined || below <= maxBelow) &&
    keyUsage?.has(KEY_CERT_SIGN) !== false &&
    extendedKeyUsage?.includes(CLIENT_AUTH) !== false
  );
}

/** Whether signature and key are of a strength that is not broken. The signature of an anchor says nothing and is not asked. */
function isSound({ signature, publicKey }: Certificate): boolean {
  const { asymmetricKeyType = "", asymmetricKeyDetails } = publicKey;
  const bits = asymmetricKeyType.startsWith("rsa")
    ? (asymmetricKeyDetails?.modulusLength ?? 0)
    : MIN_RSA_BITS;
  return SIGNATURES.has(signature) && bits >= MIN_RSA_BITS;
}

/** Whether a signature can be checked with the key in a moment: anybody can present a chain, and all wait while it is judged. */
function isQuick({ publicKey: { asymmetricKeyType, asymmetricKeyDetails } }: Certificate): boolean {
  const { modulusLength, publicExponent, namedCurve } = asymmetricKeyDetails ?? {};
  switch (asymmetricKeyType) {
    case "rsa":
    case "rsa-pss":
      return (
        (modulusLength ?? Infinity) <= MAX_RSA_BITS && (publicExponent ?? MAX_RSA_EXPONENT) < MAX_RSA_EXPONENT
      );
    case "ec":
      return CURVES.has(namedCurve);
    default:
      return asymmetricKeyType === "ed25519" || asymmetricKeyType === "ed448";
  }
}
