import { deepStrictEqual, strictEqual } from "node:assert/strict";
import fc from "fast-check";
import t from "tap";
import { JsonError, type JsonText, type Node, scan } from "../../../src/json/scan.ts";
import { chooser, model, spell } from "./texts.ts";

const LIMITS = { bytes: 1 << 20, depth: 1000 };
const TOKENS = [
  ..."{}[],:\"\\ue0123456789d8+-.E \n\t/'",
  "true",
  "null",
  "\\u0061",
  "\\ud800",
  '"a":',
  "\u0000",
  "\u2028",
  "é",
  "😀",
  "\ufeff",
];

/** What JSON.parse, a strict UTF-8 decoder and two plain rules say. */
function shouldAccept(bytes: Uint8Array): boolean {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    const keys = keysOf(JSON.parse(text));
    // Outside of strings every colon is a member; JSON.parse keeps one of two equal ones.
    const colons = text.replace(/"(?:[^"\\]|\\.)*"/gsu, "").split(":").length - 1;
    return colons === keys.length && keys.every((key) => key.isWellFormed());
  } catch {
    return false;
  }
}

function keysOf(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  const own = Array.isArray(value) ? [] : Object.keys(value);
  return own.concat(Object.values(value).flatMap(keysOf));
}

function accepts(bytes: Uint8Array): boolean {
  try {
    scan(bytes, LIMITS);
    return true;
  } catch (error) {
    if (error instanceof JsonError) return false;
    throw error;
  }
}

/** A value as nested lists, members sorted, read through the scanner's own accessors. */
function read(doc: JsonText, node: Node): unknown {
  switch (doc.kind(node)) {
    case "object":
      return { members: byKey(Array.from(doc.members(node), (m) => [m.key, read(doc, m.node)])) };
    case "array":
      return Array.from(doc.items(node), (item) => read(doc, item));
    case "string":
      return doc.looseString(node);
    default:
      return doc.value(node);
  }
}

/** The same lists from a parsed value. */
function lists(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(lists);
  if (typeof value !== "object" || value === null) return value;
  return { members: byKey(Object.entries(value).map(([key, item]) => [key, lists(item)])) };
}

function byKey(entries: [string, unknown][]): [string, unknown][] {
  return entries.sort(([a], [b]) => (a < b ? -1 : 1));
}

t.test("accepts every spelling of every value, and reads it as JSON.parse does", (t) => {
  fc.assert(
    fc.property(model, fc.nat(), (value, seed) => {
      const text = spell(value, chooser(seed));
      const doc = scan(Buffer.from(text), LIMITS);
      deepStrictEqual(read(doc, doc.root), lists(JSON.parse(text)));
      const strings = text.match(/"(?:[^"\\]|\\.)*"/gsu) ?? [];
      const wellFormed = strings.every((string) => (JSON.parse(string) as string).isWellFormed());
      strictEqual(doc.wellFormed(doc.root), wellFormed);
    }),
    { numRuns: 500 },
  );
  t.end();
});

t.test("agrees with JSON.parse about damaged texts", (t) => {
  const damage = fc.array(
    fc.record({ at: fc.nat(), drop: fc.nat({ max: 3 }), token: fc.constantFrom("", ...TOKENS) }),
    { maxLength: 3 },
  );
  const tally = { accepted: 0, refused: 0 };
  fc.assert(
    fc.property(model, fc.nat(), damage, (value, seed, edits) => {
      let chars = Array.from(spell(value, chooser(seed)));
      for (const { at, drop, token } of edits) chars = chars.toSpliced(at % (chars.length + 1), drop, token);
      const bytes = Buffer.from(chars.join(""));
      const expected = shouldAccept(bytes);
      tally[expected ? "accepted" : "refused"]++;
      if (accepts(bytes) !== expected) throw new Error("disagreement");
    }),
    { numRuns: 3000 },
  );
  t.ok(tally.accepted > 100 && tally.refused > 100, "both sides were met", tally);
  t.end();
});

t.test("agrees with JSON.parse about token soup", (t) => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...TOKENS), { maxLength: 12 }), (tokens) => {
      const bytes = Buffer.from(tokens.join(""));
      if (accepts(bytes) !== shouldAccept(bytes)) throw new Error("disagreement");
    }),
    { numRuns: 5000 },
  );
  t.end();
});

t.test("agrees with a strict decoder about flipped bytes", (t) => {
  fc.assert(
    fc.property(model, fc.nat(), fc.nat(), fc.nat({ max: 255 }), (value, seed, at, byte) => {
      const bytes = Buffer.from(spell(value, chooser(seed)));
      bytes[at % bytes.length] = byte;
      if (accepts(bytes) !== shouldAccept(bytes)) throw new Error("disagreement");
    }),
    { numRuns: 2000 },
  );
  t.end();
});

t.test("refuses every strict prefix of an object", (t) => {
  fc.assert(
    fc.property(model, fc.nat(), fc.nat(), (value, seed, cut) => {
      const bytes = Buffer.from(`{"a":${spell(value, chooser(seed))}}`);
      if (accepts(bytes.subarray(0, cut % bytes.length))) throw new Error("accepted a part");
    }),
    { numRuns: 500 },
  );
  t.end();
});

t.test("throws nothing but JsonError, whatever the bytes", (t) => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
      if (accepts(bytes) !== shouldAccept(bytes)) throw new Error("disagreement");
    }),
    { numRuns: 2000 },
  );
  t.end();
});
