/**
 * From the claims of a verified token to the principal, by the issuer's claim mapping.
 * Pure. Signature, issuer, audience and times were checked before; a claim of an unexpected shape is refused
 * rather than skipped, since a skipped group or client would slip past a deny policy or loosen a binding.
 */

import type { JWTPayload } from "jose";
import type { Config } from "../config/schema.ts";
import { type Owner, ownerOf, type Principal } from "./principal.ts";

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
  | "confirmation_claim"
  | "proof_not_checked";

export class ClaimError extends Error {
  override readonly name = "ClaimError";
  readonly fault: ClaimFault;

  constructor(fault: ClaimFault) {
    super(fault);
    this.fault = fault;
  }
}

/**
 * Maps verified claims, without `cnf` (`splitBinding` takes it out); `issuer` is the configured string. Returns a frozen principal.
 *
 * A token without subject is refused, unless the issuer's settings say that a client stands for itself there (`absentSubject:
 * client`): then the client is the subject (RFC 9068 section 2.2), if the token has no `sub` either. Without client, too, it is
 * nobody's.
 * Throws `ClaimError`.
 */
export function principalOf(issuer: string, mapping: Mapping, claims: JWTPayload): Principal {
  // Bound to a key or a certificate (RFC 7800), and handed on by somebody who has not looked: a stolen one, until shown otherwise.
  if (Object.hasOwn(claims, "cnf")) throw new ClaimError("proof_not_checked");
  const named = text(claims, [mapping.subject], "subject_claim");
  const client = text(claims, mapping.client, "client_claim");
  // A token that names a subject elsewhere is a user's, and a setting that does not find it must not make all users their client.
  const isClients = mapping.absentSubject === "client" && member(claims, "sub") === undefined;
  const subject = named ?? (isClients ? client : undefined);
  if (subject === undefined) throw new ClaimError("missing_subject");
  const tenant = text(claims, listed(mapping.tenant), "tenant_claim");
  return Object.freeze({
    anonymous: false,
    issuer,
    subject,
    ...(client === undefined ? {} : { client }),
    ...(tenant === undefined ? {} : { tenant }),
    groups: Object.freeze(mapping.groups === undefined ? [] : groups(claims, mapping.groups)),
    scopes: Object.freeze(scopes(first(claims, mapping.scope, "scope_claim"))),
  });
}

/**
 * Whose token this is by its verified claims, though it is refused: what cannot be read is left out. For audit only.
 * Never throws.
 */
export function ownerByClaims(issuer: string, mapping: Mapping, claims: JWTPayload): Owner {
  const read = (names: readonly string[]): string | undefined => {
    try {
      return text(claims, names, "subject_claim");
    } catch {
      return undefined;
    }
  };
  return ownerOf(issuer, read([mapping.subject]), read(mapping.client));
}

function listed(name: string | undefined): string[] {
  return name === undefined ? [] : [name];
}

/** Own members only, so that a mapping to `constructor` finds nothing; JSON null counts as absent. */
function member(object: object, name: string): unknown {
  return Object.hasOwn(object, name) ? (Reflect.get(object, name) ?? undefined) : undefined;
}

/**
 * The claim of that very name (which may hold dots, or be a URL), or else what a dotted path leads to; of two ways to
 * read a path the one with the longer name first. A step that is there and no object is a shape nobody expects.
 */
function find(object: object, name: string, fault: ClaimFault): unknown {
  const literal = member(object, name);
  if (literal !== undefined) return literal;
  for (let dot = name.lastIndexOf("."); dot > 0; dot = name.lastIndexOf(".", dot - 1)) {
    const inner = member(object, name.slice(0, dot));
    if (inner === undefined) continue;
    if (typeof inner !== "object" || inner === null || Array.isArray(inner)) throw new ClaimError(fault);
    const found = find(inner, name.slice(dot + 1), fault);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The first of `names` that is there. */
function first(claims: JWTPayload, names: readonly string[], fault: ClaimFault): unknown {
  for (const name of names) {
    const value = find(claims, name, fault);
    if (value !== undefined) return value;
  }
  return undefined;
}

function text(claims: JWTPayload, names: readonly string[], fault: ClaimFault): string | undefined {
  const value = first(claims, names, fault);
  if (value === undefined) return undefined;
  if (typeof value !== "string" || value === "" || !value.isWellFormed()) throw new ClaimError(fault);
  return value;
}

function groups(claims: JWTPayload, name: string): string[] {
  // OpenID Connect Core 5.6.2: the groups did not fit and stand elsewhere. Taking that for "no groups" would open denies.
  const elsewhere = member(claims, "_claim_names");
  if (typeof elsewhere === "object" && elsewhere !== null) {
    const away = Object.keys(elsewhere);
    if (away.some((claim) => name === claim || name.startsWith(`${claim}.`))) {
      throw new ClaimError("groups_overage");
    }
  }
  const value = find(claims, name, "groups_claim");
  if (value === undefined) return [];
  return strings(typeof value === "string" ? [value] : value, "groups_claim");
}

/** RFC 8693 section 4.2: space-separated; some issuers send an array. */
function scopes(value: unknown): string[] {
  if (value === undefined) return [];
  return strings(typeof value === "string" ? value.split(" ").filter(Boolean) : value, "scope_claim");
}

function strings(value: unknown, fault: ClaimFault): string[] {
  if (!Array.isArray(value) || !value.every((item) => typeof item === "string")) throw new ClaimError(fault);
  return [...new Set<string>(value)];
}
