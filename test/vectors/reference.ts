/**
 * The envelope of docs/envelope.md, implemented a second time and by other means (CMAC through CBC, big integers),
 * for the vectors only. It seals whatever it is given, valid or not.
 */
import { createCipheriv, createHash, hkdfSync } from "node:crypto";

/** What to seal; `ad` replaces the associated data. */
export interface Recipe {
  readonly secret: string;
  readonly audience: string;
  readonly payload: Buffer;
  readonly ad?: (keyId: Buffer, audience: string) => Buffer;
}

/** SHA-256 of the parts, one after the other. */
export const sha256 = (...parts: (string | Buffer)[]) => {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest();
};

/** The derived key and its id, from a secret in hexadecimal. */
export function deriveKey(secret: string): { key: Buffer; keyId: Buffer } {
  const key = Buffer.from(hkdfSync("sha256", Buffer.from(secret, "hex"), "", "sealgate/envelope/1/key", 32));
  return { key, keyId: sha256("sealgate/envelope/1/key-id", key).subarray(0, 4) };
}

/** AES-256-CMAC of one whole block, the way of CBC: encrypt (block xor K1) under a zero vector. */
function cmacBlock(key: Buffer, block: Buffer): Buffer {
  const encrypt = (iv: Buffer, data: Buffer) =>
    createCipheriv("aes-256-cbc", key, iv).setAutoPadding(false).update(data);
  const l = BigInt(`0x${encrypt(Buffer.alloc(16), Buffer.alloc(16)).toString("hex")}`);
  const doubled = (l << 1n) ^ (l >> 127n === 1n ? (1n << 128n) | 0x87n : 0n);
  return encrypt(Buffer.from(doubled.toString(16).padStart(32, "0"), "hex"), block);
}

/** The key of one message, from the key of the ring and the first half of the nonce. */
export function messageKey(key: Buffer, nonce: Buffer): Buffer {
  const message = (i: number) => Buffer.concat([Buffer.from([0, i, 0x58, 0]), nonce.subarray(0, 12)]);
  return Buffer.concat([cmacBlock(key, message(1)), cmacBlock(key, message(2))]);
}

function encrypt(key: Buffer, nonce: Buffer, plaintext: Buffer, ad: Buffer): Buffer {
  const cipher = createCipheriv("aes-256-gcm", messageKey(key, nonce), nonce.subarray(12));
  cipher.setAAD(ad);
  return Buffer.concat([cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
}

function framed(...parts: Buffer[]): Buffer {
  const length = (part: Buffer) => Buffer.from(part.length.toString(16).padStart(8, "0"), "hex");
  return Buffer.concat(parts.flatMap((part) => [length(part), part]));
}

/** Key id, nonce and body as bytes, and every value on the way. The nonce is computed from `name`. */
export function sealBytes(
  name: string,
  recipe: Recipe,
): { bytes: Buffer; nonce: Buffer; steps: Record<string, string> } {
  const { key, keyId } = deriveKey(recipe.secret);
  const nonce = sha256(`nonce ${name}`).subarray(0, 24);
  const ad =
    recipe.ad?.(keyId, recipe.audience) ?? framed(Buffer.from("sg1."), keyId, Buffer.from(recipe.audience));
  const body = encrypt(key, nonce, recipe.payload, ad);
  const hex = {
    ...{ key, keyId, nonce, messageKey: messageKey(key, nonce), associatedData: ad },
    ...{ payload: recipe.payload, body },
  };
  const steps = Object.fromEntries(Object.entries(hex).map(([step, bytes]) => [step, bytes.toString("hex")]));
  return { bytes: Buffer.concat([keyId, nonce, body]), nonce, steps };
}
