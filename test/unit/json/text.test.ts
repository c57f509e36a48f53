import t from "tap";
import { type JsonText, type Node, scan } from "../../../src/json/scan.ts";

const parse = (text: string): JsonText => scan(Buffer.from(text), { bytes: 1 << 20, depth: 64 });

/** The node at a path of keys and indexes; throws when there is none. */
function at(doc: JsonText, ...path: readonly (string | number)[]): Node {
  let node = doc.root;
  for (const step of path) {
    const next = typeof step === "string" ? doc.get(node, step) : doc.items(node)[step];
    if (next === undefined) throw new Error(`nothing at ${step}`);
    node = next;
  }
  return node;
}

t.test("gives kinds, spans and the text as sent", (t) => {
  const text = ' { "o" : {"é":1} , "a":[ ], "s":"\\u0041é", "n":-1.50e+2,"t":true,"f":false,"z":null } ';
  const doc = parse(text);
  const expected: readonly (readonly [string, string, string])[] = [
    ["o", "object", '{"é":1}'],
    ["a", "array", "[ ]"],
    ["s", "string", '"\\u0041é"'],
    ["n", "number", "-1.50e+2"],
    ["t", "true", "true"],
    ["f", "false", "false"],
    ["z", "null", "null"],
  ];
  for (const [key, kind, raw] of expected) {
    const node = at(doc, key);
    t.equal(doc.kind(node), kind);
    t.equal(doc.raw(node), raw);
    t.equal(doc.bytes.subarray(doc.start(node), doc.end(node)).toString(), raw);
    t.strictSame(doc.value(node), JSON.parse(raw));
  }
  t.equal(doc.raw(doc.root), text.trim());
  t.end();
});

t.test("shares the scanned bytes, also of a part of a larger buffer", (t) => {
  const whole = Buffer.from('xx{"a":1}xx');
  const part = new Uint8Array(whole.buffer, whole.byteOffset + 2, whole.length - 4);
  const doc = scan(part, { bytes: 100, depth: 2 });
  t.equal(doc.bytes.buffer, whole.buffer);
  t.equal(doc.bytes.toString(), '{"a":1}');
  t.equal(doc.raw(at(doc, "a")), "1");
  t.end();
});

t.test("finds members by their key after unescaping", (t) => {
  const doc = parse(
    '{"":0,"a":1,"\\u0062":2,"é":3,"\\u00e8":4,"😀":5,"\\ud83d\\ude01":6,"__proto__":7,"a b":8,"\\n":9,"in":{"x":10}}',
  );
  const values = { "": 0, a: 1, b: 2, é: 3, è: 4, "😀": 5, "😁": 6, ["__proto__"]: 7, "a b": 8, "\n": 9 };
  for (const [key, value] of Object.entries(values)) t.equal(doc.value(at(doc, key)), value, key);
  t.equal(doc.value(at(doc, "in", "x")), 10);
  // Ã© has the code units that é has bytes.
  for (const key of [
    "A",
    "aa",
    "x",
    "Ã©",
    "\\u0062",
    "constructor",
    "toString",
    "ð\u009f\u0098\u0080",
    "\ud83d",
    '"a"',
  ]) {
    t.equal(doc.get(doc.root, key), undefined, `no ${JSON.stringify(key)}`);
  }
  t.end();
});

t.test("finds nothing in what is no object", (t) => {
  t.equal(parse("{}").get(undefined, "a"), undefined);
  for (const text of ['["a",1]', '"a"', "1", "null", "{}", "[]"]) {
    const doc = parse(text);
    t.equal(doc.get(doc.root, "a"), undefined);
    t.equal(doc.get(doc.root, "length"), undefined);
    t.equal(doc.get(doc.root, "0"), undefined);
    t.strictSame(Array.from(doc.members(doc.root)), []);
  }
  for (const text of ['{"0":1}', '"ab"', "1", "null", "{}", "[]"]) {
    const doc = parse(text);
    t.strictSame(Array.from(doc.items(doc.root)), []);
  }
  t.end();
});

