/** Texts of servers in reports: every character visible, cut where they are long, and wrapped to what a line holds. */
import t from "tap";
import { briefly, escaped, shown, shownJson, wrapped } from "../../../src/review/report/text.ts";
import { HOSTILE, LONG } from "./report-record.ts";
import { UNSEEN } from "./report-unseen.ts";

t.test("what can be seen stands as it is, in any script", async (t) => {
  for (const text of [
    "transfer",
    "überweisen",
    "送金する",
    "שלום",
    "مرحبا",
    "ไทย",
    "a{b}",
    "{u+1}",
    "e\u0301",
    "\u{1f600}",
    "<b>&",
  ])
    t.equal(shown(text), text);
});

t.test(
  "what cannot is written out by its number, and a number that stands there already is told apart",
  async (t) => {
    t.equal(shown("a\u202eb"), "a{U+202E}b");
    t.equal(shown("\u001b[31m"), "{U+001B}[31m");
    t.equal(shown("\u009b2J\u007f\u0000"), "{U+009B}2J{U+007F}{U+0000}");
    t.equal(shown("a\nb\tc"), "a{U+000A}b{U+0009}c");
    t.equal(shown("\u0601\u070f"), "{U+0601}{U+070F}", "signs of format that are drawn");
    t.equal(shown("\ud800x"), "{U+D800}x");
    t.equal(shown("a\u00a0b\u3000c"), "a{U+00A0}b{U+3000}c", "blanks that look like others");
    t.equal(shown("\u{e0041}\u2800\u3164"), "{U+E0041}{U+2800}{U+3164}", "drawn as nothing");
    t.equal(shown("{U+202E}"), "{U+007B}U+202E}");
    t.equal(shown(`e${"\u0301".repeat(6)}`), `e${"\u0301".repeat(4)}{U+0301}{U+0301}`, "a heap of marks");
    t.notMatch(shown(HOSTILE), UNSEEN);
    t.match(HOSTILE, UNSEEN, "it was hostile");
  },
);

t.test("long texts are cut, not through a character, and say so", async (t) => {
  t.equal(shown("abcdef", 4), "abcd… (6 characters in all)");
  t.equal(shown("abcd", 4), "abcd");
  t.equal(shown("abc\u{1f600}", 4), "abc… (5 characters in all)");
  t.equal(briefly("abcdef", 4), "abcd…");
  t.ok(shown(LONG).length < 2_100);
});

t.test("JSON: indented, bounded, as deep as it may be", async (t) => {
  t.equal(shownJson({ a: "\u202e" }), `{\n  "a": "{U+202E}"\n}`);
  t.equal(shownJson(undefined), "");
  t.ok(shownJson({ a: LONG }).length < 12_100);
  let deep: unknown = 1;
  for (let depth = 0; depth < 2_000; depth++) deep = [deep];
  t.equal(shownJson(deep, 10_000).length, 4_001, "no indents");
  for (let depth = 0; depth < 100_000; depth++) deep = { a: deep };
  t.equal(shownJson(deep), "(nested too deep to be shown)");
});

t.test("signs of markup are escaped", async (t) => {
  t.equal(escaped(`<a href="x" title='y'>&amp;`), "&#60;a href=&#34;x&#34; title=&#39;y&#39;&#62;&#38;amp;");
});

t.test("lines hold what they can, wide letters counted twice", async (t) => {
  t.same(wrapped("one two three", 7), ["one two", "three"]);
  t.same(wrapped("abcdefgh ij", 4), ["abcd", "efgh", "ij"]);
  t.same(wrapped("ab 送金する", 6), ["ab", "送金す", "る"]);
  t.same(wrapped("", 4), [""]);
  t.equal(wrapped("\u{1f600}".repeat(5), 4).join(""), "\u{1f600}".repeat(5));
});
