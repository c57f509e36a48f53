/** Envelope in, claims out. The only reader of requestState from clients; what it returns is authentic, not yet bound. */
import type { Keyring } from "../keyring.ts";
import { decodeClaims } from "./claims.ts";
import { type Claims, EnvelopeError, isAudience, parseToken } from "./format.ts";

/**
 * Opens a token that a client sent. `maxTokenBytes` caps its text before any work is done.
 * Every key of the ring opens; the key id picks exactly one, none is tried in turn.
 * Throws EnvelopeError and nothing else: `shape`, `size`, `prefix`, `encoding`, `unknown_key`, `aead`, `claims`.
 * Expiry and binding are judged by `checkBinding`, single use by the redemption store.
 */
export function open(ring: Keyring, audience: string, token: string, maxTokenBytes: number): Claims {
  const parts = parseToken(token, maxTokenBytes);
  const key = ring.find(parts.keyId);
  if (key === undefined) throw new EnvelopeError("unknown_key");
  // Nothing can have been sealed for such an audience, and its bytes could be those of another one.
  if (!isAudience(audience)) throw new EnvelopeError("aead");
  const plaintext = key.open(parts.nonce, parts.body, audience);
  if (plaintext === undefined) throw new EnvelopeError("aead");
  const claims = decodeClaims(plaintext);
  if (claims === undefined) throw new EnvelopeError("claims");
  return claims;
}
