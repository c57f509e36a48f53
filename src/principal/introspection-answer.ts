/**
 * What an introspection endpoint answered (RFC 7662 section 2.2), and whether it makes a token good for a resource. Pure.
 *
 * The answer comes from a server that the operator trusts to say whose a token is; what it says is still read strictly: a broken
 * answer is an outage, never a yes, and a claim of an unexpected shape is never skipped.
 */
import { isDeepStrictEqual } from "node:util";
import { decodeJwt, decodeProtectedHeader, type JWTPayload } from "jose";
import { JsonError, scan } from "../json/scan.ts";
import { isAccessHeader, isForAccess, isOneOf } from "./token-purpose.ts";

/** Largest answer read. */
export const MAX_ANSWER_BYTES = 64 * 1024;
const MAX_DEPTH = 16;
/** An `iat` this far ahead is a clock that drifted; further ahead the token comes from nowhere. */
const IAT_LEEWAY_MS = 60_000;
/** `token_type` of tokens that can be presented here (RFC 6749 section 7.1, RFC 9449 section 5), in lower case. */
const TOKEN_TYPES: ReadonlySet<string> = new Set(["bearer", "dpop"]);
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

/**
 * What does not change while an answer is remembered, for the issuer that was asked.
 *
 * A token that can be read is its issuer's word as well, since the issuer has just said that it is good. Where it says that it is bound
 * to its sender, or whom it is for, an answer that leaves that out or says something else takes nothing of it back.
 * @returns the claims, with the token's own `cnf` where the answer has none, and of `aud` what both say
 * @throws AnswerFault
 */
export function checkToken(claims: JWTPayload, issuer: string, token: string): JWTPayload {
  const { iss, token_type: tokenType } = claims;
  if (iss !== undefined && iss !== issuer) throw new AnswerFault("unknown_issuer");
  if (!isOneOf(tokenType, TOKEN_TYPES) || !isForAccess(claims)) throw new AnswerFault("token_type");
  const own = readToken(token);
  if (own === undefined) return claims;
  if (!isAccessHeader(own.typ) || !isForAccess(own.claims)) throw new AnswerFault("token_type");
  if (!isAbout(claims, own.claims)) throw new AnswerFault("another_token");
  const { cnf, aud } = own.claims;
  return {
    ...claims,
    ...(cnf === undefined ? {} : { cnf }),
    ...(aud === undefined ? {} : { aud: namesOf(claims.aud).filter((name) => namesOf(aud).includes(name)) }),
  };
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
  if (!namesOf(aud).some((name) => audiences.includes(name))) throw new AnswerFault("audience");
}

function namesOf(aud: unknown): string[] {
  const named: unknown[] = Array.isArray(aud) ? aud : [aud];
  return named.filter((name) => typeof name === "string");
}

/** What a token says of itself, unverified; undefined for one that cannot be read. */
function readToken(token: string): { readonly typ: unknown; readonly claims: JWTPayload } | undefined {
  try {
    return { typ: decodeProtectedHeader(token).typ, claims: decodeJwt(token) };
  } catch {
    return undefined;
  }
}

/** Where both say something it must be the same: an answer about another token is nothing. */
function isAbout(claims: JWTPayload, own: JWTPayload): boolean {
  const { cnf } = own;
  return (
    OWN_CLAIMS.every(
      (name) => own[name] === undefined || claims[name] === undefined || own[name] === claims[name],
    ) &&
    (cnf === undefined || claims["cnf"] === undefined || isDeepStrictEqual(cnf, claims["cnf"]))
  );
}
