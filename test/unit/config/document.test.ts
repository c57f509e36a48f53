import fc from "fast-check";
import t from "tap";
import { readDocument } from "../../../src/config/document.ts";

const read = (text: string) => readDocument(Buffer.from(text));

t.test("refuses what is not plain, one-document YAML 1.2", async (t) => {
  const cases: [string, RegExp, number, number][] = [
    ["", /empty/, 1, 1],
    ["# nothing\n", /empty/, 1, 1],
    ["- a\n", /not a mapping/, 1, 1],
    ["text\n", /not a mapping/, 1, 1],
    ["a: &x 1\n", /anchors/, 1, 7],
    ["a: 1\nb: *x\n", /aliases/, 2, 4],
    ["a: {}\n<<: { b: 1 }\n", /merge keys/, 2, 1],
    ["a: !!str 1\n", /tags/, 1, 10],
    ["a: !secret 1\n", /tags/, 1, 4],
    ["%YAML 1.1\n---\na: on\n", /begins with %/, 1, 1],
    ["%YAML 1.1\na: on\n", /begins with %/, 1, 1],
    ["%X\n---\na: on\n", /begins with %/, 1, 1],
    ["a: 1\n---\nb: 2\n", /more than one document/, 2, 1],
    ["a: 1\nb:\n  c: 1\n  c: 2\n", /twice/, 4, 3],
    ["a: 1\n? [b]\n: 1\n", /must be a text/, 2, 3],
    ["a:\n\t- b\n", /tab/, 2, 1],
    ['a: "hunter2\n', /the quote that opens here is not closed/, 1, 4],
    ['a: "\\q"\n', /escape/, 1, 5],
    ["a: @hunter2\n", /begins with @ must stand in quotes/, 1, 4],
    ["a: 1\0", /UTF-8/, 1, 1],
    [`a: ${"[".repeat(5_000)}`, /nested too deeply/, 1, 0],
  ];
  for (const [text, message, line, column] of cases) {
    const [first] = read(text).problems;
    t.match(first?.message, message, JSON.stringify(text.slice(0, 30)));
    t.equal(first?.line, line);
    if (column > 0) t.equal(first?.column, column);
    t.notMatch(JSON.stringify(read(text).problems), /hunter2/);
  }
  t.match(readDocument(Buffer.from([0x61, 0x3a, 0x20, 0xff])).problems[0]?.message, /UTF-8/);
  t.match(readDocument(Buffer.alloc(1_100_000, "a")).problems[0]?.message, /1MiB/);
});

t.test("anchors, tags, aliases and merge keys are refused on whatever they stand", async (t) => {
  const forms = (mark: string): Record<string, string> => ({
    "a scalar": `a: ${mark} x\n`,
    "a quoted scalar": `a: ${mark} "x"\n`,
    "a block scalar": `a: ${mark} |\n  x\n`,
    "an empty value": `a: ${mark}\nb: 1\n`,
    "a name": `${mark} a: x\n`,
    "a name in braces": `a: { ${mark} b: x }\n`,
    "a flow mapping": `a: ${mark} { b: 1 }\n`,
    "an empty flow mapping": `a: ${mark} {}\n`,
    "a block mapping": `a: ${mark}\n  b: 1\n`,
    "a flow sequence": `a: ${mark} [1]\n`,
    "a block sequence": `a: ${mark}\n  - 1\n`,
    "an entry": `a:\n  - ${mark} x\n`,
    "a mapping in an entry": `a:\n  - ${mark} { b: 1 }\n`,
    "a block mapping in an entry": `a:\n  - ${mark}\n    b: 1\n`,
    "a mapping in brackets": `a: [ ${mark} { b: 1 } ]\n`,
    "a pair in brackets": `a: [ ${mark} b: 1 ]\n`,
    "a mapping in braces": `a: { b: ${mark} { c: 1 } }\n`,
    "the whole file": `${mark}\na: 1\n`,
    "the whole document": `--- ${mark}\na: 1\n`,
  });
  for (const mark of ["&p", "!!map", "!!seq", "!!str", "!x", "!", "!<tag:yaml.org,2002:map>", "&p !!map"]) {
    for (const [where, text] of Object.entries(forms(mark))) {
      const said = read(text).problems.map(({ message }) => message);
      const about = mark.startsWith("&") ? /anchors/ : /tags/;
      t.ok(
        said.some((message) => about.test(message)),
        `${mark} on ${where}: ${said.join("; ")}`,
      );
      t.equal(read(text).value, undefined, `${mark} on ${where} is not read`);
    }
  }
  for (const [where, text] of Object.entries(forms("")).filter(([where]) => where !== "the whole file")) {
    t.same(read(text).problems, [], `nothing on ${where}`);
  }
  for (const text of [
    "a: { b: 1 }\nc: *a\n",
    "a: { <<: { b: 1 } }\n",
    "a:\n  <<: { b: 1 }\n",
    'a: { "<<": { b: 1 } }\n',
    "a:\n  - <<: [ { b: 1 } ]\n",
    "a: { b: { <<: *x } }\n",
  ]) {
    const [first] = read(text).problems;
    t.match(first?.message, /aliases|merge keys/, text);
  }
  t.same(read('a: { b: "<<", c: "*x", d: "&x", e: "!x" }\n').problems, [], "in quotes they are texts");
});

