/**
 * The ring of envelope keys: immutable, one key seals at a time, all of them open.
 * Callers get handles; no key byte leaves this file, and no form of printing reaches one.
 */
import { createHash, createHmac, createSecretKey, hkdfSync, type KeyObject, randomBytes } from "node:crypto";
import { inspect } from "node:util";
import { associatedData, KEY_ID_BYTES } from "./envelope/format.ts";
import { KEY_BYTES, XaesKey } from "./envelope/xaes.ts";
import { MIN_SECRET_BYTES } from "./key-secret.ts";

const DERIVATION_LABEL = "sealgate/envelope/1/key";
const KEY_ID_LABEL = "sealgate/envelope/1/key-id";
const MAC_LABEL = "sealgate/overrides/1/key";
const MAC_KEY_BYTES = 32;
const RESULTS_LABEL = "sealgate/results/1/key";
const TASKS_LABEL = "sealgate/tasks/1/key";

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
  /** As `seal` and `open`, under a key of their own from the same secret: for answers that are kept for a repeat. */
  sealResult(nonce: Uint8Array, plaintext: Uint8Array, audience: string): Buffer;
  openResult(nonce: Uint8Array, sealed: Uint8Array, audience: string): Buffer | undefined;
  /** The same under another key of its own: for what clients hold of tasks. `prefix` tells kinds of it apart. */
  sealTask(nonce: Uint8Array, plaintext: Uint8Array, audience: string, prefix: string): Buffer;
  openTask(nonce: Uint8Array, sealed: Uint8Array, audience: string, prefix: string): Buffer | undefined;
  /**
   * HMAC-SHA256 under a key of its own from the same secret: for what gateways tell each other, and for nonces that must come
   * out the same everywhere. Each use begins its data with a label. 32 bytes.
   */
  mac(data: Uint8Array): Buffer;
}

/** What sealing and opening need of the gateway. */
export interface Sealing {
  /** Holds the ring in force; taken anew for each use. */
  readonly keys: { readonly ring: Keyring };
  readonly audience: string;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly random: (bytes: number) => Buffer;
}

/** The key that takes the primary's place, and from when on. Until then it is handed out and opens only. */
export interface NextKey {
  readonly id: string;
  /** Unix seconds. */
  readonly notBefore: number;
}

/** How a key may be shown: label, key id in hexadecimal, and whether it is the one that seals. */
export interface KeyLabel {
  readonly id: string;
  readonly keyId: string;
  readonly seals: boolean;
}

class Key implements KeyHandle {
  readonly id: string;
  readonly #keyId: Buffer;
  readonly #xaes: XaesKey;
  readonly #results: XaesKey;
  readonly #tasks: XaesKey;
  readonly #macKey: KeyObject;
  /** The associated data that was needed last: a gateway has one audience. */
  #associated: { readonly audience: string; readonly data: Buffer } | undefined;

  constructor(
    id: string,
    keyId: Buffer,
    keys: {
      readonly xaes: XaesKey;
      readonly results: XaesKey;
      readonly tasks: XaesKey;
      readonly mac: KeyObject;
    },
  ) {
    this.id = id;
    this.#keyId = keyId;
    this.#xaes = keys.xaes;
    this.#results = keys.results;
    this.#tasks = keys.tasks;
    this.#macKey = keys.mac;
    Object.freeze(this);
  }

  get keyId(): Buffer {
    // A copy, for the bytes of a Buffer cannot be frozen; and one with memory of its own, for a Buffer from the shared pool carries
    // whatever else lies in the pool, and `inspect` can show it.
    const copy = Buffer.allocUnsafeSlow(KEY_ID_BYTES);
    this.#keyId.copy(copy);
    return copy;
  }

  seal(nonce: Uint8Array, plaintext: Uint8Array, audience: string): Buffer {
    return this.#xaes.seal(nonce, plaintext, this.#associatedData(audience));
  }

  open(nonce: Uint8Array, sealed: Uint8Array, audience: string): Buffer | undefined {
    return this.#xaes.open(nonce, sealed, this.#associatedData(audience));
  }

  sealResult(nonce: Uint8Array, plaintext: Uint8Array, audience: string): Buffer {
    return this.#results.seal(nonce, plaintext, this.#associatedData(audience));
  }

  openResult(nonce: Uint8Array, sealed: Uint8Array, audience: string): Buffer | undefined {
    return this.#results.open(nonce, sealed, this.#associatedData(audience));
  }

  sealTask(nonce: Uint8Array, plaintext: Uint8Array, audience: string, prefix: string): Buffer {
    return this.#tasks.seal(nonce, plaintext, associatedData(this.#keyId, audience, prefix));
  }

  openTask(nonce: Uint8Array, sealed: Uint8Array, audience: string, prefix: string): Buffer | undefined {
    return this.#tasks.open(nonce, sealed, associatedData(this.#keyId, audience, prefix));
  }

