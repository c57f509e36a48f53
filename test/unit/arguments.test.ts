/** Tests of arguments: what an allow accepts, what a deny catches, and that no spelling helps past either. */
import fc from "fast-check";
import t from "tap";
import { namesOf } from "../../src/argument-place.ts";
import { ArgumentReading } from "../../src/argument-reading.ts";
import { compileArguments } from "../../src/arguments.ts";
import { policy as schema } from "../../src/config/caller-settings.ts";
import { scan } from "../../src/json/scan.ts";
import { ANONYMOUS, type Principal } from "../../src/principal/principal.ts";

const alice: Principal = {
  anonymous: false,
  issuer: "https://idp.example",
  subject: "alice",
  tenant: "t-1",
  groups: ["staff", "finance"],
  scopes: ["pay"],
};

/** Whether an allow, and a deny, of these tests match a call with these arguments (JSON text; none at all if undefined). */
function both(tests: readonly object[], json: string | undefined, principal: Principal = alice) {
  const doc = scan(Buffer.from(json ?? "{}"), { bytes: 64 * 1024 * 1024, depth: 64 });
  const node = json === undefined ? undefined : doc.root;
  const [allow, deny] = (["allow", "deny"] as const).map((effect) => {
    const { arguments: compiled = [] } = schema.parse({ id: "p", effect, arguments: tests });
    const reading = new ArgumentReading(principal, { doc, node }, namesOf(compiled.map(({ path }) => path)));
    return compileArguments(effect, compiled)(reading) === undefined;
  });
  return allow ? (deny ? "yes" : "allow only") : deny ? "unclear" : "no";
}

type Case = readonly [json: string | undefined, verdict: string];

