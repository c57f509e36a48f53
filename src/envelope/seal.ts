/** Claims in, envelope out. The only writer of requestState towards clients. */
import { randomBytes } from "node:crypto";
import type { Keyring } from "../keyring.ts";
import { encodeClaims } from "./claims.ts";
import { type Claims, isAudience, NONCE_BYTES, printToken, type Sealed } from "./format.ts";

const POOL_BYTES = 4096;

/**
 * A source of random bytes that asks the system in bulk. Every byte is handed out once: a slab is only read forward,
 * never rewound or written again. `fill` is where the bytes come from.
 */
export function randomPool(fill: (bytes: number) => Buffer = randomBytes): (bytes: number) => Buffer {
  let slab: Buffer = Buffer.alloc(0);
  let used = 0;
  return (bytes) => {
    if (bytes > POOL_BYTES) return fill(bytes);
    if (bytes > slab.length - used) {
      slab = fill(POOL_BYTES);
      used = 0;
    }
    const out = slab.subarray(used, used + bytes);
    used += bytes;
    return out;
  };
}

const pooled = randomPool();

/**
 * Seals claims under the key that seals at `claims.iat`, for one audience (not empty; equal on all replicas).
 * `random` must return fresh random bytes; tests may fix it, production leaves it alone.
 * Throws TypeError when claims, audience or nonce are not what they must be: nothing half valid is ever sealed.
 */
export function seal(ring: Keyring, audience: string, claims: Claims, random = pooled): Sealed {
  if (!isAudience(audience))
    throw new TypeError("the audience is empty or not well-formed; nothing was sealed");
  const plaintext = encodeClaims(claims);
  const nonce = random(NONCE_BYTES);
  if (nonce.length !== NONCE_BYTES)
    throw new TypeError("random bytes of the wrong length; nothing was sealed");
  const key = ring.sealer(claims.iat);
  return printToken({ keyId: key.keyId, nonce, body: key.seal(nonce, plaintext, audience) });
}
