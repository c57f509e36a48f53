/**
 * A reader of envelopes, written from docs/envelope.md and from nothing else, for the vectors. It decodes base64url by hand and
 * reads the payload character by character where the product uses an expression; it shares the key derivation of `reference.ts`.
 */
import { createDecipheriv } from "node:crypto";
import { deriveKey, messageKey } from "./reference.ts";

/** What a reader is given besides the token. */
export interface Reading {
  readonly keys: readonly { readonly secret: string }[];
  readonly audience: string;
  readonly maxTokenBytes: number;
}

/** The claims, or the name of the failure, as section 6 lists them. */
export type Read = { readonly claims: Record<string, unknown> } | { readonly failure: string };

class Failure extends Error {}

/** Section 6, step by step. */
export function read(token: unknown, { keys, audience, maxTokenBytes }: Reading): Read {
  try {
    if (typeof token !== "string") throw new Failure("shape");
    if (Buffer.byteLength(token) > maxTokenBytes) throw new Failure("size");
    if (token.slice(0, 4) !== "sg1.") throw new Failure("prefix");
    const bytes = fromBase64url(token.slice(4));
    if (bytes.length < 45) throw new Failure("encoding");
    const keyId = bytes.subarray(0, 4);
    const key = keys
      .map(({ secret }) => deriveKey(secret))
      .find((derived) => derived.keyId.equals(keyId))?.key;
    if (key === undefined) throw new Failure("unknown_key");
    const payload = decrypt(key, bytes.subarray(4, 28), bytes.subarray(28), associatedData(keyId, audience));
    return { claims: new Payload(payload).read() };
  } catch (error) {
    if (error instanceof Failure) return { failure: error.message };
    throw error;
  }
}

/** RFC 4648 section 5: six bits a character; leftover bits must be zero, and fewer than six. */
function fromBase64url(text: string): Buffer {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const bytes: number[] = [];
  let bits = 0;
  let held = 0;
  for (const character of text) {
    const value = alphabet.indexOf(character);
    if (value < 0) throw new Failure("encoding");
    bits = ((bits << 6) | value) & 0xffff;
    held += 6;
    if (held >= 8) {
      held -= 8;
      bytes.push((bits >> held) & 0xff);
    }
  }
  if (text === "" || held >= 6 || (bits & ((1 << held) - 1)) !== 0) throw new Failure("encoding");
  return Buffer.from(bytes);
}

/** Section 4. */
function associatedData(keyId: Buffer, audience: string): Buffer {
  const part = (bytes: Buffer): Buffer => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(bytes.length);
    return Buffer.concat([length, bytes]);
  };
  return Buffer.concat([part(Buffer.from("sg1.")), part(keyId), part(Buffer.from(audience))]);
}

/** Section 3. */
function decrypt(key: Buffer, nonce: Buffer, body: Buffer, data: Buffer): Buffer {
  const gcm = createDecipheriv("aes-256-gcm", messageKey(key, nonce), nonce.subarray(12), {
    authTagLength: 16,
  });
  gcm.setAAD(data).setAuthTag(body.subarray(-16));
  try {
    return Buffer.concat([gcm.update(body.subarray(0, -16)), gcm.final()]);
  } catch {
    throw new Failure("aead");
  }
}

type Type = "id" | "time" | "round" | "name" | "text" | "digest" | "asked";
/** The table of section 5, in its order. */
const MEMBERS: readonly (readonly [string, Type])[] = [
  ["jti", "id"],
  ["iat", "time"],
  ["exp", "time"],
  ["round", "round"],
  ["chain", "id"],
  ["chainIat", "time"],
  ["route", "name"],
  ["upstream", "name"],
  ["version", "name"],
  ["principal", "digest"],
  ["method", "name"],
  ["target", "text"],
  ["params", "digest"],
  ["requestId", "digest"],
  ["asked", "asked"],
  ["epoch", "text"],
];
const SHORT: Readonly<Record<string, string>> = {
  b: "\b",
  t: "\t",
  n: "\n",
  f: "\f",
  r: "\r",
  '"': '"',
  "\\": "\\",
};

