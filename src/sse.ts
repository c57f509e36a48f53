/**
 * Server-sent events: bytes in, events out, and events printed again in one fixed form.
 * Works on bytes, so a character cut in two by the network stays whole. Source: WHATWG HTML, section 9.2.6.
 */
import { isUtf8 } from "node:buffer";

const LF = 0x0a;
const CR = 0x0d;
const COLON = 0x3a;
const SPACE = 0x20;
const BOM = Buffer.from([0xef, 0xbb, 0xbf]);
const EMPTY = Buffer.alloc(0);

/** Why an event stream cannot be read on: one event is over the bound, or its bytes are not UTF-8. */
export class EventStreamError extends Error {
  override readonly name = "EventStreamError";
  readonly fault: "event_too_large" | "utf8";

  constructor(fault: "event_too_large" | "utf8") {
    super(`event stream: ${fault}`);
    this.fault = fault;
  }
}

/** One event. `id` and `retry` belong to older revisions, which resume streams; modern streams drop them. */
export interface SseEvent {
  /** The data lines joined with LF (a copy; empty for an event that only carries an id, which holds no message). */
  readonly data: Buffer;
  /** `message` by default. */
  readonly type: string;
  readonly id: string | undefined;
  readonly retry: string | undefined;
}

/** What the parser needs to know and whom it tells. Both callbacks run synchronously inside `feed`. */
export interface SseOptions {
  /** Bound for the bytes held at once: the data lines of one event and the line being read. */
  readonly maxEventBytes: number;
  /** One finished event. */
  readonly onEvent: (event: SseEvent) => void;
  /** One comment line, without its colon. */
  readonly onComment?: (comment: Buffer) => void;
}

/** A parser for one stream. */
export interface SseParser {
  /**
   * Takes the next bytes, cut anywhere. Throws EventStreamError for an event over the bound and for invalid UTF-8, and
   * again on every later call: a broken stream is never resumed.
   */
  feed(chunk: Uint8Array): void;
  /** The stream ended. True when it ended inside an event, which the standard tells us to discard. */
  end(): boolean;
}

/** Bytes that grow by doubling, so that a line fed byte by byte costs linear time. */
class Gathered {
  #bytes = EMPTY;
  length = 0;

