/**
 * The secret that a key is derived from: what a file of one may look like, and how to make one.
 * Nothing here quotes content. docs/envelope.md, section 2.
 */
import { isUtf8 } from "node:buffer";
import { randomBytes } from "node:crypto";

/** Shortest secret that is accepted, in bytes. */
export const MIN_SECRET_BYTES = 32;

/**
 * The bytes of a secret file. Text (UTF-8 without control characters, but for line ends at its end, which are cut) is
 * read so: an even number of hexadecimal digits, from 64 on, or 43 and more characters of canonical unpadded base64url
 * give the bytes they spell; other text, and any binary file, is taken as it is. Throws Error below 32 bytes, also
 * for fewer than 64 hexadecimal digits: half a key must not pass because its spelling is long. Never quotes content.
 */
export function decodeSecret(file: Buffer): Buffer {
  const text = secretText(file);
  const secret = text === undefined ? Buffer.from(file) : decodeSecretText(text);
  if (secret.length < MIN_SECRET_BYTES) throw tooShort(`${secret.length} bytes`);
  return secret;
}

/** A new secret: 32 random bytes as 43 characters of base64url, one of the spellings `decodeSecret` reads. */
export function generateSecret(random: (bytes: number) => Buffer = randomBytes): string {
  return random(MIN_SECRET_BYTES).toString("base64url");
}

function secretText(file: Buffer): string | undefined {
  let end = file.length;
  while (file[end - 1] === 0x0a || file[end - 1] === 0x0d) end -= 1;
  const text = file.subarray(0, end);
  const isText = isUtf8(text) && text.every((byte) => byte >= 0x20 && byte !== 0x7f);
  return isText ? text.toString("utf8") : undefined;
}

function decodeSecretText(text: string): Buffer {
  if (/^[0-9a-fA-F]+$/.test(text)) {
    if (text.length < 2 * MIN_SECRET_BYTES) throw tooShort(`${text.length} hexadecimal digits`);
    if (text.length % 2 === 0) return Buffer.from(text, "hex");
  }
  const decoded = Buffer.from(text, "base64url");
  if (decoded.length >= MIN_SECRET_BYTES && decoded.toString("base64url") === text) return decoded;
  return Buffer.from(text, "utf8");
}

function tooShort(found: string): Error {
  return new Error(
    `the secret has ${found}; at least ${MIN_SECRET_BYTES} bytes are needed (make one with: sealgate keys new)`,
  );
}
