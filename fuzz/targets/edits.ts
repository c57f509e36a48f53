/** Splices: what was asked for is changed, in place, and every other byte is as it was. */
import { JsonError, type JsonText, type Node, scan } from "../../src/json/scan.ts";
import { type Edit, editObject, keepItems, replace, splice } from "../../src/json/splice.ts";
import { JSON_WORDS, jsonText } from "../json-grammar.ts";
import { type Random, randomOf } from "../random.ts";
import { attempt, same, type Target } from "../target.ts";

const LIMITS = { bytes: 1 << 20, depth: 64 };
const VALUES = ["null", '"x"', "[]", '{"n":1.10}', "1e400", '"\\ud83d\\ude00"', '"\u00e9"'];
const KEYS = ["a", "b", "", "id", "__proto__", "0", "\u00e9", "new", 'q"'];

export const edits: Target = {
  name: "edits",
  promise: "editObject, keepItems and replace do what they say to the text, and nothing else",
  seeds: ["{}", '{"a":1}', '{ "a" : 1 , "b" : [ 1 , 2 ] }', "[1,2,3]", '[{"a":{"b":{}}}]'].map((text) =>
    Buffer.from(text),
  ),
  dictionary: JSON_WORDS,
  generate: (random) => Buffer.from(jsonText(random)),
  check(input) {
    const scanned = attempt(() => scan(input, LIMITS), JsonError);
    if (!("value" in scanned)) return;
    const doc = scanned.value;
    const random = randomOf(input);
    const nodes = nodesOf(doc, doc.root);
    const node = random.pick(nodes);
    const kind = doc.kind(node);
    if (kind === "object") checkObject(doc, node, random);
    if (kind === "array") checkArray(doc, node, random);
    const value = random.pick(VALUES);
    changed(doc, node, [replace(doc, node, value)], value);
    // An edit on each of two nodes that do not hold one another.
    const other = random.pick(nodes);
    if (doc.end(node) <= doc.start(other)) {
      const both = [replace(doc, other, "1"), replace(doc, node, "2")];
      const expected = Buffer.concat([
        ...[doc.bytes.subarray(0, doc.start(node)), Buffer.from("2")],
        ...[
          doc.bytes.subarray(doc.end(node), doc.start(other)),
          Buffer.from("1"),
          doc.bytes.subarray(doc.end(other)),
        ],
      ]);
      same(splice(doc.bytes, both).toString("hex"), expected.toString("hex"), "two edits");
    }
  },
};

function checkObject(doc: JsonText, object: Node, random: Random): void {
  const own = doc.members(object).map(({ key }) => key);
  const keys = random.shuffle([...own, ...KEYS]);
  const set: [string, string][] = keys.slice(0, random.below(4)).map((key) => [key, random.pick(VALUES)]);
  const remove = new Set(random.shuffle(keys).slice(0, random.below(4)));
  const wanted = new Map(set);
  const expected = doc
    .members(object)
    .filter(({ key }) => wanted.has(key) || !remove.has(key))
    .map(({ key, node }): [string, string] => [key, wanted.get(key) ?? doc.raw(node)]);
  for (const [key, value] of wanted) if (!own.includes(key)) expected.push([key, value]);
  // Made so that "__proto__" is a member of its own and no prototype.
  const change = { set: Object.fromEntries(wanted), remove };
  const after = changed(doc, object, editObject(doc, object, change));
  const node = nodeAt(after, doc.start(object));
  const members = after.members(node).map(({ key, node }): [string, string] => [key, after.raw(node)]);
  const order = ([a]: [string, string], [b]: [string, string]): number => (a < b ? -1 : 1);
  const kept = (list: [string, string][]): string =>
    JSON.stringify(list.filter(([key]) => own.includes(key)));
  same(kept(members), kept(expected), "members that were there, in their order");
  same(JSON.stringify(members.toSorted(order)), JSON.stringify(expected.toSorted(order)), "all members");
}

function checkArray(doc: JsonText, array: Node, random: Random): void {
  const kept: string[] = [];
  const made = keepItems(doc, array, (item) => {
    const keep = random.oneIn(2);
    if (keep) kept.push(doc.raw(item));
    return keep;
  });
  const after = changed(doc, array, made);
  const items = after.items(nodeAt(after, doc.start(array))).map((item) => after.raw(item));
  same(items.join("\n"), kept.join("\n"), "items kept");
  if (kept.length === doc.items(array).length) same(made.length, 0, "edits that keep all");
}

/** The text after edits within `node`: sound, the same around the node, and `text` in its place if given. */
function changed(doc: JsonText, node: Node, made: readonly Edit[], text?: string): JsonText {
  const bytes = splice(doc.bytes, made);
  const behind = doc.bytes.subarray(doc.end(node));
  same(
    bytes.subarray(0, doc.start(node)).equals(doc.bytes.subarray(0, doc.start(node))),
    true,
    "bytes before",
  );
  same(bytes.subarray(bytes.length - behind.length).equals(behind), true, "bytes behind");
  if (text !== undefined)
    same(bytes.toString("utf8", doc.start(node), bytes.length - behind.length), text, "value put in");
  return scan(bytes, LIMITS);
}

/** The container that begins at an offset. */
function nodeAt(doc: JsonText, start: number): Node {
  const found = nodesOf(doc, doc.root).find((node) => doc.start(node) === start);
  if (found === undefined) throw new Error("nothing begins where the container stood");
  return found;
}

function nodesOf(doc: JsonText, node: Node): Node[] {
  const below = [...doc.items(node), ...doc.members(node).map((member) => member.node)];
  return [node, ...below.flatMap((child) => nodesOf(doc, child))];
}
