import t from "tap";
import { canonical } from "../../../src/json/canonical.ts";
import { JsonError, type JsonFault, scan } from "../../../src/json/scan.ts";
import { ACCEPTED, DUPLICATES, NO_DUPLICATES, REFUSED } from "./corpus.ts";

const LIMITS = { bytes: 1 << 20, depth: 8 };

function faultOf(input: string | Uint8Array, limits = LIMITS): JsonFault | "accepted" {
  try {
    scan(typeof input === "string" ? Buffer.from(input) : input, limits);
    return "accepted";
  } catch (error) {
    if (error instanceof JsonError) return error.fault;
    throw error;
  }
}

/** Text → what became of it, or what should. */
function faults(texts: readonly string[], expected?: string): Record<string, string> {
  return Object.fromEntries(texts.map((text) => [text, expected ?? faultOf(text)]));
}

/** Bytes inside a string literal. */
const quoted = (...bytes: number[]) => Buffer.from([0x22, ...bytes, 0x22]);

t.test("accepts every JSON value of RFC 8259", (t) => {
  t.doesNotThrow(() => ACCEPTED.map((text) => JSON.parse(text)), "the corpus is right");
  t.strictSame(faults(ACCEPTED), faults(ACCEPTED, "accepted"));
  t.end();
});

t.test("refuses what is no JSON", (t) => {
  for (const [fault, texts] of Object.entries(REFUSED)) {
    for (const text of texts) t.throws(() => JSON.parse(text), "the corpus is right");
    t.strictSame(faults(texts), faults(texts, fault), fault);
  }
  t.end();
});

t.test("refuses bytes that are not UTF-8", (t) => {
  const bad: Readonly<Record<string, Uint8Array>> = {
    "a lone continuation byte": quoted(0x80),
    "overlong slash, two bytes": quoted(0xc0, 0xaf),
    "overlong NUL, two bytes": quoted(0xc0, 0x80),
    "overlong, C1": quoted(0xc1, 0xbf),
    "overlong, three bytes": quoted(0xe0, 0x9f, 0xbf),
    "overlong, four bytes": quoted(0xf0, 0x8f, 0xbf, 0xbf),
    "high surrogate": quoted(0xed, 0xa0, 0x80),
    "low surrogate": quoted(0xed, 0xbf, 0xbf),
    "surrogate pair, CESU-8": quoted(0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80),
    "above U+10FFFF": quoted(0xf4, 0x90, 0x80, 0x80),
    F5: quoted(0xf5, 0x80, 0x80, 0x80),
    "five bytes": quoted(0xf8, 0x88, 0x80, 0x80, 0x80),
    "FE and FF": quoted(0xfe, 0xff),
    "truncated, two bytes": quoted(0xc3),
    "truncated, three bytes": quoted(0xe2, 0x82),
    "truncated, four bytes": quoted(0xf0, 0x9f, 0x98),
    "truncated at the end of the text": Buffer.from([0x22, 0x61, 0xe2, 0x82]),
    "Latin-1": Buffer.from('{"q":"é"}', "latin1"),
    "UTF-16 with a mark": Buffer.from('\ufeff{"a":1}', "utf16le"),
    "behind the value": Buffer.from([0x31, 0x20, 0xff]),
    "in a key": Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
  };
  for (const [name, bytes] of Object.entries(bad)) t.equal(faultOf(bytes), "utf8", name);

  const good = {
    "two bytes": "é",
    "three bytes": "€",
    "last before the surrogates": "\ud7ff",
    "first behind": "\ue000",
    "four bytes": "😀",
  };
  for (const [name, text] of Object.entries(good)) t.equal(faultOf(`"${text}"`), "accepted", name);
  t.end();
});

t.test("refuses a byte order mark, not the character inside a string", (t) => {
  t.equal(faultOf("\ufeff{}"), "bom");
  t.equal(faultOf("\ufeff"), "bom");
  t.equal(faultOf(" \ufeff{}"), "syntax");
  t.equal(faultOf('{"\ufeff":"\ufeff"}'), "accepted");
  // UTF-16 without a mark is UTF-8 with NUL bytes.
  t.equal(faultOf(Buffer.from("{}", "utf16le")), "syntax");
  t.end();
});

t.test("refuses a key that stands twice in one object", (t) => {
  t.strictSame(faults(DUPLICATES), faults(DUPLICATES, "duplicate_key"));
  t.strictSame(faults(NO_DUPLICATES), faults(NO_DUPLICATES, "accepted"));
  t.end();
});

t.test("finds duplicates among many members, wherever they stand", (t) => {
  for (const count of [2, 15, 16, 17, 18, 200]) {
    const keys = Array.from({ length: count }, (_, i) => `"k${i}"`);
    const textOf = (list: string[]) => `{${list.map((key) => `${key}:{"k0":0}`).join(",")}}`;
    t.equal(faultOf(textOf(keys)), "accepted", `${count} members`);
    t.equal(
      faultOf(textOf(keys.toSpliced(count - 1, 1, '"k0"'))),
      "duplicate_key",
      `${count} members, first = last`,
    );
    t.equal(
      faultOf(textOf(keys.toSpliced(count - 1, 1, '"\\u006b0"'))),
      "duplicate_key",
      `${count} members, escaped`,
    );
    t.equal(
      faultOf(textOf(keys.toSpliced(0, 1, `"k${count - 1}"`))),
      "duplicate_key",
      `${count} members, last = first`,
    );
  }
  t.end();
});

