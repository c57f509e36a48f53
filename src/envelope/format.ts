/**
 * The envelope as bytes and as text. Knows no keys and judges no content; docs/envelope.md is its specification.
 */

/** First characters of every version 1 envelope. A later version has another prefix and shares no bytes with this one. */
export const PREFIX = "sg1.";
/** Length of the key id that picks the key, in bytes. */
export const KEY_ID_BYTES = 4;
/** Length of the XAES-256-GCM nonce, in bytes. */
export const NONCE_BYTES = 24;
/** Length of the authentication tag, in bytes. */
export const TAG_BYTES = 16;

/** Text of an envelope: the only form of an upstream's state that may leave the gateway. */
export type Sealed = string & { readonly __sealed: true };

/** One question that was asked together with a state; a form brings the JSON text of its `requestedSchema`. */
export type Asked =
  | { readonly key: string; readonly kind: "form"; readonly schema: string }
  | { readonly key: string; readonly kind: "url" | "sampling" | "roots" };

/** The user's consent to an operation that policy asks for: as a question that was asked, or as the answer to it. */
export interface Approval {
  /** Ids of the policies that it is for, at least one, no id twice. */
  readonly policies: readonly string[];
  /** Digest of everything that the user was shown. */
  readonly shown: string;
  /**
   * False while it is asked: the one question of the state is the gateway's own, and nothing has gone upstream. True once the user has
   * agreed, or had before: the operation runs, and what is asked now is the server's.
   */
  readonly given: boolean;
}

/** What is sealed. Times are whole unix seconds; digests are 43 characters of unpadded base64url (32 bytes). */
export interface Claims {
  /** 128 random bits as 22 characters of unpadded base64url; the single-use mark is keyed by it. */
  readonly jti: string;
  readonly iat: number;
  /** Greater than `iat`. */
  readonly exp: number;
  /** 1 for the first question of an operation. */
  readonly round: number;
  /** `jti` of round 1. */
  readonly chain: string;
  /** `iat` of round 1. May lie after `iat` when replicas' clocks differ. */
  readonly chainIat: number;
  readonly route: string;
  readonly upstream: string;
  /** Protocol version. */
  readonly version: string;
  /** Digest of the principal. */
  readonly principal: string;
  readonly method: string;
  readonly target: string;
  /** Digest of the parameters. */
  readonly params: string;
  /** Digest of the id of the request that was answered. */
  readonly requestId: string;
  /** No key twice. */
  readonly asked: readonly Asked[];
  readonly epoch: string;
  /** Absent where no policy asks for consent. */
  readonly approval?: Approval;
  /** The upstream's own string, byte for byte. Absent when it sent none; the empty string is a present state. */
  readonly state?: string;
}

/** Why a state was refused. For audit and metrics only: the client gets one answer for all of them. */
export type EnvelopeFault =
  | "size"
  | "prefix"
  | "encoding"
  | "unknown_key"
  | "aead"
  | "claims"
  | "expired"
  | "not_yet"
  | "route"
  | "upstream"
  | "principal"
  | "method"
  | "target"
  | "params"
  | "version"
  | "absent"
  | "approval"
  | "revoked"
  | "shape"
  | "unsupported_method";

/** A state that is refused. Its message holds the fault and nothing of the input. */
export class EnvelopeError extends Error {
  override readonly name = "EnvelopeError";
  readonly fault: EnvelopeFault;

  constructor(fault: EnvelopeFault) {
    super(`requestState refused: ${fault}`);
    this.fault = fault;
  }
}

/** The three parts of an envelope; `body` is ciphertext followed by the tag. Nothing in it is authenticated yet. */
export interface Parts {
  readonly keyId: Buffer;
  readonly nonce: Buffer;
  readonly body: Buffer;
}

const LENGTH_BYTES = 4;
const HEAD_BYTES = KEY_ID_BYTES + NONCE_BYTES;

/** Joins the parts to the text form. Sizes are the caller's promise. */
export const printToken = (parts: Parts): Sealed => printParts(PREFIX, parts) as Sealed;

/** The same under another prefix: for what is no state. */
export function printParts(prefix: string, { keyId, nonce, body }: Parts): string {
  return prefix + Buffer.concat([keyId, nonce, body]).toString("base64url");
}

/**
 * Takes a token from a client apart. Accepts exactly one spelling of any byte string (RFC 4648 section 3.5), in an
 * order that bounds the work before it is done: type, size, prefix, decoding, comparison.
 * `maxTokenBytes` counts the whole text. Throws EnvelopeError: `shape`, `size`, `prefix`, `encoding`.
 */
export function parseToken(token: unknown, maxTokenBytes: number, prefix: string = PREFIX): Parts {
  if (typeof token !== "string") throw new EnvelopeError("shape");
  // Only ASCII can pass the comparison below, so UTF-16 units are bytes; negated so that a NaN limit refuses.
  if (!(token.length <= maxTokenBytes)) throw new EnvelopeError("size");
  if (!token.startsWith(prefix)) throw new EnvelopeError("prefix");
  const text = token.slice(prefix.length);
  const bytes = Buffer.from(text, "base64url");
  // Node skips foreign characters and ignores unused low bits and stray lengths. What it prints has none of that, so
  // comparing stops every second spelling of the same bytes.
  if (bytes.toString("base64url") !== text) throw new EnvelopeError("encoding");
  if (bytes.length <= HEAD_BYTES + TAG_BYTES) throw new EnvelopeError("encoding");
  return {
    keyId: bytes.subarray(0, KEY_ID_BYTES),
    nonce: bytes.subarray(KEY_ID_BYTES, HEAD_BYTES),
    body: bytes.subarray(HEAD_BYTES),
  };
}

/** True for a text that can name an audience: not empty, and with exactly one UTF-8 form. */
export function isAudience(audience: unknown): audience is string {
  return typeof audience === "string" && audience !== "" && audience.isWellFormed();
}

/**
 * The associated data: prefix, key id and audience, each behind its length in bytes as a 32-bit big-endian number.
 * The lengths keep one part from sliding into the next. `audience` must satisfy `isAudience`.
 */
export function associatedData(keyId: Uint8Array, audience: string, prefix: string = PREFIX): Buffer {
  return Buffer.concat([framed(Buffer.from(prefix)), framed(keyId), framed(Buffer.from(audience, "utf8"))]);
}

function framed(part: Uint8Array): Buffer {
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32BE(part.length);
  return Buffer.concat([length, part]);
}

/** Room for all claims but state and schemas, as JSON. */
const OTHER_CLAIMS_BYTES = 32 * 1024;

/**
 * A token size that holds every claim set whose state is at most `maxStateBytes` of UTF-8, whose form schemas are at
 * most `maxSchemaBytes` of JSON text, and whose other claims take at most 32 KiB as JSON. Inside a JSON string a byte
 * of a state can take six, one of a JSON text two; base64url makes four of three.
 */
export function tokenBytesFor(maxStateBytes: number, maxSchemaBytes: number): number {
  const bytes = HEAD_BYTES + TAG_BYTES + OTHER_CLAIMS_BYTES + 2 * maxSchemaBytes + 6 * maxStateBytes;
  return PREFIX.length + Math.ceil((bytes * 4) / 3);
}
