/**
 * Rules of lists as the server sent them, before anything is taken out for one caller: which parameters go into headers, and whether
 * the list may be kept. What is learnt is remembered for the calls that follow (seen-lists.ts).
 */
import { noteHints } from "./approval/hints.ts";
import type { Call } from "./call.ts";
import type { JsonText, Node } from "./json/scan.ts";
import { isList } from "./lists.ts";
import { LIST_METHODS } from "./mcp/methods.ts";
import { readName } from "./mcp/names.ts";
import { type Annotation, mayBeAnnotated, readAnnotations } from "./mcp/param-annotations.ts";
import { namesSecret } from "./mcp/secret-name.ts";
import type { Finding } from "./rules/finding.ts";
import { isSmall, type SeenLists } from "./seen-lists.ts";

/** What becomes of a list. */
export interface ListVerdict {
  /** Tools that are not passed on. */
  readonly dropped: ReadonlySet<Node>;
  /** It is not the same for everybody, or not said to be: no shared cache may keep it. */
  readonly unshared: boolean;
}

const NOTHING: ListVerdict = { dropped: new Set(), unshared: false };
/** Tools that the log names in one list. */
const MAX_NAMED = 20;
/** Characters of a parameter's name in which words are looked for, and of all names in one list. */
const MAX_PARAMETER = 128;
const NAME_BUDGET = 32 * 1024;

/** Judges the lists in a complete result, and notes what they say. */
export function judgeLists(call: Call, doc: JsonText, result: Node): ListVerdict {
  const { method } = call.message;
  if (!isList(method) && method !== "server/discover") return NOTHING;
  const { seen, readsHints } = call.journey.route;
  if (readsHints && method === "tools/list") noteHints(doc, doc.get(result, "tools"), seen);
  const dropped = judgeTools(call, doc, doc.get(result, "tools"), seen);
  return { dropped, unshared: isList(method) && judgePage(call, doc, result, seen) };
}

function judgeTools(call: Call, doc: JsonText, tools: Node | undefined, seen: SeenLists): ReadonlySet<Node> {
  if (tools === undefined || doc.kind(tools) !== "array") return NOTHING.dropped;
  const annotated = mayBeAnnotated(doc);
  if (!annotated && seen.tools === 0) return NOTHING.dropped;
  const dropped = new Set<Node>();
  let named = 0;
  const names: NameBudget | undefined =
    call.journey.modes["http/secret-annotation"] === "off" ? undefined : { left: NAME_BUDGET };
  for (const tool of doc.items(tools)) {
    const read = readName(doc, doc.get(tool, "name"), "tool");
    if ("fault" in read) continue;
    const { annotations, findings } = annotated
      ? judgeTool(doc, tool, names)
      : { annotations: [] as readonly Annotation[], findings: [] as readonly Finding[] };
    seen.noteTool(read.name, annotations);
    for (const finding of findings) {
      const about = named++ < MAX_NAMED ? { about: read.name } : {};
      if (call.journey.acts({ ...finding, ...about })) dropped.add(tool);
    }
  }
  return dropped;
}

/** Counts what is read of the names in one list. */
interface NameBudget {
  left: number;
}

/**
 * The annotations of a tool, if they are legal, and what is wrong with them.
 * @param names absent where nobody wants to know of secrets among them
 */
function judgeTool(
  doc: JsonText,
  tool: Node,
  names: NameBudget | undefined,
): { readonly annotations: readonly Annotation[]; readonly findings: readonly Finding[] } {
  const read = readAnnotations(doc, doc.get(tool, "inputSchema"));
  if ("fault" in read)
    return { annotations: [], findings: [{ rule: "http/param-annotation", detail: read.fault }] };
  const detail = names === undefined ? undefined : secretAmong(read.annotations, names);
  return {
    annotations: read.annotations,
    findings: detail === undefined ? [] : [{ rule: "http/secret-annotation", detail }],
  };
}

/** Whether a parameter that goes into a header has the name of a secret; what is too much to be read counts as one. */
function secretAmong(annotations: readonly Annotation[], names: NameBudget): "name" | "unread" | undefined {
  if (!isSmall(annotations)) return "unread";
  let isRead = true;
  for (const { path } of annotations) {
    const name = path.at(-1) ?? "";
    if (name.length > MAX_PARAMETER) isRead = false;
    names.left -= Math.min(name.length, MAX_PARAMETER);
    if (names.left < 0) return "unread";
    if (namesSecret(name.slice(0, MAX_PARAMETER))) return "name";
  }
  return isRead ? undefined : "unread";
}

function judgePage(
  { journey, doc: request, message, params }: Call,
  doc: JsonText,
  result: Node,
  seen: SeenLists,
): boolean {
  const shape = LIST_METHODS.get(message.method);
  const items = shape === undefined ? undefined : doc.get(result, shape.items);
  if (items === undefined) return false;
  const { varies, scopeVaries } = seen.notePage(message.method, {
    first: request.present(params, "cursor") === undefined,
    scope: doc.text(doc.get(result, "cacheScope")),
    items: doc.bytes.subarray(doc.start(items), doc.end(items)),
  });
  const acted = varies && journey.acts({ rule: "protocol/list-varies", detail: "to_and_fro" });
  return (scopeVaries && journey.acts({ rule: "cache/scope-varies", detail: "scope" })) || acted;
}
