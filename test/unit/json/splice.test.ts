import { deepStrictEqual, strictEqual } from "node:assert/strict";
import fc from "fast-check";
import t from "tap";
import { scan } from "../../../src/json/scan.ts";
import {
  type Edit,
  editObject,
  keepItems,
  type ObjectChange,
  replace,
  splice,
} from "../../../src/json/splice.ts";
import { chooser, members, model, reference, spell } from "./texts.ts";

const parse = (text: string) => scan(Buffer.from(text), { bytes: 1 << 24, depth: 64 });

function edited(text: string, set: Record<string, string>, remove: readonly string[]): string {
  const doc = parse(text);
  return splice(doc.bytes, editObject(doc, doc.root, { set, remove: new Set(remove) })).toString();
}

function kept(text: string, keep: readonly string[]): string {
  const doc = parse(text);
  return splice(
    doc.bytes,
    keepItems(doc, doc.root, (item) => keep.includes(doc.raw(item))),
  ).toString();
}

t.test("edits an object and leaves all other bytes alone", (t) => {
  const cases: readonly (readonly [string, Record<string, string>, readonly string[], string])[] = [
    // removing
    ['{"a":1,"b":2,"c":3}', {}, ["a"], '{"b":2,"c":3}'],
    ['{"a":1,"b":2,"c":3}', {}, ["b"], '{"a":1,"c":3}'],
    ['{"a":1,"b":2,"c":3}', {}, ["c"], '{"a":1,"b":2}'],
    ['{"a":1,"b":2,"c":3}', {}, ["a", "b"], '{"c":3}'],
    ['{"a":1,"b":2,"c":3}', {}, ["b", "c"], '{"a":1}'],
    ['{"a":1,"b":2,"c":3}', {}, ["a", "c"], '{"b":2}'],
    ['{"a":1,"b":2,"c":3}', {}, ["a", "b", "c"], "{}"],
    ['{"a":1}', {}, ["a"], "{}"],
    ['{"a":1}', {}, ["b", "toString", "__proto__"], '{"a":1}'],
    ['{"\\u0061":1,"b":2}', {}, ["a"], '{"b":2}'],
    ['{"__proto__":1,"b":2}', {}, ["__proto__"], '{"b":2}'],
    [' { "a" : [1, 2] , "b" : 1.50 } ', {}, ["a"], ' { "b" : 1.50 } '],
    [' { "a" : 1.50 , "b" : [1, 2] } ', {}, ["b"], ' { "a" : 1.50 } '],
    // setting
    ['{"a":1,"b":2}', { a: "[9]" }, [], '{"a":[9],"b":2}'],
    ['{"\\u0061" : 1,"b":2}', { a: "9" }, [], '{"\\u0061" : 9,"b":2}'],
    ['{"a":1}', { b: "2" }, [], '{"a":1,"b":2}'],
    ['{ "a": 1 }', { b: "2", c: "3" }, [], '{ "a": 1,"b":2,"c":3 }'],
    ["{}", { b: "2" }, [], '{"b":2}'],
    ["{ }", { b: "2" }, [], '{"b":2 }'],
    ["{}", { b: "2", c: "3" }, [], '{"b":2,"c":3}'],
    ["{}", { 'q"\n': "2" }, [], '{"q\\"\\n":2}'],
    ["{}", { é: '"é😀"' }, [], '{"é":"é😀"}'],
    ['{"toString":1}', { valueOf: "2" }, [], '{"toString":1,"valueOf":2}'],
    ['{"constructor":1,"__proto__":2}', {}, [], '{"constructor":1,"__proto__":2}'],
    ["{}", JSON.parse('{"__proto__":"1"}'), [], '{"__proto__":1}'],
    ['{"é":"😀","a":1,"ü":"日本"}', { a: '"ö"' }, [], '{"é":"😀","a":"ö","ü":"日本"}'],
    // both
    ['{"a":1,"b":2,"c":3}', { b: "9" }, ["a", "c"], '{"b":9}'],
    ['{"a":1,"b":2,"c":3}', { a: "9", d: "4" }, ["b", "c"], '{"a":9,"d":4}'],
    ['{"a":1,"b":2,"c":3}', { d: "4" }, ["a", "b", "c"], '{"d":4}'],
    ['{"a":1,"b":2,"c":3}', { c: "9", d: "4" }, ["a", "b"], '{"c":9,"d":4}'],
    ['{"a":1,"b":2,"c":3,"d":4,"e":5}', { c: "[]", f: "6" }, ["a", "d", "e"], '{"b":2,"c":[],"f":6}'],
    ['{ "a": 1, "b": 2 }', { c: "3" }, ["b"], '{ "a": 1,"c":3 }'],
    ['{ "a": 1, "b": 2 }', { c: "3" }, ["a", "b"], '{ "c":3 }'],
    // a key in both counts as set
    ['{"a":1,"b":2}', { a: "9" }, ["a", "b"], '{"a":9}'],
    ["{}", { a: "9" }, ["a"], '{"a":9}'],
    // nothing
    [' {"n":9007199254740993, "e":1E400} ', {}, [], ' {"n":9007199254740993, "e":1E400} '],
  ];
  for (const [text, set, remove, expected] of cases) {
    t.doesNotThrow(() => JSON.parse(expected));
    t.equal(edited(text, set, remove), expected, text);
  }
  t.end();
});

