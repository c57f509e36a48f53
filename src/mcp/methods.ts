/**
 * The methods of MCP that the gateway has to know, and what a call of one is aimed at.
 * Source: MCP 2026-07-28 schema and Streamable HTTP transport; the older ones from 2025-11-25.
 */
import { Refusal } from "../errors.ts";
import type { JsonText, Node } from "../json/scan.ts";
import type { NotificationMessage, RequestMessage } from "./message.ts";
import { readName } from "./names.ts";
import { hasTwin, knownNames } from "./twins.ts";

/** What an operation is aimed at; resources go by their uri, byte-exact after unescaping. */
export interface Target {
  readonly kind: "tool" | "prompt" | "resource";
  readonly name: string;
}

/** Methods that are counted and traced by name. */
const COUNTED_METHODS: ReadonlySet<string> = new Set([
  "server/discover",
  "tools/list",
  "tools/call",
  "prompts/list",
  "prompts/get",
  "resources/list",
  "resources/templates/list",
  "resources/read",
  "completion/complete",
  "subscriptions/listen",
  "tasks/get",
  "tasks/update",
  "tasks/cancel",
  "initialize",
  "ping",
]);

/** A method as metrics and traces name it: a client's free text must not become a time series. */
export const countedMethod = (method: string | undefined): string =>
  method !== undefined && COUNTED_METHODS.has(method) ? method : "other";

/** The methods that may be answered with `input_required`, and may carry `requestState` and `inputResponses`. */
export const MRTR_METHODS: ReadonlySet<string> = new Set(["tools/call", "prompts/get", "resources/read"]);

/** Methods of the older revisions that are none in MCP 2026-07-28: nobody answers them there, and no policy has to judge them. */
export const REMOVED_METHODS: ReadonlySet<string> = new Set([
  "initialize",
  "ping",
  "logging/setLevel",
  "resources/subscribe",
  "resources/unsubscribe",
]);

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

/** What a method names, and in which member of its params. */
export interface Aim {
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

/** What `method` names; undefined for methods that name nothing, or not by one member. */
export const aimOf = (method: string): Aim | undefined => AIMS.get(method);

const REFERENCES: ReadonlyMap<string, Aim> = new Map<string, Aim>([
  ["ref/prompt", { kind: "prompt", member: "name" }],
  ["ref/resource", { kind: "resource", member: "uri" }],
]);

const COMPLETION_NAMES = knownNames("ref", "argument", "context");
const REFERENCE_NAMES = knownNames("type", "name", "uri");
const LISTEN_NAMES = knownNames("notifications");
const NOTIFICATION_NAMES = knownNames(
  "toolsListChanged",
  "promptsListChanged",
  "resourcesListChanged",
  "resourceSubscriptions",
);
/** Resources that one `subscriptions/listen` may name. */
const MAX_SUBSCRIPTIONS = 1000;

/** The methods of the tasks extension; each is about one task, named by `taskId`. Source: SEP-2663. */
export const TASK_METHODS: ReadonlySet<string> = new Set(["tasks/get", "tasks/update", "tasks/cancel"]);

/** Whether `method` lies in the names that the tasks extension has for itself. */
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
 * string, not well formed or longer than any name, `invalid_request` when it stands there in two cases.
 */
export function targetOf(doc: JsonText, message: RequestMessage | NotificationMessage): Target | undefined {
  if (message.method === "completion/complete") {
    const ref = doc.get(message.params, "ref");
    if (hasTwin(doc, message.params, COMPLETION_NAMES) || hasTwin(doc, ref, REFERENCE_NAMES)) throw twin();
    const aim = REFERENCES.get(stringAt(doc, doc.get(ref, "type"), "prompt", "type"));
    if (aim === undefined) throw new Refusal("invalid_params", "ref");
    return { kind: aim.kind, name: stringAt(doc, doc.get(ref, aim.member), aim.kind, aim.member) };
  }
  const aim = aimOf(message.method);
  if (aim === undefined) return undefined;
  return { kind: aim.kind, name: stringAt(doc, doc.get(message.params, aim.member), aim.kind, aim.member) };
}

/**
 * Every resource that a `subscriptions/listen` request asks updates for; empty for other methods. Throws Refusal
 * `invalid_params` on wrong types, on a uri longer than any and on more than a thousand, `invalid_request` on twins by case.
 */
export function listenedResources(doc: JsonText, message: RequestMessage | NotificationMessage): string[] {
  if (message.method !== "subscriptions/listen") return [];
  const notifications = doc.get(message.params, "notifications");
  if (hasTwin(doc, message.params, LISTEN_NAMES) || hasTwin(doc, notifications, NOTIFICATION_NAMES))
    throw twin();
  if (notifications !== undefined && doc.kind(notifications) !== "object")
    throw new Refusal("invalid_params", "notifications");
  const uris = doc.get(notifications, "resourceSubscriptions");
  if (uris === undefined) return [];
  if (doc.kind(uris) !== "array") throw new Refusal("invalid_params", "resource_subscriptions");
  if (doc.count(uris) > MAX_SUBSCRIPTIONS) throw new Refusal("invalid_params", "too_many_subscriptions");
  return Array.from(doc.items(uris), (uri) => stringAt(doc, uri, "resource", "resource_subscriptions"));
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
  if (!TASK_METHODS.has(message.method)) return undefined;
  // A sealed id is longer than any name.
  return stringAt(doc, doc.get(message.params, "taskId"), "resource", "taskId");
}

/** `detail` names what is missing. */
function stringAt(doc: JsonText, node: Node | undefined, kind: Target["kind"], detail: string): string {
  const read = readName(doc, node, kind);
  if ("name" in read) return read.name;
  throw new Refusal("invalid_params", read.fault === "kind" ? detail : read.fault);
}

const twin = (): Refusal => new Refusal("invalid_request", "case_twin");
