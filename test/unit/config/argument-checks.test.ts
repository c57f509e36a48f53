/** Tests of arguments in policies: mistakes with their place, and what never holds or holds for what nobody means. */
import t from "tap";
import { load, SOUND } from "./load-text.ts";

const WITH = (tests: string, more = "", effect = "allow") =>
  SOUND.replace(
    "[{ id: all, effect: allow }]",
    () =>
      `[{ id: all, effect: allow }, { id: a, effect: ${effect}, tools: [x]${more}, arguments: [${tests}] }]`,
  );

const PROBLEMS: readonly (readonly [test: string, problem: RegExp])[] = [
  [
    "{ path: a, present: true }",
    /^6:\d+ .*arguments\[0\]\.path: does not start with \/, found "a", allowed a JSON Pointer/,
  ],
  ["{ path: /a~, present: true }", /path: holds a ~ that is neither ~0 nor ~1/],
  ["{ present: true }", /path: is required and missing/],
  ["{ path: /a }", /arguments\[0\]: holds neither of the tests, allowed path and one of equals, oneOf/],
  ["{ path: /a, equals: 1, glob: x }", /arguments\[0\]: holds equals and glob at once/],
  ["{ path: /a, equals: 12345678901234567 }", /equals: is not a known value.*at most 15 digits/],
  ["{ path: /a, equals: [1] }", /equals: is not a known value, found a list of 1/],
  ["{ path: /a, oneOf: [] }", /oneOf: is an empty list/],
  ["{ path: /a, oneOf: [{}] }", /oneOf\[0\]: is not a known value/],
  ["{ path: /a, glob: [] }", /glob: is an empty list/],
  ["{ path: /a, glob: 7 }", /glob: is not a known value, found 7, allowed a pattern/],
  ["{ path: /a, range: {} }", /range: holds neither min nor max/],
  ["{ path: /a, range: { min: 2, max: 1 } }", /range: is empty: min is more than max/],
  ['{ path: /a, range: { min: "12345678901234567891", max: "12345678901234567890" } }', /range: is empty/],
  ['{ path: /a, range: { min: "0x10" } }', /range\.min: is not a known value/],
  ["{ path: /a, range: { least: 1 } }", /range\.least: unknown setting/],
  ["{ path: /a, present: yes }", /present: has the wrong type/],
  ["{ path: /a, claim: email }", /claim: is not a known value, found "email", allowed issuer \| subject/],
  ["{ path: /a, equal: 1 }", /arguments\[0\]\.equal: unknown setting, did you mean equals\?/],
];

for (const [test, problem] of PROBLEMS) {
  t.test(test, async (t) => {
    const { problems } = await load(t, WITH(test));
    t.equal(problems.length, 1, problems.join("\n"));
    t.match(problems[0], problem);
  });
}

t.test("what is in order: all tests, both forms of a pattern, long numbers in quotes", async (t) => {
  const tests = [
    "{ path: /a, equals: x }",
    "{ path: /a, equals: null }",
    "{ path: /a/b~1c, oneOf: [1, 2.5, -3] }",
    "{ path: /a, glob: 'x*' }",
    "{ path: /a, glob: ['x*', y] }",
    "{ path: /a, range: { min: '12345678901234567890' } }",
    "{ path: /, present: false }",
    "{ path: /a, claim: subject }",
  ];
  const { problems, loaded } = await load(t, WITH(tests.join(", ")));
  t.same(problems, []);
  const [, policy] = loaded?.config.authorization.policies ?? [];
  t.same(policy?.arguments?.[2]?.oneOf, [{ number: "1" }, { number: "2.5" }, { number: "-3" }]);
  t.same(policy?.arguments?.[3]?.glob, ["x*"]);
});

const WARNINGS: readonly (readonly [text: string, warning: RegExp | undefined])[] = [
  [WITH("{ path: /a, equals: x }"), undefined],
  [WITH("{ path: /a, equals: x }", ", methods: [tools/call]", "deny"), undefined],
  [WITH("{ path: /a, oneOf: [x, y] }", "", "deny"), undefined],
  [
    WITH("{ path: /a, oneOf: [x, 1] }", "", "deny"),
    /oneOf: holds values of several types, so each value is denied/,
  ],
  [WITH("{ path: /a, oneOf: [x, 1] }"), undefined],
  [WITH("{ path: /a/0, equals: x }"), /path: has a step that looks like a place in a list/],
  [WITH("{ path: /a, glob: '^x.*$' }"), /glob\[0\]: holds \^ at its start, which stands for itself/],
  [
    WITH("{ path: /a, claim: groups }"),
    /claim: never matches: no issuer has claims\.groups, so nobody has one/,
  ],
  [
    WITH("{ path: /a, claim: tenant }", "", "deny"),
    /claim: matches whatever the argument is: no issuer has claims\.tenant/,
  ],
  [
    WITH("{ path: /a, equals: x }").replace("tools: [x]", "resources: ['note://x']"),
    /arguments: never match: what reads a resource carries no arguments/,
  ],
  [
    WITH("{ path: /a, equals: x }").replace("tools: [x]", "methods: [resources/read]"),
    /arguments: never match: no method of this policy carries arguments/,
  ],
];

for (const [index, [text, warning]] of WARNINGS.entries()) {
  t.test(`warning ${index}: ${warning ?? "none"}`, async (t) => {
    const { problems, warnings } = await load(t, text);
    t.same(problems, []);
    const said = warnings.filter((line) => line.includes("policies[1]"));
    if (warning === undefined) t.same(said, []);
    else t.match(said.join("\n"), warning);
  });
}
