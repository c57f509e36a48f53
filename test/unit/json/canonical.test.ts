import { strictEqual } from "node:assert/strict";
import { createHash } from "node:crypto";
import fc from "fast-check";
import t from "tap";
import { canonical, digestParams } from "../../../src/json/canonical.ts";
import { scan } from "../../../src/json/scan.ts";
import { chooser, type Model, model, reference, spell } from "./texts.ts";

const parse = (text: string) => scan(Buffer.from(text), { bytes: 1 << 24, depth: 1 << 20 });

function canon(text: string): string {
  const doc = parse(text);
  return canonical(doc, doc.root);
}

function digest(params: string | undefined, boundMeta?: readonly string[]): string {
  const doc = parse(params === undefined ? '{"method":"m"}' : `{"params":${params}}`);
  return digestParams(doc, doc.get(doc.root, "params"), boundMeta);
}

t.test("writes one form", (t) => {
  const cases: readonly (readonly [string, string])[] = [
    [' { "b" : [ 1 , 2 ] , "a" : { } } ', '{"a":{},"b":[1,2]}'],
    ['{"b":{"d":1,"c":2},"a":[{"z":1,"y":2}]}', '{"a":[{"y":2,"z":1}],"b":{"c":2,"d":1}}'],
    ['{"\\u0062":1,"a":2}', '{"a":2,"b":1}'],
    ['"\\u0041\\/\\u00e9\\n\\u000a\\u0000"', '"A/é\\n\\n\\u0000"'],
    ['"\\ud83d\\ude00"', '"😀"'],
    ['["\\ud800","\\uDC00\\uD800"]', '["\\ud800","\\udc00\\ud800"]'],
    ["[1,1.0,1e0,1E0,-0,0,1e400,9007199254740993]", "[1,1.0,1e0,1E0,-0,0,1e400,9007199254740993]"],
    ["[[],[[]],{},[{}]]", "[[],[[]],{},[{}]]"],
    ["[ true , false , null ]", "[true,false,null]"],
    // UTF-16 code units, not code points and not bytes: U+10000 (D800…) stands before U+FFFD.
    [
      '{"\ufffd":1,"\u{10000}":2,"é":3,"z":4,"Z":5,"":6,"aa":7,"a":8}',
      '{"":6,"Z":5,"a":8,"aa":7,"z":4,"é":3,"\u{10000}":2,"\ufffd":1}',
    ],
    ['{"10":1,"9":2,"1":3}', '{"1":3,"10":1,"9":2}'],
    ['{"b":1,"__proto__":{"y":1,"x":2},"a":3}', '{"__proto__":{"x":2,"y":1},"a":3,"b":1}'],
  ];
  for (const [text, expected] of cases) t.equal(canon(text), expected, text);
  t.end();
});

