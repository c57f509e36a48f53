/**
 * The `Mcp-Param-*` headers of a call against its arguments, by the annotations that the server's list had when it was last
 * seen here. Pure. Source: MCP 2026-07-28, Streamable HTTP, server behaviour for custom headers.
 */
import type { Headers } from "../headers.ts";
import type { JsonText, Node } from "../json/scan.ts";
import type { Finding } from "../rules/finding.ts";
import { decodeMirrored } from "./mirrored-headers.ts";
import { sameNumber } from "./number.ts";
import type { Annotation } from "./param-annotations.ts";

/** Arguments that are looked at for the value of a header whose own argument differs; a bound for the work. */
const MAX_LEAVES = 256;
/** Characters of a number as a header; longer ones are no whole numbers that two readers agree on. */
const MAX_NUMBER = 64;

const MISSING: readonly Finding[] = [{ rule: "http/param-header-missing", detail: "param_missing" }];
const MOVED: readonly Finding[] = [{ rule: "http/param-header-missing", detail: "param_moved" }];
const NONE: readonly Finding[] = [];

/**
 * Compares the headers of a `tools/call` with its arguments.
 * A list seen here can be older or newer than the one that the client goes by, and nobody is refused for that: a header differs only
 * if some header does so by every list that is remembered, and if no other argument has its value, since an annotation may have
 * moved there. Each header that differs needs an argument of its own value. The server compares too, by the list it has now.
 * @param args the untrusted `arguments`, or undefined
 * @param versions the annotations of this tool, newest first, at least one
 */
export function paramFindings(
  doc: JsonText,
  args: Node | undefined,
  headers: Headers,
  versions: readonly (readonly Annotation[])[],
): readonly Finding[] {
  let newest: Compared | undefined;
  for (const annotations of versions) {
    const found = compare(doc, args, headers, annotations);
    newest ??= found;
    if (found.differing.length === 0) return newest.isMissing ? MISSING : NONE;
  }
  const forged = newest?.differing.find(({ value }) => !hasLeaf(doc, args, value));
  if (forged === undefined) return MOVED;
  return [{ rule: "http/param-header-differs", detail: forged.detail, data: { header: forged.header } }];
}

interface Differing {
  readonly header: string;
  readonly detail: "param_differs" | "param_malformed" | "param_unexpected";
  /** What the header says, decoded; undefined where it cannot be. */
  readonly value: string | undefined;
}

interface Compared {
  readonly differing: readonly Differing[];
  /** Whether none differs, and a header is not there. */
  readonly isMissing: boolean;
}

/** All headers against the arguments, by one list. */
function compare(
  doc: JsonText,
  args: Node | undefined,
  headers: Headers,
  annotations: readonly Annotation[],
): Compared {
  const differing: Differing[] = [];
  let isMissing = false;
  for (const { header, path } of annotations) {
    const said = headers.get(header);
    const argument = at(doc, args, path);
    if (said === undefined) {
      isMissing ||= argument !== undefined && isExpected(doc, argument);
      continue;
    }
    const value = decodeMirrored(said);
    if (value === undefined) differing.push({ header, detail: "param_malformed", value });
    else if (argument === undefined) differing.push({ header, detail: "param_unexpected", value });
    else if (!says(doc, argument, value)) differing.push({ header, detail: "param_differs", value });
  }
  return { differing, isMissing: isMissing && differing.length === 0 };
}

/** The argument at a path; undefined where there is none, or null. */
function at(doc: JsonText, args: Node | undefined, path: readonly string[]): Node | undefined {
  let node = args;
  for (const key of path) node = doc.present(node, key);
  return node;
}

/** Whether a client has to send a header for this argument: no objects, and no numbers that clients round. */
function isExpected(doc: JsonText, argument: Node): boolean {
  const kind = doc.kind(argument);
  if (kind === "number") return Number.isSafeInteger(doc.value(argument));
  return kind === "string" || kind === "true" || kind === "false";
}

/** Whether a decoded header says what the argument says. Objects and arrays have no form as a header: the server's to judge. */
function says(doc: JsonText, argument: Node, value: string): boolean {
  switch (doc.kind(argument)) {
    case "string":
      return doc.wellFormed(argument) && doc.string(argument) === value;
    case "number":
      return value.length <= MAX_NUMBER && sameNumber(doc.raw(argument), value);
    case "true":
    case "false":
      return doc.kind(argument) === value;
    case "null":
      return false;
    default:
      return true;
  }
}

/** Whether any argument, however deep, is a primitive that the header says. */
function hasLeaf(doc: JsonText, args: Node | undefined, value: string | undefined): boolean {
  if (args === undefined || value === undefined) return false;
  const open: Node[] = [args];
  for (let looked = 0; looked < MAX_LEAVES; looked++) {
    const node = open.pop();
    if (node === undefined) return false;
    if (doc.kind(node) === "object") for (const member of doc.members(node)) open.push(member.node);
    else if (doc.kind(node) !== "array" && says(doc, node, value)) return true;
  }
  return false;
}
