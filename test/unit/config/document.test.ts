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
    ["%YAML 1.1\n---\na: on\n", /directive/, 1, 1],
    ["a: 1\n---\nb: 2\n", /more than one document/, 2, 1],
    ["a: 1\nb:\n  c: 1\n  c: 2\n", /twice/, 4, 3],
    ["a: 1\n? [b]\n: 1\n", /must be a text/, 2, 3],
    ["a:\n\t- b\n", /tab/, 2, 1],
    ['a: "hunter2\n', /missing|indentation/, 2, 1],
    ['a: "\\q"\n', /escape/, 1, 5],
    ["a: @hunter2\n", /not valid YAML/, 1, 4],
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
