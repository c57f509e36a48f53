/**
 * A server with tasks (SEP-2663), scripted: a call of `report` becomes a task, which asks what it is told to ask, and is completed by its
 * answers. Keeps tasks by ids of its own, as a real one would.
 */
import type { ServerResponse } from "node:http";
import { type Arrived, result, type Script } from "./upstream.ts";

export const TASKS_EXTENSION = "io.modelcontextprotocol/tasks";
/** What a client of tasks declares that can be asked by form. */
export const DECLARED = { elicitation: { form: {} }, extensions: { [TASKS_EXTENSION]: {} } };
/** A question by form with one field. */
export const NAME_FORM = {
  method: "elicitation/create",
  params: {
    message: "Whose report?",
    requestedSchema: {
      type: "object",
      properties: { name: { type: "string", maxLength: 8 } },
      required: ["name"],
    },
  },
};

/** One task of the server. */
export interface ServerSideTask {
  status: string;
  questions: Record<string, unknown>;
  /** Further members of the task: a result, an error. */
  more: Record<string, unknown>;
}

/** The server, as a script for `startUpstream`. */
export interface TaskServer {
  readonly script: Script;
  readonly tasks: Map<string, ServerSideTask>;
  /** The message that a task leaves in, by its method: a result, or params of a notification. */
  shown(id: string): Record<string, unknown>;
}

const TIMES = {
  createdAt: "2026-11-30T10:00:00Z",
  lastUpdatedAt: "2026-11-30T10:00:01Z",
  ttlMs: 3_600_000,
  pollIntervalMs: 500,
};

/** Makes one; ids are `task-1`, `task-2`, … */
export function createTaskServer(): TaskServer {
  const tasks = new Map<string, ServerSideTask>();
  const shown = (taskId: string): Record<string, unknown> => {
    const task = tasks.get(taskId) ?? { status: "working", questions: {}, more: {} };
    const asks = task.status === "input_required" ? { inputRequests: task.questions } : {};
    return { taskId, status: task.status, ...TIMES, ...asks, ...task.more };
  };
  const answer = (arrived: Arrived, response: ServerResponse, value: unknown): void =>
    result(arrived, response, JSON.stringify(value));
  const script: Script = (arrived, response) => {
    const { method, params = {} } = arrived.json;
    if (method === "tools/call") {
      const id = `task-${tasks.size + 1}`;
      tasks.set(id, { status: "working", questions: {}, more: {} });
      return answer(arrived, response, { resultType: "task", ...shown(id) });
    }
    const task = tasks.get(params.taskId);
    if (task === undefined || arrived.headers["mcp-name"] !== params.taskId) {
      response.writeHead(200, { "content-type": "application/json" });
      const error = { code: -32602, message: "Failed to retrieve task: Task not found" };
      response.end(JSON.stringify({ jsonrpc: "2.0", id: arrived.json.id, error }));
      return;
    }
    if (method === "tasks/get")
      return answer(arrived, response, { resultType: "complete", ...shown(params.taskId) });
    if (method === "tasks/update") {
      for (const key of Object.keys(params.inputResponses)) delete task.questions[key];
      const isDone = Object.keys(task.questions).length === 0;
      if (isDone) {
        task.status = "completed";
        task.more = { result: { content: [{ type: "text", text: JSON.stringify(params.inputResponses) }] } };
      }
    }
    if (method === "tasks/cancel") task.status = "cancelled";
    answer(arrived, response, { resultType: "complete" });
  };
  return { script, tasks, shown };
}
