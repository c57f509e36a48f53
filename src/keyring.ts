/**
 * The ring of envelope keys: immutable, one primary that seals, all others open only.
 * Callers get handles; no key byte leaves this file, and no form of printing reaches one.
 */
import { isUtf8 } from "node:buffer";
import { createHash, hkdfSync, randomBytes } from "node:crypto";
import { inspect } from "node:util";
import { associatedData, KEY_ID_BYTES } from "./envelope/format.ts";
import { KEY_BYTES, XaesKey } from "./envelope/xaes.ts";

/** Shortest secret that is accepted, in bytes. */
export const MIN_SECRET_BYTES = 32;

const DERIVATION_LABEL = "sealgate/envelope/1/key";
const KEY_ID_LABEL = "sealgate/envelope/1/key-id";

/** A configured secret: its label for people, and its bytes (32 or more, see `decodeSecret`). */
export interface KeySource {
  readonly id: string;
  readonly secret: Buffer;
}

/** A key that can be used but not read. */
export interface KeyHandle {
  /** The operator's label. */
  readonly id: string;
  /** What stands in the envelope: 4 bytes, computed from the key itself. */
  readonly keyId: Buffer;
  /** XAES-256-GCM; `nonce` 24 bytes, never used twice; `audience` satisfies `isAudience`. Returns ciphertext and tag. */
  seal(nonce: Uint8Array, plaintext: Uint8Array, audience: string): Buffer;
  /** Undefined unless all of it is authentic, and was sealed for this audience. */
  open(nonce: Uint8Array, sealed: Uint8Array, audience: string): Buffer | undefined;
}

/** How a key may be shown: label, key id in hexadecimal, and whether it seals. */
export interface KeyLabel {
  readonly id: string;
  readonly keyId: string;
  readonly primary: boolean;
}

class Key implements KeyHandle {
  readonly id: string;
  readonly #keyId: Buffer;
  readonly #xaes: XaesKey;
  /** The associated data that was needed last: a gateway has one audience. */
  #associated: { readonly audience: string; readonly data: Buffer } | undefined;

  constructor(id: string, keyId: Buffer, xaes: XaesKey) {
    this.id = id;
    this.#keyId = keyId;
    this.#xaes = xaes;
    Object.freeze(this);
  }

  get keyId(): Buffer {
    // A copy, for the bytes of a Buffer cannot be frozen.
    return Buffer.from(this.#keyId);
  }

  seal(nonce: Uint8Array, plaintext: Uint8Array, audience: string): Buffer {
    return this.#xaes.seal(nonce, plaintext, this.#associatedData(audience));
  }

  open(nonce: Uint8Array, sealed: Uint8Array, audience: string): Buffer | undefined {
    return this.#xaes.open(nonce, sealed, this.#associatedData(audience));
  }

  #associatedData(audience: string): Buffer {
    if (this.#associated?.audience !== audience) {
      this.#associated = { audience, data: associatedData(this.#keyId, audience) };
    }
    return this.#associated.data;
  }

  toString(): string {
    return `key ${this.id} (${this.#keyId.toString("hex")})`;
  }

  toJSON(): { id: string; keyId: string } {
    return { id: this.id, keyId: this.#keyId.toString("hex") };
  }

  [inspect.custom](): string {
    return this.toString();
  }
}

/** An immutable set of keys with distinct labels, secrets and key ids, one of them primary. Made by `loadKeyring`. */
export class Keyring {
  readonly #primary: Key;
  readonly #byKeyId: ReadonlyMap<string, Key>;

  /** `keys` must already be distinct, with `primary` among them. */
  constructor(keys: readonly Key[], primary: Key) {
    this.#byKeyId = new Map(keys.map((key) => [key.keyId.toString("hex"), key]));
    this.#primary = primary;
    Object.freeze(this);
  }

  /** The key that seals. */
  get primary(): KeyHandle {
    return this.#primary;
  }

