/**
 * The keys that sign identity assertions: one signs, all are published, so that a key is known before it signs and until what it
 * signed has expired. Private keys never leave this file.
 */
import { createPrivateKey, createPublicKey, type KeyObject } from "node:crypto";
import { calculateJwkThumbprint, type JWK, type JWTPayload, SignJWT } from "jose";
import { type AssertionKey, algorithmOf } from "../config/credential-material.ts";

/** Where servers find the keys: a path on the listener for clients. */
export const KEY_SET_PATH = "/.well-known/jwks.json";

/** A key set (RFC 7517 section 5), public halves only. */
export interface PublicKeySet {
  readonly keys: readonly JWK[];
}

/** The ring, opened. */
export interface AssertionSigner {
  readonly keySet: PublicKeySet;
  /** `kid` of the key that signs. */
  readonly kid: string;
  /** Signs claims as they are, as a JWT with `typ` at+jwt (RFC 9068 section 2.1) and the thumbprint of its key as `kid`. */
  sign(claims: JWTPayload): Promise<string>;
}

/**
 * Opens the ring.
 * @param keys PEM that `loadMaterial` has tried
 * @param primary the id of the one that signs
 * @throws Error when a key signs nothing here, or the primary is not among them
 */
export async function openAssertionSigner(
  keys: readonly AssertionKey[],
  primary: string,
): Promise<AssertionSigner> {
  const opened = await Promise.all(
    keys.map(async ({ id, pem }) => {
      const key = createPrivateKey(pem);
      const alg = algorithmOf(key);
      if (alg === undefined) throw new Error(`assertion key ${JSON.stringify(id)} signs nothing here`);
      return { id, key, alg, ...(await publicHalf(key, alg)) };
    }),
  );
  const signing = opened.find(({ id }) => id === primary);
  if (signing === undefined) throw new Error(`assertion key ${JSON.stringify(primary)} is not in the ring`);
  const { key, alg, kid } = signing;
  return {
    keySet: { keys: opened.map(({ jwk }) => jwk) },
    kid,
    sign: (claims) => new SignJWT(claims).setProtectedHeader({ alg, typ: "at+jwt", kid }).sign(key),
  };
}

/** Whether `after` signs with a key that `before` had not published: servers that keep the set from then do not know it yet. */
export function signsUnknown(
  before: AssertionSigner | undefined,
  after: AssertionSigner | undefined,
): boolean {
  if (before === undefined || after === undefined) return false;
  return !before.keySet.keys.some(({ kid }) => kid === after.kid);
}

async function publicHalf(key: KeyObject, alg: string): Promise<{ readonly kid: string; readonly jwk: JWK }> {
  const half = createPublicKey(key).export({ format: "jwk" }) as JWK;
  // RFC 7638: the same on every replica, and another for another key, whatever operators call it.
  const kid = await calculateJwkThumbprint(half, "sha256");
  return { kid, jwk: { ...half, kid, use: "sig", alg } };
}
