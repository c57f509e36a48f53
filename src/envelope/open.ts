/** Envelope in, claims out. The only reader of requestState from clients; what it returns is authentic, not yet bound. */
import type { KeyHandle, Keyring } from "../keyring.ts";
import { decodeClaims, encodeClaims } from "./claims.ts";
import { type Claims, EnvelopeError, isAudience, type Parts, parseToken, TAG_BYTES } from "./format.ts";

/** A token whose form is right and whose key is known. Nothing in it is authenticated yet. */
export interface Closed {
  readonly key: KeyHandle;
  readonly parts: Parts;
}

/**
 * Looks at what stands in clear, so that nobody else's work is done for a token that cannot be ours: size, spelling, key id.
 * `maxTokenBytes` caps its text before any work is done. Every key of the ring opens; the key id picks exactly one.
 * Throws EnvelopeError: `shape`, `size`, `prefix`, `encoding`, `unknown_key`. Its time depends on nothing secret.
 */
export function readToken(ring: Keyring, token: unknown, maxTokenBytes: number): Closed {
  const parts = parseToken(token, maxTokenBytes);
  const key = ring.find(parts.keyId);
  if (key === undefined) throw new EnvelopeError("unknown_key");
  return { key, parts };
}

/**
 * Opens a token that a client sent.
 * Throws EnvelopeError and nothing else: what `readToken` throws, `aead`, `claims`.
 * Expiry and binding are judged by `checkBinding`, single use by the redemption store.
 */
export function open(ring: Keyring, audience: string, token: string, maxTokenBytes: number): Claims {
  return openToken(readToken(ring, token, maxTokenBytes), audience);
}

/** The second half of `open`. Throws EnvelopeError: `aead`, `claims`; both take equally long. */
export function openToken({ key, parts }: Closed, audience: string): Claims {
  // Nothing can have been sealed for such an audience, and its bytes could be those of another one.
  if (!isAudience(audience)) throw new EnvelopeError("aead");
  const plaintext = key.open(parts.nonce, parts.body, audience);
  if (plaintext === undefined) {
    // What an authentic payload of this size takes to read, so that the time does not tell which of both it was.
    decodeClaims(decoyOf(parts.body.length - TAG_BYTES));
    throw new EnvelopeError("aead");
  }
  const claims = decodeClaims(plaintext);
  if (claims === undefined) throw new EnvelopeError("claims");
  return claims;
}

/** A payload that nobody sealed, up to its state. */
const DECOY = encodeClaims({
  ...{ jti: "A".repeat(22), iat: 1, exp: 2, round: 1, chain: "A".repeat(22), chainIat: 1 },
  ...{
    route: "/decoy",
    upstream: "http://127.0.0.1/decoy",
    version: "2026-07-28",
    principal: "A".repeat(43),
  },
  ...{ method: "tools/call", target: "decoy", params: "A".repeat(43), requestId: "A".repeat(43) },
  asked: [{ key: "decoy", kind: "form", schema: '{"type":"object","properties":{}}' }],
  epoch: "A".repeat(22),
  state: "",
});
const END = '"}';
let last = DECOY;

/** The decoy with a state that makes it as long as this, or as short as it can be. Tokens of one length come in a row. */
function decoyOf(length: number): Buffer {
  if (last.length !== Math.max(length, DECOY.length)) {
    last = Buffer.alloc(Math.max(length, DECOY.length), "x");
    DECOY.copy(last, 0, 0, DECOY.length - END.length);
    last.write(END, last.length - END.length);
  }
  return last;
}