  mac(data: Uint8Array): Buffer {
    return createHmac("sha256", this.#macKey).update(data).digest();
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

/** An immutable set of keys with distinct labels, secrets and key ids. Made by `loadKeyring`. */
export class Keyring {
  readonly #primary: Key;
  readonly #next: { readonly key: Key; readonly notBefore: number } | undefined;
  readonly #byKeyId: ReadonlyMap<string, Key>;

  /** `keys` must already be distinct, with `primary` and `next.key` among them. */
  constructor(
    keys: readonly Key[],
    primary: Key,
    next: { readonly key: Key; readonly notBefore: number } | undefined,
  ) {
    this.#byKeyId = new Map(keys.map((key) => [key.keyId.toString("hex"), key]));
    this.#primary = primary;
    this.#next = next;
    Object.freeze(this);
  }

  /** The key that is configured to seal. */
  get primary(): KeyHandle {
    return this.#primary;
  }

  /** The key that seals at a time (unix seconds): the primary, or the next one once its time has come. */
  sealer(at: number): KeyHandle {
    return this.#next !== undefined && at >= this.#next.notBefore ? this.#next.key : this.#primary;
  }

  /** The key with this id; undefined when the ring has none. `keyId` may be anything a client sent. */
  find(keyId: Uint8Array): KeyHandle | undefined {
    return this.#byKeyId.get(Buffer.from(keyId).toString("hex"));
  }

  /** What may be shown of the keys at a time (unix seconds), in the order of the configuration. */
  labels(at: number): KeyLabel[] {
    const sealer = this.sealer(at);
    return [...this.#byKeyId].map(([keyId, key]) => ({ id: key.id, keyId, seals: key === sealer }));
  }

  /** Labels and key ids, which key is primary, which comes next and when. Rings with equal texts are equal. */
  toString(): string {
    const next =
      this.#next && `, next ${this.#next.key} from ${new Date(this.#next.notBefore * 1000).toISOString()}`;
    return `keyring of ${[...this.#byKeyId.values()].join(", ")}; primary ${this.#primary}${next ?? ""}`;
  }

  toJSON(): string {
    return this.toString();
  }

  [inspect.custom](): string {
    return this.toString();
  }
}

/**
 * Derives the ring from the operator's secrets: HKDF-SHA256 (RFC 5869) once per key and use, the key id from the key that seals.
 * The invariants: at least one key; no label twice; no secret twice; every secret of 32 bytes or more; no two keys
 * with one key id; `primary` and `next.id` are the labels of two keys. Throws one Error that names every breach by label, and never a
 * byte of a secret. The secrets stay the caller's to wipe.
 */
export function loadKeyring(keys: readonly KeySource[], primary: string, next?: NextKey): Keyring {
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
  const find = (label: string, role: string): Key | undefined => {
    const key = byLabel.get(label);
    const labels = [...byLabel.keys()].map((id) => JSON.stringify(id)).join(", ");
    if (key === undefined)
      problems.push(`the ${role} ${JSON.stringify(label)} is not in the ring${labels && ` (${labels})`}`);
    return key;
  };
  const primaryKey = find(primary, "primary");
  const nextKey = next && find(next.id, "next key");
  if (primary === next?.id) problems.push("the next key is the primary itself");
  if (problems.length > 0 || primaryKey === undefined) throw new Error(problems.join("\n"));
  return new Keyring(
    [...byLabel.values()],
    primaryKey,
    next && nextKey && { key: nextKey, notBefore: next.notBefore },
  );
}

/** A ring with one random key that nobody else has: nothing it seals opens after a restart or on another replica. */
export function ephemeralKeyring(random: (bytes: number) => Buffer = randomBytes): Keyring {
  return loadKeyring([{ id: "ephemeral", secret: random(MIN_SECRET_BYTES) }], "ephemeral");
}

function deriveKey(id: string, secret: Buffer): { key: Key; fingerprint: string } {
  const derive = (label: string, bytes: number): Buffer =>
    Buffer.from(hkdfSync("sha256", secret, Buffer.alloc(0), label, bytes));
  const derived = derive(DERIVATION_LABEL, KEY_BYTES);
  const forResults = derive(RESULTS_LABEL, KEY_BYTES);
  const forTasks = derive(TASKS_LABEL, KEY_BYTES);
  const forMac = derive(MAC_LABEL, MAC_KEY_BYTES);
  const digest = createHash("sha256").update(KEY_ID_LABEL).update(derived).digest();
  const key = new Key(id, digest.subarray(0, KEY_ID_BYTES), {
    xaes: new XaesKey(derived),
    results: new XaesKey(forResults),
    tasks: new XaesKey(forTasks),
    mac: createSecretKey(forMac),
  });
  for (const bytes of [derived, forResults, forTasks, forMac]) bytes.fill(0);
  return { key, fingerprint: digest.toString("hex") };
}
