/** Reading a scanned text: nothing here parses again what the scan has checked, and nothing prints. */
import { JsonError } from "./fault.ts";
import {
  ARRAY,
  behind,
  CONTAINER_CELLS,
  ESCAPED,
  endAt,
  KINDS,
  type Kind,
  kindAt,
  LONE,
  type Node,
  NULL,
  OBJECT,
  SCALAR_CELLS,
  STRING,
  startAt,
} from "./tape.ts";
import { means } from "./token.ts";

/** Of a string as sent, for one UTF-16 code unit of what it means: an escape of the form `\uXXXX`. */
const MOST_BYTES_PER_UNIT = 6;

/** Where a key stands, for `plainLength`, `isKey` and `key`. */
export type Key = number & { readonly __key: true };

/** One member of an object: its key after unescaping, and its value. */
export interface Member {
  readonly key: string;
  readonly node: Node;
  /** Offset of the key's opening quote. */
  readonly start: number;
}

/**
 * One JSON value that passed the scan, with the bytes it came in. Made by `scan` only.
 * Shares memory with the scanned bytes: whoever owns them must not write to them any more.
 */
export class JsonText {
  readonly bytes: Buffer;
  readonly root: Node = 0 as Node;
  readonly #tape: Int32Array;

  /** `tape` describes `bytes` (see tape.ts); both are trusted. */
  constructor(bytes: Buffer, tape: Int32Array) {
    this.bytes = bytes;
    this.#tape = tape;
  }

