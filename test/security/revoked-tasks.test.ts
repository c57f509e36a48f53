/** Tasks of what operators have revoked: polled, answered, listened to, while the server works and after. */
import t from "tap";
import { operated, set } from "../integration/operators.ts";
import type { Reply } from "../support/gateway.ts";
import { createTaskServer, DECLARED } from "../support/task-server.ts";
import { passes, refuses, setScene } from "./scene.ts";

const server = createTaskServer();
const scene = await setScene(t, {
  script: server.script,
  users: true,
  sections: (url) => ({ ...operated(t), routes: [{ path: "/mcp", upstream: { url }, tasks: "pass" }] }),
});
const { issuer } = scene.issuer;
const about = (method: string, taskId: string, token = scene.owner): Promise<Reply> =>
  scene.gateway.call(
    { method, params: { taskId, ...(method === "tasks/update" ? { inputResponses: {} } : {}) } },
    { token, capabilities: DECLARED, headers: { "mcp-name": taskId } },
  );
const create = async (token = scene.owner): Promise<string> => {
  const call = { method: "tools/call", params: { name: "report", arguments: {} } };
  return (await scene.gateway.call(call, { token, capabilities: DECLARED })).json.result.taskId;
};
const unknown = { status: 200, code: -32602, reason: "unknown_task" };

t.test("a caller's tasks, and no other's; what begins later goes on", async (t) => {
  const [mine, theirs] = [await create(), await create(scene.stranger)];
  await set(scene.gateway, "revocations", { principal: { issuer, subject: "u-1001" } });
  for (const method of ["tasks/get", "tasks/update", "tasks/cancel"]) {
    await refuses(t, scene, () => about(method, mine), unknown);
    t.match(scene.gateway.audit.at(-1), { cause: "revoked" });
  }
  await passes(t, scene, () => about("tasks/get", theirs, scene.stranger));
  const fresh = await create();
  await passes(t, scene, () => about("tasks/get", fresh));
});

t.test("one task, by the chain in its audit records", async (t) => {
  const task = await create();
  const chain = scene.gateway.audit.at(-1)?.chain;
  const neighbour = await create();
  await set(scene.gateway, "revocations", { chain });
  await refuses(t, scene, () => about("tasks/get", task), unknown);
  await passes(t, scene, () => about("tasks/get", neighbour));
});

t.test("a route's, also while the server answers", async (t) => {
  const task = await create();
  scene.upstream.script = async (arrived, response) => {
    await set(scene.gateway, "revocations", { route: "/mcp" });
    return server.script(arrived, response);
  };
  const reply = await about("tasks/get", task);
  t.match(reply.json.error, { message: "Task not found" });
  scene.upstream.script = server.script;
  await refuses(t, scene, () => about("tasks/get", task), unknown);
});
