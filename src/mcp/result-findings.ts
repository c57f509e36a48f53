/**
 * Credentials in the result of a call that sent somebody to an address: what was granted there stays between the
 * server and the third party. Source: MCP 2026-07-28, elicitation in url mode.
 */
import type { JsonText, Node } from "../json/scan.ts";
import type { Finding } from "../rules/finding.ts";
import { sensitiveIn } from "./sensitive.ts";

const NONE: readonly Finding[] = [];
/** UTF-16 units of all parts of one result that are looked into. */
const BUDGET = 64 * 1024;
/** Parts of results that carry text. */
const LISTS = ["content", "contents", "messages"] as const;

/**
 * What an untrusted complete result holds that is no client's, said by kind; looks into texts and structured content
 * up to a bound, and what goes beyond it counts as found, unread.
 */
export function resultFindings(doc: JsonText, result: Node): readonly Finding[] {
  const kinds = new Set<string>();
  let left = BUDGET;
  const look = (text: string): void => {
    const { credentials, isWhole } = sensitiveIn(text.slice(0, Math.max(left, 0)));
    for (const kind of credentials) kinds.add(`returned_${kind}`);
    left -= text.length;
    if (!isWhole || left < 0) kinds.add("returned_unread");
  };
  const structured = doc.get(result, "structuredContent");
  if (structured !== undefined) look(doc.raw(structured));
  for (const name of LISTS) {
    const list = doc.get(result, name);
    for (const item of list === undefined ? [] : doc.items(list)) {
      const block = doc.get(item, "content") ?? item;
      const text = doc.get(doc.get(block, "resource") ?? block, "text");
      if (text !== undefined && doc.kind(text) === "string") look(doc.looseString(text));
      if (left < 0) break;
    }
  }
  return kinds.size === 0
    ? NONE
    : Array.from(kinds, (detail) => ({ rule: "elicitation/credentials-in-result", detail }) as const);
}
