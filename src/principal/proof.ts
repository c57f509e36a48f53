/**
 * One DPoP proof (RFC 9449 section 4.3) against the request it came with. All cryptography is jose's. Knows no configuration, no
 * nonces and no memory of proofs: `proofs.ts` has those.
 *
 * Whose key it is gets compared before the signature, so that only who holds the key a token is bound to costs a signature check.
 */
import { createHash } from "node:crypto";
import {
  base64url,
  type CryptoKey,
  calculateJwkThumbprint,
  compactVerify,
  errors,
  importJWK,
  type JWK,
} from "jose";

/** Longest `DPoP` header that is looked at; a proof with an RSA key of 4096 bits has about 2 KiB. */
const MAX_PROOF_BYTES = 8 * 1024;
const MAX_JTI_CHARACTERS = 256;
const MAX_URL_CHARACTERS = 2_048;
/** RSA keys beyond these are nobody's, and slow: 256 to 512 bytes of modulus, an exponent of at most 4. */
const RSA_MODULUS = { min: 256, max: 512 };
const MAX_RSA_EXPONENT = 4;

/** Why a proof is refused; for audit. */
export type ProofDetail =
  | "proof_missing"
  | "proof_too_large"
  | "proof_malformed"
  | "proof_type"
  | "proof_algorithm"
  | "proof_header"
  | "proof_jwk"
  | "proof_other_key"
  | "proof_signature"
  | "proof_method"
  | "proof_url"
  | "proof_token"
  | "proof_time"
  | "proof_nonce"
  | "proof_replayed";

/** A proof that is not good for this request; `detail` is for audit. */
export class ProofError extends Error {
  override readonly name = "ProofError";
  readonly detail: ProofDetail;

  constructor(detail: ProofDetail) {
    super(detail);
    this.detail = detail;
  }
}

/** The request that a proof must be for. Trusted, but for `method`. */
export interface ProvedRequest {
  /** Of HTTP. */
  readonly method: string;
  /** The route's public URL. What the client called the host is not asked. */
  readonly url: string;
  /** The access token, as presented. */
  readonly token: string;
  /** `cnf.jkt` of the token. */
  readonly key: string;
}

/** Milliseconds where not said otherwise. */
export interface ProofTerms {
  /** Allowed `alg` values. */
  readonly algorithms: readonly string[];
  /** Oldest `iat`. */
  readonly maxAge: number;
  /** Leeway for `iat` at both ends. */
  readonly clockTolerance: number;
}

/** What a good proof says that is still to be judged. */
export interface Proof {
  /** `jti`, good for one use. */
  readonly id: string;
  readonly nonce: string | undefined;
}

/** Keys that were imported a moment ago, by algorithm and thumbprint. Bounded, oldest go first. */
export class ProofKeys {
  readonly #keys = new Map<string, Promise<CryptoKey | Uint8Array>>();
  readonly #capacity: number;

  constructor(capacity = 1_000) {
    this.#capacity = capacity;
  }

  /** @param jwk of that very thumbprint */
  async import(jwk: JWK, algorithm: string, thumbprint: string): Promise<CryptoKey> {
    const name = `${algorithm} ${thumbprint}`;
    const key = this.#keys.get(name) ?? importJWK(jwk, algorithm);
    this.#keys.delete(name);
    this.#keys.set(name, key);
    if (this.#keys.size > this.#capacity) {
      for (const oldest of this.#keys.keys()) {
        this.#keys.delete(oldest);
        break;
      }
    }
    try {
      const imported = await key;
      if (!(imported instanceof Uint8Array)) return imported;
    } catch {
      // Said below.
    }
    this.#keys.delete(name);
    throw new ProofError("proof_jwk");
  }
}

/**
 * Checks a proof. Untrusted: `proof`.
 * @param now Unix milliseconds
 * @throws ProofError, and nothing else
 */
export async function checkProof(
  proof: string | undefined,
  request: ProvedRequest,
  terms: ProofTerms,
  keys: ProofKeys,
  now: number,
): Promise<Proof> {
  if (proof === undefined) throw new ProofError("proof_missing");
  if (proof.length > MAX_PROOF_BYTES) throw new ProofError("proof_too_large");
  // Two headers come joined by a comma, which no part can hold.
  if (!/^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/.test(proof))
    throw new ProofError("proof_malformed");
  const [head = "", body = ""] = proof.split(".");
  const header = parsePart(head);
  if (header["typ"] !== "dpop+jwt") throw new ProofError("proof_type");
  const { alg } = header;
  if (typeof alg !== "string" || !terms.algorithms.includes(alg)) throw new ProofError("proof_algorithm");
  // Keys come from `jwk` and from nowhere else; and whatever must be understood is not (RFC 7515 section 4.1.11).
  if (["jku", "x5u", "x5c", "crit", "b64"].some((name) => Object.hasOwn(header, name))) {
    throw new ProofError("proof_header");
  }
  const jwk = publicKey(header["jwk"]);
  if ((await thumbprintOf(jwk)) !== request.key) throw new ProofError("proof_other_key");
  const key = await keys.import(jwk, alg, request.key);
  try {
    await compactVerify(proof, key, { algorithms: [alg] });
  } catch (error) {
    const failed = error instanceof errors.JWSSignatureVerificationFailed;
    throw new ProofError(failed ? "proof_signature" : "proof_malformed");
  }
  return checkClaims(parsePart(body), request, terms, now);
}

