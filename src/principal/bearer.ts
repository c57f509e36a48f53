/**
 * Access tokens on the wire (RFC 6750, RFC 9449): one `Authorization` header in, `WWW-Authenticate` challenges out.
 * No byte a caller sent ever appears in a challenge: all text comes from constants and from configuration.
 */

import { Refusal } from "../errors.ts";
import type { Owner } from "./principal.ts";

/** Longest `Authorization` value that is looked at, in bytes of the header (which is ASCII when it is valid). */
export const MAX_AUTHORIZATION_BYTES = 16 * 1024;

/** The header as found: nothing presented, one token (still unverified), or something that is no token. */
export type Authorization =
  | { readonly kind: "none" }
  | { readonly kind: "token"; readonly scheme: "bearer" | "dpop"; readonly token: string }
  | { readonly kind: "fault"; readonly fault: "too_large" | "scheme" | "malformed" };

/**
 * RFC 6750 section 2.1, RFC 9449 section 7.1: the scheme in any case, one or more spaces, exactly one token68, nothing after it.
 * @param takesDpop whether `DPoP` is a scheme here
 */
export function parseAuthorization(authorization: string | undefined, takesDpop = false): Authorization {
  if (authorization === undefined) return { kind: "none" };
  if (authorization.length > MAX_AUTHORIZATION_BYTES) return { kind: "fault", fault: "too_large" };
  const scheme = /^bearer(?: |$)/i.test(authorization) ? "bearer" : "dpop";
  if (scheme === "dpop" && !(takesDpop && /^dpop(?: |$)/i.test(authorization))) {
    return { kind: "fault", fault: "scheme" };
  }
  const token = /^[a-z]+ +([A-Za-z0-9\-._~+/]+=*)$/i.exec(authorization)?.[1];
  return token === undefined ? { kind: "fault", fault: "malformed" } : { kind: "token", scheme, token };
}

/** What a challenge tells the client. */
export interface ChallengeParts {
  readonly metadataUrl: string;
  /** Every scope the operation needs, at once, so that one step up is enough. */
  readonly scopes: readonly string[];
  /** Where DPoP is configured: the algorithms of proofs, and whether the request came with that scheme. */
  readonly dpop?: { readonly algorithms: readonly string[]; readonly asked: boolean } | undefined;
}

const DESCRIPTIONS = {
  invalid_token: "The access token is not valid for this resource",
  invalid_dpop_proof: "The DPoP proof is not valid for this request",
  use_dpop_nonce: "The DPoP proof needs the nonce of this resource",
  insufficient_scope: "The access token lacks a required scope",
} as const;

/** 401 for a request that presented no token: RFC 6750 section 3.1 wants no error code then. */
export function refuseMissing(detail: string, parts: ChallengeParts): Refusal {
  return new Refusal("unauthorized", detail, { headers: challenge(parts) });
}

/**
 * 401 for a token that is not good here. `detail` is the true cause, for audit only; so is `owner`, whose token it is,
 * known where the signature was good.
 */
export function refuseInvalid(
  detail: string,
  parts: ChallengeParts,
  more: { readonly cause?: unknown; readonly owner?: Owner | undefined } = {},
): Refusal {
  return new Refusal("unauthorized", detail, {
    headers: challenge(parts, "invalid_token"),
    ...(more.cause === undefined ? {} : { cause: more.cause }),
    ...(more.owner === undefined ? {} : { context: { principal: more.owner } }),
  });
}

/** 401 for a good token whose proof is not; `nonce` is what the next proof must hold, where that was missing. */
export function refuseProof(
  detail: string,
  parts: ChallengeParts,
  more: { readonly nonce: string | undefined; readonly owner: Owner | undefined },
): Refusal {
  const { nonce, owner } = more;
  const headers = challenge(parts, nonce === undefined ? "invalid_dpop_proof" : "use_dpop_nonce");
  return new Refusal("unauthorized", detail, {
    headers: nonce === undefined ? headers : { ...headers, "dpop-nonce": nonce },
    ...(owner === undefined ? {} : { context: { principal: owner } }),
  });
}

/** 403 for the good token of `owner` that lacks a scope. */
export function refuseScope(parts: ChallengeParts, owner: Owner): Refusal {
  const headers = challenge(parts, "insufficient_scope");
  return new Refusal("insufficient_scope", "scope", { headers, context: { principal: owner } });
}

function challenge(parts: ChallengeParts, error?: keyof typeof DESCRIPTIONS): Record<string, string> {
  const params: string[] = [];
  if (error !== undefined) params.push(`error="${error}"`, `error_description="${DESCRIPTIONS[error]}"`);
  if (parts.scopes.length > 0) params.push(`scope=${quoted(parts.scopes.join(" "))}`);
  params.push(`resource_metadata=${quoted(parts.metadataUrl)}`);
  const { dpop } = parts;
  if (dpop === undefined) return { "www-authenticate": `Bearer ${params.join(", ")}` };
  const algs = `algs=${quoted(dpop.algorithms.join(" "))}`;
  // Clients that know no DPoP read the first scheme only.
  const schemes = dpop.asked
    ? `DPoP ${[...params, algs].join(", ")}`
    : `Bearer ${params.join(", ")}, DPoP ${algs}`;
  return { "www-authenticate": schemes };
}

/** RFC 9110 quoted-string of printable ASCII; anything else cannot stand in a scope or a URL and is dropped. */
function quoted(text: string): string {
  return `"${text.replace(/[^\x20-\x7e]/g, "").replace(/["\\]/g, "\\$&")}"`;
}
