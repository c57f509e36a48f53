/**
 * The `Mcp-Param-*` headers of a call against its arguments, by the annotations that the server's list had when it was last
 * seen here. Pure. Source: MCP 2026-07-28, Streamable HTTP, server behaviour for custom headers.
 */
import type { Headers } from "../http/framing.ts";
import type { JsonText, Node } from "../json/scan.ts";
import type { Finding } from "../rules/finding.ts";
import { decodeMirrored } from "./mirrored-headers.ts";
import { sameNumber } from "./number.ts";
import type { Annotation } from "./param-annotations.ts";

/** What a header turned out to be, compared with its argument. */
type Comparison = "same" | "missing" | "differs";

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
 * if it does so by every list that is remembered, and if no other argument has its value, since an annotation may have moved
 * there. The server compares too, by the list it has now.
 * @param args the untrusted `arguments`, or undefined
 * @param versions the annotations of this tool, newest first, at least one
 */
export function paramFindings(
  doc: JsonText,
  args: Node | undefined,
  headers: Headers,
  versions: readonly (readonly Annotation[])[],
): readonly Finding[] {
  let newest: ReturnType<typeof worst>;
  for (const [index, annotations] of versions.entries()) {
    const found = worst(doc, args, headers, annotations);
    if (index === 0) newest = found;
    if (found?.comparison !== "differs") return newest?.comparison === "missing" ? MISSING : NONE;
  }
  if (newest === undefined) return NONE;
  if (hasLeaf(doc, args, newest.value)) return MOVED;
  return [
    { rule: "http/param-header-differs", detail: newest.detail, data: { header: newest.annotation.header } },
  ];
}

interface Found {
  readonly comparison: Comparison;
  readonly annotation: Annotation;
  readonly detail: "param_differs" | "param_malformed" | "param_unexpected";
  /** What the header says, decoded; undefined where it cannot be. */
  readonly value: string | undefined;
}

/** The first header that differs, or else the first that is missing. */
function worst(
  doc: JsonText,
  args: Node | undefined,
  headers: Headers,
  annotations: readonly Annotation[],
): Found | undefined {
  let missing: Found | undefined;
  for (const annotation of annotations) {
    const header = headers.get(annotation.header);
    const argument = at(doc, args, annotation.path);
    if (header === undefined) {
      if (argument !== undefined && isExpected(doc, argument))
        missing ??= { comparison: "missing", annotation, detail: "param_differs", value: undefined };
      continue;
    }
    const value = decodeMirrored(header);
    if (value === undefined) return { comparison: "differs", annotation, detail: "param_malformed", value };
    if (argument === undefined)
      return { comparison: "differs", annotation, detail: "param_unexpected", value };
    if (!says(doc, argument, value))
      return { comparison: "differs", annotation, detail: "param_differs", value };
  }
  return missing;
}

/** The argument at a path; undefined where there is none, or null. */
function at(doc: JsonText, args: Node | undefined, path: readonly string[]): Node | undefined {
  let node = args;
  for (const key of path) node = doc.get(node, key);
  return node === undefined || doc.kind(node) === "null" ? undefined : node;
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
