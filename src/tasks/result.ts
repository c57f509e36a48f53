/**
 * Response half of tasks: what a server says of a task leaves with the client's own id, and with questions that the client may be
 * asked, under keys that hold what was asked. Source: SEP-2663; decision 26.
 */
import { auditQuestions } from "../audit/questions.ts";
import type { AuditRecord } from "../audit/record.ts";
import type { Call } from "../call.ts";
import { checkQuestions } from "../capability/check.ts";
import type { Asked, Claims } from "../envelope/format.ts";
import { Refusal } from "../errors.ts";
import { canonical } from "../json/canonical.ts";
import type { JsonText, Node } from "../json/scan.ts";
import { type Edit, editObject, replace } from "../json/splice.ts";
import { parseQuestions, type Question } from "../mcp/questions.ts";
import { readTask } from "../mcp/task.ts";
import { principalDigest } from "../principal/principal.ts";
import { birth, judgeQuestions } from "../round-trip/result.ts";
import { allowedNow, begun, isRevoked, type RoundTripContext } from "../round-trip/retry.ts";
import { sealQuestionKey, taskDigest } from "./question-key.ts";
import { type OpenedTask, placeTag, sealTaskId, type TaskClaims } from "./task-id.ts";

/** A task as it leaves. */
export interface JudgedTask {
  readonly edits: readonly Edit[];
  /** Kinds of the questions in it. */
  readonly asked: readonly Asked["kind"][];
  /** The same for audit: digests of what is shown. */
  readonly questions: NonNullable<AuditRecord["questions"]>;
  /** The call came to an error that the tool itself gave. */
  readonly isToolError: boolean;
}

/**
 * Seals the id of a task that a call became.
 * @param before the claims of the state that this request redeemed, if it was a retry
 * @throws Refusal `upstream_fault` also where no task may come, `invalid_request_state` for what was revoked meanwhile,
 *   `store_unavailable`
 */
export function sealTask(
  context: RoundTripContext,
  call: Call,
  before: Claims | undefined,
  doc: JsonText,
  result: Node,
): Edit[] {
  const { journey, target, message, tasks } = call;
  if (tasks === undefined || message.method !== "tools/call" || target === undefined)
    throw new Refusal("upstream_fault", "unasked_task");
  if (isRevoked(context, call, before ?? begun(call))) throw new Refusal("invalid_request_state", "revoked");
  const { id, inputRequests } = readTask(doc, result, true);
  if (inputRequests !== undefined) throw new Refusal("upstream_fault", "questions_in_task");
  const iat = Math.floor(context.now() / 1_000);
  const claims: TaskClaims = {
    task: id?.text ?? "",
    tool: target.name,
    principal: principalDigest(journey.principal),
    route: placeTag(journey.route.config.path),
    upstream: placeTag(journey.route.config.upstream.url),
    // A call that asked first goes on under its chain; another begins one, for operators to revoke.
    chain: before?.chain ?? context.random(16).toString("base64url"),
    chainIat: before?.chainIat ?? birth(context, call, iat),
    iat,
  };
  const sealed = sealTaskId(context, claims);
  if (sealed === undefined) throw new Refusal("upstream_fault", "task_id");
  Object.assign(journey.draft, { task: taskDigest(claims), chain: claims.chain });
  // How it ended does not belong here; clients must not use it (SEP-2663, task creation).
  const remove = new Set(["inputRequests", "requestState", "result", "error"]);
  return editObject(doc, result, { set: { taskId: JSON.stringify(sealed) }, remove });
}

/**
 * Judges what a server says of a task, in a result or in a notification.
 * @param shape the untrusted object that is, or holds, the task
 * @param mustBeTask false for acknowledgements
 * @throws Refusal `upstream_fault`, `missing_capability`, `question_forbidden`, `store_unavailable`, and `unknown_task` for one that was
 *   revoked meanwhile
 */
