/**
 * Which parameters of a tool are copied into headers: the `x-mcp-header` annotations of its `inputSchema`.
 * Source: MCP 2026-07-28, tools (x-mcp-header) and Streamable HTTP (custom headers from tool parameters).
 */
import type { JsonText, Node } from "../json/scan.ts";

/** One annotated parameter. */
export interface Annotation {
  /** The header, in lower case: `mcp-param-region`. */
  readonly header: string;
  /** The members that lead to the argument. */
  readonly path: readonly string[];
}

/** Why the annotations of a tool are not legal. */
export type AnnotationFault = "empty" | "token" | "kind" | "type" | "twice" | "place" | "too_deep";

const KEY = "x-mcp-header";
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** A number is not among them: two readers may print one number in two ways. */
const TYPES: ReadonlySet<string> = new Set(["string", "integer", "boolean"]);
/** Keywords whose value is one schema, or a list of them; an annotation below one has no place among the arguments. */
const SCHEMAS = [
  ...["items", "prefixItems", "contains", "additionalItems", "additionalProperties", "unevaluatedProperties"],
  ...["unevaluatedItems", "propertyNames", "oneOf", "anyOf", "allOf", "not", "if", "then", "else"],
  "contentSchema",
];
/** Keywords whose value is a map of schemas. */
const SCHEMA_MAPS = ["patternProperties", "dependentSchemas", "dependencies", "$defs", "definitions"];
/** Deeper than any argument is; the text itself is bounded too. */
const MAX_DEPTH = 128;

/** Whether a text can hold an annotation at all: a look at its bytes, so that most lists need no other. */
export function mayBeAnnotated({ bytes }: JsonText): boolean {
  // Any letter of the key may be written as an escape.
  return bytes.includes(KEY) || bytes.includes("\\u");
}

/**
 * Reads the annotations of an untrusted `inputSchema`. A property that is called `x-mcp-header` is a property, and what stands in
 * data (`default`, `enum`, `examples`) is data.
 */
export function readAnnotations(
  doc: JsonText,
  schema: Node | undefined,
): { readonly annotations: readonly Annotation[] } | { readonly fault: AnnotationFault } {
  const annotations: Annotation[] = [];
  const names = new Set<string>();
  const visit = (node: Node, path: readonly string[], reachable: boolean, depth: number): void => {
    if (doc.kind(node) !== "object") return;
    if (depth > MAX_DEPTH) throw new AnnotationError("too_deep");
    const annotation = doc.get(node, KEY);
    if (annotation !== undefined) {
      if (!reachable || path.length === 0) throw new AnnotationError("place");
      const header = readHeader(doc, annotation, doc.get(node, "type"));
      if (names.has(header)) throw new AnnotationError("twice");
      names.add(header);
      annotations.push({ header, path });
    }
    const properties = doc.get(node, "properties");
    if (properties !== undefined) {
      for (const { key, node: child } of doc.members(properties))
        visit(child, [...path, key], reachable, depth + 1);
    }
    for (const keyword of SCHEMAS) {
      const below = doc.get(node, keyword);
      if (below === undefined) continue;
      visit(below, path, false, depth + 1);
      for (const one of doc.items(below)) visit(one, path, false, depth + 1);
    }
    for (const keyword of SCHEMA_MAPS) {
      const below = doc.get(node, keyword);
      if (below === undefined) continue;
      for (const { node: child } of doc.members(below)) visit(child, path, false, depth + 1);
    }
  };
  try {
    if (schema !== undefined) visit(schema, [], true, 0);
  } catch (error) {
    if (error instanceof AnnotationError) return { fault: error.fault };
    throw error;
  }
  return { annotations };
}

function readHeader(doc: JsonText, annotation: Node, type: Node | undefined): string {
  const name = doc.text(annotation);
  if (name === undefined) throw new AnnotationError("kind");
  if (name === "") throw new AnnotationError("empty");
  if (!TOKEN.test(name)) throw new AnnotationError("token");
  if (!TYPES.has(doc.text(type) ?? "")) throw new AnnotationError("type");
  return `mcp-param-${name.toLowerCase()}`;
}

class AnnotationError extends Error {
  readonly fault: AnnotationFault;

  constructor(fault: AnnotationFault) {
    super(fault);
    this.fault = fault;
  }
}
