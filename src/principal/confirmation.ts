/**
 * What a token is bound to, by its claim `cnf` (RFC 7800): the client certificate of the connection (RFC 8705), the key of a DPoP
 * proof (RFC 9449), or both, and then both must hold. Pure. A binding that is not understood is no binding that could be checked, so
 * such a token is refused, and never taken for a plain one.
 */
import type { JWTPayload } from "jose";
import { ClaimError } from "./claims.ts";

/** See the file's header. At least one is there. */
export interface Binding {
  /** `x5t#S256`: SHA-256 of the certificate's DER, base64url. */
  readonly certificate?: string;
  /** `jkt`: SHA-256 thumbprint of the public key (RFC 7638), base64url. */
  readonly key?: string;
}

const MEMBERS: Readonly<Record<string, keyof Binding>> = { "x5t#S256": "certificate", jkt: "key" };
/** 256 bits in base64url, in their one spelling: of the last character two bits are not used, and are zero. */
const DIGEST = /^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/;

/**
 * Takes `cnf` out of verified claims, for `principalOf`, and reads it.
 * @returns no `binding` for a token that is bound to nothing
 * @throws ClaimError `confirmation_claim` for everything that is not exactly one or both of the known members
 */
export function splitBinding(claims: JWTPayload): { binding: Binding | undefined; rest: JWTPayload } {
  if (!Object.hasOwn(claims, "cnf")) return { binding: undefined, rest: claims };
  const { cnf, ...rest } = claims;
  return { binding: readBinding(cnf), rest };
}

function readBinding(cnf: unknown): Binding {
  if (typeof cnf !== "object" || cnf === null || Array.isArray(cnf))
    throw new ClaimError("confirmation_claim");
  const members = Object.entries(cnf as Record<string, unknown>).map(([name, value]) => {
    const member = Object.hasOwn(MEMBERS, name) ? MEMBERS[name] : undefined;
    if (member === undefined || typeof value !== "string" || !DIGEST.test(value)) {
      throw new ClaimError("confirmation_claim");
    }
    return [member, value] as const;
  });
  if (members.length === 0) throw new ClaimError("confirmation_claim");
  return Object.freeze(Object.fromEntries(members));
}
