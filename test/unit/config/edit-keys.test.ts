/** Edits of the keys section: exactly the lines that change, whatever style the file is written in. */
import t from "tap";
import { parse } from "yaml";
import { editKeys, type KeysEdit } from "../../../src/config/edit-keys.ts";

const ADD = { add: { id: "c", file: "secrets/key-c" } };
const ENTRY = '{ id: "c", secret: { file: "secrets/key-c" } }';

const BLOCK = `version: 1
# all about keys
keys:   # the ring
  primary: a     # seals
  ring:
    # the first
    - { id: a, secret: { file: ka } }  # 2025
    # the second
    - { id: b, secret: { env: B } }

# next section
log: { level: info }
`;
const LONG = `keys:
  ring:
  - id: a
    secret:
      file: ka   # here
  - id: b
    secret: { file: "kb" }
  primary: "a"
  next:
    id: b
    notBefore: 2026-12-01T00:00:00Z
version: 1
`;
const FLOW = `{ version: 1, keys: { primary: 'a', next: { id: b, notBefore: "2026-12-01T00:00:00Z" }, ring: [ { id: a, secret: { file: ka } }, { id: b, secret: { file: kb } } ] } }`;

const EDITS: [string, string, KeysEdit, string[], string[]][] = [
  ["promote", BLOCK, { primary: "b" }, ["  primary: a     # seals"], ['  primary: "b"     # seals']],
  ["add", BLOCK, ADD, [], [`    - ${ENTRY}`]],
  ["remove the first", BLOCK, { remove: "a" }, ["    - { id: a, secret: { file: ka } }  # 2025"], []],
  ["remove the last", BLOCK, { remove: "b" }, ["    - { id: b, secret: { env: B } }"], []],
  ["long: promote", LONG, { primary: "b" }, ['  primary: "a"'], ['  primary: "b"']],
  ["long: add", LONG, ADD, [], [`  - ${ENTRY}`]],
  [
    "long: remove the first",
    LONG,
    { remove: "a" },
    ["  - id: a", "    secret:", "      file: ka   # here"],
    [],
  ],
  ["long: remove the last", LONG, { remove: "b" }, ["  - id: b", '    secret: { file: "kb" }'], []],
  [
    "long: drop next",
    LONG,
    { primary: "b", dropNext: true },
    ['  primary: "a"', "  next:", "    id: b", "    notBefore: 2026-12-01T00:00:00Z"],
    ['  primary: "b"'],
  ],
  ["flow: promote", FLOW, { primary: "b" }, [FLOW], [FLOW.replace("'a'", '"b"')]],
  ["flow: add", FLOW, ADD, [FLOW], [FLOW.replace("kb } }", `kb } }, ${ENTRY}`)]],
  [
    "flow: remove the first",
    FLOW,
    { remove: "a" },
    [FLOW],
    [FLOW.replace("{ id: a, secret: { file: ka } }, ", "")],
  ],
  [
    "flow: remove the last",
    FLOW,
    { remove: "b" },
    [FLOW],
    [FLOW.replace(", { id: b, secret: { file: kb } }", "")],
  ],
  [
    "flow: drop next",
    FLOW,
    { primary: "b", dropNext: true },
    [FLOW],
    [FLOW.replace('next: { id: b, notBefore: "2026-12-01T00:00:00Z" }, ', "").replace("'a'", '"b"')],
  ],
];

/** Lines of `a` that are not in `b`. */
const without = (a: string, b: string): string[] => {
  const left = b.split("\n");
  return a.split("\n").filter((line) => {
    const at = left.indexOf(line);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
};

for (const [name, text, edit, gone, come] of EDITS) {
  t.test(name, async (t) => {
    for (const [style, change] of [
      ["LF", (s: string) => s],
      ["CRLF", (s: string) => s.replaceAll("\n", "\r\n")],
      ["no line end at the end", (s: string) => s.trimEnd()],
    ] as const) {
      const before = change(text);
      const edited = editKeys(before, edit);
      if (style === "CRLF") t.notMatch(edited.replaceAll("\r\n", ""), "\n", "one kind of line end");
      const plain = (s: string): string => s.replaceAll("\r\n", "\n");
      t.same(without(plain(before), plain(edited)), gone, `${style}: gone`);
      t.same(without(plain(edited), plain(before)), come, `${style}: come`);
    }
  });
}

t.test("three steps of a rotation, one after the other", async (t) => {
  let text = BLOCK;
  for (const edit of [ADD, { primary: "c" }, { remove: "a" }, { remove: "b" }]) text = editKeys(text, edit);
  t.same(parse(text), {
    version: 1,
    keys: { primary: "c", ring: [{ id: "c", secret: { file: "secrets/key-c" } }] },
    log: { level: "info" },
  });
  for (const comment of ["# all about keys", "# the ring", "# seals", "# the first", "# next section"]) {
    t.ok(text.includes(comment), comment);
  }
});

t.test("ids that YAML would read as something else stay texts", async (t) => {
  for (const id of ["1e3", "007", "true", "null", "2026-12-01", "0x1", ".inf", "-"]) {
    const text = editKeys(BLOCK, { add: { id, file: id } });
    t.same(parse(editKeys(text, { primary: id })).keys.primary, id);
    t.same(parse(text).keys.ring.at(-1), { id, secret: { file: id } });
  }
});

t.test("what cannot be edited with certainty is refused, and nothing is given out", async (t) => {
  const cases: [string, string, KeysEdit][] = [
    ["no keys section", "version: 1\n", { primary: "a" }],
    ["keys is no mapping", "keys: 7\n", { primary: "a" }],
    ["no ring to add to", "keys: { primary: a, folder: k }\n", ADD],
    ["no such entry", BLOCK, { remove: "z" }],
    [
      "the only entry of a block ring",
      "keys:\n  primary: a\n  ring:\n    - { id: a, secret: { file: k } }\n",
      { remove: "a" },
    ],
  ];
  for (const [name, text, edit] of cases) {
    t.throws(() => editKeys(text, edit), { name: "EditRefused", message: /nothing was changed/ }, name);
  }
});
