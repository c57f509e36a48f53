/** The token of the admin verbs: compared in a time that tells nothing of it. */
import { createHash, timingSafeEqual } from "node:crypto";

const SCHEME = /^Bearer ([!-~]{1,1024})$/i;

const digest = (text: string): Buffer => createHash("sha256").update(text, "utf8").digest();

/**
 * Whether an `Authorization` header carries the token.
 * @param header untrusted, one value or none
 * @param token as configured
 */
export function carriesToken(header: string | undefined, token: string): boolean {
  const given = SCHEME.exec(header ?? "")?.[1];
  // Digests have one length, so that that of the token is not told either.
  return given !== undefined && timingSafeEqual(digest(given), digest(token));
}
