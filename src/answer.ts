/**
 * The response half for one message of the server: what leaves for it, or why it must not. Pure but for sealing.
 * Order: message → protocol → questions → seal → lists. docs/lifecycle.md, response half.
 */
import type { Authorizer } from "./authorization.ts";
import type { Call } from "./call.ts";
import type { Config } from "./config/schema.ts";
import type { Claims } from "./envelope/format.ts";
import { Refusal } from "./errors.ts";
import { JsonError, type JsonText, type Node, scan } from "./json/scan.ts";
import { type Edit, editObject, keepItems, replace, splice } from "./json/splice.ts";
import { judgeLists } from "./list-rules.ts";
import { type Filtered, filterList, isHiddenUpdate, isList, privateMembers } from "./lists.ts";
import { TASKS_EXTENSION } from "./mcp/capabilities.ts";
import { servedVersions } from "./mcp/era.ts";
import { parseServerMessage, sameId } from "./mcp/message.ts";
import { isTaskMethod } from "./mcp/methods.ts";
import { misplacedMember } from "./mcp/misplaced.ts";
import { NotificationWatch } from "./mcp/notifications.ts";
import { resultFindings } from "./mcp/result-findings.ts";
import { hintFinding, isCacheable, isEmptyResource, lacksServerInfo } from "./mcp/result-rules.ts";
import { sealRound } from "./round-trip/result.ts";
import type { RoundTripContext } from "./round-trip/retry.ts";
import { judgeError, unknownTarget } from "./server-error.ts";
import {
  acknowledgedEdits,
  type JudgedTask,
  judgeTask,
  judgeTaskNotification,
  sealTask,
} from "./tasks/result.ts";

/** What is known when an answer comes. */
export interface AnswerContext {
  readonly roundTrip: RoundTripContext;
  readonly authorizer: Authorizer;
  readonly limits: Config["server"]["limits"];
  readonly call: Call;
  /** Claims of the state that this request redeemed, if it was a retry. */
  readonly redeemed: Claims | undefined;
  /** What the stream has carried so far; made with its first notification. */
  watch?: NotificationWatch;
}

/** What leaves for one message. `final` answers the request; a dropped message leaves nothing. */
export type Answer =
  | {
      readonly kind: "final";
      readonly outcome: "complete" | "tool_error" | "input_required" | "task" | "error";
      readonly bytes: Buffer;
      /** JSON-RPC error code of an error. */
      readonly rpcCode: number | undefined;
      /** Items of a list that the principal does not see. */
      readonly hidden: number;
      /** Claims of the state that was sealed. */
      readonly sealed: Claims | undefined;
    }
  | { readonly kind: "notification"; readonly bytes: Buffer }
  | { readonly kind: "dropped"; readonly detail: string };

/**
 * Judges one message of the server.
 * @param bytes one JSON text, untrusted
 * @throws Refusal for what must not reach the client
 */
export function judgeMessage(context: AnswerContext, bytes: Buffer): Answer {
  const doc = scanServer(bytes, context.limits);
  const message = parseServerMessage(doc);
  switch (message.type) {
    case "request":
      throw new Refusal("upstream_fault", "server_request");
    case "notification":
      return judgeNotification(context, doc, message);
    case "result":
      checkPlaces(doc, [doc.root, doc.get(message.result, "_meta")]);
      return judgeResult(context, doc, message.result, idEdit(context.call, doc, message.id));
    case "error":
      checkPlaces(doc, [doc.root, message.error, doc.get(message.error, "data")]);
      return failed(context, doc, message.error, idEdit(context.call, doc, message.id));
  }
}

/** Scans a text of the server. @throws Refusal `upstream_fault` with the scanner's fault */
export function scanServer(bytes: Buffer, limits: Config["server"]["limits"]): JsonText {
  try {
    return scan(bytes, { bytes: Math.max(limits.body, limits.event), depth: limits.depth });
  } catch (error) {
    if (error instanceof JsonError) throw new Refusal("upstream_fault", `json_${error.fault}`);
    throw error;
  }
}

/** @throws Refusal `upstream_fault` */
function checkPlaces(doc: JsonText, places: readonly (Node | undefined)[]): void {
  if (misplacedMember(doc, places) !== undefined) throw new Refusal("upstream_fault", "misplaced_state");
}

