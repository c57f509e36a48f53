/**
 * What an MCP server offers, as far as policies are concerned: names, and which tools change something. Everything here is
 * the server's own word. Pure.
 */
import type { JsonText, Node } from "../json/scan.ts";
import type { ListShape } from "../mcp/methods.ts";
import { readName } from "../mcp/names.ts";

/** The lists of a server. Names in the order they came, twins included. */
export interface Catalogue {
  readonly tools: readonly Entry[];
  readonly prompts: readonly Entry[];
  readonly resources: readonly Entry[];
  readonly templates: readonly Entry[];
  /** Whether the server says that it completes arguments. */
  readonly completions: boolean;
  /** Lists that were longer than is read, went in circles, or held entries without a name that can be read. */
  readonly cut: ReadonlySet<ListName>;
}

/** The lists, by the member of a result that holds them. */
export type ListName = "tools" | "prompts" | "resources" | "templates";

/** One entry of a list. */
export interface Entry {
  readonly name: string;
  /** What its annotations say of effects. They are believed only where they make the operator look. */
  readonly effects: Effects;
}

/** `unsaid`: no word about it. `none`: the server says that it only reads. `marked`: it says otherwise, or says it oddly. */
export type Effects = "unsaid" | "none" | "marked";

/** The members of `annotations` that speak of effects (MCP schema, ToolAnnotations). */
const HINTS = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] as const;

/** Reads one entry of a list result; undefined where it has no name that the gateway would read. */
export function readEntry(doc: JsonText, item: Node, { kind, name }: ListShape): Entry | undefined {
  const read = readName(doc, doc.get(item, name), kind);
  if ("fault" in read) return undefined;
  return {
    name: read.name,
    effects: kind === "tool" ? effectsOf(doc, doc.get(item, "annotations")) : "unsaid",
  };
}

/**
 * A tool that says anything of its effects, and not plainly that it only reads, is marked: also one that contradicts itself,
 * or whose hints are no booleans.
 */
function effectsOf(doc: JsonText, annotations: Node | undefined): Effects {
  if (annotations === undefined) return "unsaid";
  if (doc.kind(annotations) !== "object") return "marked";
  const hints = new Map(HINTS.map((hint) => [hint, doc.get(annotations, hint)]));
  const given = [...hints.values()].filter((node) => node !== undefined);
  if (given.length === 0) return "unsaid";
  if (given.some((node) => !["true", "false"].includes(doc.kind(node)))) return "marked";
  const says = (hint: (typeof HINTS)[number]): boolean => {
    const node = hints.get(hint);
    return node !== undefined && doc.kind(node) === "true";
  };
  return says("readOnlyHint") && !says("destructiveHint") ? "none" : "marked";
}