  /** The key with this id; undefined when the ring has none. `keyId` may be anything a client sent. */
  find(keyId: Uint8Array): KeyHandle | undefined {
    return this.#byKeyId.get(Buffer.from(keyId).toString("hex"));
  }

  /** What may be shown of the keys, in the order of the configuration. */
  labels(): KeyLabel[] {
    return [...this.#byKeyId].map(([keyId, key]) => ({ id: key.id, keyId, primary: key === this.#primary }));
  }

  toString(): string {
    return `keyring of ${this.#byKeyId.size}, primary ${this.#primary}`;
  }

  toJSON(): KeyLabel[] {
    return this.labels();
  }

  [inspect.custom](): string {
    return this.toString();
  }
}

/**
 * Derives the ring from the operator's secrets: HKDF-SHA256 (RFC 5869) once per key, the key id from the derived key.
 * The invariants: at least one key; no label twice; no secret twice; every secret of 32 bytes or more; no two keys
 * with one key id; `primary` is the label of a key. Throws one Error that names every breach by label, and never a
 * byte of a secret. The secrets stay the caller's to wipe.
 */
export function loadKeyring(keys: readonly KeySource[], primary: string): Keyring {
  const problems: string[] = [];
  const byLabel = new Map<string, Key>();
  const labelOfSecret = new Map<string, string>();
  const labelOfKeyId = new Map<string, string>();
  for (const { id, secret } of keys) {
    const name = JSON.stringify(id);
    if (id === "") problems.push("a key has an empty id");
    if (byLabel.has(id))
      problems.push(`key ${name} is there more than once; every key needs an id of its own`);
    if (secret.length < MIN_SECRET_BYTES) {
      problems.push(`key ${name} has ${secret.length} bytes; at least ${MIN_SECRET_BYTES} are needed`);
    }
    const { key, fingerprint } = deriveKey(id, secret);
    const keyId = key.keyId.toString("hex");
    const sameSecret = labelOfSecret.get(fingerprint);
    const sameKeyId = labelOfKeyId.get(keyId);
    if (sameSecret !== undefined) {
      problems.push(`key ${name} has the same secret as key ${JSON.stringify(sameSecret)}`);
    } else if (sameKeyId !== undefined) {
      problems.push(
        `key ${name} has by chance the same key id as key ${JSON.stringify(sameKeyId)}; generate another secret`,
      );
    }
    labelOfSecret.set(fingerprint, sameSecret ?? id);
    labelOfKeyId.set(keyId, sameKeyId ?? id);
    byLabel.set(id, key);
  }
  if (keys.length === 0) problems.push("the ring has no key");
  const primaryKey = byLabel.get(primary);
  if (primaryKey === undefined) {
    const labels = [...byLabel.keys()].map((id) => JSON.stringify(id)).join(", ");
    problems.push(`the primary ${JSON.stringify(primary)} is not in the ring${labels && ` (${labels})`}`);
  }
  if (problems.length > 0 || primaryKey === undefined) throw new Error(problems.join("\n"));
  return new Keyring([...byLabel.values()], primaryKey);
}

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

/** A ring with one random key that nobody else has: nothing it seals opens after a restart or on another replica. */
export function ephemeralKeyring(random: (bytes: number) => Buffer = randomBytes): Keyring {
  return loadKeyring([{ id: "ephemeral", secret: random(MIN_SECRET_BYTES) }], "ephemeral");
}

function deriveKey(id: string, secret: Buffer): { key: Key; fingerprint: string } {
  const derived = Buffer.from(hkdfSync("sha256", secret, Buffer.alloc(0), DERIVATION_LABEL, KEY_BYTES));
  const digest = createHash("sha256").update(KEY_ID_LABEL).update(derived).digest();
  const key = new Key(id, digest.subarray(0, KEY_ID_BYTES), new XaesKey(derived));
  derived.fill(0);
  return { key, fingerprint: digest.toString("hex") };
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
