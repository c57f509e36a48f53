/**
 * What an introspection endpoint answered (RFC 7662 section 2.2), and whether it makes a token good for a resource. Pure.
 *
 * The answer comes from a server that the operator trusts to say whose a token is; what it says is still read strictly: a broken
 * answer is an outage, never a yes, and a claim of an unexpected shape is never skipped.
 */
import { decodeJwt, type JWTPayload } from "jose";
import { JsonError, scan } from "../json/scan.ts";

/** Largest answer read. */
export const MAX_ANSWER_BYTES = 64 * 1024;
const MAX_DEPTH = 16;
/** An `iat` this far ahead is a clock that drifted; further ahead the token comes from nowhere. */
const IAT_LEEWAY_MS = 60_000;
/** `token_type` of tokens that can be presented here (RFC 6749 section 7.1, RFC 9449 section 5), in lower case. */
const TOKEN_TYPES: ReadonlySet<string> = new Set(["bearer", "dpop"]);
/** What some servers tell apart in `token_use` or `typ`: a refresh token is active, too, and must open nothing here. */
const USES: ReadonlySet<string> = new Set(["access_token", "access"]);
const TYPES: ReadonlySet<string> = new Set([
  "bearer",
  "dpop",
  "at+jwt",
  "application/at+jwt",
  "jwt",
  "access_token",
]);
/** Claims that the same token says of itself, where it can be read. */
const OWN_CLAIMS = ["iss", "sub", "jti", "client_id", "exp"] as const;

/** The answer is none. The message is one word for the log. */
export class BrokenAnswer extends Error {
  override readonly name = "BrokenAnswer";
}

/** A token that the answer does not make good here. The message is the detail for audit, a word from a bounded set. */
export class AnswerFault extends Error {
  override readonly name = "AnswerFault";
}

/**
 * Reads an answer out of untrusted bytes.
 * @returns the claims of an active token; undefined for one that is not active
 * @throws BrokenAnswer for anything but a JSON object without twins in which `active` is `true` or `false`
 */
export function parseAnswer(bytes: Buffer): JWTPayload | undefined {
  try {
    // Refuses what other readers read otherwise: two members of one name, bytes that are no text.
    scan(bytes, { bytes: MAX_ANSWER_BYTES, depth: MAX_DEPTH });
  } catch (error) {
    if (error instanceof JsonError) throw new BrokenAnswer("json");
    throw error;
  }
  const answer: unknown = JSON.parse(bytes.toString("utf8"));
  if (typeof answer !== "object" || answer === null || Array.isArray(answer)) throw new BrokenAnswer("json");
  const active: unknown = Object.hasOwn(answer, "active") ? Reflect.get(answer, "active") : undefined;
  if (active === false) return undefined;
  if (active !== true) throw new BrokenAnswer("active");
  return answer as JWTPayload;
}

/** What does not change while an answer is remembered, for the issuer that was asked. Throws AnswerFault. */
export function checkToken(claims: JWTPayload, issuer: string, token: string): void {
  const { iss, token_type: tokenType, token_use: use, typ } = claims;
  if (iss !== undefined && iss !== issuer) throw new AnswerFault("unknown_issuer");
  if (!isOneOf(tokenType, TOKEN_TYPES) || !isOneOf(use, USES) || !isOneOf(typ, TYPES)) {
    throw new AnswerFault("token_type");
  }
  if (!isAboutToken(claims, token)) throw new AnswerFault("another_token");
}

/** Milliseconds. */
export interface AnswerTerms {
  /** One of these must be in `aud`, byte for byte. */
  readonly audiences: readonly string[];
  readonly clockTolerance: number;
}

/** Whether a token is for this resource, and now (Unix milliseconds). Throws AnswerFault. */
export function checkUse(claims: JWTPayload, { audiences, clockTolerance }: AnswerTerms, now: number): void {
  const { exp, nbf, iat, aud } = claims;
  for (const time of [exp, nbf, iat]) {
    if (time !== undefined && !Number.isFinite(time)) throw new AnswerFault("expiry");
  }
  if (exp !== undefined && exp * 1000 + clockTolerance <= now) throw new AnswerFault("expired");
  if (nbf !== undefined && nbf * 1000 > now + clockTolerance) throw new AnswerFault("not_yet");
  if (iat !== undefined && iat * 1000 > now + Math.max(clockTolerance, IAT_LEEWAY_MS)) {
    throw new AnswerFault("issued_in_future");
  }
  const named: unknown[] = Array.isArray(aud) ? aud : [aud];
  if (!named.some((name) => typeof name === "string" && audiences.includes(name))) {
    throw new AnswerFault("audience");
  }
}

function isOneOf(value: unknown, known: ReadonlySet<string>): boolean {
  return value === undefined || (typeof value === "string" && known.has(value.toLowerCase()));
}

/** Where the token can be read, it and the answer must say the same: an answer about another token is nothing. */
function isAboutToken(claims: JWTPayload, token: string): boolean {
  let own: JWTPayload;
  try {
    own = decodeJwt(token);
  } catch {
    return true;
  }
  return OWN_CLAIMS.every(
    (name) => own[name] === undefined || claims[name] === undefined || own[name] === claims[name],
  );
}