/** `yes`: both match. `no`: neither. `unclear`: the deny only. */
const CASES: readonly (readonly [name: string, test: object, cases: readonly Case[]])[] = [
  [
    "a text",
    { path: "/a", equals: "x" },
    [
      ['{"a":"x"}', "yes"],
      ['{"a":"\\u0078"}', "yes"],
      ['{"\\u0061":"x"}', "yes"],
      ['{"a":"y"}', "no"],
      ['{"a":"X"}', "no"],
      ["{}", "no"],
      [undefined, "no"],
      ['{"b":"x"}', "no"],
      ['{"A":"x"}', "unclear"],
      ['{"a":"y","A":"x"}', "unclear"],
      ['{"a":"x","A":"y"}', "unclear"],
      ['{"a":null}', "unclear"],
      ['{"a":1}', "unclear"],
      ['{"a":true}', "unclear"],
      ['{"a":{}}', "unclear"],
      ['{"a":{"a":"x"}}', "unclear"],
      ['{"a":["x"]}', "yes"],
      ['{"a":[["x"],["x"]]}', "yes"],
      ['{"a":["y","x"]}', "unclear"],
      ['{"a":["y"]}', "no"],
      ['{"a":[]}', "no"],
      ['{"a":["x",1]}', "unclear"],
      ['{"a":"\\ud800"}', "unclear"],
      ['{"a":"x\\u0000"}', "no"],
      ["[]", "unclear"],
      ["null", "unclear"],
      ['"x"', "unclear"],
    ],
  ],
  [
    "a number",
    { path: "/a", equals: 5 },
    [
      ['{"a":5}', "yes"],
      ['{"a":5.0}', "yes"],
      ['{"a":50e-1}', "yes"],
      ['{"a":"5"}', "unclear"],
      ['{"a":5.00000000000000000000001}', "unclear"],
      ['{"a":6}', "no"],
      ['{"a":-5}', "no"],
    ],
  ],
  [
    "zero",
    { path: "/a", equals: 0 },
    [
      ['{"a":-0}', "yes"],
      ['{"a":0e99999999999999999999}', "yes"],
      ['{"a":1e-400}', "unclear"],
      ['{"a":1e-99999999999999999999}', "unclear"],
      ['{"a":false}', "unclear"],
    ],
  ],
  [
    "a flag, and null",
    { path: "/a", oneOf: [true, null] },
    [
      ['{"a":true}', "yes"],
      ['{"a":null}', "yes"],
      ['{"a":"true"}', "unclear"],
    ],
  ],
  [
    "one of two",
    { path: "/a", oneOf: ["EUR", "USD"] },
    [
      ['{"a":"USD"}', "yes"],
      ['{"a":"usd"}', "no"],
      ['{"a":"EU*"}', "no"],
      ["{}", "no"],
    ],
  ],
  [
    "a pattern",
    { path: "/a", glob: ["/etc/*", "?"] },
    [
      ['{"a":"/etc/passwd"}', "yes"],
      ['{"a":"\\/etc\\u002fx"}', "yes"],
      ['{"a":"\u{1f511}"}', "yes"],
      ['{"a":"/home"}', "no"],
      ['{"a":["/home","/etc/x"]}', "unclear"],
      ['{"a":7}', "unclear"],
      ['{"a":""}', "no"],
    ],
  ],
  [
    "composed and not",
    { path: "/Z\u00fcrich", glob: "caf\u00e9*" },
    [
      ['{"Z\u00fcrich":"caf\u00e9!"}', "yes"],
      ['{"Z\u00fcrich":"cafe\u0301!"}', "unclear"],
      ['{"Zu\u0308rich":"caf\u00e9!"}', "unclear"],
      ['{"Z\u00fcrich":"cafe!"}', "no"],
    ],
  ],
  [
    "a range",
    { path: "/a", range: { min: 0.5, max: 100 } },
    [
      ['{"a":0.5}', "yes"],
      ['{"a":1e2}', "yes"],
      ['{"a":100.00000000000000000001}', "unclear"],
      ['{"a":0.49999999999999999999999}', "unclear"],
      ['{"a":101}', "no"],
      ['{"a":-1}', "no"],
      ['{"a":1e400}', "no"],
      ['{"a":1e99999999999999999999}', "no"],
      ['{"a":"50"}', "unclear"],
      ['{"a":null}', "unclear"],
      ["{}", "no"],
    ],
  ],
  [
    "large numbers to the last digit",
    { path: "/a", range: { min: "12345678901234567890", max: "12345678901234567890" } },
    [
      ['{"a":12345678901234567890}', "yes"],
      ['{"a":12345678901234567890.0}', "yes"],
      ['{"a":12345678901234567891}', "unclear"],
      ['{"a":12345678901234599999}', "no"],
    ],
  ],
  [
    "there",
    { path: "/a", present: true },
    [
      ['{"a":0}', "yes"],
      ['{"a":[0,[""]]}', "yes"],
      ['{"a":[]}', "unclear"],
      ['{"a":[[]]}', "unclear"],
      ['{"a":[0,[]]}', "unclear"],
      ['{"a":[null]}', "unclear"],
      ['{"a":[0,null]}', "unclear"],
      ['{"a":null}', "unclear"],
      ['{"A":1}', "unclear"],
      ["{}", "no"],
      [undefined, "no"],
    ],
  ],
  [
    "not there",
    { path: "/a", present: false },
    [
      ["{}", "yes"],
      [undefined, "yes"],
      ['{"a":null}', "unclear"],
      ['{"a":[]}', "unclear"],
      ['{"a":[[]]}', "unclear"],
      ['{"a":[null]}', "unclear"],
      ['{"a":[0,[null]]}', "unclear"],
      ['{"a":[0,[]]}', "unclear"],
      ['{"A":1}', "unclear"],
      ['{"a":0}', "no"],
      ['{"a":[0,[""]]}', "no"],
    ],
  ],
  [
    "the caller's own",
    { path: "/a", claim: "subject" },
    [
      ['{"a":"alice"}', "yes"],
      ['{"a":"Alice"}', "no"],
      ['{"a":"mallory"}', "no"],
      ['{"a":["alice","mallory"]}', "unclear"],
      ['{"a":7}', "unclear"],
    ],
  ],
  [
    "a group of the caller's",
    { path: "/a", claim: "groups" },
    [
      ['{"a":"finance"}', "yes"],
      ['{"a":["staff","finance"]}', "yes"],
      ['{"a":"admin"}', "no"],
    ],
  ],
  ["a claim that is not there", { path: "/a", claim: "client" }, [['{"a":"x"}', "unclear"]]],
  [
    "deep, through lists, by names with signs",
    { path: "/order.v1/lines/sku~1id/~0", equals: 1 },
    [
      ['{"order.v1":{"lines":[{"sku/id":{"~":1}},{"sku/id":{"~":1}}]}}', "yes"],
      ['{"order.v1":{"lines":{"sku/id":{"~":1}}}}', "yes"],
      ['{"order.v1":{"lines":[{"sku/id":{"~":1}},{}]}}', "unclear"],
      ['{"order.v1":{"lines":[{"sku/id":{"~":2}}]}}', "no"],
      ['{"order.v1":{"lines":[{"sku/id":{"~":1}},7]}}', "unclear"],
      ['{"order.v1":"text"}', "unclear"],
      ['{"order.v1":null}', "unclear"],
      ['{"order":{"v1":{"lines":[{"sku/id":{"~":1}}]}}}', "no"],
    ],
  ],
  [
    "names that JavaScript knows",
    { path: "/__proto__/constructor", equals: "x" },
    [
      ['{"__proto__":{"constructor":"x"}}', "yes"],
      ["{}", "no"],
      ['{"__proto__":{}}', "no"],
    ],
  ],
  [
    "the empty name",
    { path: "/", equals: "x" },
    [
      ['{"":"x"}', "yes"],
      ['{"a":"x"}', "no"],
    ],
  ],
];

