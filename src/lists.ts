/**
 * Lists show what this principal may use; what was made personal is marked so. Pure: results in, edits out.
 * Spec: server/utilities/caching; docs/lifecycle.md, response half.
 */
import type { Authorizer } from "./authorization.ts";
import type { Operation } from "./compiled-policy.ts";
import { Refusal } from "./errors.ts";
import type { JsonText, Node } from "./json/scan.ts";
import { type Edit, keepItems } from "./json/splice.ts";
import { LIST_METHODS, type ListShape } from "./mcp/methods.ts";
import { readName } from "./mcp/names.ts";
import { hasTwin, type KnownNames, knownNames } from "./mcp/twins.ts";
import type { Principal } from "./principal/principal.ts";

/** The method that uses what a list shows. */
const USED_BY = { tool: "tools/call", prompt: "prompts/get", resource: "resources/read" } as const;

const SHAPES = [...LIST_METHODS.values()];
const LIST_NAMES = knownNames(...SHAPES.map(({ items }) => items));
/** By the member that names an item. */
const ITEM_NAMES: ReadonlyMap<string, KnownNames> = new Map(
  SHAPES.map(({ name }) => [name, knownNames(name)]),
);

const NONE: ReadonlySet<Node> = new Set();

/** True for a method whose result is filtered. */
export const isList = (method: string): boolean => LIST_METHODS.has(method);

/** What is taken out of a list result. */
export interface Filtered {
  readonly edits: readonly Edit[];
  /** How many items the principal may not see. */
  readonly hidden: number;
}

/**
 * Takes out of a result what the principal may not use: from lists under any of the four names, whichever list was asked for,
 * since a client may read any of them. An item without a readable name, or with one in two cases, goes too. Results of
 * calls and of methods that the gateway does not know are data, and not looked into.
 * @param method the method that is answered, or undefined to go by the members of any result (legacy streams, where a result
 *   may be replayed)
 * @param dropped items that a rule takes away from everybody
 * @throws Refusal `upstream_fault` for a list in two cases, or one that is no list
 */
export function filterList(
  authorizer: Authorizer,
  principal: Principal,
  doc: JsonText,
  result: Node,
  method: string | undefined,
  dropped: ReadonlySet<Node> = NONE,
): Filtered {
  const known = method === undefined || isList(method) || method === "server/discover";
  if ((authorizer.open && dropped.size === 0) || !known) return { edits: [], hidden: 0 };
  if (hasTwin(doc, result, LIST_NAMES)) throw new Refusal("upstream_fault", "case_twin");
  let hidden = 0;
  const edits = SHAPES.flatMap((shape) => {
    const array = doc.get(result, shape.items);
    if (array === undefined) return [];
    if (doc.kind(array) !== "array") {
      if (method === undefined) return [];
      throw new Refusal("upstream_fault", "list_shape");
    }
    return keepItems(doc, array, (item) => {
      const shown = authorizer.open || maySee(authorizer, principal, doc, item, shape);
      if (!shown) hidden += 1;
      return shown && !dropped.has(item);
    });
  });
  return { edits, hidden };
}

/**
 * Whether a `notifications/resources/updated` is about a resource that the principal may not read; false for other messages.
 * @param params of the server's notification, as parsed: no twins by case
 */
export function isHiddenUpdate(
  authorizer: Authorizer,
  principal: Principal,
  doc: JsonText,
  message: { readonly method: string; readonly params: Node | undefined },
): boolean {
  if (message.method !== "notifications/resources/updated") return false;
  if (authorizer.open && !authorizer.scopes.any) return false;
  const read = usedBy(doc, doc.get(message.params, "uri"), "resource");
  if (read === undefined || !authorizer.decide(principal, read).allowed) return true;
  // Whoever lost a scope since, or never had it, is told nothing of what it opens.
  return !authorizer.scopes.covers(principal.scopes, authorizer.scopes.neededFor(read, false));
}

function maySee(
  authorizer: Authorizer,
  principal: Principal,
  doc: JsonText,
  item: Node,
  { kind, name }: ListShape,
): boolean {
  const names = ITEM_NAMES.get(name);
  if (names === undefined || hasTwin(doc, item, names)) return false;
  const use = usedBy(doc, doc.get(item, name), kind);
  return use !== undefined && authorizer.lists(principal, use);
}

/** The operation that uses what `node` names; undefined where it is no readable name. */
function usedBy(doc: JsonText, node: Node | undefined, kind: ListShape["kind"]): Operation | undefined {
  const read = readName(doc, node, kind);
  return "fault" in read ? undefined : { method: USED_BY[kind], target: { kind, name: read.name } };
}

/**
 * The members that forbid shared caches a result: filtered lists, and everything that answers a retry.
 * @param must also sets the members where they are absent (cacheable methods)
 * @returns member → JSON text, for `editObject`
 */
export function privateMembers(doc: JsonText, result: Node, must: boolean): Record<string, string> {
  const set: Record<string, string> = {};
  if (must || doc.get(result, "cacheScope") !== undefined) set["cacheScope"] = '"private"';
  if (must || doc.get(result, "ttlMs") !== undefined) set["ttlMs"] = "0";
  return set;
}
