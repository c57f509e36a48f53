/**
 * Tasks as servers print them, read strictly: in the result that creates one, in what `tasks/get` and its like are answered, and in
 * `notifications/tasks`. Source: SEP-2663, Task, DetailedTask, CreateTaskResult.
 */
import { Refusal } from "../errors.ts";
import type { JsonText, Node } from "../json/scan.ts";
import { RESULT_NAMES } from "./message.ts";
import { misplacedMember } from "./misplaced.ts";
import { URL_ELICITATION_REQUIRED } from "./result-rules.ts";
import { hasTwin, knownNames } from "./twins.ts";

/** Bytes of a server's own task id in UTF-8, the longest that is read. */
const MAX_TASK_ID_BYTES = 4_096;
/** Bytes of an escaped character in JSON, `\uXXXX`, for one byte or more of UTF-8. */
const ESCAPE_BYTES = 6;
const STATUSES: ReadonlySet<string> = new Set([
  "working",
  "input_required",
  "completed",
  "cancelled",
  "failed",
]);
const TASK_NAMES = knownNames(
  "taskId",
  "status",
  "inputRequests",
  "requestState",
  "resultType",
  "result",
  "error",
  "_meta",
);
const ERROR_NAMES = knownNames("code", "message", "data");

/** The parts of an untrusted task that matter to the gateway. */
export interface ServerTask {
  /** Absent from an acknowledgement. */
  readonly id: { readonly node: Node; readonly text: string } | undefined;
  /** The questions, if there are any. */
  readonly inputRequests: Node | undefined;
  /** The status is completed, and the tool has failed. */
  readonly isToolError: boolean;
}

/**
 * Reads a task. Questions stand nowhere but in a task that says it waits for them, and a state nowhere at all; null counts as none of
 * either, and as no result and no error.
 * @param mustBeTask false for acknowledgements, which say nothing of the task
 * @throws Refusal `upstream_fault`
 */
export function readTask(doc: JsonText, shape: Node, mustBeTask: boolean): ServerTask {
  if (hasTwin(doc, shape, TASK_NAMES)) throw fault("case_twin");
  if (doc.present(shape, "requestState") !== undefined) throw fault("state_in_task");
  const id = readId(doc, doc.get(shape, "taskId"));
  const status = readStatus(doc, doc.get(shape, "status"));
  if (mustBeTask && (id === undefined || status === undefined)) throw fault("task_shape");
  const inputRequests = doc.present(shape, "inputRequests");
  if (inputRequests !== undefined && status !== "input_required" && doc.count(inputRequests) > 0)
    throw fault("questions_in_task");
  const result = doc.present(shape, "result");
  if (result !== undefined) checkResult(doc, result);
  const error = doc.present(shape, "error");
  if (error !== undefined) checkError(doc, error);
  const isError = doc.get(result, "isError");
  const isToolError = status === "completed" && isError !== undefined && doc.kind(isError) === "true";
  return { id, inputRequests, isToolError };
}

function readId(doc: JsonText, node: Node | undefined): ServerTask["id"] {
  if (node === undefined) return undefined;
  if (doc.kind(node) !== "string" || !doc.wellFormed(node)) throw fault("task_id");
  if (doc.end(node) - doc.start(node) > MAX_TASK_ID_BYTES * ESCAPE_BYTES + 2) throw fault("task_id");
  const text = doc.string(node);
  if (text === "" || Buffer.byteLength(text) > MAX_TASK_ID_BYTES) throw fault("task_id");
  return { node, text };
}

function readStatus(doc: JsonText, node: Node | undefined): string | undefined {
  if (node === undefined) return undefined;
  const status = doc.kind(node) === "string" ? doc.looseString(node) : "";
  if (!STATUSES.has(status)) throw fault("task_status");
  return status;
}

/** What the call came to: a whole result, and no other question or task. */
function checkResult(doc: JsonText, result: Node): void {
  if (doc.kind(result) !== "object" || hasTwin(doc, result, RESULT_NAMES)) throw fault("task_result");
  const type = doc.get(result, "resultType");
  if (type !== undefined && (doc.kind(type) !== "string" || doc.looseString(type) !== "complete"))
    throw fault("task_result");
  checkPlaces(doc, [result, doc.get(result, "_meta")]);
}

function checkError(doc: JsonText, error: Node): void {
  if (doc.kind(error) !== "object" || hasTwin(doc, error, ERROR_NAMES)) throw fault("task_error");
  const code = doc.get(error, "code");
  const value = code === undefined || doc.kind(code) !== "number" ? undefined : doc.value(code);
  if (!Number.isSafeInteger(value)) throw fault("task_error");
  if (value === URL_ELICITATION_REQUIRED) throw fault("questions_in_error");
  checkPlaces(doc, [error, doc.get(error, "data")]);
}

function checkPlaces(doc: JsonText, places: readonly (Node | undefined)[]): void {
  const misplaced = misplacedMember(doc, places);
  if (misplaced !== undefined)
    throw fault(misplaced === "requestState" ? "state_in_task" : "questions_in_task");
}

const fault = (detail: string): Refusal => new Refusal("upstream_fault", detail);
