/**
 * One JSON Web Key Set (RFC 7517) as it came, and the keys of it that verify signatures. A key that is not understood is left out
 * (section 5), and so is one that nobody should have published: whoever reads a private key can sign with it.
 */
import { createLocalJWKSet, type JSONWebKeySet, type JWK, type JWTVerifyGetKey } from "jose";

/** Why keys of a set are not used. */
export type KeyFlaw = "private" | "symmetric" | "weak" | "malformed";

/** A set, ready for use. */
export interface KeySet {
  /** Throws jose's `JWKSNoMatchingKey` and kin. */
  readonly find: JWTVerifyGetKey;
  /** The keys in use as text: the same for the same keys, whatever stands beside them. */
  readonly text: string;
  /** How many keys are not used, by why; without those that are for something else than signatures. */
  readonly flaws: ReadonlyMap<KeyFlaw, number>;
}

/** The document is no key set. */
export class KeySetError extends Error {
  override readonly name = "KeySetError";
}

/** NIST SP 800-131A; RFC 7518 section 3.3. */
const MIN_RSA_BITS = 2_048;
/** Of a private or symmetric key (RFC 7518 sections 6.2.2, 6.3.2, 6.4). */
const PRIVATE = ["d", "p", "q", "dp", "dq", "qi", "oth", "k", "priv"] as const;
/** What verifying needs; certificates and links to them are not looked at. */
const MEMBERS = ["kty", "kid", "use", "key_ops", "alg", "crv", "x", "y", "n", "e"] as const;
const KINDS: ReadonlySet<unknown> = new Set(["RSA", "EC", "OKP"]);

/** @throws KeySetError */
export function readKeySet(document: unknown): KeySet {
  const given = member(document, "keys");
  if (!Array.isArray(given)) throw new KeySetError("no list of keys");
  const keys: JWK[] = [];
  const flaws = new Map<KeyFlaw, number>();
  for (const key of given) {
    const flaw = flawOf(key);
    if (flaw !== undefined) flaws.set(flaw, (flaws.get(flaw) ?? 0) + 1);
    else if (isForSignatures(key)) keys.push(picked(key));
  }
  return { find: createLocalJWKSet({ keys } as JSONWebKeySet), text: JSON.stringify(keys), flaws };
}

function member(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined;
}

function flawOf(key: unknown): KeyFlaw | undefined {
  const kty = member(key, "kty");
  if (kty === "oct") return "symmetric";
  if (typeof kty !== "string") return "malformed";
  if (PRIVATE.some((name) => member(key, name) !== undefined)) return "private";
  // Of a kind that is not known here it may be sound.
  if (kty !== "RSA") return undefined;
  const [modulus, exponent] = [bits(member(key, "n")), bits(member(key, "e"))];
  if (modulus === undefined || exponent === undefined) return "malformed";
  // With an exponent of 1 everybody signs.
  return modulus < MIN_RSA_BITS || exponent < 2 ? "weak" : undefined;
}

/** The length of an unsigned number in base64url (RFC 7518 section 2), without leading zeros. */
function bits(value: unknown): number | undefined {
  if (typeof value !== "string" || !/^[\w-]+$/.test(value)) return undefined;
  const bytes = Buffer.from(value, "base64url");
  const first = bytes.findIndex((byte) => byte !== 0);
  if (first < 0) return 0;
  return (bytes.length - first) * 8 - (Math.clz32(bytes[first] ?? 0) - 24);
}

function isForSignatures(key: unknown): boolean {
  const use = member(key, "use");
  return KINDS.has(member(key, "kty")) && (use === undefined || use === "sig");
}

function picked(key: unknown): JWK {
  const entries = MEMBERS.map((name) => [name, member(key, name)]).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries);
}
