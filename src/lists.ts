/**
 * Lists show what this principal may use; what was made personal is marked so. Pure: results in, edits out.
 * Spec: server/utilities/caching; design section 2, response step 5.
 */
import type { Authorizer } from "./authorization.ts";
import type { JsonText, Node } from "./json/scan.ts";
import { type Edit, keepItems } from "./json/splice.ts";
import { LIST_METHODS, type Target } from "./mcp/methods.ts";
import type { Principal } from "./principal/principal.ts";

/** The method that uses what a list shows. */
const USED_BY = { tool: "tools/call", prompt: "prompts/get", resource: "resources/read" } as const;

/** True for a method whose result is filtered. */
export const isList = (method: string): boolean => LIST_METHODS.has(method);

/** What is taken out of a list result. */
export interface Filtered {
  readonly edits: readonly Edit[];
  /** How many items the principal may not see. */
  readonly hidden: number;
}

/**
 * Takes out of a list result what the principal may not use. An item without a well-formed name goes too.
 * @param method the list method, or undefined to go by the members of the result (legacy streams, where a result may be replayed)
 */
export function filterList(
  authorizer: Authorizer,
  principal: Principal,
  doc: JsonText,
  result: Node,
  method: string | undefined,
): Filtered {
  if (authorizer.open) return { edits: [], hidden: 0 };
  let hidden = 0;
  const shown =
    (kind: Target["kind"], name: string) =>
    (item: Node): boolean => {
      const node = doc.get(item, name);
      const target =
        node !== undefined && doc.kind(node) === "string" && doc.wellFormed(node)
          ? doc.string(node)
          : undefined;
      const allowed =
        target !== undefined &&
        authorizer.decide(principal, { method: USED_BY[kind], target: { kind, name: target } }).allowed;
      if (!allowed) hidden += 1;
      return allowed;
    };
  const edits = [...LIST_METHODS].flatMap(([listMethod, { items, kind, name }]) => {
    const array = method === undefined || method === listMethod ? doc.get(result, items) : undefined;
    return array === undefined ? [] : keepItems(doc, array, shown(kind, name));
  });
  return { edits, hidden };
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
