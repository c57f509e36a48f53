/**
 * From the claims of a verified token to the principal, by the issuer's claim mapping.
 * Pure. Signature, issuer, audience and times were checked before; a claim of an unexpected shape is refused
 * rather than skipped, since a skipped group or client would slip past a deny policy or loosen a binding.
 */

import type { JWTPayload } from "jose";
import type { Config } from "../config/schema.ts";
import type { Principal } from "./principal.ts";

type Mapping = Config["authentication"]["issuers"][number]["claims"];

/** Why the claims make no principal. */
export type ClaimFault =
  | "missing_subject"
  | "subject_claim"
  | "client_claim"
  | "tenant_claim"
  | "groups_claim"
  | "groups_overage"
  | "scope_claim"
  | "proof_not_checked";

export class ClaimError extends Error {
  override readonly name = "ClaimError";
  readonly fault: ClaimFault;

  constructor(fault: ClaimFault) {
    super(fault);
    this.fault = fault;
  }
}

/** Maps verified claims; `issuer` is the configured string. Returns a frozen principal. Throws `ClaimError`. */
export function principalOf(issuer: string, mapping: Mapping, claims: JWTPayload): Principal {
  // A token bound to a key (RFC 8705, RFC 9449) without its proof is a stolen token until shown otherwise.
  if (Object.hasOwn(claims, "cnf")) throw new ClaimError("proof_not_checked");
  const subject = text(claims, mapping.subject, "subject_claim");
  if (subject === undefined) throw new ClaimError("missing_subject");
  const clientName = mapping.client.find((name) => present(claims, name) !== undefined);
  const client = clientName === undefined ? undefined : text(claims, clientName, "client_claim");
  const tenant = mapping.tenant === undefined ? undefined : text(claims, mapping.tenant, "tenant_claim");
  const scopeName = mapping.scope.find((name) => present(claims, name) !== undefined);
  return Object.freeze({
    anonymous: false,
    issuer,
    subject,
    ...(client === undefined ? {} : { client }),
    ...(tenant === undefined ? {} : { tenant }),
    groups: Object.freeze(mapping.groups === undefined ? [] : groups(claims, mapping.groups)),
    scopes: Object.freeze(scopeName === undefined ? [] : scopes(claims[scopeName])),
  });
}

/** Own members only, so that a mapping to `constructor` finds nothing; JSON null counts as absent. */
function present(claims: JWTPayload, name: string): unknown {
  return Object.hasOwn(claims, name) ? (claims[name] ?? undefined) : undefined;
}

function text(claims: JWTPayload, name: string, fault: ClaimFault): string | undefined {
  const value = present(claims, name);
  if (value === undefined) return undefined;
  if (typeof value !== "string" || value === "" || !value.isWellFormed()) throw new ClaimError(fault);
  return value;
}

function groups(claims: JWTPayload, name: string): string[] {
  // OpenID Connect Core 5.6.2: the groups did not fit and stand elsewhere. Taking that for "no groups" would open denies.
  const elsewhere = present(claims, "_claim_names");
  if (typeof elsewhere === "object" && elsewhere !== null && Object.hasOwn(elsewhere, name)) {
    throw new ClaimError("groups_overage");
  }
  const value = present(claims, name);
  if (value === undefined) return [];
  return strings(typeof value === "string" ? [value] : value, "groups_claim");
}

/** RFC 8693 section 4.2: space-separated; some issuers send an array. */
function scopes(value: unknown): string[] {
  return strings(typeof value === "string" ? value.split(" ").filter(Boolean) : value, "scope_claim");
}

function strings(value: unknown, fault: ClaimFault): string[] {
  if (!Array.isArray(value) || !value.every((item) => typeof item === "string")) throw new ClaimError(fault);
  return [...new Set<string>(value)];
}