t.test("keeps items of an array", (t) => {
  const cases: readonly (readonly [string, readonly string[], string])[] = [
    ["[1,2,3]", ["2", "3"], "[2,3]"],
    ["[1,2,3]", ["1", "3"], "[1,3]"],
    ["[1,2,3]", ["1", "2"], "[1,2]"],
    ["[1,2,3]", ["1"], "[1]"],
    ["[1,2,3]", ["2"], "[2]"],
    ["[1,2,3]", ["3"], "[3]"],
    ["[1,2,3]", [], "[]"],
    ["[1]", [], "[]"],
    ["[]", [], "[]"],
    [' [ 1 , {"a":[1]} , 3.0 ] ', ['{"a":[1]}', "3.0"], ' [ {"a":[1]} , 3.0 ] '],
    [" [ 1 , 2 , 3 ] ", ["1", "3"], " [ 1 , 3 ] "],
  ];
  for (const [text, keep, expected] of cases) t.equal(kept(text, keep), expected, `${text} keep ${keep}`);
  const doc = parse("[1, 2]");
  t.strictSame(
    keepItems(doc, doc.root, () => true),
    [],
  );
  t.end();
});

t.test("splices edits of several places, given in any order", (t) => {
  const doc = parse('{"result":{"tools":[{"name":"a","x":1},{"name":"b"}],"ttlMs":5}}');
  const result = doc.get(doc.root, "result") ?? doc.root;
  const tools = doc.get(result, "tools") ?? doc.root;
  const first = doc.items(tools)[0] ?? doc.root;
  const edits = [
    ...editObject(doc, result, { set: { ttlMs: "0", cacheScope: '"private"' } }),
    ...keepItems(doc, tools, (item) => item === first),
    ...editObject(doc, first, { set: { y: "2" }, remove: new Set(["x"]) }),
  ];
  const expected = '{"result":{"tools":[{"name":"a","y":2}],"ttlMs":0,"cacheScope":"private"}}';
  t.equal(splice(doc.bytes, edits).toString(), expected);
  t.equal(splice(doc.bytes, edits.toReversed()).toString(), expected);
  t.equal(splice(doc.bytes, [replace(doc, result, "null")]).toString(), '{"result":null}');
  t.equal(splice(doc.bytes, [replace(doc, doc.root, "[]")]).toString(), "[]");
  t.end();
});

t.test("gives a new buffer where something changes, and the bytes themselves where nothing does", (t) => {
  const doc = parse("[1]");
  t.equal(splice(doc.bytes, []), doc.bytes);
  splice(doc.bytes, [{ start: 1, end: 1, text: "" }]).fill(0);
  t.equal(doc.bytes.toString(), "[1]");
  t.end();
});

t.test("throws on edits that cannot be meant", (t) => {
  const bytes = Buffer.from("0123456789");
  const edit = (start: number, end: number, text = ""): Edit => ({ start, end, text });
  const bad: readonly (readonly [string, readonly Edit[]])[] = [
    ["overlap", [edit(0, 5), edit(4, 6)]],
    ["one inside another", [edit(0, 9), edit(3, 4)]],
    ["the same span twice", [edit(1, 2, "x"), edit(1, 2, "x")]],
    ["insertion inside a span", [edit(1, 4), edit(2, 2, "x")]],
    ["two insertions at one place", [edit(3, 3, "x"), edit(3, 3, "y")]],
    ["negative", [edit(-1, 2)]],
    ["behind the end", [edit(5, 11)]],
    ["inverted", [edit(5, 4)]],
    ["no number", [edit(Number.NaN, 4)]],
    ["unpaired surrogate", [edit(0, 1, "\ud800")]],
  ];
  for (const [name, edits] of bad) t.throws(() => splice(bytes, edits), name);
  t.equal(
    splice(bytes, [edit(4, 6), edit(2, 4, "x"), edit(6, 6, "y")]).toString(),
    "01xy6789",
    "touching is fine",
  );
  t.equal(
    splice(bytes, [edit(2, 4), edit(2, 2, "x")]).toString(),
    "01x456789",
    "insertion before a span is fine",
  );
  t.equal(splice(bytes, [edit(0, 0, "😀"), edit(10, 10, "\ud83d\ude00")]).toString(), "😀0123456789😀");
  t.end();
});