/** A text with faults, and all that is said of it: `line:column words`. */
const FAULTS: [name: string, text: string, said: (string | RegExp)[]][] = [
  ["a tab", "server:\n\tlisten: a\n", [/^2:1 a tab is used for indentation, allowed are blanks$/]],
  ["tabs", "server:\n\tlisten: a\n\tpublicUrl: b\nlog: [\n", [/^2:1 a tab .*; so it is in 1 more line$/]],
  ["tabs and CRLF", "a:\r\n\tb: a\r\n\tc: b\r\n\td: c\r\n", [/^2:1 a tab .* in 2 more lines$/]],
  ["a tab behind blanks", "a:\n  b:\n  \tc: 1\n", [/^3:3 a tab/]],
  ["a tab behind a dash", "a:\n  -\tb: 1\n    c: 2\n", [/^2:4 a tab/]],
  ["a tab in brackets", "a: {\n\tb: 1 }\n", [/^2:1 a tab/]],
  ["a tab in a block text", "a: |\n\tx\nb: 1\n", [/^2:1 a tab/]],
  ["a tab and faults behind it", "a:\n\tb: &x 1\nc: *x\nc: @\n", [/^2:1 a tab/]],
  ["faults before a tab", "a: '1\nb: 2'\nc: @x\nd:\n\te: 1\n", [/^1:4 the quote/]],
  [
    "local faults before a tab",
    "a: 1\na: *x\nd:\n\te: 1\n",
    [/^4:1 a tab/, /^2:1 .*twice, first in line 1/, /^2:4 .*\*/],
  ],
  ["too deep", "a:\n  b: 1\n   c: 2\nd: 3\n", [/^3:4 this line is indented further/]],
  ["too deep behind a blank line", "a: 1\n\n  b: 2\n", [/^3:3 this line is indented further/]],
  ["not deep enough", "a:\n    b: 1\n  c: 2\n", [/^3:3 this line is indented otherwise/]],
  ["an indented file", "  version: 1\nserver: {}\n", [/^2:1 this line is indented less than the first/]],
  ["in no entry", "a:\n  - b: 1\n   c: 2\n", [/^3:4 this line belongs to no entry/]],
  ["entries at two depths", "a:\n  - b\n - c\n", [/^3:2 an entry of a list/]],
  ["an entry among settings", "a:\n  b: 1\n  - c: 1\n", [/^3:3 an entry of a list/]],
  ["an entry behind a colon", "a: - b\n", [/^1:4 an entry of a list/]],
  ["no colon", "a:\n  listen 8080\n  b: 1\n", [/^2:3 this line is no setting: a colon/]],
  [
    "no blank behind it",
    "a:\n  listen:8080\n  b: 1\n",
    [/^2:3 this line is no setting: a colon and a blank/],
  ],
  ["no colon at the end", "a: 1\nb\n", [/^2:1 this is no setting/]],
  ["a colon in a value", "a: b: c\n", [/^1:4 a value that holds a colon/]],
  ["an open [", "a: [ { b: 1 }\nc: { d: 1 }\n", [/^1:4 this bracket is not closed/]],
  ["an open { in [", "a: [ { b: 1\nc: 1\n", [/^1:6 this bracket is not closed/]],
  ["a ] too many", "a: [1]]\nb: { c: 1 }\n", [/^1:7 this bracket closes nothing/]],
  ["outdented brackets", "a: {\nb: 1\n}\n", [/^1:4 this bracket is not closed, or what it holds/]],
  ["an open quote", 'a: "hunter2\nb: 2\nc: 3\n', [/^1:4 the quote that opens here/]],
  ["another", "a: 'hunter2\nb: 2\n", [/^1:4 the quote that opens here/]],
  ["one that a later quote closes", 'a: "x\n  b: "y"\nc: 1\n', [/^1:4 the quote that opens here/]],
  ["an open quote of a name", '"a: 1\nb: 2\n', [/^1:1 the quote that opens here/]],
  ["text behind a quote", 'a: "x" hunter2\nb: 1\n', [/^1:8 something stands here behind a value/]],
  [
    "a text that begins with {",
    "a:\n  message: {hunter2.path} goes\n  b: 1\n",
    [/^2:27 .*value that has ended; a text that begins with \{ or \[ must stand in quotes$/],
  ],
  ["a text that begins with [", "a: [x] goes\n", [/^1:8 .*begins with \{ or \[ must stand in quotes$/]],
  ["a text with } in it", 'a: "{x}" goes\n', [/^1:10 something stands here behind a value that has ended$/]],
  ["no comma", 'a: ["x" "y"]\n', [/^1:9 a comma is missing/]],
  ["no comma in {}", "a: { b: 1 c: 2 }\n", [/^1:9 a comma is missing/]],
  ["two commas", "a: [1,,2]\n", [/^1:7 there is a comma too many/]],
  ["no blank before #", 'a: "x"#hunter2\n', [/^1:7 a blank is missing before #/]],
  ["patterns", "a: [*, x*, *_y]\n", [/^1:5 .*begins with \* must stand in quotes/, /^1:12 .*begins with \*/]],
  ["!", "a: !hunter2\n", [/^1:4 .*begins with ! must stand in quotes/]],
  ["&", "a: &\n", [/^1:4 .*begins with & must stand in quotes/]],
  ["escapes", 'a: "\\q"\nb: "C:\\path"\n', [/^1:5 .*no escape/, /^2:7 .*no escape/]],
  ["text behind |", "a: |hunter2\n  x\n", [/^1:5 nothing may stand behind/]],
  ["blanks from the web", "server:\n\u00a0\u00a0listen: a\n", [/^2:1 a blank here is no plain one/]],
  ["conflict marks", "a: 1\n<<<<<<< HEAD\nb: 2\n=======\nb: 3\n", [/^2:1 this line is no setting/]],
];

for (const [name, text, said] of FAULTS) {
  t.test(`one problem per fault, at its place: ${name}`, async (t) => {
    const lines = read(text).problems.map(({ line, column, message }) => `${line}:${column} ${message}`);
    t.match(lines, said, lines.join("\n"));
    t.equal(lines.length, said.length, lines.join("\n"));
    t.notMatch(lines.join("\n"), /hunter2/);
  });
}

t.test("a setting that stands twice is named, with its first place", async (t) => {
  const named = (text: string) => read(text).problems.map(({ line, path, message }) => [line, path, message]);
  t.same(named("server:\n  listen: a\n\n  listen: b\n"), [
    [4, ["server", "listen"], "stands here twice, first in line 2"],
  ]);
  t.same(named("routes:\n  - {}\n  - path: a\n    path: b\n    path: c\n"), [
    [4, ["routes", 1, "path"], "stands here twice, first in line 3"],
    [5, ["routes", 1, "path"], "stands here twice, first in line 3"],
  ]);
  t.same(named("hunter2: 1\nhunter2: 2\n"), [[2, [], "this setting stands here twice, first in line 1"]]);
});

t.test("reads YAML 1.2: on, yes and 012 mean what they say", async (t) => {
  const doc = read("\uFEFFa: on\nb: yes\nc: 0o12\nd: 1_0\ne: ~\nf: 2026-11-30\n1: x\n");
  t.same(doc.problems, []);
  t.same(doc.value, { a: "on", b: "yes", c: 10, d: "1_0", e: null, f: "2026-11-30", 1: "x" });
});

t.test("a name like __proto__ is an own member, not a prototype", async (t) => {
  const doc = read("__proto__: { polluted: true }\n");
  t.ok(Object.hasOwn(doc.value as object, "__proto__"));
  t.notOk("polluted" in {});
});

t.test("places", async (t) => {
  const doc = read("a: 1\nb:\n  - c: x\n    d:\n  - { e: 2 }\n");
  t.same(doc.place(["a"]), { line: 1, column: 4 });
  t.same(doc.place(["b", 0, "c"]), { line: 3, column: 8 });
  t.same(doc.place(["b", 0, "d"]), { line: 4, column: 5 }, "an empty value stands at its name");
  t.same(doc.place(["b", 1, "e"]), { line: 5, column: 10 });
  t.same(doc.place(["b", 1, "zz"]), { line: 5, column: 5 }, "what is absent stands at its parent");
  t.same(doc.place(["nope", "x"]), { line: 1, column: 1 });
  t.same(doc.placeOfName(["b", 1], "e"), { line: 5, column: 7 });
  t.same(doc.placeOfName(["b", 1], "zz"), { line: 5, column: 5 });
});

t.test("a file full of repeated and unknown names is read in linear time", async (t) => {
  const doc = read(Array.from({ length: 40_000 }, (_, index) => `k${index}: 1`).join("\n"));
  t.same(doc.problems, []);
  t.same(doc.placeOfName([], "k39999"), { line: 40_000, column: 1 });
});

t.test("and so is one full of faults", async (t) => {
  const many = (line: (n: number) => string) => Array.from({ length: 20_000 }, (_, n) => line(n)).join("\n");
  for (const text of [
    many((n) => `k${n}: !x y`),
    many((n) => `k${n}: *x`),
    many(() => "k: 1"),
    many(() => "\tk: 1"),
  ]) {
    const started = performance.now();
    t.ok(read(text).problems.length > 0);
    t.ok(performance.now() - started < 5_000);
  }
});

t.test("never throws", async () => {
  const piece = fc.constantFrom(
    "a: ",
    "- ",
    "[",
    "]",
    "{",
    "}",
    "&x ",
    "*x",
    "!t ",
    "\n",
    "  ",
    "'",
    '"',
    "|",
    ">",
    "? ",
    "<<: ",
    "---\n",
    "%",
    "#",
    ",",
    "\t",
    "\u{1F600}",
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), (parts) => {
      const doc = read(parts.join(""));
      doc.place(["a", 0, "b"]);
      return doc.problems.length > 0 || typeof doc.value === "object";
    }),
  );
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => readDocument(Buffer.from(bytes)) !== undefined),
  );
});
