/**
 * Nonces for DPoP proofs (RFC 9449 section 8) that no gateway has to remember: a time, and a MAC over it under a key of the ring. Each
 * replica knows the nonces of all. They bound how far ahead of its use a proof can have been made; that it is used once is not
 * their business.
 */
import { timingSafeEqual } from "node:crypto";
import type { Keyring } from "../keyring.ts";

/** How long a nonce is good, and how far it may be ahead of the clock here, in seconds. */
const LIFE_SECONDS = 300;
const AHEAD_SECONDS = 60;
const TIME_BYTES = 6;
const KEY_ID_BYTES = 4;
const MAC_BYTES = 16;
const LABEL = "sealgate dpop nonce v1";
const NONCE = /^[A-Za-z0-9_-]{35}$/;

/** What nonces are made with. */
export interface NonceKeys {
  /** Holds the ring in force; taken anew for each use. */
  readonly keys: { readonly ring: Keyring };
  /** `envelope.audience`. */
  readonly audience: string;
}

/** A nonce for now (Unix milliseconds). */
export function makeNonce({ keys, audience }: NonceKeys, now: number): string {
  const seconds = Math.floor(now / 1000);
  const key = keys.ring.sealer(seconds);
  const head = Buffer.alloc(TIME_BYTES + KEY_ID_BYTES);
  head.writeUIntBE(seconds, 0, TIME_BYTES);
  key.keyId.copy(head, TIME_BYTES);
  return Buffer.concat([head, macOf(key, audience, head)]).toString("base64url");
}

/** Whether a nonce, which may be anything, was made here or by another replica a short while ago. */
export function isNonce({ keys, audience }: NonceKeys, nonce: string, now: number): boolean {
  if (!NONCE.test(nonce)) return false;
  const bytes = Buffer.from(nonce, "base64url");
  if (bytes.toString("base64url") !== nonce) return false;
  const head = bytes.subarray(0, TIME_BYTES + KEY_ID_BYTES);
  const key = keys.ring.find(head.subarray(TIME_BYTES));
  const mac = bytes.subarray(TIME_BYTES + KEY_ID_BYTES);
  if (key === undefined || !timingSafeEqual(mac, macOf(key, audience, head))) return false;
  const age = Math.floor(now / 1000) - head.readUIntBE(0, TIME_BYTES);
  return age <= LIFE_SECONDS && age >= -AHEAD_SECONDS;
}

function macOf(key: { mac(data: Uint8Array): Buffer }, audience: string, head: Buffer): Buffer {
  const framed = JSON.stringify([LABEL, audience, head.toString("base64url")]);
  return key.mac(Buffer.from(framed, "utf8")).subarray(0, MAC_BYTES);
}
