/**
 * Watches the bytes of one connection for chunk lines that hold more than a size (chunk extensions, RFC 9112 section 7.1.1).
 * Node's parser takes them and does not tell; other readers have disagreed about where such a line ends. This one only looks
 * for the ends of heads and bodies; it decides nothing else, since what it could read in another way Node's parser refuses.
 */
import { maxHeaderSize } from "node:http";

const CR = 0x0d;
const LF = 0x0a;
const HEAD_END = "\r\n\r\n";
const EMPTY = Buffer.alloc(0);
/** Sizes stay exact numbers; an honest sender has no use for more. */
const MAX_SIZE_DIGITS = 13;
/** The parser's own bound is lower, and counts in another way. */
const MAX_HEAD_BYTES = 2 * maxHeaderSize;
const CODED = /\r\ntransfer-encoding:/i;
const LENGTH = /\r\ncontent-length:[ \t]*([0-9]+)/i;

type Place = "head" | "body" | "size" | "size-end" | "trailers";

/** See the file's header. One for each connection. */
export class ChunkLines {
  #place: Place = "head";
  /** What has come of an unfinished head. */
  #head: Buffer = EMPTY;
  /** Bytes of a body, or of a chunk and its line end, that are still to come. */
  #left = 0;
  #isChunked = false;
  #size = 0;
  #digits = 0;
  #lineBytes = 0;
  #broken = false;

  /** Takes the next bytes, cut anywhere. False, for good, once a chunk line was no plain size. */
  feed(bytes: Buffer): boolean {
    let at = 0;
    while (at < bytes.length && !this.#broken) at = this.#step(bytes, at);
    return !this.#broken;
  }

  /** Reads on at `at`; gives the offset up to which bytes were taken. */
  #step(bytes: Buffer, at: number): number {
    switch (this.#place) {
      case "head":
        return this.#readHead(bytes, at);
      case "body": {
        const taken = Math.min(this.#left, bytes.length - at);
        this.#left -= taken;
        if (this.#left === 0) this.#place = this.#isChunked ? "size" : "head";
        return at + taken;
      }
      case "size":
        this.#readSize(bytes[at] ?? 0);
        return at + 1;
      case "size-end":
        this.#endSize(bytes[at] ?? 0);
        return at + 1;
      case "trailers":
        this.#readTrailer(bytes[at] ?? 0);
        return at + 1;
    }
  }

  #readHead(bytes: Buffer, at: number): number {
    const before = this.#head.length;
    // Empty lines before a request line are skipped (RFC 9112 section 2.2).
    if (before === 0 && (bytes[at] === CR || bytes[at] === LF)) return at + 1;
    const head = before === 0 ? bytes.subarray(at) : Buffer.concat([this.#head, bytes.subarray(at)]);
    const end = head.indexOf(HEAD_END, Math.max(0, before - HEAD_END.length));
    if (end === -1) {
      this.#head = before === 0 ? Buffer.from(head) : head;
      this.#broken = head.length > MAX_HEAD_BYTES;
      return bytes.length;
    }
    this.#head = EMPTY;
    const text = head.toString("latin1", 0, end);
    this.#isChunked = CODED.test(text);
    this.#left = this.#isChunked ? 0 : Number(LENGTH.exec(text)?.[1] ?? 0);
    if (this.#isChunked) this.#place = "size";
    else if (this.#left > 0) this.#place = "body";
    return at + end + HEAD_END.length - before;
  }

  #readSize(byte: number): void {
    const digit = Number.parseInt(String.fromCharCode(byte), 16);
    if (byte === CR && this.#digits > 0) this.#place = "size-end";
    else if (Number.isNaN(digit) || this.#digits === MAX_SIZE_DIGITS) this.#broken = true;
    else {
      this.#size = this.#size * 16 + digit;
      this.#digits += 1;
    }
  }

  #endSize(byte: number): void {
    if (byte !== LF) this.#broken = true;
    else if (this.#size === 0) this.#place = "trailers";
    else {
      // The line end behind the data is the parser's to check.
      this.#left = this.#size + 2;
      this.#place = "body";
    }
    this.#size = 0;
    this.#digits = 0;
    this.#lineBytes = 0;
  }

  #readTrailer(byte: number): void {
    if (byte === CR) return;
    if (byte !== LF) this.#lineBytes += 1;
    else if (this.#lineBytes > 0) this.#lineBytes = 0;
    else this.#place = "head";
  }
}
