/** The life of a task through the gateway, from the call to its result: ids and keys change at the gateway, and nothing else does. */
import t, { type Test } from "tap";
import {
  type CallOptions,
  type Message,
  meta,
  mirrored,
  PUBLIC_URL,
  type Reply,
  startGateway,
} from "../support/gateway.ts";
import { openStream } from "../support/open-stream.ts";
import { createTaskServer, DECLARED, NAME_FORM, TASKS_EXTENSION } from "../support/task-server.ts";
import { type Script, startUpstream } from "../support/upstream.ts";

const REPORT: Message = { method: "tools/call", params: { name: "report", arguments: { year: 2026 } } };

async function setUp(t: Test, sections: Record<string, unknown> = {}, routes: Record<string, unknown> = {}) {
  const server = createTaskServer();
  const upstream = await startUpstream(server.script);
  const gateway = await startGateway(upstream.url, {
    routes: [{ path: "/mcp", upstream: { url: upstream.url }, tasks: "pass", ...routes }],
    ...sections,
  });
  t.teardown(async () => {
    await gateway.close(0);
    await upstream.close();
  });
  const call = (message: Message, options: CallOptions = {}): Promise<Reply> =>
    gateway.call(message, { capabilities: DECLARED, ...options });
  /** A `tasks/*` request. */
  const about = (
    method: string,
    taskId: string,
    more: Record<string, unknown> = {},
    options: CallOptions = {},
  ) =>
    call(
      { method, params: { taskId, ...more } },
      { ...options, headers: { "mcp-name": taskId, ...options.headers } },
    );
  const create = async (): Promise<string> => (await call(REPORT)).json.result.taskId;
  return { server, upstream, gateway, call, about, create };
}

t.test("created, working, asking, answered, completed", async (t) => {
  const { server, upstream, gateway, call, about } = await setUp(t);
  const created = await call(REPORT);
  const { taskId, ...rest } = created.json.result;
  const { taskId: _own, ...sent } = server.shown("task-1");
  t.same(rest, { resultType: "task", ...sent }, "times and ttlMs are the server's");
  t.match(taskId, /^sgt1\.[\w-]+$/);
  t.same(
    upstream.arrived[0]?.json.params._meta["io.modelcontextprotocol/clientCapabilities"],
    DECLARED,
    "the extension is declared to the server",
  );
  t.match(gateway.audit.at(-1), { outcome: "task", target: { name: "report" }, task: /^[\w-]{43}$/ });
  const digest = gateway.audit.at(-1)?.task;

  const working = await about("tasks/get", taskId);
  t.same(working.json.result, { resultType: "complete", ...server.shown("task-1"), taskId });
  t.equal(upstream.arrived.at(-1)?.headers["mcp-name"], "task-1");

  Object.assign(server.tasks.get("task-1") ?? {}, {
    status: "input_required",
    questions: { who: NAME_FORM },
  });
  const asking = await about("tasks/get", taskId);
  const [[key, question] = ["", undefined]] = Object.entries(asking.json.result.inputRequests);
  t.match(key, /^sgq1\.[\w-]+$/);
  t.same(question, NAME_FORM);
  t.equal(asking.json.result.taskId, taskId);
  t.equal(asking.json.result.ttlMs, 3_600_000);
  t.match(gateway.audit.at(-1), { outcome: "complete", asked: ["form"], task: digest, method: "tasks/get" });
  const again = await about("tasks/get", taskId);
  t.equal(
    again.body.replace(/"id":\d+/, ""),
    asking.body.replace(/"id":\d+/, ""),
    "the same key at every poll",
  );

  const accept = { action: "accept", content: { name: "Ada L" } };
  const updated = await about("tasks/update", taskId, { inputResponses: { [key]: accept } });
  t.same(updated.json.result, { resultType: "complete" });
  t.same(upstream.arrived.at(-1)?.json.params.inputResponses, { who: accept });
  t.equal(upstream.arrived.at(-1)?.json.params.taskId, "task-1");
  t.match(gateway.audit.at(-1), { answers: ["accept"], task: digest });

  const done = await about("tasks/get", taskId);
  t.equal(done.json.result.status, "completed");
  t.match(done.json.result.result.content[0].text, /Ada L/);
  t.notMatch(JSON.stringify(gateway.audit) + gateway.logged(), /task-1|sgt1\.|sgq1\.|Ada L/);
});

