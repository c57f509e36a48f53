/**
 * XAES-256-GCM (c2sp.org/XAES-256-GCM) on node:crypto: a per-message key from the first half of a 192-bit nonce by
 * CMAC under the master key (NIST SP 800-108r1 in counter mode), then AES-256-GCM with the second half.
 * Knows nothing of envelopes. Nonces must be random or unique; that is the caller's part.
 */
import { type Cipheriv, createCipheriv, createDecipheriv, createSecretKey } from "node:crypto";
import { NONCE_BYTES, TAG_BYTES } from "./format.ts";

/** Length of an XAES-256-GCM key, in bytes. */
export const KEY_BYTES = 32;

const BLOCK_BYTES = 16;
/** Nonce bytes that go into the per-message key, and the rest that GCM gets. */
const DERIVE_BYTES = 12;
const CONTEXT_OFFSET = BLOCK_BYTES - DERIVE_BYTES;
const LABEL = 0x58;
const GCM_OPTIONS = { authTagLength: TAG_BYTES } as const;

/** One key. Its material sits in private fields: no inspection, JSON or string form reaches it. */
export class XaesKey {
  /** The bare block cipher under the key. Whole blocks without padding leave no state in it, so one serves for good. */
  readonly #aes: Cipheriv;
  /** Both derivation blocks with a zero nonce, already under K1, the CMAC subkey for whole blocks (SP 800-38B 6.1). */
  readonly #blocks: Buffer;

  /** Copies `key` (32 bytes); the caller may wipe its own copy. Throws RangeError for another length. */
  constructor(key: Uint8Array) {
    if (key.length !== KEY_BYTES) throw new RangeError(`an XAES-256-GCM key has ${KEY_BYTES} bytes`);
    this.#aes = createCipheriv("aes-256-ecb", createSecretKey(key), null).setAutoPadding(false);
    const k1 = double(this.#aes.update(Buffer.alloc(BLOCK_BYTES)));
    this.#blocks = Buffer.concat([k1, k1]);
    // 16-bit counter, the label "X", a zero byte; 96 bits of nonce complete each block.
    xorInto(this.#blocks, Buffer.from([0, 1, LABEL, 0]), 0);
    xorInto(this.#blocks, Buffer.from([0, 2, LABEL, 0]), BLOCK_BYTES);
  }

  /** Encrypts; returns ciphertext followed by the 16-byte tag. `nonce` has 24 bytes and is never used twice. */
  seal(nonce: Uint8Array, plaintext: Uint8Array, associatedData: Uint8Array): Buffer {
    const key = this.#messageKey(nonce);
    const cipher = createCipheriv("aes-256-gcm", key, gcmNonce(nonce), GCM_OPTIONS);
    key.fill(0);
    cipher.setAAD(associatedData);
    const ciphertext = cipher.update(plaintext);
    // A counter mode holds nothing back: `final` gives no byte and computes the tag.
    cipher.final();
    return Buffer.concat([ciphertext, cipher.getAuthTag()]);
  }

  /** Decrypts what `seal` returned; undefined, and no byte of plaintext, unless the whole of it is authentic. */
  open(nonce: Uint8Array, sealed: Uint8Array, associatedData: Uint8Array): Buffer | undefined {
    const length = sealed.length - TAG_BYTES;
    if (length < 0) return undefined;
    const key = this.#messageKey(nonce);
    const decipher = createDecipheriv("aes-256-gcm", key, gcmNonce(nonce), GCM_OPTIONS);
    key.fill(0);
    decipher.setAAD(associatedData);
    decipher.setAuthTag(sealed.subarray(length));
    const plaintext = decipher.update(sealed.subarray(0, length));
    try {
      decipher.final();
    } catch {
      return undefined;
    }
    return plaintext;
  }

  /** The bytes of a key that serves once; a KeyObject around them would cost as much again. The caller wipes them. */
  #messageKey(nonce: Uint8Array): Buffer {
    if (nonce.length !== NONCE_BYTES) throw new RangeError(`an XAES-256-GCM nonce has ${NONCE_BYTES} bytes`);
    const blocks = Buffer.from(this.#blocks);
    xorInto(blocks, nonce, CONTEXT_OFFSET, DERIVE_BYTES);
    xorInto(blocks, nonce, BLOCK_BYTES + CONTEXT_OFFSET, DERIVE_BYTES);
    return this.#aes.update(blocks);
  }
}

/** Doubling in GF(2^128), without a branch on the secret bit. */
function double(block: Buffer): Buffer {
  const out = Buffer.alloc(BLOCK_BYTES);
  let carry = 0;
  for (let i = BLOCK_BYTES - 1; i >= 0; i -= 1) {
    const byte = block.readUInt8(i);
    out.writeUInt8(((byte << 1) | carry) & 0xff, i);
    carry = byte >>> 7;
  }
  out.writeUInt8(out.readUInt8(BLOCK_BYTES - 1) ^ (-carry & 0x87), BLOCK_BYTES - 1);
  return out;
}

/** The first `length` bytes of `source` into `target` from `offset` on. */
function xorInto(target: Uint8Array, source: Uint8Array, offset: number, length = source.length): void {
  for (let i = 0; i < length; i += 1) {
    target[offset + i] = Number(target[offset + i]) ^ Number(source[i]);
  }
}

function gcmNonce(nonce: Uint8Array): Uint8Array {
  return nonce.subarray(DERIVE_BYTES);
}
