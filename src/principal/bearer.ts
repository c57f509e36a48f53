/**
 * Bearer tokens on the wire (RFC 6750): one `Authorization` header in, `WWW-Authenticate` challenges out.
 * No byte a caller sent ever appears in a challenge: all text comes from constants and from configuration.
 */

import { Refusal } from "../errors.ts";
import type { Owner } from "./principal.ts";

/** Longest `Authorization` value that is looked at, in bytes of the header (which is ASCII when it is valid). */
export const MAX_AUTHORIZATION_BYTES = 16 * 1024;

/** The header as found: nothing presented, one token (still unverified), or something that is no token. */
export type Authorization =
  | { readonly kind: "none" }
  | { readonly kind: "token"; readonly token: string }
  | { readonly kind: "fault"; readonly fault: "too_large" | "scheme" | "malformed" };

/** RFC 6750 section 2.1: the scheme in any case, one or more spaces, exactly one token68, nothing after it. */
export function parseAuthorization(authorization: string | undefined): Authorization {
  if (authorization === undefined) return { kind: "none" };
  if (authorization.length > MAX_AUTHORIZATION_BYTES) return { kind: "fault", fault: "too_large" };
  if (!/^bearer(?: |$)/i.test(authorization)) return { kind: "fault", fault: "scheme" };
  const token = /^[a-z]+ +([A-Za-z0-9\-._~+/]+=*)$/i.exec(authorization)?.[1];
  return token === undefined ? { kind: "fault", fault: "malformed" } : { kind: "token", token };
}

/** What a challenge tells the client. */
export interface ChallengeParts {
  readonly metadataUrl: string;
  /** Every scope the operation needs, at once, so that one step up is enough. */
  readonly scopes: readonly string[];
}

const DESCRIPTIONS = {
  invalid_token: "The access token is not valid for this resource",
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
  return { "www-authenticate": `Bearer ${params.join(", ")}` };
}

/** RFC 9110 quoted-string of printable ASCII; anything else cannot stand in a scope or a URL and is dropped. */
function quoted(text: string): string {
  return `"${text.replace(/[^\x20-\x7e]/g, "").replace(/["\\]/g, "\\$&")}"`;
}
