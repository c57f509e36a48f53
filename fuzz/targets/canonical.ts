/** The digest of params: equal for every spelling of one call, and different for two calls. */
import { canonical as canonicalOf, digestParams } from "../../src/json/canonical.ts";
import { JsonError, scan } from "../../src/json/scan.ts";
import { JSON_WORDS, jsonText, space, stringText } from "../json-grammar.ts";
import { type Random, randomOf } from "../random.ts";
import { canonicalReference, parseReference, type Tree } from "../reference-json.ts";
import { attempt, same, type Target } from "../target.ts";

const LIMITS = { bytes: 1 << 20, depth: 70 };
const FREE = [
  '"_meta":{"a":1}',
  '"requestState":"x"',
  '"inputResponses":{"q":[]}',
  '"_meta":[1]',
  '"requestState":null',
];

export const canonical: Target = {
  name: "canonical",
  promise:
    "two params have one digest exactly when they are one call: key order, white space and escapes are free",
  seeds: ["{}", '{"a":1,"b":[1.0,"\\u00e9"]}', '{"x":{"y":{"z":null}}}', "[1,[2,[3]]]", '"\\ud800"'].map(
    (text) => Buffer.from(text),
  ),
  dictionary: JSON_WORDS,
  generate: (random) => Buffer.from(jsonText(random)),
  check(input) {
    const scanned = attempt(() => scan(input, { ...LIMITS, depth: 60 }), JsonError);
    const tree = parseReference(input);
    if (!("value" in scanned) || tree === undefined) return;
    const random = randomOf(input);
    const doc = scanned.value;
    const text = canonicalReference(tree);
    same(canonicalOf(doc, doc.root), text, "canonical text");
    const digest = digestOf(`"arguments":${input}`);
    same(digestOf(`"arguments":${spell(tree, random)}`), digest, "digest of another spelling");
    same(
      digestOf([`"arguments":${text}`, random.pick(FREE)].join(",")),
      digest,
      "digest with a member that is not bound",
    );
    same(digestOf(`"arguments":${text},"other":0`) === digest, false, "digest with a member that is");
    if (text === "{}") same(digestOf(random.pick(FREE)), digest, "digest without arguments");
    const other = change(tree, random);
    same(
      digestOf(`"arguments":${spell(other, random)}`) === digest,
      canonicalReference(other) === text,
      "digests are equal",
    );
  },
};

function digestOf(members: string): string {
  const doc = scan(Buffer.from(`{"params":{${members}}}`), LIMITS);
  return digestParams(doc, doc.get(doc.root, "params"));
}

/** One of many texts of the same value. */
function spell(tree: Tree, random: Random): string {
  const bare = (): string => {
    switch (tree.kind) {
      case "literal":
      case "number":
        return tree.text;
      case "string":
        return stringText(random, tree.value);
      case "array":
        return `[${tree.items.length === 0 ? space(random) : tree.items.map((item) => spell(item, random)).join(",")}]`;
      case "object": {
        const members = tree.members.map(
          ([key, value]) =>
            `${space(random)}${stringText(random, key)}${space(random)}:${spell(value, random)}`,
        );
        return `{${members.length === 0 ? space(random) : random.shuffle(members).join(",")}}`;
      }
    }
  };
  return `${space(random)}${bare()}${space(random)}`;
}

const OTHERS = [
  "null",
  "0",
  "1",
  "1.0",
  '""',
  '"1"',
  "[]",
  "{}",
  "[null]",
  '{"a":1}',
  '"\ufffd"',
  '"\\ud800"',
];

/** A value that differs in one place, or by chance in none. */
function change(tree: Tree, random: Random): Tree {
  const leaf = (): Tree => parseReference(Buffer.from(random.pick(OTHERS))) as Tree;
  const isPlain = tree.kind !== "array" && tree.kind !== "object";
  if (isPlain || random.oneIn(4)) return leaf();
  if (tree.kind === "array") {
    const items = [...tree.items];
    const at = random.below(items.length + 1);
    const item = items[at];
    const how = random.below(4);
    if (how === 0) items.splice(at, 1);
    if (how === 1) items.splice(at, 0, leaf());
    if (how === 2) items.reverse();
    if (how === 3 && item !== undefined) items[at] = change(item, random);
    return { ...tree, items };
  }
  const members = new Map(tree.members);
  const [key, value] = tree.members[random.below(tree.members.length + 1)] ?? ["new", leaf()];
  const how = random.below(3);
  if (how === 0) members.delete(key);
  if (how === 1) members.set(random.pick(["", "A", "a", "__proto__", `${key}x`]), value);
  if (how === 2) members.set(key, change(value, random));
  return { ...tree, members: [...members] };
}