t.test("depth breaks nothing", (t) => {
  const depth = 200_000;
  const arrays = "[".repeat(depth) + "]".repeat(depth);
  t.equal(canon(arrays), arrays);
  const objects = `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;
  t.equal(canon(objects), objects);
  t.not(digest(`{"arguments":${objects}}`), digest(`{"arguments":${objects.replace("1", "2")}}`));
  t.end();
});

t.test("texts of every length, across the blocks that they are written in", (t) => {
  const block = 16 * 1024;
  const texts = ["x", "é", "€", "😀", "\n"].flatMap((unit) =>
    [0, 1, 15, 16, 17, 24, 47, 48, 49, 1_000].map((length) => unit.repeat(length)),
  );
  const lengths = [-3, -2, -1, 0, 1, 2, 3].flatMap((near) => [
    block / 3 + near,
    block + near,
    3 * block + near,
  ]);
  const long = lengths.flatMap((length) => ["x", "é", "\n"].map((unit) => unit.repeat(Math.floor(length))));
  const mixed = Array.from({ length: 4_000 }, (_, index) => texts[(index * index) % texts.length] ?? "");
  const value = [mixed, long, Array.from({ length: 20_000 }, () => []), Object.fromEntries(long.map((key) => [key, {}]))]; // biome-ignore format: one list, one line
  const expected = JSON.stringify(value.slice(0, 3));
  t.ok(canon(JSON.stringify(value.slice(0, 3), undefined, 1)) === expected);
  const keys = [...new Set(long)].sort();
  const object = `{${keys.map((key) => `${JSON.stringify(key)}:{}`).join(",")}}`;
  t.ok(canon(JSON.stringify(value[3])) === object);
  const hash = createHash("sha256").update(`sealgate/params/1\n{"arguments":${object}}\n{}`);
  t.equal(digest(`{"arguments":${JSON.stringify(value[3])}}`), hash.digest("base64url"));
  t.end();
});

t.test("the digest is SHA-256 over the documented text", (t) => {
  const expected = (params: string, meta: string) =>
    createHash("sha256").update(`sealgate/params/1\n${params}\n${meta}`).digest("base64url");
  t.equal(
    digest('{"name":"x","arguments":{"b":1,"a":2},"_meta":{"k":1}}'),
    expected('{"arguments":{"a":2,"b":1},"name":"x"}', "{}"),
  );
  t.equal(
    digest('{"_meta":{"k":1,"l":[2]},"name":"x"}', ["l", "m"]),
    expected('{"arguments":{},"name":"x"}', '{"l":[2]}'),
  );
  t.equal(digest(undefined), expected('{"arguments":{}}', "{}"));
  t.match(digest("{}"), /^[A-Za-z0-9_-]{43}$/);
  t.end();
});

t.test("params that mean the same have one digest", (t) => {
  const groups: readonly (readonly (string | undefined)[])[] = [
    [
      undefined,
      "{}",
      ' { "arguments" : { } } ',
      '{"_meta":{"a":1}}',
      '{"requestState":"x","inputResponses":{"k":1}}',
    ],
    [
      '{"name":"x"}',
      '{"name":"x","arguments":{}}',
      '{"arguments":{},"n\\u0061me":"\\u0078","_meta":1}',
      '{"\\u005fmeta":2,"name":"x"}',
    ],
    ['{"arguments":{"a":1,"b":[1,{"c":"é"}]}}', '{"arguments":{"b":[1,{"\\u0063":"\\u00e9"}],"a":1}}'],
    ['{"q":"\\ud83d\\ude00"}', '{"q":"😀"}', '{"q":"\\uD83D\\uDE00"}'],
  ];
  for (const group of groups)
    t.equal(new Set(group.map((params) => digest(params))).size, 1, String(group[1]));
  t.end();
});

t.test("params that differ have different digests", (t) => {
  const texts = [
    "{}",
    ...[
      "null",
      "[]",
      '""',
      "0",
      "false",
      '{"a":1}',
      '{"a":"1"}',
      '{"a":[1]}',
      '{"a":null}',
      '{"A":1}',
      '{"a":1.0}',
      '{"a":1e0}',
      '{"a":-0}',
      '{"a":0}',
    ],
    ...[
      '{"a":1e400}',
      '{"a":1e401}',
      '{"a":9007199254740993}',
      '{"a":9007199254740992}',
      '{"a":[1,2]}',
      '{"a":[2,1]}',
      '{"a":[[1],2]}',
      '{"a":[12]}',
    ],
    ...[
      '{"q":"\\ud800"}',
      '{"q":"\\ufffd"}',
      '{"q":"\\udc00"}',
      '{"q":"?"}',
      '{"q":"\\\\ud800"}',
      '{"q":"é"}',
      '{"q":"e\\u0301"}',
      '{"q":"a\\n"}',
      '{"q":"a\\\\n"}',
    ],
    ...[
      '{"__proto__":1}',
      '{"__proto__":{"a":1}}',
      '{"_meta":1}',
      '{"requestState":"x"}',
      '{"inputResponses":{}}',
      '{"":1}',
      '{"a,b":1}',
      '{"a\\":1,\\"b":1}',
    ],
  ].map((text, i) => (i === 0 ? text : `{"arguments":${text}}`));
  texts.push(
    '{"a":1}',
    '{"name":"x"}',
    '{"name":"y"}',
    '{"Name":"x"}',
    '{"_Meta":1}',
    '{"meta":1}',
    '{"task":{}}',
    '{"__proto__":{"arguments":{"a":1}}}',
  );
  t.equal(new Set(texts.map((text) => digest(text))).size, texts.length);
  t.end();
});

t.test("named members of _meta are bound when asked for", (t) => {
  const one = '{"_meta":{"tenant":"a","progressToken":1}}';
  const two = '{"_meta":{"progressToken":2,"tenant":"a"}}';
  const three = '{"_meta":{"tenant":"b","progressToken":1}}';
  t.equal(digest(one, ["tenant"]), digest(two, ["tenant"]));
  t.equal(digest(one, ["tenant", "tenant"]), digest(two, ["tenant"]));
  t.not(digest(one, ["tenant"]), digest(three, ["tenant"]));
  t.equal(digest(one), digest(three));
  t.equal(digest(one, []), digest(three));
  t.not(
    digest('{"_meta":{"tenant":null}}', ["tenant"]),
    digest('{"_meta":{}}', ["tenant"]),
    "null is not absent",
  );
  t.equal(digest("{}", ["tenant"]), digest('{"_meta":{}}', ["tenant"]));
  t.not(digest('{"_meta":{"tenant":1}}', ["tenant"]), digest('{"tenant":1}', ["tenant"]));
  t.equal(digest('{"_meta":{"x":1}}', ["toString", "__proto__"]), digest("{}"));
  t.end();
});

t.test("what cannot be digested throws", (t) => {
  for (const params of ["[]", "null", '"x"', "1", "[{}]"])
    t.throws(() => digest(params), { name: "JsonError", fault: "kind" }, params);
  for (const meta of ["[]", "null", '"x"', "1"]) {
    t.throws(() => digest(`{"_meta":${meta}}`, ["tenant"]), { name: "JsonError", fault: "kind" }, meta);
    t.doesNotThrow(() => digest(`{"_meta":${meta}}`), "not looked at unless asked for");
  }
  t.end();
});

t.test("order, whitespace and spelling are free, and nothing else", (t) => {
  fc.assert(
    fc.property(model, fc.nat(), fc.nat(), (value, one, two) => {
      strictEqual(canon(spell(value, chooser(one))), reference(value));
      const params: Model = { kind: "object", members: [["arguments", value]] };
      strictEqual(digest(spell(params, chooser(one))), digest(spell(params, chooser(two))));
      strictEqual(canon(reference(value)), reference(value), "canonical text is its own canonical form");
    }),
    { numRuns: 500 },
  );
  t.end();
});

t.test("digests are equal exactly when values are", (t) => {
  // Few leaves and small shapes, so that equal pairs come up.
  const small: fc.Arbitrary<Model> = fc.letrec<{ value: Model }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 2, withCrossShrink: true },
      fc
        .constantFrom("1", "1.0", "-0", "0", "1e400", "1e401")
        .map((text) => ({ kind: "number" as const, text })),
      fc.constantFrom("1", "", "\ud800", "\ufffd", "a").map((value) => ({ kind: "string" as const, value })),
      fc
        .constantFrom("null", "true")
        .map((text) => ({ kind: "literal" as const, text: text as "null" | "true" })),
      fc.array(tie("value"), { maxLength: 2 }).map((items) => ({ kind: "array" as const, items })),
      fc
        .uniqueArray(fc.tuple(fc.constantFrom("a", "b", ""), tie("value")), {
          selector: ([key]) => key,
          maxLength: 2,
        })
        .map((list) => ({ kind: "object" as const, members: list })),
    ),
  })).value;
  const tally = { equal: 0, different: 0 };
  fc.assert(
    fc.property(small, small, fc.nat(), (one, two, seed) => {
      const equal = reference(one) === reference(two);
      tally[equal ? "equal" : "different"]++;
      const digests = [one, two].map((value) => digest(`{"arguments":${spell(value, chooser(seed))}}`));
      strictEqual(digests[0] === digests[1], equal);
    }),
    { numRuns: 3000 },
  );
  t.ok(tally.equal > 20 && tally.different > 20, "both sides were met", tally);
  t.end();
});
