/**
 * XAES-256-GCM (c2sp.org/XAES-256-GCM) on node:crypto: a per-message key from the first half of a 192-bit nonce by
 * CMAC under the master key (NIST SP 800-108r1 in counter mode), then AES-256-GCM with the second half.
 * Knows nothing of envelopes. Nonces must be random or unique; that is the caller's part.
 */
import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject } from "node:crypto";
import { NONCE_BYTES, TAG_BYTES } from "./format.ts";

/** Length of an XAES-256-GCM key, in bytes. */
export const KEY_BYTES = 32;

const BLOCK_BYTES = 16;
/** Nonce bytes that go into the per-message key, and the rest that GCM gets. */
const DERIVE_BYTES = 12;
const GCM_OPTIONS = { authTagLength: TAG_BYTES } as const;

/** One key. Its material sits in private fields: no inspection, JSON or string form reaches it. */
export class XaesKey {
  readonly #key: KeyObject;
  /** The CMAC subkey for whole blocks (NIST SP 800-38B section 6.1), computed once. */
  readonly #k1: Buffer;

  /** Copies `key` (32 bytes); the caller may wipe its own copy. Throws RangeError for another length. */
  constructor(key: Uint8Array) {
    if (key.length !== KEY_BYTES) throw new RangeError(`an XAES-256-GCM key has ${KEY_BYTES} bytes`);
    this.#key = createSecretKey(key);
    this.#k1 = double(encryptBlocks(this.#key, Buffer.alloc(BLOCK_BYTES)));
  }

  /** Encrypts; returns ciphertext followed by the 16-byte tag. `nonce` has 24 bytes and is never used twice. */
  seal(nonce: Uint8Array, plaintext: Uint8Array, associatedData: Uint8Array): Buffer {
    const cipher = createCipheriv("aes-256-gcm", this.#messageKey(nonce), gcmNonce(nonce), GCM_OPTIONS);
    cipher.setAAD(associatedData);
    return Buffer.concat([cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
  }

  /** Decrypts what `seal` returned; undefined, and no byte of plaintext, unless the whole of it is authentic. */
  open(nonce: Uint8Array, sealed: Uint8Array, associatedData: Uint8Array): Buffer | undefined {
    const length = sealed.length - TAG_BYTES;
    if (length < 0) return undefined;
    const decipher = createDecipheriv("aes-256-gcm", this.#messageKey(nonce), gcmNonce(nonce), GCM_OPTIONS);
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

  #messageKey(nonce: Uint8Array): KeyObject {
    if (nonce.length !== NONCE_BYTES) throw new RangeError(`an XAES-256-GCM nonce has ${NONCE_BYTES} bytes`);
    const blocks = Buffer.alloc(KEY_BYTES);
    for (let counter = 1; counter <= 2; counter += 1) {
      const at = (counter - 1) * BLOCK_BYTES;
      // 16-bit counter, the label "X", a zero byte, 96 bits of nonce: exactly one block.
      blocks.set([0, counter, 0x58, 0], at);
      blocks.set(nonce.subarray(0, DERIVE_BYTES), at + 4);
      for (let i = 0; i < BLOCK_BYTES; i += 1) {
        blocks.writeUInt8(blocks.readUInt8(at + i) ^ this.#k1.readUInt8(i), at + i);
      }
    }
    const bytes = encryptBlocks(this.#key, blocks);
    const key = createSecretKey(bytes);
    bytes.fill(0);
    return key;
  }
}

/** AES-256 on whole blocks, each by itself: the bare block cipher that CMAC is made of, never used on a message. */
function encryptBlocks(key: KeyObject, blocks: Buffer): Buffer {
  const cipher = createCipheriv("aes-256-ecb", key, null);
  cipher.setAutoPadding(false);
  return cipher.update(blocks);
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

function gcmNonce(nonce: Uint8Array): Uint8Array {
  return nonce.subarray(DERIVE_BYTES);
}