t.test("cancelled; failed; failed by the tool itself", async (t) => {
  const { server, gateway, about, create } = await setUp(t);
  const taskId = await create();
  t.same((await about("tasks/cancel", taskId)).json.result, { resultType: "complete" });
  t.equal((await about("tasks/get", taskId)).json.result.status, "cancelled");
  const error = { code: -32603, message: "API rate limit exceeded", data: { after: 3 } };
  server.tasks.set("task-1", { status: "failed", questions: {}, more: { error } });
  t.same((await about("tasks/get", taskId)).json.result.error, error);
  const result = { content: [{ type: "text", text: "no" }], isError: true };
  server.tasks.set("task-1", { status: "completed", questions: {}, more: { result } });
  t.same((await about("tasks/get", taskId)).json.result.result, result);
  t.equal(gateway.audit.at(-1)?.outcome, "tool_error");
});

t.test("a task that the server does not know any more is told in its words", async (t) => {
  const { server, about, create } = await setUp(t);
  const taskId = await create();
  server.tasks.clear();
  t.match((await about("tasks/get", taskId)).json.error, { code: -32602, message: /^Failed to retrieve/ });
});

t.test("a call may end at once, or ask first and become a task then", async (t) => {
  const { server, upstream, gateway, call, about } = await setUp(t);
  const ask = `{"resultType":"input_required","inputRequests":{"who":${JSON.stringify(NAME_FORM)}}}`;
  let answer: string | undefined = '{"resultType":"complete","content":[]}';
  upstream.script = (arrived, response) => {
    if (answer === undefined) return server.script(arrived, response);
    response.writeHead(200, { "content-type": "application/json" });
    response.end(`{"jsonrpc":"2.0","id":${arrived.json.id},"result":${answer}}`);
  };
  t.same((await call(REPORT)).json.result, { resultType: "complete", content: [] });
  answer = ask;
  const requestState = (await call(REPORT)).json.result.requestState;
  answer = undefined;
  const inputResponses = { who: { action: "accept", content: { name: "Ada" } } };
  const retry = { ...REPORT, params: { ...REPORT.params, requestState, inputResponses } };
  const { taskId, resultType } = (await call(retry)).json.result;
  t.equal(resultType, "task");
  t.equal(gateway.audit.at(-1)?.chain, gateway.audit.at(-2)?.jti, "it goes on under the chain of the call");
  t.equal((await about("tasks/get", taskId)).json.result.status, "working");
});

t.test("answers may come in parts; a decline is an answer; progress of a poll passes", async (t) => {
  const { server, upstream, about, create, gateway } = await setUp(t);
  const taskId = await create();
  Object.assign(server.tasks.get("task-1") ?? {}, {
    status: "input_required",
    questions: { a: NAME_FORM, 'b"\u00e9': NAME_FORM },
  });
  const keys = Object.keys((await about("tasks/get", taskId)).json.result.inputRequests);
  t.equal(new Set(keys).size, 2);
  const decline = { action: "decline", content: null };
  await about("tasks/update", taskId, { inputResponses: { [keys[1] ?? ""]: decline } });
  t.same(upstream.arrived.at(-1)?.json.params.inputResponses, { 'b"\u00e9': { action: "decline" } });
  t.same(Object.keys((await about("tasks/get", taskId)).json.result.inputRequests), [keys[0]]);
  await about("tasks/update", taskId, { inputResponses: {} });
  t.same(upstream.arrived.at(-1)?.json.params.inputResponses, {});

  const streams: Script = (arrived, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const progress = { progressToken: "p", progress: 1 };
    for (const message of [
      { jsonrpc: "2.0", method: "notifications/progress", params: progress },
      { jsonrpc: "2.0", id: arrived.json.id, result: { resultType: "complete", ...server.shown("task-1") } },
    ])
      response.write(`data: ${JSON.stringify(message)}\n\n`);
    response.end();
  };
  upstream.script = streams;
  const _meta = { ...meta(DECLARED), progressToken: "p" };
  const reply = await gateway.call(
    { method: "tasks/get", params: { _meta, taskId } },
    { headers: { "mcp-name": taskId } },
  );
  t.match(reply.body, /notifications\/progress/);
  t.equal(reply.json.result.taskId, taskId);
});