for (const [name, test, cases] of CASES) {
  t.test(name, async (t) => {
    for (const [json, verdict] of cases) t.equal(both([test], json), verdict, String(json));
  });
}

t.test("all tests of a policy must hold", async (t) => {
  const tests = [
    { path: "/a", equals: "x" },
    { path: "/b", range: { max: 5 } },
  ];
  t.equal(both(tests, '{"a":"x","b":5}'), "yes");
  t.equal(both(tests, '{"a":"x","b":6}'), "no");
  t.equal(both(tests, '{"a":"x","b":"6"}'), "unclear");
  t.equal(both(tests, '{"a":"x"}'), "no");
});

t.test("who is anonymous has no claims", async (t) => {
  for (const claim of ["issuer", "subject", "groups"]) {
    t.equal(both([{ path: "/a", claim }], '{"a":""}', ANONYMOUS), "unclear", claim);
  }
});

t.test("what is too long or too much to be read is unclear, and takes no long time", async (t) => {
  const long = "a".repeat(3_000_000);
  const glob = `${"*a?".repeat(150)}b`;
  t.equal(both([{ path: "/a", glob }], JSON.stringify({ a: long })), "unclear");
  t.equal(both([{ path: "/a", glob }], JSON.stringify({ a: "a".repeat(60_000) })), "no");
  t.equal(
    both([{ path: "/a", equals: "x" }], JSON.stringify({ a: `e${"\u0301\u0316".repeat(20_000)}` })),
    "unclear",
  );
  t.equal(both([{ path: "/a", equals: "x" }], JSON.stringify({ a: Array(10_001).fill("y") })), "unclear");
  t.equal(both([{ path: "/a", equals: "x" }], JSON.stringify({ a: Array(9_000).fill("y") })), "no");
  t.equal(both([{ path: "/a/b", equals: "x" }], JSON.stringify({ a: Array(10_001).fill({}) })), "unclear");
  t.equal(both([{ path: "/a", equals: 1 }], `{"a":1${"0".repeat(100_000)}}`), "unclear");
  const keys = Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`k${index}`, 1]));
  t.equal(both([{ path: "/a", equals: "x" }], JSON.stringify({ ...keys, a: "x" })), "yes");
});

t.test("an allow never matches where a deny of the same tests does not", async (t) => {
  const leaf = fc.oneof(
    fc.constantFrom('"x"', '"y"', "1", "1.0", '"1"', "null", "true", "1e400", "[]", "{}", '"\\ud800"'),
    fc.integer().map(String),
  );
  const json = fc.letrec<{ value: string }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      leaf,
      fc.array(tie("value"), { maxLength: 3 }).map((items) => `[${items.join(",")}]`),
      fc
        .uniqueArray(fc.tuple(fc.constantFrom("a", "A", "b", "c"), tie("value")), {
          selector: ([key]) => key,
        })
        .map((members) => `{${members.map(([key, value]) => `"${key}":${value}`).join(",")}}`),
    ),
  })).value;
  const test = fc
    .record({ path: fc.constantFrom("/a", "/a/b", "/c") })
    .chain(({ path }) =>
      fc.constantFrom(
        { path, equals: "x" },
        { path, equals: 1 },
        { path, oneOf: [true, "y"] },
        { path, glob: "*" },
        { path, range: { min: 1 } },
        { path, present: true },
        { path, present: false },
        { path, claim: "subject" },
      ),
    );
  fc.assert(
    fc.property(fc.array(test, { minLength: 1, maxLength: 3 }), json, (tests, text) => {
      return both(tests, text) !== "allow only";
    }),
    { numRuns: 3_000 },
  );
  t.pass();
});
