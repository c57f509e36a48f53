/** The scanner beside `JSON.parse` and beside a second reader: the same texts, the same values, the same places. */
import { deepStrictEqual } from "node:assert/strict";
import { JsonError, type JsonText, type Node, scan } from "../../src/json/scan.ts";
import { JSON_WORDS, jsonText } from "../json-grammar.ts";
import { factsOf, parseReference, type Tree } from "../reference-json.ts";
import { attempt, same, type Target } from "../target.ts";

const LIMITS = { bytes: 1 << 16, depth: 12 };

export const scanner: Target = {
  name: "scanner",
  promise: "accepts what JSON.parse and a second reader accept and our extra rules allow, and reads it alike",
  seeds: ["0", '""', "[]", "{}", '{"a":[1,{"b":"\\u00e9"}],"c":null}', "[[[[[[[[[[[[]]]]]]]]]]]]"].map(
    (text) => Buffer.from(text),
  ),
  dictionary: JSON_WORDS,
  generate: (random) => Buffer.from(jsonText(random, 1 + random.below(14))),
  check(input) {
    const scanned = attempt(() => scan(input, LIMITS), JsonError);
    const tree = parseReference(input);
    const parsed = attempt(() => JSON.parse(input.toString("utf8")) as unknown, SyntaxError);
    // `toString` repairs what is no UTF-8, so there only the second reader counts.
    if (isUtf8(input)) same("value" in parsed, tree !== undefined, "JSON.parse and the second reader");
    const isFine = tree !== undefined && isAllowed(tree);
    same("value" in scanned, isFine, "scan accepts");
    if (!("value" in scanned)) {
      const { offset } = scanned.error;
      same(Number.isInteger(offset) && offset >= 0 && offset <= input.length, true, "offset within the text");
    } else if (tree !== undefined) {
      const doc = scanned.value;
      compare(doc, doc.root, tree);
      if ("value" in parsed) deepStrictEqual(doc.value(doc.root), parsed.value);
    }
  },
};

function isUtf8(input: Buffer): boolean {
  return Buffer.from(input.toString("utf8")).equals(input);
}

function isAllowed(tree: Tree): boolean {
  const { depth, hasTwins, hasHalfKey } = factsOf(tree);
  return depth <= LIMITS.depth && !hasTwins && !hasHalfKey;
}

/** Every node says what the tree says: kind, text, string, members, items; gives whether all strings are well formed. */
function compare(doc: JsonText, node: Node, tree: Tree): boolean {
  const kind = doc.kind(node);
  same(kind, tree.kind === "literal" ? tree.text : tree.kind, "kind");
  same(doc.raw(node), tree.text, "text");
  let isWhole = true;
  switch (tree.kind) {
    case "string":
      same(doc.looseString(node), tree.value, "string");
      isWhole = tree.value.isWellFormed();
      same("value" in attempt(() => doc.string(node), JsonError), isWhole, "string is given out");
      break;
    case "array": {
      const items = doc.items(node);
      same(items.length, tree.items.length, "items");
      for (const [i, item] of tree.items.entries()) isWhole = compare(doc, items[i] as Node, item) && isWhole;
      break;
    }
    case "object": {
      const members = doc.members(node);
      same(members.map(({ key }) => key).join("\n"), tree.members.map(([key]) => key).join("\n"), "keys");
      for (const [i, [key, value]] of tree.members.entries()) {
        const member = members[i];
        same(doc.get(node, key), member?.node, "get");
        isWhole = compare(doc, member?.node as Node, value) && isWhole;
      }
      same(doc.get(node, "no such key"), undefined, "get of what is not there");
    }
  }
  same(doc.wellFormed(node), isWhole, "well formed");
  return isWhole;
}