t.test("a subscription tells of its tasks, under the ids and keys that polls have", async (t) => {
  const { server, upstream, gateway, about, create } = await setUp(t);
  const [mine, other] = [await create(), await create()];
  Object.assign(server.tasks.get("task-1") ?? {}, {
    status: "input_required",
    questions: { who: NAME_FORM },
  });
  const polled = (await about("tasks/get", mine)).json.result;
  const message: Message = {
    id: "listen-1",
    method: "subscriptions/listen",
    params: { _meta: meta(DECLARED), notifications: { taskIds: [mine], toolsListChanged: true } },
  };
  upstream.script = (arrived, response) => {
    t.same(arrived.json.params.notifications, { taskIds: ["task-1"], toolsListChanged: true });
    const _meta = { "io.modelcontextprotocol/subscriptionId": arrived.json.id };
    response.writeHead(200, { "content-type": "text/event-stream" });
    const tell = (method: string, params: Record<string, unknown>): boolean =>
      response.write(`data: ${JSON.stringify({ jsonrpc: "2.0", method, params: { _meta, ...params } })}\n\n`);
    tell("notifications/subscriptions/acknowledged", { notifications: { taskIds: ["task-1", "task-9"] } });
    tell("notifications/tasks", server.shown("task-2"));
    tell("notifications/tasks/status", server.shown("task-1"));
    tell("notifications/tasks", { ...server.shown("task-1"), status: "completed" });
    tell("notifications/tasks", server.shown("task-1"));
    tell("notifications/tools/list_changed", {});
  };
  const stream = await openStream(gateway.url, {
    headers: mirrored(message),
    body: JSON.stringify({ jsonrpc: "2.0", ...message }),
  });
  await stream.until("list_changed");
  stream.leave();
  const told = [...stream.text().matchAll(/^data: (.*)$/gm)].map(([, text = ""]) => JSON.parse(text));
  t.same(
    told.map(({ method }) => method),
    ["subscriptions/acknowledged", "tasks", "tools/list_changed"].map((name) => `notifications/${name}`),
    "questions outside input_required, other tasks and other methods are dropped",
  );
  t.same(told[0].params.notifications, { taskIds: [mine] });
  const { _meta, ...task } = told[1].params;
  const { resultType: _type, ...same } = polled;
  t.same(task, same);
  t.notMatch(stream.text(), /task-\d/);
  t.not(mine, other);
});

t.test("ids and keys hold on another replica, after a restart, and through a rotation", async (t) => {
  const folder = t.testdir({ old: "k".repeat(43), new: "o".repeat(43) });
  const key = (id: string) => ({ id, secret: { file: `${folder}/${id}` } });
  const { server, upstream, create } = await setUp(t, { keys: { primary: "old", ring: [key("old")] } });
  const taskId = await create();
  Object.assign(server.tasks.get("task-1") ?? {}, {
    status: "input_required",
    questions: { who: NAME_FORM },
  });
  const poll = async (keys: Record<string, unknown>): Promise<Reply> => {
    const replica = await startGateway(upstream.url, {
      keys,
      routes: [{ path: "/mcp", upstream: { url: upstream.url }, tasks: "pass" }],
    });
    t.teardown(() => replica.close(0));
    const message = { method: "tasks/get", params: { taskId } };
    return replica.call(message, { capabilities: DECLARED, headers: { "mcp-name": taskId } });
  };
  const before = await poll({ primary: "old", ring: [key("old")] });
  const after = await poll({ primary: "new", ring: [key("new"), key("old")] });
  const keysOf = ({ json }: Reply): string[] => Object.keys(json.result.inputRequests);
  t.equal(keysOf(before).length, 1);
  t.same(keysOf(after), keysOf(before), "what was asked is not asked again");
  t.match((await poll({ primary: "new", ring: [key("new")] })).json.error.data, { reason: "unknown_task" });
});

t.test("nobody is asked what could not be brought back", async (t) => {
  const limits = { body: "16KiB" };
  const listening = { listen: "127.0.0.1:0", publicUrl: PUBLIC_URL, allowedHosts: ["127.0.0.1"], limits };
  const { server, gateway, about, create } = await setUp(t, { server: listening });
  const taskId = await create();
  const asking = async (options: number): Promise<Reply> => {
    const name = { type: "string", enum: Array.from({ length: options }, (_, i) => `option ${i}`) };
    const requestedSchema = { type: "object", properties: { name } };
    const question = { ...NAME_FORM, params: { message: "Which?", requestedSchema } };
    Object.assign(server.tasks.get("task-1") ?? {}, { status: "input_required", questions: { q: question } });
    return about("tasks/get", taskId);
  };
  t.match((await asking(1_000)).json.error, { code: -32603 });
  t.match(gateway.audit.at(-1), { code: "upstream_fault", cause: "schema_too_large" });
  const [key = ""] = Object.keys((await asking(500)).json.result.inputRequests);
  const inputResponses = { [key]: { action: "accept", content: { name: "option 499" } } };
  t.match((await about("tasks/update", taskId, { inputResponses })).json.result, { resultType: "complete" });
});

t.test("server/discover offers the extension", async (t) => {
  const { upstream, call } = await setUp(t);
  const extensions = { [TASKS_EXTENSION]: {}, "example.com/other": {} };
  upstream.script = (arrived, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    const result = {
      resultType: "complete",
      supportedVersions: ["2026-07-28"],
      capabilities: { extensions },
    };
    response.end(JSON.stringify({ jsonrpc: "2.0", id: arrived.json.id, result }));
  };
  t.same((await call({ method: "server/discover" })).json.result.capabilities.extensions, extensions);
});