  kind(n: Node): Kind {
    return KINDS[kindAt(this.#tape, n)] as Kind;
  }

  /** Offset of the first byte of the value. */
  start(n: Node): number {
    return startAt(this.#tape, n);
  }

  /** Offset behind the last byte of the value. */
  end(n: Node): number {
    return endAt(this.#tape, n);
  }

  /** Where the first item of an array stands, if it has any. */
  inside(array: Node): Node {
    return (array + CONTAINER_CELLS) as Node;
  }

  /** What stands behind a value and all that it holds; of the last item of an array, what stands behind the array. */
  behind(n: Node): Node {
    return behind(this.#tape, n) as Node;
  }

  /** Whether a string is written with escapes. */
  escaped(string: Node): boolean {
    return ((this.#tape[string] as number) & ESCAPED) !== 0;
  }

  /** The text as sent, escapes and all. */
  raw(n: Node): string {
    return this.bytes.toString("utf8", this.start(n), this.end(n));
  }

  /** The string after unescaping. Throws `kind` when it is none, `lone_surrogate` when it is not well formed. */
  string(n: Node): string {
    const text = this.looseString(n);
    if (!this.wellFormed(n)) throw new JsonError("lone_surrogate", this.start(n));
    return text;
  }

  /** The string after unescaping; unpaired surrogates stay as they are, never repaired. Throws `kind`. */
  looseString(n: Node): string {
    if (kindAt(this.#tape, n) !== STRING) throw new JsonError("kind", this.start(n));
    return this.#decoded(n);
  }

  /** The string at a node after unescaping; undefined where there is none, another kind, or one that is not well formed. */
  text(n: Node | undefined): string | undefined {
    const isText = n !== undefined && kindAt(this.#tape, n) === STRING && this.wellFormed(n);
    return isText ? this.#decoded(n) : undefined;
  }

  /** The value of a member by its key, where null counts as absent. */
  present(object: Node | undefined, key: string): Node | undefined {
    const n = this.get(object, key);
    return n === undefined || kindAt(this.#tape, n) === NULL ? undefined : n;
  }

  /**
   * The value of a member by its key after unescaping; undefined when absent or when `object` is no object. Goes over the
   * members, comparing bytes: for names of a message, which are few. Who looks for many keys reads `members` once.
   */
  get(object: Node | undefined, key: string): Node | undefined {
    const tape = this.#tape;
    if (object === undefined || kindAt(tape, object) !== OBJECT) return undefined;
    const last = behind(tape, object);
    const ascii = isAscii(key);
    for (let n = object + CONTAINER_CELLS; n < last; n = behind(tape, n + SCALAR_CELLS)) {
      if (this.#isKey(n, key, ascii)) return (n + SCALAR_CELLS) as Node;
    }
    return undefined;
  }

  /** How many members an object has, or items an array; 0 for all else. Decodes nothing. */
  count(container: Node): number {
    const tape = this.#tape;
    const kind = kindAt(tape, container);
    if (kind > ARRAY) return 0;
    const last = behind(tape, container);
    let count = 0;
    for (let n = container + CONTAINER_CELLS; n < last; count++) {
      n = behind(tape, kind === OBJECT ? n + SCALAR_CELLS : n);
    }
    return count;
  }

  /** Whether `test` says yes to one of an object's keys, asked in source order; false when `object` is no object. Decodes nothing. */
  someKey(object: Node, test: (key: Key) => boolean): boolean {
    const tape = this.#tape;
    if (kindAt(tape, object) !== OBJECT) return false;
    const last = behind(tape, object);
    for (let n = object + CONTAINER_CELLS; n < last; n = behind(tape, n + SCALAR_CELLS)) {
      if (test(n as Key)) return true;
    }
    return false;
  }

  /** How many characters a key has that is ASCII and written without escapes; -1 for any other. */
  plainLength(key: Key): number {
    const tape = this.#tape;
    if (((tape[key] as number) & ESCAPED) !== 0) return -1;
    const end = endAt(tape, key) - 1;
    const start = startAt(tape, key) + 1;
    for (let i = start; i < end; i++) if ((this.bytes[i] as number) > 0x7f) return -1;
    return end - start;
  }

  /** Whether a key is exactly this after unescaping. @param name ASCII */
  isKey(key: Key, name: string): boolean {
    return this.#isKey(key, name, true);
  }

  /** A key after unescaping. */
  key(key: Key): string {
    return this.#decoded(key);
  }

  /** All members in source order; none when `object` is no object. */
  members(object: Node): readonly Member[] {
    const tape = this.#tape;
    const members: Member[] = [];
    if (kindAt(tape, object) !== OBJECT) return members;
    const last = behind(tape, object);
    for (let n = object + CONTAINER_CELLS; n < last; n = behind(tape, n + SCALAR_CELLS)) {
      members.push({ key: this.#decoded(n), node: (n + SCALAR_CELLS) as Node, start: startAt(tape, n) });
    }
    return members;
  }

  /** All items in source order; none when `array` is no array. */
  items(array: Node): readonly Node[] {
    const tape = this.#tape;
    const items: Node[] = [];
    if (kindAt(tape, array) !== ARRAY) return items;
    const last = behind(tape, array);
    for (let n = array + CONTAINER_CELLS; n < last; n = behind(tape, n)) items.push(n as Node);
    return items;
  }

  /** A JavaScript value to look at. Numbers are rounded to doubles: never print it again, never compare by it. */
  value(n: Node): unknown {
    return JSON.parse(this.raw(n));
  }

  /** Whether no string of the subtree holds an unpaired surrogate. */
  wellFormed(n: Node): boolean {
    return ((this.#tape[n] as number) & LONE) === 0;
  }

  /** The decoded string or key at tape index `n`. */
  #decoded(n: number): string {
    const tape = this.#tape;
    const start = startAt(tape, n);
    const end = endAt(tape, n);
    if (((tape[n] as number) & ESCAPED) === 0) return this.bytes.toString("utf8", start + 1, end - 1);
    return JSON.parse(this.bytes.toString("utf8", start, end)) as string;
  }

  /** Whether the key at tape index `n` is `key`. `ascii`: whether `key` is ASCII. */
  #isKey(n: number, key: string, ascii: boolean): boolean {
    const { bytes } = this;
    const start = startAt(this.#tape, n) + 1;
    const end = endAt(this.#tape, n) - 1;
    const length = end - start;
    const escaped = ((this.#tape[n] as number) & ESCAPED) !== 0;
    if (ascii && !escaped) {
      if (length !== key.length) return false;
      for (let i = 0; i < length; i++) if (bytes[start + i] !== key.charCodeAt(i)) return false;
      return true;
    }
    return (
      length >= key.length && length <= key.length * MOST_BYTES_PER_UNIT && means(bytes, start, end, key)
    );
  }
}

function isAscii(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 0x7f) return false;
  return true;
}
