/** Bytes written piece by piece and handed on in blocks, so that a long text is never held twice, nor a string made per piece. */

const BLOCK_BYTES = 16 * 1024;
/** Up to this many bytes a loop is quicker than a call into the engine. */
const SHORT_BYTES = 48;

export class Pieces {
  readonly #block = Buffer.allocUnsafe(BLOCK_BYTES);
  #length = 0;
  #take: (block: Buffer, isLast: boolean) => void = () => undefined;

  /**
   * Hands on what `write` writes, in one block or more, the last of which can be empty. A block is only lent: `take` has to
   * copy what it keeps. What an earlier run left behind when it threw is forgotten.
   */
  run(take: (block: Buffer, isLast: boolean) => void, write: (out: Pieces) => void): void {
    this.#take = take;
    this.#length = 0;
    write(this);
    this.#take(this.#block.subarray(0, this.#length), true);
    this.#length = 0;
  }

  /** One ASCII character. */
  byte(code: number): void {
    if (this.#length === BLOCK_BYTES) this.#flush();
    this.#block[this.#length++] = code;
  }

  /** A well-formed text, as UTF-8. */
  text(text: string): void {
    // No UTF-16 unit takes more than three bytes.
    const most = text.length * 3;
    if (most > BLOCK_BYTES) this.#whole(Buffer.from(text));
    else {
      if (most > BLOCK_BYTES - this.#length) this.#flush();
      if (text.length > SHORT_BYTES || !this.#ascii(text))
        this.#length += this.#block.write(text, this.#length);
    }
  }

  /** The bytes from `start` up to `end`. */
  copy(bytes: Buffer, start: number, end: number): void {
    const length = end - start;
    if (length > BLOCK_BYTES) this.#whole(bytes.subarray(start, end));
    else {
      if (length > BLOCK_BYTES - this.#length) this.#flush();
      if (length > SHORT_BYTES) bytes.copy(this.#block, this.#length, start, end);
      else for (let i = 0; i < length; i++) this.#block[this.#length + i] = bytes[start + i] as number;
      this.#length += length;
    }
  }

  /** Writes a short text for which there is room, if it is ASCII. */
  #ascii(text: string): boolean {
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      if (code > 0x7f) return false;
      this.#block[this.#length + i] = code;
    }
    this.#length += text.length;
    return true;
  }

  #whole(bytes: Buffer): void {
    this.#flush();
    this.#take(bytes, false);
  }

  #flush(): void {
    if (this.#length > 0) this.#take(this.#block.subarray(0, this.#length), false);
    this.#length = 0;
  }
}