t.test("walks members and items in source order, over nested ones", (t) => {
  const doc = parse('{"b":[[1,[2]],{"x":[3]},4],"1":{},"a":[],"\\u0030":5}');
  t.strictSame(
    doc.members(doc.root).map(({ key, node }) => [key, doc.raw(node)]),
    [
      ["b", '[[1,[2]],{"x":[3]},4]'],
      ["1", "{}"],
      ["a", "[]"],
      ["0", "5"],
    ],
  );
  t.strictSame(
    doc.items(at(doc, "b")).map((item) => doc.raw(item)),
    ["[1,[2]]", '{"x":[3]}', "4"],
  );
  t.end();
});

t.test("decodes strings, and refuses those that are not well formed", (t) => {
  const good: readonly (readonly [string, string])[] = [
    ['""', ""],
    ['"é😀"', "é😀"],
    ['"\\"\\\\\\/\\b\\f\\n\\r\\t\\u0000"', '"\\/\b\f\n\r\t\u0000'],
    ['"\\ud83d\\ude00"', "😀"],
    ['"\\ufeff\u2028"', "\ufeff\u2028"],
    ['"\\\\ud800"', "\\ud800"],
  ];
  for (const [text, value] of good) {
    const doc = parse(text);
    t.equal(doc.string(doc.root), value);
    t.equal(doc.looseString(doc.root), value);
    t.equal(doc.text(doc.root), value);
    t.ok(doc.wellFormed(doc.root));
  }
  const lone = [
    "\\ud800",
    "\\udc00\\ud800",
    "\\ud800\\ud800\\udc00",
    "\\udfff",
    "\\ud800x",
    "\\ud800\\n\\udc00",
    "\\ud83d😀",
  ];
  for (const spelling of lone) {
    const doc = parse(`"${spelling}"`);
    t.throws(() => doc.string(doc.root), { name: "JsonError", fault: "lone_surrogate" }, spelling);
    t.equal(doc.looseString(doc.root), JSON.parse(`"${spelling}"`));
    t.notOk(doc.wellFormed(doc.root), spelling);
    t.equal(doc.text(doc.root), undefined, spelling);
  }
  for (const text of ["1", "null", "true", "{}", "[]", '["\\ud800"]', '{"a":"a"}']) {
    const doc = parse(text);
    t.throws(() => doc.string(doc.root), { name: "JsonError", fault: "kind" }, text);
    t.equal(doc.text(doc.root), undefined, text);
  }
  t.equal(parse("{}").text(undefined), undefined);
  t.end();
});

t.test("null counts as absent where a reader wants it so", (t) => {
  const doc = parse('{"a":null,"b":0,"c":"null","d":[],"e":false,"f":""}');
  for (const key of ["a", "x"]) t.equal(doc.present(doc.root, key), undefined, key);
  for (const key of ["b", "c", "d", "e", "f"])
    t.equal(doc.present(doc.root, key), doc.get(doc.root, key), key);
  t.equal(doc.present(undefined, "a"), undefined);
  t.equal(doc.present(doc.get(doc.root, "d"), "a"), undefined, "no object");
  t.end();
});

t.test("knows below which nodes an unpaired surrogate stands", (t) => {
  const doc = parse(
    '{"bad":[0,{"x":["\\ud800"]},"fine"],"good":[{"x":["\\ud83d\\ude00"]}],"s":"\\udc00","n":1}',
  );
  const cases: readonly (readonly [boolean, ...(string | number)[]])[] = [
    [false],
    [false, "bad"],
    [true, "bad", 0],
    [false, "bad", 1],
    [false, "bad", 1, "x"],
    [false, "bad", 1, "x", 0],
    [true, "bad", 2],
    [true, "good"],
    [true, "good", 0, "x", 0],
    [false, "s"],
    [true, "n"],
  ];
  for (const [wellFormed, ...path] of cases)
    t.equal(doc.wellFormed(at(doc, ...path)), wellFormed, path.join("."));
  t.end();
});

t.test("gives __proto__ as an own member", (t) => {
  const doc = parse('{"__proto__":{"admin":true}}');
  const value = doc.value(doc.root);
  t.ok(typeof value === "object" && value !== null && Object.hasOwn(value, "__proto__"));
  t.notOk((value as { admin?: boolean }).admin);
  t.end();
});
