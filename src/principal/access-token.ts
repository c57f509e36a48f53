/**
 * The check of one JWT access token (RFC 7519, RFC 8725, RFC 9068) against one issuer. All cryptography is jose's.
 * Knows no configuration and no cache; `jwt.ts` picks the issuer and maps the claims.
 */

import { isUtf8 } from "node:buffer";
import {
  decodeJwt,
  decodeProtectedHeader,
  errors,
  type JWTPayload,
  type JWTVerifyGetKey,
  type JWTVerifyOptions,
  jwtVerify,
} from "jose";
import { isAccessHeader, isForAccess } from "./token-purpose.ts";

/**
 * Signatures made with a private key: a symmetric one would make the public key a secret, `none` is no signature.
 * Kept apart from the schema's list on purpose: a name that slips into a configuration still verifies nothing.
 */
export const SIGNATURES: ReadonlySet<string> = new Set(
  "RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519".split(" "),
);

/** An `iat` this far ahead is a clock that drifted; further ahead the token comes from nowhere. */
const IAT_LEEWAY_SECONDS = 60;
/** How many keys are tried when a token names none and several would fit (a rotation without key ids). */
const MAX_KEYS_TRIED = 8;

/** A token that is refused; the message is the detail for audit, a word from a bounded set. */
export class TokenFault extends Error {
  override readonly name = "TokenFault";
  /** The claims, where the signature was good; never logged. */
  readonly claims: JWTPayload | undefined;

  constructor(detail: string, more: { readonly claims?: JWTPayload; readonly cause?: unknown } = {}) {
    super(detail, more.cause === undefined ? undefined : { cause: more.cause });
    this.claims = more.claims;
  }
}

/** The claims of a token that was refused after its signature was found good; undefined where it was not, or not tried. */
export function signedClaims(error: unknown): JWTPayload | undefined {
  if (error instanceof TokenFault) return error.claims;
  // jose looks at claims only once the signature has passed.
  const judged = error instanceof errors.JWTExpired || error instanceof errors.JWTClaimValidationFailed;
  return judged ? error.payload : undefined;
}

/** What a token must satisfy. */
export interface TokenTerms {
  readonly issuer: string;
  /** One of these must be in `aud`, byte for byte. */
  readonly audiences: readonly string[];
  /** Allowed `alg` values, a subset of `SIGNATURES`. */
  readonly algorithms: readonly string[];
  /** Leeway for `exp`, `nbf` and `iat`, in milliseconds. */
  readonly clockTolerance: number;
  readonly keys: JWTVerifyGetKey;
  /** Unix milliseconds. */
  readonly now: number;
}

/** The `iss` a token claims, unverified: good for picking whose keys to try and for nothing else. Throws `TokenFault`. */
export function peekIssuer(token: string): string {
  const segments = token.split(".");
  // Bytes that are no text would be read as replacement characters, and two subjects could become one.
  const text = segments.slice(0, 2).every((segment) => isUtf8(Buffer.from(segment, "base64url")));
  if (segments.length !== 3 || !text) throw new TokenFault("malformed");
  try {
    const { iss } = decodeJwt(token);
    if (typeof iss === "string") return iss;
  } catch (cause) {
    throw new TokenFault("malformed", { cause });
  }
  throw new TokenFault("unknown_issuer");
}

/**
 * Verifies a token and returns its claims, which are then the issuer's word.
 * Throws `TokenFault`, jose's errors, or what `terms.keys` throws.
 */
export async function checkToken(token: string, terms: TokenTerms): Promise<JWTPayload & { exp: number }> {
  checkHeader(token, terms.algorithms);
  const tolerance = Math.floor(terms.clockTolerance / 1000);
  const claims = await verifySignature(token, terms.keys, {
    issuer: terms.issuer,
    audience: [...terms.audiences],
    algorithms: [...terms.algorithms],
    requiredClaims: ["exp"],
    clockTolerance: tolerance,
    currentDate: new Date(terms.now),
  });
  if (!isForAccess(claims)) throw new TokenFault("type", { claims });
  const { exp, iat } = claims;
  // 1e999 is a number to JSON.parse, and would never expire.
  if (exp === undefined || !Number.isFinite(exp)) throw new TokenFault("expiry", { claims });
  if (iat !== undefined && iat > terms.now / 1000 + Math.max(tolerance, IAT_LEEWAY_SECONDS)) {
    throw new TokenFault("issued_in_future", { claims });
  }
  return { ...claims, exp };
}

/** Before any key is looked for, so that a hopeless token costs nobody a request. */
function checkHeader(token: string, algorithms: readonly string[]): void {
  const { alg, typ, kid, crit } = header(token);
  if (typeof alg !== "string" || !SIGNATURES.has(alg) || !algorithms.includes(alg)) {
    throw new TokenFault("algorithm");
  }
  if (!isAccessHeader(typ)) throw new TokenFault("type");
  if (kid !== undefined && typeof kid !== "string") throw new TokenFault("malformed");
  // RFC 7515 section 4.1.11: we implement no extension, so whatever must be understood is not.
  if (crit !== undefined) throw new TokenFault("critical_header");
}

function header(token: string): ReturnType<typeof decodeProtectedHeader> {
  try {
    return decodeProtectedHeader(token);
  } catch (cause) {
    throw new TokenFault("malformed", { cause });
  }
}

async function verifySignature(token: string, keys: JWTVerifyGetKey, options: JWTVerifyOptions) {
  try {
    return (await jwtVerify(token, keys, options)).payload;
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
    let tried = 0;
    for await (const key of error) {
      if (tried === MAX_KEYS_TRIED) break;
      tried += 1;
      try {
        return (await jwtVerify(token, key, options)).payload;
      } catch (failure) {
        if (!(failure instanceof errors.JWSSignatureVerificationFailed)) throw failure;
      }
    }
    throw new errors.JWSSignatureVerificationFailed();
  }
}

const CLAIM_DETAILS: Readonly<Record<string, string>> = {
  aud: "audience",
  iss: "unknown_issuer",
  exp: "expiry",
  nbf: "not_yet",
};

/** The true cause of a refusal as one word for audit; `unverifiable` for what is none of the known kinds. */
export function detailOf(error: unknown): string {
  if (error instanceof TokenFault) return error.message;
  if (error instanceof errors.JWTExpired) return "expired";
  if (error instanceof errors.JWTClaimValidationFailed) return CLAIM_DETAILS[error.claim] ?? "claims";
  if (error instanceof errors.JWSSignatureVerificationFailed) return "signature";
  if (error instanceof errors.JWKSNoMatchingKey) return "unknown_key";
  return error instanceof errors.JOSEError ? "malformed" : "unverifiable";
}