export function judgeTask(
  context: RoundTripContext,
  call: Call,
  own: OpenedTask,
  doc: JsonText,
  shape: Node,
  mustBeTask: boolean,
): JudgedTask {
  if (isRevoked(context, call, own.claims)) throw new Refusal("unknown_task", "revoked");
  const { id, inputRequests, isToolError } = readTask(doc, shape, mustBeTask);
  if (id !== undefined && id.text !== own.claims.task) throw new Refusal("upstream_fault", "task_mismatch");
  const edits = id === undefined ? [] : [replace(doc, id.node, JSON.stringify(own.id))];
  if (inputRequests === undefined) return { edits, asked: [], questions: [], isToolError };
  const questions = parseQuestions(doc, inputRequests, context.maxSchemaBytes);
  // On a subscription the request itself has no tool.
  checkQuestions(questions, call.declared, allowedNow(context, call.journey, own.claims.tool));
  judgeQuestions(call, doc, inputRequests);
  edits.push(sealKeys(context, own, doc, inputRequests, questions));
  return {
    edits,
    asked: questions.map(({ kind }) => kind),
    questions: auditQuestions(doc, questions),
    isToolError,
  };
}

/** The same questions under sealed keys; every byte of a question stays. */
function sealKeys(
  context: RoundTripContext,
  own: OpenedTask,
  doc: JsonText,
  inputRequests: Node,
  questions: readonly Question[],
): Edit {
  let characters = 0;
  const texts = questions.map((question) => {
    const key = sealQuestionKey(context, own, asAsked(doc, question));
    if (key === undefined) throw new Refusal("unknown_task", "unknown_key");
    characters += key.length;
    return `${JSON.stringify(key)}:${doc.raw(question.node)}`;
  });
  // They could not all be brought back.
  if (characters > context.maxTokenBytes) throw new Refusal("upstream_fault", "schema_too_large");
  return replace(doc, inputRequests, `{${texts.join(",")}}`);
}

/** What is sealed of a question. One text for a schema, however its members are ordered in this answer. */
function asAsked(doc: JsonText, { key, node, kind }: Question): Asked {
  if (kind !== "form") return { key, kind };
  const schema = doc.get(doc.get(node, "params"), "requestedSchema");
  return { key, kind, schema: schema === undefined ? "" : canonical(doc, schema) };
}

/**
 * Judges a `notifications/tasks` and its like.
 * @returns the edits, or why it is dropped: what is not listened to, what could not be answered, or what must not be asked. Whoever
 *   polls is told.
 */
export function judgeTaskNotification(
  context: RoundTripContext,
  call: Call,
  doc: JsonText,
  { method, params }: { readonly method: string; readonly params: Node | undefined },
): readonly Edit[] | string {
  const own = call.tasks?.listened.get(doc.text(doc.get(params, "taskId")) ?? "");
  if (method !== "notifications/tasks" || own === undefined || params === undefined) return "tasks";
  const { journey } = call;
  const { modes } = journey;
  journey.modes = journey.route.modes(own.claims.tool);
  try {
    return judgeTask(context, call, own, doc, params, true).edits;
  } catch (error) {
    if (error instanceof Refusal) return error.detail;
    throw error;
  } finally {
    journey.modes = modes;
  }
}

/** The edits to the acknowledgement of a subscription: its tasks leave under the client's ids, and no others. */
export function acknowledgedEdits(
  { tasks }: Call,
  doc: JsonText,
  { method, params }: { readonly method: string; readonly params: Node | undefined },
): Edit[] {
  const ids = doc.get(doc.get(params, "notifications"), "taskIds");
  if (method !== "notifications/subscriptions/acknowledged" || tasks === undefined || ids === undefined)
    return [];
  const texts = doc.items(ids).flatMap((item) => tasks.listened.get(doc.text(item) ?? "")?.id ?? []);
  return [replace(doc, ids, JSON.stringify(texts))];
}
