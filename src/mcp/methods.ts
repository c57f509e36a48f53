/**
 * The methods of MCP that the gateway has to know, and what a call of one is aimed at.
 * Source: MCP 2026-07-28 schema and Streamable HTTP transport; the older ones from 2025-11-25.
 */
import { Refusal } from "../errors.ts";
import type { JsonText, Node } from "../json/scan.ts";
import type { NotificationMessage, RequestMessage } from "./message.ts";

/** What an operation is aimed at; resources go by their uri, byte-exact after unescaping. */
export interface Target {
  readonly kind: "tool" | "prompt" | "resource";
  readonly name: string;
}

/** The methods that may be answered with `input_required`, and may carry `requestState` and `inputResponses`. */
export const MRTR_METHODS: ReadonlySet<string> = new Set(["tools/call", "prompts/get", "resources/read"]);

/** How the result of a list method is made up: the member that holds the entries, and the member that names one. */
export interface ListShape {
  readonly kind: Target["kind"];
  readonly items: string;
  readonly name: string;
}

/** List method → shape of its result. */
export const LIST_METHODS: ReadonlyMap<string, ListShape> = new Map<string, ListShape>([
  ["tools/list", { kind: "tool", items: "tools", name: "name" }],
  ["prompts/list", { kind: "prompt", items: "prompts", name: "name" }],
  ["resources/list", { kind: "resource", items: "resources", name: "uri" }],
  ["resources/templates/list", { kind: "resource", items: "resourceTemplates", name: "uriTemplate" }],
]);

interface Aim {
  readonly kind: Target["kind"];
  readonly member: "name" | "uri";
}

const AIMS: ReadonlyMap<string, Aim> = new Map<string, Aim>([
  ["tools/call", { kind: "tool", member: "name" }],
  ["prompts/get", { kind: "prompt", member: "name" }],
  ["resources/read", { kind: "resource", member: "uri" }],
  ["resources/subscribe", { kind: "resource", member: "uri" }],
  ["resources/unsubscribe", { kind: "resource", member: "uri" }],
]);

const REFERENCES: ReadonlyMap<string, Aim> = new Map<string, Aim>([
  ["ref/prompt", { kind: "prompt", member: "name" }],
  ["ref/resource", { kind: "resource", member: "uri" }],
]);

const TASK_ID_METHODS: ReadonlySet<string> = new Set(["tasks/get", "tasks/update", "tasks/cancel"]);

/** Whether `method` belongs to the tasks extension, which the gateway does not serve. */
export function isTaskMethod(method: string): boolean {
  return (
    method.startsWith("tasks/") ||
    method === "notifications/tasks" ||
    method.startsWith("notifications/tasks/")
  );
}

/**
 * The one tool, prompt or resource that the message is about; undefined for methods that have none. `completion/complete`
 * is about the prompt or resource template it refers to. Throws Refusal `invalid_params` when the name is missing, no
 * string, or not well formed.
 */
export function targetOf(doc: JsonText, message: RequestMessage | NotificationMessage): Target | undefined {
  if (message.method === "completion/complete") {
    const ref = doc.get(message.params, "ref");
    const aim = REFERENCES.get(readString(doc, ref, "type"));
    if (aim === undefined) throw new Refusal("invalid_params", "ref");
    return { kind: aim.kind, name: readString(doc, ref, aim.member) };
  }
  const aim = AIMS.get(message.method);
  if (aim === undefined) return undefined;
  return { kind: aim.kind, name: readString(doc, message.params, aim.member) };
}

/**
 * Every resource that a `subscriptions/listen` request asks updates for; empty for other methods. Throws Refusal
 * `invalid_params` on wrong types.
 */
export function listenedResources(doc: JsonText, message: RequestMessage | NotificationMessage): string[] {
  if (message.method !== "subscriptions/listen") return [];
  const uris = doc.get(doc.get(message.params, "notifications"), "resourceSubscriptions");
  if (uris === undefined) return [];
  if (doc.kind(uris) !== "array") throw new Refusal("invalid_params", "resource_subscriptions");
  return Array.from(doc.items(uris), (uri) => stringAt(doc, uri, "resource_subscriptions"));
}

/**
 * The string that `Mcp-Name` has to mirror; undefined for methods without that header. Throws Refusal `invalid_params` like
 * `targetOf`. Source: Streamable HTTP, request headers; for tasks SEP-2663.
 */
export function mirroredName(
  doc: JsonText,
  message: RequestMessage | NotificationMessage,
): string | undefined {
  if (MRTR_METHODS.has(message.method)) return targetOf(doc, message)?.name;
  return TASK_ID_METHODS.has(message.method) ? readString(doc, message.params, "taskId") : undefined;
}

function readString(doc: JsonText, object: Node | undefined, member: string): string {
  return stringAt(doc, doc.get(object, member), member);
}

function stringAt(doc: JsonText, node: Node | undefined, detail: string): string {
  if (node === undefined || doc.kind(node) !== "string") throw new Refusal("invalid_params", detail);
  if (!doc.wellFormed(node)) throw new Refusal("invalid_params", "lone_surrogate");
  return doc.string(node);
}
