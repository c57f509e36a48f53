/**
 * What a token was made for, by the words that issuers have for it. Their ID, refresh and logout tokens are signed with the same keys
 * and active like access tokens, and open nothing here, whatever their audience (RFC 8725 sections 2.8 and 3.11, RFC 9068 section 5).
 * Pure.
 */

/** `typ` in the header of a JWT access token (RFC 9068 section 2.1) or of a plain JWT; anything else was made for another purpose. */
const HEADER_TYPES: ReadonlySet<string> = new Set(["at+jwt", "application/at+jwt", "jwt", "application/jwt"]);
/** Claims that some issuers tell their tokens apart by. */
const USES: ReadonlySet<string> = new Set(["access_token", "access"]);
const CLAIM_TYPES: ReadonlySet<string> = new Set([...HEADER_TYPES, "bearer", "dpop", "access_token"]);

/** Whether `typ` in the header of a JWT, which may be anything, is that of an access token, or is not there. */
export const isAccessHeader = (typ: unknown): boolean => isOneOf(typ, HEADER_TYPES);

/**
 * Whether claims are those of an access token: `token_use` and `typ` say so where they are there, and there are no `events`, which make
 * a JWT a security event or a logout token (RFC 8417 section 2.2, OpenID Connect Back-Channel Logout section 2.4).
 */
export function isForAccess(claims: Readonly<Record<string, unknown>>): boolean {
  const { token_use: use, typ, events } = claims;
  return isOneOf(use, USES) && isOneOf(typ, CLAIM_TYPES) && events === undefined;
}

/** Whether a value is absent, or one of the known words in any case. */
export function isOneOf(value: unknown, known: ReadonlySet<string>): boolean {
  return value === undefined || (typeof value === "string" && known.has(value.toLowerCase()));
}