/** The answer must be for this request; it leaves with the id in the client's own spelling. */
function idEdit(call: Call, doc: JsonText, id: string | undefined): Edit[] {
  const own = call.message.id;
  const node = doc.get(doc.root, "id");
  if (node === undefined) return editObject(doc, doc.root, { set: { id: own } });
  if (id !== undefined && !sameId(id, own)) throw new Refusal("upstream_fault", "id_mismatch");
  return id === own ? [] : [replace(doc, node, own)];
}

function judgeNotification(
  context: AnswerContext,
  doc: JsonText,
  message: { readonly method: string; readonly params: Node | undefined },
): Answer {
  const { authorizer, call } = context;
  const isTask = isTaskMethod(message.method);
  for (const name of isTask ? ["requestState"] : ["requestState", "inputRequests"]) {
    if (doc.get(message.params, name) !== undefined)
      return { kind: "dropped", detail: "state_in_notification" };
  }
  const edits = isTask
    ? judgeTaskNotification(context.roundTrip, call, doc, message)
    : acknowledgedEdits(call, doc, message);
  if (typeof edits === "string") return { kind: "dropped", detail: edits };
  if (isHiddenUpdate(authorizer, call.journey.principal, doc, message))
    return { kind: "dropped", detail: "hidden_resource" };
  context.watch ??= new NotificationWatch(call.doc, call.message);
  const acted = context.watch.findings(doc, message).filter((finding) => call.journey.acts(finding));
  return acted[0] === undefined
    ? { kind: "notification", bytes: splice(doc.bytes, edits) }
    : { kind: "dropped", detail: acted[0].detail };
}

function judgeResult(context: AnswerContext, doc: JsonText, result: Node, idEdits: Edit[]): Answer {
  const { call, redeemed, roundTrip } = context;
  if (doc.kind(result) !== "object") throw new Refusal("upstream_fault", "result_shape");
  const final = (
    outcome: "complete" | "tool_error" | "input_required" | "task",
    { edits, hidden = 0 }: { readonly edits: readonly Edit[]; readonly hidden?: number },
    sealed?: Claims,
  ): Answer => ({
    kind: "final",
    outcome,
    bytes: splice(doc.bytes, [...idEdits, ...edits]),
    rpcCode: undefined,
    hidden,
    sealed,
  });
  switch (resultType(doc, result)) {
    case "input_required": {
      const round = sealRound(roundTrip, call, redeemed, doc, result);
      return final("input_required", round, round.claims);
    }
    case "complete":
    case undefined: {
      const task = ofTask(context, doc, result);
      const failed = task?.isToolError ?? isToolError(call, doc, result);
      return final(failed ? "tool_error" : "complete", complete(context, doc, result, task));
    }
    case "task":
      return final("task", { edits: sealTask(roundTrip, call, redeemed, doc, result) });
    default:
      throw new Refusal("upstream_fault", "result_type");
  }
}

function resultType(doc: JsonText, result: Node): string | undefined {
  const node = doc.get(result, "resultType");
  if (node === undefined) return undefined;
  if (doc.kind(node) !== "string" || !doc.wellFormed(node))
    throw new Refusal("upstream_fault", "result_type");
  return doc.string(node);
}

/** A tool that failed says so in its result. */
function isToolError(call: Call, doc: JsonText, result: Node): boolean {
  const isError = doc.get(result, "isError");
  return call.message.method === "tools/call" && isError !== undefined && doc.kind(isError) === "true";
}

/** What a result says of the task that the request was about, if it was about one. @throws Refusal */
function ofTask({ call, roundTrip }: AnswerContext, doc: JsonText, result: Node): JudgedTask | undefined {
  const own = call.tasks?.own;
  if (own === undefined) return undefined;
  const task = judgeTask(roundTrip, call, own, doc, result, call.message.method === "tasks/get");
  const { asked, questions } = task;
  if (asked.length > 0) Object.assign(call.journey.draft, { asked, questions });
  return task;
}

