/**
 * The hygiene of complete results and of errors: what the specification asks of them beside their shape. Pure; what is found is mended,
 * refused or passed by whoever answers. Source: MCP 2026-07-28, base protocol (results, error codes), caching, resources.
 */
import type { JsonText, Node } from "../json/scan.ts";
import type { Finding } from "../rules/finding.ts";

/** Methods whose complete results say for how long and for whom they may be kept. */
const CACHEABLE: ReadonlySet<string> = new Set([
  "server/discover",
  "tools/list",
  "prompts/list",
  "resources/list",
  "resources/templates/list",
  "resources/read",
]);
const SERVER_INFO_KEY = "io.modelcontextprotocol/serverInfo";
/** Retired: a resource that does not exist is an invalid param. */
export const RESOURCE_NOT_FOUND = -32002;
/** Retired here: it carried questions inside an error. */
export const URL_ELICITATION_REQUIRED = -32042;
/** Codes that the specification keeps for itself, and those of them that it has defined. */
const RESERVED = { from: -32099, to: -32020 } as const;
const DEFINED: ReadonlySet<number> = new Set([-32020, -32021, -32022]);
/** Codes that earlier revisions left to implementations. */
const FREE = { from: -32019, to: -32000 } as const;

/** Whether the results of a method carry cache hints. */
export const isCacheable = (method: string): boolean => CACHEABLE.has(method);

/** What is wrong with the cache hints of a complete result of `method`. */
export function hintFinding(doc: JsonText, result: Node, method: string): Finding | undefined {
  if (!CACHEABLE.has(method)) return undefined;
  const ttl = doc.get(result, "ttlMs");
  const scope = doc.get(result, "cacheScope");
  if (ttl === undefined || scope === undefined)
    return { rule: "cache/hints-missing", detail: ttl === undefined ? "ttl" : "scope" };
  if (doc.kind(ttl) !== "number" || !Number.isSafeInteger(doc.value(ttl)) || Number(doc.value(ttl)) < 0)
    return { rule: "cache/bad-hints", detail: "ttl" };
  const named = doc.kind(scope) === "string" ? doc.looseString(scope) : "";
  return named === "public" || named === "private" ? undefined : { rule: "cache/bad-hints", detail: "scope" };
}

/** Whether a result does not say which server it is of. */
export function lacksServerInfo(doc: JsonText, result: Node): boolean {
  return doc.get(doc.get(result, "_meta"), SERVER_INFO_KEY) === undefined;
}

/** Whether a result of `resources/read` has no contents at all. */
export function isEmptyResource(doc: JsonText, result: Node): boolean {
  const contents = doc.get(result, "contents");
  return contents !== undefined && doc.kind(contents) === "array" && doc.count(contents) === 0;
}

/** What is wrong with the code of an error, and the code that it should have. */
export function codeFinding(
  code: number,
): { readonly finding: Finding; readonly instead: number } | undefined {
  if (code === RESOURCE_NOT_FOUND)
    return { finding: { rule: "protocol/reserved-code", detail: "retired" }, instead: -32602 };
  if (code >= RESERVED.from && code <= RESERVED.to && !DEFINED.has(code))
    return { finding: { rule: "protocol/reserved-code", detail: "undefined" }, instead: -32603 };
  if (code >= FREE.from && code <= FREE.to)
    return { finding: { rule: "protocol/new-code", detail: "free" }, instead: -32603 };
  return undefined;
}
