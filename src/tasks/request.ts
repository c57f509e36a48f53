/**
 * Request half of tasks: ids that clients bring are opened and bound, answers are checked against the questions in their own keys, and the
 * server gets its own id and its own keys. Nothing is forwarded that does not open. Source: SEP-2663; decision 26.
 */
import type { Call } from "../call.ts";
import { checkStillAllowed, refuseWithoutTasks } from "../capability/check.ts";
import { type Asked, EnvelopeError } from "../envelope/format.ts";
import { Refusal } from "../errors.ts";
import type { Journey } from "../journey.ts";
import type { JsonText, Node } from "../json/scan.ts";
import { type Edit, editObject, replace } from "../json/splice.ts";
import { actionsIn, checkAnswers } from "../mcp/answers.ts";
import { declaresTasks } from "../mcp/capabilities.ts";
import type { NotificationMessage, RequestMessage } from "../mcp/message.ts";
import { TASK_METHODS } from "../mcp/methods.ts";
import { readName } from "../mcp/names.ts";
import { MAX_QUESTIONS } from "../mcp/questions.ts";
import { hasTwin, knownNames } from "../mcp/twins.ts";
import { principalDigest } from "../principal/principal.ts";
import { isRevoked, type Retry, type RoundTripContext } from "../round-trip/retry.ts";
import { openQuestionKey, taskDigest } from "./question-key.ts";
import { checkTask, type OpenedTask, openTaskId, type TaskUse } from "./task-id.ts";

const PARAMS_NAMES = knownNames("taskId");
const FILTER_NAMES = knownNames("taskIds");
/** Tasks that one `subscriptions/listen` may name. */
const MAX_LISTENED = 1_000;
const NONE: ReadonlyMap<string, OpenedTask> = new Map();

/**
 * What a message does with tasks; undefined where the route serves none, or the message neither uses nor declares them.
 * @throws Refusal `missing_capability` without the extension, `unknown_task` for every id that is not this caller's here, whatever
 *   is wrong with it, `store_unavailable`, `invalid_params`, `invalid_request`
 */
export function openTasks(
  context: RoundTripContext,
  journey: Journey,
  doc: JsonText,
  message: RequestMessage | NotificationMessage,
): TaskUse | undefined {
  if (journey.route.config.tasks !== "pass" || message.type === "notification") return undefined;
  const isDeclared = declaresTasks(doc, message.meta);
  if (TASK_METHODS.has(message.method)) {
    if (!isDeclared) throw refuseWithoutTasks();
    if (hasTwin(doc, message.params, PARAMS_NAMES)) throw new Refusal("invalid_request", "case_twin");
    const own = openOwn(context, journey, idAt(doc, doc.get(message.params, "taskId")));
    const { chain } = own.claims;
    Object.assign(journey.draft, { task: taskDigest(own.claims), chain });
    return { own, listened: NONE };
  }
  const ids = listenedIds(doc, message);
  if (ids !== undefined && !isDeclared) throw refuseWithoutTasks();
  if (!isDeclared) return undefined;
  const listened = new Map<string, OpenedTask>();
  for (const item of ids === undefined ? [] : doc.items(ids)) {
    const task = openOwn(context, journey, idAt(doc, item));
    // Of two spellings of one id the first is told of.
    if (!listened.has(task.claims.task)) listened.set(task.claims.task, task);
  }
  return { own: undefined, listened };
}

/** Opens an id for whoever brings it. @throws Refusal `unknown_task`, `store_unavailable` */
function openOwn(context: RoundTripContext, journey: Journey, id: string): OpenedTask {
  const { route, principal } = journey;
  let task: OpenedTask | undefined;
  try {
    task = openTaskId(context, id);
    const presented = {
      principal: principalDigest(principal),
      route: route.config.path,
      upstream: route.config.upstream.url,
    };
    checkTask(task.claims, presented, context.now() / 1_000, context.clockSkew / 1_000);
    if (isRevoked(context, { journey }, task.claims)) throw new EnvelopeError("revoked");
    return task;
  } catch (error) {
    if (!(error instanceof EnvelopeError)) throw error;
    if (task !== undefined) journey.draft.task = taskDigest(task.claims);
    throw new Refusal("unknown_task", error.fault);
  }
}

/**
 * What makes a request of an opened task fit for the server: its own id, and answers under its own keys. Undefined for other requests.
 * @throws Refusal `invalid_request_state` for state, which tasks have none of, and for answers to anything but `tasks/update`;
 *   `invalid_input_responses`, `question_forbidden`
 */