t.test("takes linear time for objects with very many members", (t) => {
  const limits = { bytes: 1 << 24, depth: 8 };
  const count = 100_000;
  const spellings: Readonly<Record<string, (i: number) => string>> = {
    plain: (i) => `"key-${i}"`,
    "like integers that share a hash bucket": (i) => `"${i * 128}"`,
    escaped: (i) => `"\\u006b${i}"`,
  };
  for (const [name, key] of Object.entries(spellings)) {
    const text = Array.from({ length: count }, (_, i) => `${key(i)}:0`).join(",");
    t.equal(faultOf(`{${text}}`, limits), "accepted", name);
    t.equal(faultOf(`{${text},${key(7)}:0}`, limits), "duplicate_key", name);
  }
  t.end();
});

t.test("refuses unpaired surrogates in keys", (t) => {
  for (const key of [
    "\\ud800",
    "\\udfff",
    "\\udc00\\ud800",
    "a\\ud83d",
    "\\ud83d\\n\\ude00",
    "\\ud83d\\u0041",
  ]) {
    t.equal(faultOf(`{"${key}":1}`), "lone_surrogate", key);
    t.equal(faultOf(`[{"a":{"${key}":1}}]`), "lone_surrogate", key);
  }
  t.equal(faultOf('{"\\ud83d\\ude00":1}'), "accepted");
  t.equal(faultOf('{"\\\\ud800":1}'), "accepted");
  t.end();
});

t.test("bounds depth, also of texts that never close", (t) => {
  t.equal(faultOf("[".repeat(8) + "]".repeat(8)), "accepted");
  t.equal(faultOf("[".repeat(9) + "]".repeat(9)), "depth");
  t.equal(faultOf(`${'{"a":'.repeat(8)}1${"}".repeat(8)}`), "accepted");
  t.equal(faultOf(`${'{"a":'.repeat(9)}1${"}".repeat(9)}`), "depth");
  t.equal(faultOf("[".repeat(1_000_000)), "depth");
  t.equal(faultOf('[{"a":'.repeat(100_000)), "depth");
  t.equal(faultOf(`[${"[[]],".repeat(1000)}[]]`), "accepted", "breadth is no depth");
  t.equal(faultOf("1", { bytes: 10, depth: 0 }), "accepted");
  t.equal(faultOf("[]", { bytes: 10, depth: 0 }), "depth");
  const deep = { bytes: 1 << 24, depth: 1_000_000 };
  t.equal(faultOf("[".repeat(500_000) + "]".repeat(500_000), deep), "accepted", "no stack to overflow");
  t.equal(faultOf("[".repeat(500_000), deep), "syntax");
  t.end();
});

t.test("bounds size before it looks at anything", (t) => {
  t.equal(faultOf("[1]", { bytes: 3, depth: 1 }), "accepted");
  t.equal(faultOf("[1 ]", { bytes: 3, depth: 1 }), "too_large");
  t.equal(faultOf(Buffer.alloc(4, 0xff), { bytes: 3, depth: 1 }), "too_large");
  t.end();
});

t.test("what is read of one text stays when others are scanned after it", (t) => {
  const texts = Array.from(
    { length: 50 },
    (_, n) => `[${"[1,".repeat(n)}"${"x".repeat(n)}"${"]".repeat(n)}]`,
  );
  // One far over what is written without growing, and one that is refused in the middle.
  texts.push(JSON.stringify(Array.from({ length: 100_000 }, (_, n) => ({ n }))));
  const docs = texts.map((text) => {
    const doc = scan(Buffer.from(text), { bytes: 1e7, depth: 200 });
    t.throws(() => scan(Buffer.from(`[[1,2],${text.slice(0, -1)}`), { bytes: 1e7, depth: 200 }));
    return doc;
  });
  // The canonical text is read off the tape, and here it is the text itself.
  for (const [index, doc] of docs.entries()) t.ok(canonical(doc, doc.root) === texts[index], `text ${index}`);
  t.end();
});

t.test("says where, never what", (t) => {
  const cases: readonly (readonly [string, JsonFault, number])[] = [
    ['{"secret":1,"secret":2}', "duplicate_key", 12],
    ['{"secret":1,"s\\u0065cret":2}', "duplicate_key", 12],
    ['["secret", secret]', "syntax", 11],
    ['["secret"', "syntax", 9],
    ['"secret" "secret"', "trailing", 9],
    ['{"\\ud800secret":1}', "lone_surrogate", 1],
    ["[[[[[[[[[secret", "depth", 8],
    ["[01]", "syntax", 2],
  ];
  for (const [text, fault, offset] of cases) {
    t.throws(() => scan(Buffer.from(text), LIMITS), {
      name: "JsonError",
      fault,
      offset,
      message: `${fault} at byte ${offset}`,
    });
  }
  t.end();
});