function checkClaims(
  claims: Readonly<Record<string, unknown>>,
  { method, url, token }: ProvedRequest,
  { maxAge, clockTolerance }: ProofTerms,
  now: number,
): Proof {
  const { jti, htm, htu, iat, ath, nonce } = claims;
  if (typeof jti !== "string" || jti === "" || jti.length > MAX_JTI_CHARACTERS) {
    throw new ProofError("proof_malformed");
  }
  if (htm !== method) throw new ProofError("proof_method");
  const own = normalUrl(url);
  if (typeof htu !== "string" || own === undefined || normalUrl(htu) !== own)
    throw new ProofError("proof_url");
  if (typeof ath !== "string" || ath !== createHash("sha256").update(token).digest("base64url")) {
    throw new ProofError("proof_token");
  }
  if (typeof iat !== "number" || !Number.isFinite(iat)) throw new ProofError("proof_malformed");
  const age = now - iat * 1000;
  if (age > maxAge + clockTolerance || age < -clockTolerance) throw new ProofError("proof_time");
  if (nonce !== undefined && typeof nonce !== "string") throw new ProofError("proof_nonce");
  return { id: jti, nonce };
}

/** A part of the proof that must be a JSON object in UTF-8. */
function parsePart(part: string): Record<string, unknown> {
  try {
    const bytes = base64url.decode(part);
    const value: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    if (typeof value === "object" && value !== null && !Array.isArray(value)) {
      return value as Record<string, unknown>;
    }
  } catch {
    // Said below.
  }
  throw new ProofError("proof_malformed");
}

/** A public key and nothing private, of a size that can be checked quickly. Only its own members are handed on. */
function publicKey(value: unknown): JWK {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new ProofError("proof_jwk");
  const read = (name: string): unknown => (Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined);
  if (["d", "p", "q", "dp", "dq", "qi", "oth", "k"].some((name) => Object.hasOwn(value, name))) {
    throw new ProofError("proof_jwk");
  }
  const text = (name: string): string => {
    const member = read(name);
    if (typeof member !== "string" || !/^[A-Za-z0-9_-]{1,1024}$/.test(member))
      throw new ProofError("proof_jwk");
    return member;
  };
  switch (read("kty")) {
    case "EC":
      return { kty: "EC", crv: curve(read("crv")), x: text("x"), y: text("y") };
    case "OKP":
      return { kty: "OKP", crv: curve(read("crv")), x: text("x") };
    case "RSA": {
      const [n, e] = [text("n"), text("e")];
      const bytes = Buffer.byteLength(n, "base64url");
      if (bytes < RSA_MODULUS.min || bytes > RSA_MODULUS.max) throw new ProofError("proof_jwk");
      if (Buffer.byteLength(e, "base64url") > MAX_RSA_EXPONENT) throw new ProofError("proof_jwk");
      return { kty: "RSA", n, e };
    }
    default:
      throw new ProofError("proof_jwk");
  }
}

function curve(value: unknown): string {
  const known = ["P-256", "P-384", "P-521", "Ed25519"].find((name) => name === value);
  if (known === undefined) throw new ProofError("proof_jwk");
  return known;
}

async function thumbprintOf(jwk: JWK): Promise<string> {
  try {
    return await calculateJwkThumbprint(jwk, "sha256");
  } catch {
    throw new ProofError("proof_jwk");
  }
}

/**
 * A URL as RFC 9449 section 4.3 has it compared: without query and fragment, after the normalisation of syntax and scheme of RFC
 * 3986 sections 6.2.2 and 6.2.3 (case of scheme, host and escapes; escapes of unreserved characters; dot segments; the usual
 * port; an empty path). A slash at the end is a difference. Undefined for what is no http URL as such clients print it.
 */
export function normalUrl(text: string): string | undefined {
  // What browsers repair (blanks, line ends, backslashes, missing slashes, letters of other scripts) is not a spelling here.
  const plain = text.length <= MAX_URL_CHARACTERS && /^[!-[\]-~]+$/.test(text);
  if (!plain || !/^https?:\/\/[^/?#@]+(?:[/?#]|$)/i.test(text)) return undefined;
  if (!URL.canParse(text)) return undefined;
  const { origin, pathname } = new URL(text);
  const path = pathname.replace(/%[0-9a-f]{2}/gi, (encoded) => {
    const sign = String.fromCharCode(Number.parseInt(encoded.slice(1), 16));
    return /[A-Za-z0-9._~-]/.test(sign) ? sign : encoded.toUpperCase();
  });
  return origin + path;
}