export function openTaskRequest(context: RoundTripContext, call: Call): Retry | undefined {
  const { doc, params, message } = call;
  const own = call.tasks?.own;
  if (own === undefined) return undefined;
  const id = doc.get(params, "taskId");
  if (params === undefined || id === undefined) throw new Refusal("invalid_params", "taskId");
  const updates = message.method === "tasks/update";
  for (const name of updates ? ["requestState"] : ["requestState", "inputResponses"]) {
    const node = doc.get(params, name);
    if (node !== undefined && doc.kind(node) !== "null")
      throw new Refusal("invalid_request_state", "unsupported_method");
  }
  const remove = new Set(updates ? ["requestState"] : ["requestState", "inputResponses"]);
  const edits = [
    replace(doc, id, JSON.stringify(own.claims.task)),
    ...editObject(doc, params, { remove }),
    ...(updates ? openAnswers(context, call, own, doc.get(params, "inputResponses")) : []),
  ];
  return { kind: "first", edits };
}

/** The edits that give a subscription the server's ids. */
export function listenedEdits({ doc, message, tasks }: Call): Edit[] {
  const ids = listenedIds(doc, message);
  if (tasks === undefined || ids === undefined) return [];
  const own = new Map([...tasks.listened.values()].map(({ id, claims }) => [id, claims.task]));
  // A second spelling of an id that stands there already adds nothing.
  const texts = doc.items(ids).flatMap((item) => own.get(doc.string(item)) ?? []);
  return [replace(doc, ids, JSON.stringify(texts))];
}

function openAnswers(
  context: RoundTripContext,
  call: Call,
  own: OpenedTask,
  answers: Node | undefined,
): Edit[] {
  const { doc, journey } = call;
  const fault = (detail: string): Refusal => new Refusal("invalid_input_responses", detail);
  if (answers === undefined || doc.kind(answers) !== "object") throw fault("input_responses");
  if (doc.count(answers) > MAX_QUESTIONS) throw fault("too_many_answers");
  const members = doc.members(answers);
  const characters = members.reduce((sum, { key }) => sum + key.length, 0);
  if (characters > context.maxTokenBytes) throw fault("answers_too_large");
  const asked: Asked[] = [];
  const originals = new Set<string>();
  const keys: Edit[] = [];
  for (const { key, node, start } of members) {
    const question = openKey(context, own, key);
    if (question === undefined) throw fault("foreign_key");
    // Asked twice under one key, in two ways: whichever is answered, the other could be meant.
    if (originals.has(question.key)) throw fault("answered_twice");
    originals.add(question.key);
    asked.push({ ...question, key });
    keys.push({ start, end: doc.start(node), text: `${JSON.stringify(question.key)}:` });
  }
  checkStillAllowed(asked, call.allow());
  const { edits, findings } = checkAnswers(doc, answers, asked);
  journey.judge(findings, ({ detail }) => fault(detail));
  journey.draft.answers = actionsIn(doc, answers, asked);
  return [...keys, ...edits];
}

/** What was asked under a key that a client brings; undefined unless this very task asked it. */
function openKey(context: RoundTripContext, own: OpenedTask, key: string): Asked | undefined {
  try {
    const { task, asked } = openQuestionKey(context, key, context.maxTokenBytes);
    return task === taskDigest(own.claims) ? asked : undefined;
  } catch (error) {
    if (error instanceof EnvelopeError) return undefined;
    throw error;
  }
}

/** The untrusted list of ids that a subscription names; undefined where it names none. @throws Refusal `invalid_params`, `invalid_request` */
function listenedIds(doc: JsonText, message: RequestMessage): Node | undefined {
  if (message.method !== "subscriptions/listen") return undefined;
  const filter = doc.get(message.params, "notifications");
  if (hasTwin(doc, filter, FILTER_NAMES)) throw new Refusal("invalid_request", "case_twin");
  const ids = doc.present(filter, "taskIds");
  if (ids === undefined) return undefined;
  if (doc.kind(ids) !== "array") throw new Refusal("invalid_params", "task_ids");
  if (doc.count(ids) > MAX_LISTENED) throw new Refusal("invalid_params", "too_many_subscriptions");
  return doc.count(ids) === 0 ? undefined : ids;
}

function idAt(doc: JsonText, node: Node | undefined): string {
  const read = readName(doc, node, "resource");
  if ("name" in read) return read.name;
  throw new Refusal("invalid_params", read.fault === "kind" ? "taskId" : read.fault);
}
