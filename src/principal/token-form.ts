/**
 * Which kind a token is, by its form alone: what looks like a signed JWT is judged as one, unless its `iss` is an issuer whose
 * tokens are introspected and nothing else. Pure. Nothing here is believed: it only says who is asked.
 */
import { peekIssuer } from "./access-token.ts";

/**
 * Whether a token has the form of a JWS (RFC 7519 section 3.1): three parts, of which the first is a header with `alg`. Read as
 * leniently as anybody reads it, with padding and the letters of plain base64: a JWT in another spelling must not be judged by
 * whoever judges opaque tokens, and may read it all the same.
 */
export function isJwt(token: string): boolean {
  const [head = "", ...others] = token.split(".", 4);
  if (head === "" || others.length !== 2) return false;
  try {
    const header: unknown = JSON.parse(Buffer.from(head, "base64url").toString("utf8"));
    return typeof header === "object" && header !== null && Object.hasOwn(header, "alg");
  } catch {
    return false;
  }
}

/** The `iss` that a JWT claims, unverified; undefined where it cannot be read. */
export function issuerOf(token: string): string | undefined {
  try {
    return peekIssuer(token);
  } catch {
    return undefined;
  }
}

/** Tells the kinds apart for a configuration: the issuers whose tokens are verified by signature, and by introspection. */
export function tokenKinds(
  signed: readonly string[],
  introspected: readonly string[],
): (token: string) => "jwt" | "introspection" {
  if (introspected.length === 0) return () => "jwt";
  if (signed.length === 0) return () => "introspection";
  const only = new Set(introspected.filter((issuer) => !signed.includes(issuer)));
  return (token) => {
    if (!isJwt(token)) return "introspection";
    if (only.size === 0) return "jwt";
    const issuer = issuerOf(token);
    return issuer !== undefined && only.has(issuer) ? "introspection" : "jwt";
  };
}
