/**
 * One form for all spellings of a value, and the digest of a request's params that a state is bound to. Close to RFC 8785, with
 * one difference on purpose: a number is its text as sent, since doubles would make different numbers equal (1e400 and 1e401,
 * 9007199254740993 and …992).
 */
import { createHash, type Hash, hash } from "node:crypto";
import { Pieces } from "./pieces.ts";
import { JsonError, type JsonText, type Member, type Node } from "./scan.ts";

/** Separates this use of SHA-256 from all others; a new form gets a new number. */
const DOMAIN = "sealgate/params/1";

/** Members of params that a retry may or must change. */
const UNBOUND: ReadonlySet<string> = new Set(["_meta", "inputResponses", "requestState"]);

const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Nothing here waits, so one is enough. */
const pieces = new Pieces();

/**
 * The canonical text of a value: members sorted by the UTF-16 code units of their keys, no whitespace, strings as
 * `JSON.stringify` writes them (an unpaired surrogate stays one, as an escape), numbers as sent. Equal texts mean equal values.
 */
export function canonical(doc: JsonText, node: Node): string {
  const blocks: Buffer[] = [];
  pieces.run(
    (block) => blocks.push(Buffer.from(block)),
    (out) => writeValue(doc, node, out),
  );
  return Buffer.concat(blocks).toString();
}

/**
 * The digest of a request's params (an object, or undefined where the request has none): base64url of SHA-256 over a label,
 * the canonical form of all members but `_meta`, `inputResponses` and `requestState`, and that of the members of `_meta` named
 * in `boundMeta`. Absent `arguments` count as `{}`. What cannot be digested throws (`JsonError` `kind`); there is no default.
 * Linear in the text, but for the sorting of each object's members.
 */
export function digestParams(
  doc: JsonText,
  params: Node | undefined,
  boundMeta: readonly string[] = [],
): string {
  const bound: Entry[] = membersOf(doc, params).filter(({ key }) => !UNBOUND.has(key));
  if (!bound.some(({ key }) => key === "arguments")) bound.push({ key: "arguments", node: undefined });
  const named = new Set(boundMeta);
  const meta = named.size === 0 ? [] : membersOf(doc, doc.get(params, "_meta"));
  const boundToo = meta.filter(({ key }) => named.has(key));
  let long: Hash | undefined;
  let digest = "";
  pieces.run(
    (block, isLast) => {
      // Most are one block, which is digested in half the time by one call.
      if (isLast && long === undefined) digest = hash("sha256", block, "base64url");
      else {
        long ??= createHash("sha256");
        long.update(block);
      }
    },
    (out) => {
      // A canonical text holds no line feed, so nothing can move from one part to the other.
      out.text(`${DOMAIN}\n`);
      writeMembers(doc, bound, out);
      out.text("\n");
      writeMembers(doc, boundToo, out);
    },
  );
  return long?.digest("base64url") ?? digest;
}

/** A member to write; one without a value stands for `{}`. */
interface Entry {
  readonly key: string;
  readonly node: Node | undefined;
}

function membersOf(doc: JsonText, object: Node | undefined): readonly Member[] {
  if (object === undefined) return [];
  if (doc.kind(object) !== "object") throw new JsonError("kind", doc.start(object));
  return doc.members(object);
}

function writeMembers(doc: JsonText, members: readonly Entry[], out: Pieces): void {
  out.byte(OPEN_BRACE);
  for (const [index, { key, node }] of members.toSorted(byCodeUnits).entries()) {
    if (index > 0) out.byte(COMMA);
    writeKey(key, out);
    if (node === undefined) out.text("{}");
    else writeValue(doc, node, out);
  }
  out.byte(CLOSE_BRACE);
}

/** A container that is being written; of an object its members, sorted. */
interface Open {
  readonly members: readonly Member[] | undefined;
  /** Of an object an index, of an array a node: what comes next, and what does not come any more. */
  next: number;
  readonly last: number;
  first: boolean;
}

/** No recursion, so no depth can break it. */
function writeValue(doc: JsonText, node: Node, out: Pieces): void {
  const open: Open[] = [];
  for (let next: Node | undefined = node; next !== undefined; next = nextOf(doc, open, out)) {
    const kind = doc.kind(next);
    if (kind === "object") {
      const members = sorted(doc.members(next));
      out.byte(OPEN_BRACE);
      open.push({ members, next: 0, last: members.length, first: true });
    } else if (kind === "array") {
      out.byte(OPEN_BRACKET);
      open.push({ members: undefined, next: doc.inside(next), last: doc.behind(next), first: true });
    } else if (kind === "string" && doc.escaped(next)) {
      out.text(JSON.stringify(doc.looseString(next)));
    } else {
      // A string without escapes is what JSON.stringify writes: what it would escape cannot stand in one.
      out.copy(doc.bytes, doc.start(next), doc.end(next));
    }
  }
}

/** Closes what ends here; what to write next, behind its comma and its key. */
function nextOf(doc: JsonText, open: Open[], out: Pieces): Node | undefined {
  for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
    const { members, next } = top;
    if (next === top.last) {
      out.byte(members === undefined ? CLOSE_BRACKET : CLOSE_BRACE);
      open.pop();
      continue;
    }
    if (!top.first) out.byte(COMMA);
    top.first = false;
    const member = members?.[next];
    if (member === undefined) {
      top.next = doc.behind(next as Node);
      return next as Node;
    }
    top.next = next + 1;
    writeKey(member.key, out);
    return member.node;
  }
  return undefined;
}

function writeKey(key: string, out: Pieces): void {
  out.text(JSON.stringify(key));
  out.byte(COLON);
}

/** Keys of one object are never equal. */
const byCodeUnits = (a: Entry, b: Entry): number => (a.key < b.key ? -1 : 1);

const sorted = (members: readonly Member[]): readonly Member[] =>
  members.length < 2 ? members : members.toSorted(byCodeUnits);