  append(part: Uint8Array): void {
    const needed = this.length + part.length;
    if (needed > this.#bytes.length) {
      const wider = Buffer.allocUnsafe(Math.max(256, needed, this.#bytes.length * 2));
      wider.set(this.#bytes.subarray(0, this.length));
      this.#bytes = wider;
    }
    this.#bytes.set(part, this.length);
    this.length = needed;
  }

  view(): Buffer {
    return this.#bytes.subarray(0, this.length);
  }

  clear(): void {
    this.length = 0;
    if (this.#bytes.length > 64 * 1024) this.#bytes = EMPTY;
  }
}

class Parser implements SseParser {
  readonly #options: SseOptions;
  readonly #line = new Gathered();
  readonly #data = new Gathered();
  #dataLines = 0;
  #type = "";
  #id: string | undefined;
  #retry: string | undefined;
  #anyField = false;
  #firstLine = true;
  #afterCr = false;
  #broken: unknown;

  constructor(options: SseOptions) {
    this.#options = options;
  }

  feed(chunk: Uint8Array): void {
    if (this.#broken !== undefined) throw this.#broken;
    try {
      this.#read(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
    } catch (error) {
      this.#broken = error;
      throw error;
    }
  }

  end(): boolean {
    return this.#line.length > 0 || this.#anyField;
  }

  #read(chunk: Buffer): void {
    let at = 0;
    if (this.#afterCr && chunk.length > 0) {
      if (chunk[0] === LF) at = 1;
      this.#afterCr = false;
    }
    let cr = chunk.indexOf(CR, at);
    let lf = chunk.indexOf(LF, at);
    while (cr !== -1 || lf !== -1) {
      const stop = cr === -1 ? lf : lf === -1 ? cr : Math.min(cr, lf);
      this.#finishLine(chunk.subarray(at, stop));
      at = stop + 1;
      if (stop === cr) {
        // A CR ends its line at once; the LF that may follow, also in the next chunk, belongs to it.
        if (at === chunk.length) this.#afterCr = true;
        else if (chunk[at] === LF) at += 1;
        cr = chunk.indexOf(CR, at);
      }
      if (lf !== -1 && lf < at) lf = chunk.indexOf(LF, at);
    }
    if (at < chunk.length) {
      this.#bound(chunk.length - at);
      this.#line.append(chunk.subarray(at));
    }
  }

  #bound(more: number): void {
    if (this.#data.length + this.#line.length + more > this.#options.maxEventBytes)
      throw new EventStreamError("event_too_large");
  }

  #finishLine(rest: Buffer): void {
    this.#bound(rest.length);
    if (this.#line.length === 0) {
      this.#takeLine(rest);
    } else {
      this.#line.append(rest);
      this.#takeLine(this.#line.view());
      this.#line.clear();
    }
  }

  #takeLine(whole: Buffer): void {
    let line = whole;
    if (this.#firstLine) {
      this.#firstLine = false;
      if (line.subarray(0, 3).equals(BOM)) line = line.subarray(3);
    }
    // CR and LF never occur inside a UTF-8 character, so checking line by line checks the stream.
    if (!isUtf8(line)) throw new EventStreamError("utf8");
    const colon = line.indexOf(COLON);
    if (line.length === 0) this.#dispatch();
    else if (colon === 0) this.#options.onComment?.(Buffer.from(line.subarray(1)));
    else this.#takeField(line, colon);
  }

  #takeField(line: Buffer, colon: number): void {
    const field = line.toString("latin1", 0, Math.min(colon === -1 ? line.length : colon, 8));
    const from = colon === -1 ? line.length : colon + (line[colon + 1] === SPACE ? 2 : 1);
    this.#anyField = true;
    if (field === "data") {
      if (this.#dataLines > 0) this.#data.append(Buffer.of(LF));
      this.#data.append(line.subarray(from));
      this.#dataLines += 1;
    } else if (field === "event") {
      this.#type = line.toString("utf8", from);
    } else if (field === "id") {
      const id = line.toString("utf8", from);
      if (!id.includes("\0")) this.#id = id;
    } else if (field === "retry") {
      const retry = line.toString("latin1", from);
      if (/^[0-9]{1,9}$/.test(retry)) this.#retry = retry;
    }
  }

  #dispatch(): void {
    const data = this.#dataLines > 0 ? Buffer.from(this.#data.view()) : undefined;
    const event = { type: this.#type === "" ? "message" : this.#type, id: this.#id, retry: this.#retry };
    this.#data.clear();
    this.#dataLines = 0;
    this.#type = "";
    this.#id = undefined;
    this.#retry = undefined;
    this.#anyField = false;
    if (data !== undefined) this.#options.onEvent({ data, ...event });
  }
}

/** A parser for one event stream. */
export function createSseParser(options: SseOptions): SseParser {
  return new Parser(options);
}

/** Prints an event of an older revision with the fields that its clients resume by. */
export function printLegacyEvent(event: SseEvent): Buffer {
  const id = event.id === undefined ? "" : `id: ${event.id}\n`;
  const retry = event.retry === undefined ? "" : `retry: ${event.retry}\n`;
  return Buffer.from(`event: ${event.type}\n${id}${retry}${lines(event.data.toString(), "data: ")}\n`);
}

function lines(text: string, prefix: string): string {
  return text
    .split(/\r\n|\r|\n/)
    .map((line) => `${prefix}${line}\n`)
    .join("");
}

/** U+0085, U+2028 and U+2029: no line ends here, but for readers that split lines as Unicode has it. */
const FOREIGN_BREAKS = /[\u0085\u2028\u2029]/g;
const FOREIGN_BREAK_BYTES = [Buffer.from("\u0085"), Buffer.from("\u2028"), Buffer.from("\u2029")];

/**
 * Prints one `message` event. `data` is JSON in UTF-8; line breaks in it (white space between JSON tokens) become further
 * `data:` lines, which the reader joins with LF again, and what else some readers end a line at, which can only stand in
 * strings, becomes its escape (decision 20).
 */
export function printEvent(data: Buffer | string): Buffer {
  if (typeof data !== "string" && !data.includes(LF) && !data.includes(CR) && !hasForeignBreak(data))
    return Buffer.concat([Buffer.from("event: message\ndata: "), data, Buffer.from("\n\n")]);
  const text = data.toString().replace(FOREIGN_BREAKS, asEscape);
  return Buffer.from(`event: message\n${lines(text, "data: ")}\n`);
}

function hasForeignBreak(data: Buffer): boolean {
  return FOREIGN_BREAK_BYTES.some((bytes) => data.includes(bytes));
}

function asEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** Prints a comment, which readers skip; line breaks in it become further comment lines. */
export function printComment(text: string): Buffer {
  return Buffer.from(`${lines(text, ": ")}\n`);
}
