/**
 * One JSON-RPC 2.0 message out of a scanned text, from a client or from a server. Decides what a message is and nothing else:
 * era, version and meaning of the params come later. Source: JSON-RPC 2.0; MCP 2026-07-28, base protocol.
 */
import { Refusal } from "../errors.ts";
import type { JsonText, Node } from "../json/scan.ts";
import { CAPABILITIES_KEY } from "./era.ts";
import { isPlainInteger, sameNumber } from "./number.ts";
import { hasTwin, knownNames } from "./twins.ts";

/** A request; `id` is the JSON text of the id as sent, `params` and `meta` are objects where present. */
export type RequestMessage = {
  readonly type: "request";
  readonly id: string;
  readonly method: string;
  readonly params: Node | undefined;
  readonly meta: Node | undefined;
};

/** A notification; its method begins with `notifications/`. */
export type NotificationMessage = {
  readonly type: "notification";
  readonly method: string;
  readonly params: Node | undefined;
  readonly meta: Node | undefined;
};

/** A response; `result` and `error` are objects, the id of an error may be null or absent. */
export type ResponseMessage =
  | { readonly type: "result"; readonly id: string; readonly result: Node }
  | { readonly type: "error"; readonly id: string | undefined; readonly error: Node };

export type Message = RequestMessage | NotificationMessage | ResponseMessage;

const ENVELOPE_NAMES = knownNames("jsonrpc", "id", "method", "params", "result", "error");
const PARAMS_NAMES = knownNames("_meta", "name", "uri", "arguments", "inputResponses", "requestState");
/** Those of a result; it may have members of its own beside them. */
export const RESULT_NAMES = knownNames("_meta", "resultType", "inputRequests", "requestState");
/** Members that an object of the protocol may have. Each look-up goes over them all; `arguments` is not looked into. */
const MAX_MEMBERS = 256;
/** Characters of a method name: policy holds patterns against it. */
const MAX_METHOD_CHARACTERS = 256;

type Fail = (detail: string) => Refusal;

/**
 * Reads an untrusted client message. Throws Refusal `invalid_request` for anything that is not exactly one request,
 * notification or response: arrays, ids that are null or no integer text, twins of known members by case, params or
 * `_meta` that are no objects, more members than any honest message has, a request without an id or a notification with
 * one. Responses are read, not judged.
 */
export function parseClientMessage(doc: JsonText): Message {
  return parse(doc, "client", (detail) => new Refusal("invalid_request", detail));
}

/**
 * Reads an untrusted server message. Throws Refusal `upstream_fault`; stricter than for clients on errors (an integer
 * code and a string message) and results (no twins by case of members the gateway judges), laxer on the spelling of
 * number ids.
 */
export function parseServerMessage(doc: JsonText): Message {
  return parse(doc, "server", (detail) => new Refusal("upstream_fault", detail));
}

function parse(doc: JsonText, from: "client" | "server", fail: Fail): Message {
  const root = doc.root;
  if (doc.kind(root) !== "object") throw fail(doc.kind(root) === "array" ? "batch" : "not_an_object");
  checkMembers(doc, root, fail);
  if (hasTwin(doc, root, ENVELOPE_NAMES)) throw fail("case_twin");
  const version = doc.get(root, "jsonrpc");
  if (version === undefined || text(doc, version, fail) !== "2.0") throw fail("jsonrpc");

  const id = doc.get(root, "id");
  const method = doc.get(root, "method");
  const result = doc.get(root, "result");
  const error = doc.get(root, "error");
  if ([method, result, error].filter((member) => member !== undefined).length !== 1) throw fail("kind");
  if (method !== undefined) return parseCall(doc, id, method, fail);
  // A response with params is read as a request by some.
  if (doc.get(root, "params") !== undefined) throw fail("kind");
  if (result !== undefined) {
    if (doc.kind(result) !== "object") throw fail("result");
    if (from === "server" && hasTwin(doc, result, RESULT_NAMES)) throw fail("case_twin");
    return { type: "result", id: readId(doc, id, from, fail), result };
  }
  if (error === undefined || doc.kind(error) !== "object") throw fail("error");
  if (from === "server" && !isErrorObject(doc, error)) throw fail("error");
  const unknownId = id === undefined || doc.kind(id) === "null";
  return { type: "error", id: unknownId ? undefined : readId(doc, id, from, fail), error };
}

function parseCall(doc: JsonText, id: Node | undefined, methodNode: Node, fail: Fail): Message {
  const method = text(doc, methodNode, fail);
  if (method === "" || method.length > MAX_METHOD_CHARACTERS) throw fail("method");
  const params = doc.get(doc.root, "params");
  if (params !== undefined && doc.kind(params) !== "object") throw fail("params");
  checkMembers(doc, params, fail);
  if (hasTwin(doc, params, PARAMS_NAMES)) throw fail("case_twin");
  const meta = doc.get(params, "_meta");
  if (meta !== undefined && doc.kind(meta) !== "object") throw fail("meta");
  checkMembers(doc, meta, fail);
  checkMembers(doc, doc.get(meta, CAPABILITIES_KEY), fail);
  if (!method.startsWith("notifications/"))
    return { type: "request", id: readId(doc, id, "client", fail), method, params, meta };
  if (id !== undefined) throw fail("id");
  return { type: "notification", method, params, meta };
}

/** What is no object has no members. */
function checkMembers(doc: JsonText, object: Node | undefined, fail: Fail): void {
  if (object !== undefined && doc.kind(object) === "object" && doc.count(object) > MAX_MEMBERS)
    throw fail("too_many_members");
}

function text(doc: JsonText, node: Node, fail: Fail): string {
  if (doc.kind(node) !== "string") throw fail("type");
  if (!doc.wellFormed(node)) throw fail("lone_surrogate");
  return doc.string(node);
}

/** The id for an error answer, also to a message that is no valid request: a string or an integer, as sent. */
export function readableId(doc: JsonText): string | null {
  const id = doc.get(doc.root, "id");
  if (id === undefined) return null;
  const kind = doc.kind(id);
  if (kind === "string") return doc.wellFormed(id) ? doc.raw(id) : null;
  return kind === "number" && isPlainInteger(doc.raw(id)) ? doc.raw(id) : null;
}

function readId(doc: JsonText, id: Node | undefined, from: "client" | "server", fail: Fail): string {
  if (id === undefined || !isId(doc, id, from)) throw fail("id");
  return doc.raw(id);
}

function isId(doc: JsonText, id: Node, from: "client" | "server"): boolean {
  if (doc.kind(id) === "string") return doc.wellFormed(id);
  return doc.kind(id) === "number" && (from === "server" || isPlainInteger(doc.raw(id)));
}

function isErrorObject(doc: JsonText, error: Node): boolean {
  const code = doc.get(error, "code");
  const message = doc.get(error, "message");
  if (code === undefined || message === undefined) return false;
  if (doc.kind(code) !== "number" || doc.kind(message) !== "string") return false;
  return Number.isSafeInteger(doc.value(code));
}

/**
 * Whether two ids, both JSON text, are the same id: strings after unescaping, numbers by their exact value (1 and 1.0 are
 * the same, 1 and "1" are not).
 */
export function sameId(a: string, b: string): boolean {
  if (a === b) return true;
  const strings = [a, b].filter((id) => id.startsWith('"')).length;
  if (strings === 1) return false;
  return strings === 2 ? JSON.parse(a) === JSON.parse(b) : sameNumber(a, b);
}