t.test("refuses to edit what is no object or array", (t) => {
  for (const text of ["[]", '"a"', "1", "null"]) {
    const doc = parse(text);
    t.throws(() => editObject(doc, doc.root, {}), { name: "JsonError", fault: "kind" });
  }
  for (const text of ["{}", '"a"', "1", "null"]) {
    const doc = parse(text);
    t.throws(() => keepItems(doc, doc.root, () => true), { name: "JsonError", fault: "kind" });
  }
  t.end();
});

t.test("survives very many removals", (t) => {
  const count = 200_000;
  const doc = parse(`{${Array.from({ length: count }, (_, i) => `"${i}":0`).join(",")}}`);
  const remove = new Set(Array.from({ length: count }, (_, i) => String(i)));
  t.equal(splice(doc.bytes, editObject(doc, doc.root, { remove })).toString(), "{}");
  const list = parse(`[${"0,".repeat(count)}1]`);
  t.equal(
    splice(
      list.bytes,
      keepItems(list, list.root, (n) => list.raw(n) === "1"),
    ).toString(),
    "[1]",
  );
  t.end();
});

t.test("any change of any object gives the object that was meant", (t) => {
  const fate = fc.constantFrom("keep", "remove", "set");
  const plan = fc.record({
    old: members(fc.tuple(model, fate)),
    extra: members(model),
    seed: fc.nat(),
  });
  fc.assert(
    fc.property(plan, ({ old, extra, seed }) => {
      const choose = chooser(seed);
      // Spelled member by member, so that the order stays the one of the list.
      const text = `{ ${old.map(([key, [value]]) => `${spell({ kind: "string", value: key }, choose)}:${spell(value, choose)}`).join(",")} }`;
      const expected = new Map(
        old.filter(([, [, f]]) => f !== "remove").map(([key, [value]]) => [key, reference(value)]),
      );
      const set = new Map(extra.map(([key, value]) => [key, spell(value, choose)]));
      for (const [key, [, f]] of old) if (f === "set") set.set(key, "[0]");
      for (const [key, value] of extra) expected.set(key, reference(value));
      for (const [key, [, f]] of old) if (f === "set") expected.set(key, "[0]");
      const change: ObjectChange = {
        set: Object.fromEntries(set),
        remove: new Set(old.filter(([, [, f]]) => f === "remove").map(([key]) => key)),
      };
      const doc = parse(text);
      const after = parse(splice(doc.bytes, editObject(doc, doc.root, change)).toString());
      const actual = new Map(after.members(after.root).map(({ key, node }) => [key, after.value(node)]));
      deepStrictEqual(Array.from(actual.keys()).sort(), Array.from(expected.keys()).sort());
      for (const [key, json] of expected) deepStrictEqual(actual.get(key), JSON.parse(json));
    }),
    { numRuns: 1000 },
  );
  t.end();
});

t.test("keeping any items gives the array of them, each as sent", (t) => {
  fc.assert(
    fc.property(fc.array(fc.tuple(model, fc.boolean()), { maxLength: 8 }), fc.nat(), (items, seed) => {
      const choose = chooser(seed);
      const doc = parse(`[${items.map(([value]) => spell(value, choose)).join(",")}]`);
      const keep = new Map(doc.items(doc.root).map((node, i) => [node, items[i]?.[1] === true]));
      const after = parse(
        splice(
          doc.bytes,
          keepItems(doc, doc.root, (n) => keep.get(n) === true),
        ).toString(),
      );
      const raws = doc.items(doc.root).filter((n) => keep.get(n) === true);
      strictEqual(
        after
          .items(after.root)
          .map((n) => after.raw(n))
          .join("\n"),
        raws.map((n) => doc.raw(n)).join("\n"),
      );
    }),
    { numRuns: 500 },
  );
  t.end();
});
