/**
 * A second reader of JSON, written from RFC 8259 in another way than the scanner: recursive, on decoded text, by regular
 * expressions. Slow and plain; it knows our extra rules as facts about a text and not as errors.
 */

/** A value with its text as sent; member order kept, keys unescaped, twins and all. */
export type Tree =
  | { readonly kind: "literal" | "number"; readonly text: string }
  | { readonly kind: "string"; readonly text: string; readonly value: string }
  | { readonly kind: "array"; readonly text: string; readonly items: readonly Tree[] }
  | {
      readonly kind: "object";
      readonly text: string;
      readonly members: readonly (readonly [key: string, value: Tree])[];
    };

const SPACE = /[ \t\n\r]*/y;
const LITERAL = /true|false|null/y;
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: those that a string must not hold
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const ESCAPE = /\\(?:u([0-9a-fA-F]{4})|(.))/gs;
const NAMED: Readonly<Record<string, string>> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };

/** The value that the bytes are, or undefined where they are no JSON in UTF-8 (a mark in front is none either). */
export function parseReference(bytes: Uint8Array): Tree | undefined {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
  const reader = new Reader(text);
  try {
    return reader.whole();
  } catch (error) {
    if (error instanceof NoJson) return undefined;
    throw error;
  }
}

/** What a text is judged by beyond the grammar. */
export interface Facts {
  readonly depth: number;
  readonly hasTwins: boolean;
  /** Half a character in a key. */
  readonly hasHalfKey: boolean;
}

export function factsOf(tree: Tree): Facts {
  if (tree.kind !== "array" && tree.kind !== "object")
    return { depth: 0, hasTwins: false, hasHalfKey: false };
  const keys = tree.kind === "object" ? tree.members.map(([key]) => key) : [];
  const below = (tree.kind === "object" ? tree.members.map(([, value]) => value) : tree.items).map(factsOf);
  return {
    depth: 1 + Math.max(0, ...below.map(({ depth }) => depth)),
    hasTwins: new Set(keys).size < keys.length || below.some(({ hasTwins }) => hasTwins),
    hasHalfKey: keys.some((key) => !key.isWellFormed()) || below.some(({ hasHalfKey }) => hasHalfKey),
  };
}

/** The canonical text by its plain definition. */
export function canonicalReference(tree: Tree): string {
  switch (tree.kind) {
    case "literal":
    case "number":
      return tree.text;
    case "string":
      return JSON.stringify(tree.value);
    case "array":
      return `[${tree.items.map(canonicalReference).join(",")}]`;
    case "object": {
      const sorted = tree.members.toSorted(([a], [b]) => (a < b ? -1 : 1));
      return `{${sorted.map(([key, value]) => `${JSON.stringify(key)}:${canonicalReference(value)}`).join(",")}}`;
    }
  }
}

class NoJson extends Error {}

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  whole(): Tree {
    const tree = this.#value();
    if (this.#at < this.#text.length) throw new NoJson();
    return tree;
  }

  #value(): Tree {
    this.#take(SPACE);
    const from = this.#at;
    const tree = this.#bare(from);
    this.#take(SPACE);
    return tree;
  }

  #bare(from: number): Tree {
    const literal = this.#take(LITERAL);
    if (literal !== undefined) return { kind: "literal", text: literal };
    const number = this.#take(NUMBER);
    if (number !== undefined) return { kind: "number", text: number };
    const string = this.#take(STRING);
    if (string !== undefined) return { kind: "string", text: string, value: unquote(string) };
    if (this.#is("[")) {
      const items = this.#list("]", () => this.#value());
      return { kind: "array", text: this.#text.slice(from, this.#at), items };
    }
    if (!this.#is("{")) throw new NoJson();
    const members = this.#list("}", (): [string, Tree] => {
      this.#take(SPACE);
      const key = this.#take(STRING);
      this.#take(SPACE);
      if (key === undefined || !this.#is(":")) throw new NoJson();
      return [unquote(key), this.#value()];
    });
    return { kind: "object", text: this.#text.slice(from, this.#at), members };
  }

  #list<Item>(end: string, item: () => Item): Item[] {
    this.#take(SPACE);
    if (this.#is(end)) return [];
    const items = [item()];
    while (this.#is(",")) items.push(item());
    if (!this.#is(end)) throw new NoJson();
    return items;
  }

  #is(character: string): boolean {
    if (this.#text[this.#at] !== character) return false;
    this.#at += 1;
    return true;
  }

  #take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    this.#at += found?.length ?? 0;
    return found;
  }
}

function unquote(literal: string): string {
  return literal
    .slice(1, -1)
    .replace(ESCAPE, (_, hex?: string, name = "") =>
      hex === undefined ? (NAMED[name] ?? name) : String.fromCharCode(Number.parseInt(hex, 16)),
    );
}
