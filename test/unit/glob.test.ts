import fc from "fast-check";
import t from "tap";
import { compileGlob, compileGlobs, firstFitting, isEverything } from "../../src/glob.ts";

const cases: [pattern: string, text: string, matches: boolean][] = [
  ["read_note", "read_note", true],
  ["read_note", "READ_NOTE", false],
  ["read_note", "read_note2", false],
  ["read_note", "xread_note", false],
  ["", "", true],
  ["", "a", false],
  ["*", "", true],
  ["**", "any/thing at all", true],
  ["read_*", "read_", true],
  ["read_*", "read_note", true],
  ["read_*", "unread_note", false],
  ["*_note", "read_note", true],
  ["*_note", "read_note_", false],
  ["a*b*c", "abc", true],
  ["a*b*c", "axxbyybzzc", true],
  ["a*b*c", "acb", false],
  ["a*ab", "aab", true],
  ["*ab*ab", "ab", false],
  ["?", "", false],
  ["?", "a", true],
  ["?", "😀", true],
  ["??", "😀", false],
  ["*??", "😀", false],
  ["*?😀", "😀😀", true],
  ["re?d", "read", true],
  ["re?d", "red", false],
  ["file:///docs/*", "file:///docs/a/../../etc/passwd", true],
  ["a.c", "abc", false],
  ["[ab]", "a", false],
  ["[ab]", "[ab]", true],
  ["a\\*", "a\\b", true],
  ["(a+)+$", "(a+)+$", true],
  ["line*end", "line\nbreak\nend", true],
  ["constructor", "constructor", true],
];

t.test("a glob is a whole-text match with two wildcards", async (t) => {
  for (const [pattern, text, expected] of cases) {
    t.equal(compileGlob(pattern)(text), expected, JSON.stringify([pattern, text]));
  }
});

t.test("a list matches when any of it does", async (t) => {
  t.equal(compileGlobs(["a", "b*"])("bc"), true);
  t.equal(compileGlobs(["a", "b*"])("c"), false);
  t.equal(compileGlobs([])(""), false);
});

t.test("agrees with the obvious recursive definition", async () => {
  const letters = fc.string({ unit: fc.constantFrom("a", "b", "*", "?", "😀"), maxLength: 8 });
  const obvious = (p: string[], s: string[]): boolean => {
    const [head, ...rest] = p;
    if (head === undefined) return s.length === 0;
    if (head === "*") return obvious(rest, s) || (s.length > 0 && obvious(p, s.slice(1)));
    return s.length > 0 && (head === "?" || head === s[0]) && obvious(rest, s.slice(1));
  };
  fc.assert(
    fc.property(letters, letters, (pattern, text) => {
      return compileGlob(pattern)(text) === obvious([...pattern], [...text]);
    }),
    { numRuns: 2000 },
  );
});

t.test("many stars on a long hostile name cost no exponential time", async (t) => {
  const glob = compileGlob(`${"*a".repeat(30)}b`);
  t.equal(glob("a".repeat(20_000)), false);
});

t.test("the longest patterns on the longest names: some milliseconds", async (t) => {
  const text = "a".repeat(8192);
  for (const [start, of, end] of [
    ["*", "a", "b*"],
    ["*?", "a", "b*"],
    ["*", "?", "b*"],
    ["*?", "*a", "b"],
    ["?*", "?a*", "b"],
  ] as const) {
    const pattern = `${start}${of.repeat(500 / of.length)}${end}`;
    const glob = compileGlob(pattern);
    glob(text);
    const began = performance.now();
    t.equal(glob(text), false);
    const ms = performance.now() - began;
    t.ok(ms < 2_000, `${start}${of}…: ${ms.toFixed(1)} ms`);
  }
});

t.test("the first exception that fits, and what hidden names get", async (t) => {
  const look = firstFitting([
    [["read_note", "list_*"], 1],
    [["*"], 2],
    [["other"], 3],
  ]);
  const cases = [
    ["read_note", false, 1],
    ["list_all", false, 1],
    ["other", false, 2],
    ["read_note", true, 2],
    ["list_all", true, 1],
    [undefined, false, undefined],
    [undefined, true, undefined],
  ] as const;
  for (const [name, hidden, value] of cases) t.equal(look(name, hidden), value, `${name} ${hidden}`);
  t.equal(firstFitting([[["a"], 1]])("a", true), undefined, "as a name that nobody has");
  t.equal(firstFitting([])("a", false), undefined);
});

t.test("patterns for everything", async (t) => {
  for (const pattern of ["*", "***"]) t.ok(isEverything(pattern), pattern);
  for (const pattern of ["", "?", "*?", "a*", "* "]) t.notOk(isEverything(pattern), pattern);
});