/** @param task what the result says of a task, which has been judged */
function complete(
  context: AnswerContext,
  doc: JsonText,
  result: Node,
  task: JudgedTask | undefined,
): Filtered {
  const { authorizer, call, redeemed } = context;
  const { journey } = call;
  const { method } = call.message;
  const untyped = doc.get(result, "resultType") === undefined;
  // A result of a request that carried answers must not be cached either (server/utilities/caching), nor one that a user agreed to. Of tasks nothing is cached, and
  // their ttlMs is something else.
  const answered =
    task === undefined &&
    (redeemed !== undefined ||
      call.consent !== undefined ||
      call.doc.get(call.params, "inputResponses") !== undefined);
  const personal = answered || (isList(method) && !authorizer.open);
  judgeResultRules(call, doc, result);
  // Somebody was sent to an address: what they were given there is not for the client.
  if (
    redeemed?.asked.some(({ kind }) => kind === "url") &&
    journey.modes["elicitation/credentials-in-result"] !== "off"
  )
    journey.judge(resultFindings(doc, result), ({ detail }) => new Refusal("upstream_fault", detail));
  const { dropped, unshared } = judgeLists(call, doc, result);
  const hint = answered ? undefined : hintFinding(doc, result, method);
  const unhinted = hint !== undefined && journey.acts(hint);
  const set: Record<string, string> =
    personal || unhinted || unshared ? privateMembers(doc, result, isCacheable(method)) : {};
  // Absent counts as complete (basic/index).
  if (untyped && journey.acts({ rule: "protocol/result-type-missing", detail: "missing" })) {
    set["resultType"] = '"complete"';
  }
  // Where policy can hide a resource from others, no shared cache may hand it to them.
  if (!authorizer.open && doc.get(result, "cacheScope") !== undefined) set["cacheScope"] = '"private"';
  // Some servers mark a state-only round complete (Go SDK); its state must not leave in clear.
  const remove = new Set(["requestState"].filter((name) => doc.get(result, name) !== undefined));
  if (task === undefined && doc.get(result, "inputRequests") !== undefined)
    throw new Refusal("upstream_fault", "questions_in_complete");
  const { edits, hidden } = filterList(authorizer, journey.principal, doc, result, method, dropped);
  const all = [
    ...edits,
    ...(task?.edits ?? []),
    ...(method === "server/discover" ? discoverEdits(call, doc, result) : []),
    ...(remove.size > 0 || Object.keys(set).length > 0 ? editObject(doc, result, { set, remove }) : []),
  ];
  return { edits: all, hidden };
}

/** What a complete result is refused for. @throws Refusal */
function judgeResultRules({ journey, message, target }: Call, doc: JsonText, result: Node): void {
  if (journey.modes["protocol/server-info"] !== "off" && lacksServerInfo(doc, result)) {
    const finding = { rule: "protocol/server-info", detail: "server_info" } as const;
    if (journey.acts(finding)) throw new Refusal("upstream_fault", finding.detail);
  }
  if (target !== undefined && message.method === "resources/read" && isEmptyResource(doc, result)) {
    const finding = { rule: "protocol/missing-resource", detail: "empty_contents" } as const;
    if (journey.acts(finding)) throw unknownTarget(target, "upstream");
  }
}

/** The versions and extensions that the gateway does not serve are not offered. */
function discoverEdits(call: Call, doc: JsonText, result: Node): Edit[] {
  let edits: Edit[] = [];
  const served = servedVersions(call.journey.route.config.legacy);
  const versions = doc.get(result, "supportedVersions");
  if (versions !== undefined) {
    if (doc.kind(versions) !== "array") throw new Refusal("upstream_fault", "supported_versions");
    let offered = 0;
    edits = keepItems(doc, versions, (item) => {
      const both = served.includes(doc.text(item) ?? "");
      if (both) offered += 1;
      return both;
    });
    if (offered === 0) {
      throw new Refusal("unsupported_version", "upstream_versions", {
        data: { supported: [], requested: call.version },
      });
    }
  }
  const extensions = doc.get(doc.get(result, "capabilities"), "extensions");
  const servesTasks = call.journey.route.config.tasks === "pass";
  if (!servesTasks && extensions !== undefined && doc.get(extensions, TASKS_EXTENSION) !== undefined) {
    edits = edits.concat(editObject(doc, extensions, { remove: new Set([TASKS_EXTENSION]) }));
  }
  return edits;
}

function failed({ call, authorizer }: AnswerContext, doc: JsonText, error: Node, idEdits: Edit[]): Answer {
  const { code, edits } = judgeError(call, authorizer, doc, error);
  return {
    kind: "final",
    outcome: "error",
    bytes: splice(doc.bytes, [...idEdits, ...edits]),
    rpcCode: code,
    hidden: 0,
    sealed: undefined,
  };
}