class Payload {
  readonly #text: string;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#text = bytes.toString("utf8");
    // Bytes that are no UTF-8 do not come out as they went in.
    if (!Buffer.from(this.#text, "utf8").equals(bytes)) throw new Failure("claims");
  }

  read(): Record<string, unknown> {
    const claims: Record<string, unknown> = {};
    for (const [index, [name, type]] of MEMBERS.entries()) {
      this.#expect(`${index === 0 ? "{" : ","}"${name}":`);
      claims[name] = this.#value(type);
    }
    if (this.#next(',"approval":')) claims["approval"] = this.#approval();
    if (this.#next(',"state":')) claims["state"] = this.#string();
    this.#expect("}");
    if (this.#at !== this.#text.length || Number(claims["exp"]) <= Number(claims["iat"]))
      throw new Failure("claims");
    const approval = claims["approval"] as { readonly given: boolean } | undefined;
    const asked = claims["asked"] as readonly { readonly kind: string }[];
    // What is asked by the gateway itself is one form, and the server has said nothing yet.
    if (approval?.given === false && ("state" in claims || asked.length !== 1 || asked[0]?.kind !== "form"))
      throw new Failure("claims");
    return claims;
  }

  #approval(): object {
    const policies: string[] = [];
    this.#expect('{"policies":[');
    do {
      policies.push(this.#notEmpty());
    } while (this.#next(","));
    this.#expect('],"shown":');
    const shown = this.#bytes(32);
    this.#expect(',"given":');
    const given = this.#next("true");
    if (!given) this.#expect("false");
    this.#expect("}");
    if (policies.some((id, index) => policies.indexOf(id) < index)) throw new Failure("claims");
    return { policies, shown, given };
  }

  #value(type: Type): unknown {
    switch (type) {
      case "time":
        return this.#whole(0, 253_402_300_799);
      case "round":
        return this.#whole(1, Number.MAX_SAFE_INTEGER);
      case "asked":
        return this.#asked();
      case "text":
        return this.#string();
      case "name":
        return this.#notEmpty();
      case "id":
        return this.#bytes(16);
      case "digest":
        return this.#bytes(32);
    }
  }

  #asked(): object[] {
    const asked: Record<string, string>[] = [];
    this.#expect("[");
    while (!this.#next("]")) {
      if (asked.length > 0) this.#expect(",");
      this.#expect('{"key":');
      const key = this.#string();
      this.#expect(',"kind":');
      const kind = this.#string();
      const one: Record<string, string> = { key, kind };
      if (kind === "form") {
        this.#expect(',"schema":');
        one["schema"] = this.#notEmpty();
      } else if (!["url", "sampling", "roots"].includes(kind)) throw new Failure("claims");
      this.#expect("}");
      if (asked.some((other) => other["key"] === key)) throw new Failure("claims");
      asked.push(one);
    }
    return asked;
  }

  #whole(least: number, most: number): number {
    let digits = "";
    while (/[0-9]/.test(this.#text[this.#at] ?? "")) digits += this.#text[this.#at++];
    const value = Number(digits);
    if (String(value) !== digits || value < least || value > most) throw new Failure("claims");
    return value;
  }

  #bytes(length: number): string {
    const text = this.#string();
    try {
      if (fromBase64url(text).length === length) return text;
    } catch {
      // The name of the failure is that of the payload.
    }
    throw new Failure("claims");
  }

  #notEmpty(): string {
    const text = this.#string();
    if (text === "") throw new Failure("claims");
    return text;
  }

  #string(): string {
    this.#expect('"');
    let value = "";
    for (;;) {
      const character = this.#text[this.#at++];
      if (character === undefined || character < " ") throw new Failure("claims");
      if (character === '"') return value;
      value += character === "\\" ? this.#escape() : character;
    }
  }

  /** Only what section 5 escapes, in the one way it does. */
  #escape(): string {
    const letter = this.#text[this.#at++] ?? "";
    const short = SHORT[letter];
    if (short !== undefined) return short;
    const code = /^00([01][0-9a-f])$/.exec(this.#text.slice(this.#at, this.#at + 4))?.[1];
    const value = String.fromCharCode(Number.parseInt(code ?? "", 16));
    if (letter !== "u" || code === undefined || Object.values(SHORT).includes(value))
      throw new Failure("claims");
    this.#at += 4;
    return value;
  }

  #next(text: string): boolean {
    if (!this.#text.startsWith(text, this.#at)) return false;
    this.#at += text.length;
    return true;
  }

  #expect(text: string): void {
    if (!this.#next(text)) throw new Failure("claims");
  }
}
