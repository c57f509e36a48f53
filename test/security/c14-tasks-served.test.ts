/** C14 on routes that serve tasks: ids of others, keys of other tasks, questions and answers that must not pass. */
import t from "tap";
import {
  type CallOptions,
  type Message,
  meta,
  mirrored,
  PUBLIC_URL,
  type Reply,
} from "../support/gateway.ts";
import { openStream } from "../support/open-stream.ts";
import { createTaskServer, DECLARED, NAME_FORM, TASKS_EXTENSION } from "../support/task-server.ts";
import { answers, DONE, frozen, passes, refuses, setScene } from "./scene.ts";

const server = createTaskServer();
const capability = { tools: [{ match: ["quiet_*"], allow: ["sampling"] }] };
const scene = await setScene(t, {
  script: server.script,
  users: true,
  sections: (url) => ({
    routes: [
      { path: "/mcp", upstream: { url }, tasks: "pass", audiences: [`${PUBLIC_URL}/mcp`] },
      { path: "/other", upstream: { url }, tasks: "pass", audiences: [`${PUBLIC_URL}/mcp`] },
      { path: "/moved", upstream: { url: `${url}2` }, tasks: "pass", audiences: [`${PUBLIC_URL}/mcp`] },
    ],
    capability,
    rules: { "elicitation/secret-field": "enforce" },
    authorization: {
      default: "allow",
      policies: [{ id: "no-admin", effect: "deny", tools: ["admin_*"], principal: { subjects: ["u-2002"] } }],
    },
  }),
});

const about = (
  method: string,
  taskId: unknown,
  more: object = {},
  options: CallOptions = {},
): Promise<Reply> =>
  scene.gateway.call(
    { id: "task", method, params: { taskId, ...more } },
    {
      token: scene.owner,
      capabilities: DECLARED,
      ...options,
      headers: { "mcp-name": String(taskId), ...options.headers },
    },
  );
const create = async (name = "report", token = scene.owner): Promise<{ id: string; own: string }> => {
  scene.upstream.script = server.script;
  const call = { method: "tools/call", params: { name, arguments: {} } };
  const reply = await scene.gateway.call(call, { token, capabilities: DECLARED });
  return { id: reply.json.result.taskId, own: `task-${server.tasks.size}` };
};
const ask = (own: string, questions: Record<string, unknown>): void =>
  void Object.assign(server.tasks.get(own) ?? {}, { status: "input_required", questions, more: {} });
/** The keys that the questions of a task leave under. */
const keysOf = async ({ id, own }: { id: string; own: string }, questions: Record<string, unknown>) => {
  ask(own, questions);
  return Object.keys((await about("tasks/get", id)).json.result.inputRequests);
};
/** An update with answers. */
const update = (id: string, inputResponses: unknown, options?: CallOptions): Promise<Reply> =>
  about("tasks/update", id, { inputResponses }, options);
const ACCEPT = { action: "accept", content: { name: "Ada" } };
/** A refusal without what is different each time. */
const plain = ({ body }: Reply): string => body.replace(/,"requestId":"[\w-]+"/, "");
const NOT_FOUND =
  '{"jsonrpc":"2.0","id":"task","error":{"code":-32602,"message":"Task not found","data":{"reason":"unknown_task"}}}';

t.test("an id that is not this caller's here gets one answer, and nothing goes up", async (t) => {
  const { id } = await create();
  const last = id.at(-1) === "A" ? "B" : "A";
  const attempts: [string, string, CallOptions][] = [
    ["principal", id, { token: scene.stranger }],
    ["route", id, { path: "/other" }],
    ["route", id, { path: "/moved" }],
    ["prefix", "task-1", {}],
    ["prefix", "sgq1.AAAA", {}],
    ["encoding", "sgt1.", {}],
    ["encoding", `${id}=`, {}],
    ["aead", `${id.slice(0, 40)}${id[40] === "A" ? "B" : "A"}${id.slice(41)}`, {}],
    ["unknown_key", `sgt1.${"A".repeat(id.length - 5)}`, {}],
  ];
  for (const method of ["tasks/get", "tasks/update", "tasks/cancel"]) {
    for (const [cause, taken, options] of attempts) {
      const more = method === "tasks/update" ? { inputResponses: {} } : {};
      const expected = { status: 200, code: -32602 };
      const reply = await refuses(t, scene, () => about(method, taken, more, options), expected);
      t.equal(plain(reply), NOT_FOUND, `${method} ${cause}`);
      const rules = [{ id: "tasks/method", mode: "enforce", detail: cause }];
      t.match(scene.gateway.audit.at(-1), { code: "unknown_task", cause, rules });
    }
    const reply = await about(
      method,
      id.slice(0, -1) + last,
      method === "tasks/update" ? { inputResponses: {} } : {},
    );
    t.equal(plain(reply), NOT_FOUND);
  }
  t.equal((await about("tasks/get", id)).json.result.taskId, id, "its owner has it still");
});

t.test("the id is one in header and body", async (t) => {
  const [a, b] = [await create(), await create()];
  const expected = { status: 400, code: -32020 };
  await refuses(t, scene, () => about("tasks/get", a.id, {}, { headers: { "mcp-name": b.id } }), expected);
  await refuses(
    t,
    scene,
    () => about("tasks/get", a.id, {}, { headers: { "mcp-name": undefined } }),
    expected,
  );
  const params = `"taskId":${JSON.stringify(a.id)},"TaskId":${JSON.stringify(b.id)}`;
  const body = `{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"_meta":${JSON.stringify(meta(DECLARED))},${params}}}`;
  const like = { method: "tasks/get", params: {} };
  await refuses(t, scene, () => scene.raw(body, like, { "mcp-name": a.id }), { status: 400, code: -32600 });
});

t.test("without the extension in this very request there are no tasks", async (t) => {
  const { id, own } = await create();
  const bare = { capabilities: { elicitation: {} } };
  const lacking = { requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } } };
  for (const method of ["tasks/get", "tasks/update", "tasks/cancel"]) {
    const expected = { status: 400, code: -32021 };
    const reply = await refuses(t, scene, () => about(method, id, {}, bare), expected);
    t.match(reply.json.error.data, lacking);
  }
  const listen = { method: "subscriptions/listen", params: { notifications: { taskIds: [id] } } };
  const reply = await refuses(t, scene, () => scene.gateway.call(listen, { token: scene.owner, ...bare }), {
    status: 400,
    code: -32021,
  });
  t.match(reply.json.error.data, lacking);
  const none = { method: "subscriptions/listen", params: { notifications: { taskIds: [] } } };
  scene.upstream.script = answers(DONE);
  await passes(t, scene, () => scene.gateway.call(none, { token: scene.owner, ...bare }));
  scene.upstream.script = server.script;
  const call = { method: "tools/call", params: { name: "report", arguments: {} } };
  for (const capabilities of [
    { elicitation: {} },
    { extensions: { [TASKS_EXTENSION]: null } },
    { extensions: { "example.com/other": {} } },
  ]) {
    const created = await scene.gateway.call(call, { token: scene.owner, capabilities });
    t.match(scene.gateway.audit.at(-1), { code: "upstream_fault", cause: "unasked_task" });
    t.notMatch(created.body, /task-\d/);
  }
  t.ok(server.tasks.has(own));
});

t.test("a task comes of a tools/call only, and as a task", async (t) => {
  const call = { method: "tools/call", params: { name: "report", arguments: {} } };
  const send = async (text: string, message: Message = call): Promise<string | undefined> => {
    scene.upstream.script = answers(text);
    const reply = await scene.gateway.call(message, { token: scene.owner, capabilities: DECLARED });
    t.notMatch(reply.body, /t-81|Whose/);
    return scene.gateway.audit.at(-1)?.cause;
  };
  const task = '"taskId":"t-81","status":"working"';
  const read = { method: "resources/read", params: { uri: "file:///a" } };
  t.equal(await send(`{"resultType":"task",${task}}`, read), "unasked_task");
  t.equal(await send(`{"resultType":"task",${task}}`, { method: "tools/list" }), "unasked_task");
  for (const [text, cause] of [
    ['{"resultType":"task","task":{"taskId":"t-81"}}', "task_shape"],
    ['{"resultType":"task","taskId":"","status":"working"}', "task_id"],
    ['{"resultType":"task","taskId":81,"status":"working"}', "task_id"],
    [`{"resultType":"task","taskId":"${"t-81".repeat(1_100)}","status":"working"}`, "task_id"],
    ['{"resultType":"task","taskId":"t-81","status":"done"}', "task_status"],
    [`{"resultType":"task",${task},"TaskId":"x"}`, "case_twin"],
    [`{"resultType":"task",${task},"requestState":"s"}`, "state_in_task"],
    [`{"resultType":"task",${task},"inputRequests":{"q":${JSON.stringify(NAME_FORM)}}}`, "questions_in_task"],
    [
      `{"resultType":"task","taskId":"t-81","status":"input_required","inputRequests":{"q":${JSON.stringify(NAME_FORM)}}}`,
      "questions_in_task",
    ],
  ] as const)
    t.equal(await send(text), cause, text.slice(0, 80));
  scene.upstream.script = answers(
    `{"resultType":"task",${task},"result":{"x":1},"error":{"code":-32603,"message":"m"},"inputRequests":null}`,
  );
  const reply = await scene.gateway.call(call, { token: scene.owner, capabilities: DECLARED });
  t.same(
    Object.keys(reply.json.result).sort(),
    ["resultType", "status", "taskId"],
    "no end at the beginning",
  );
});

t.test("questions of a task are questions: kinds, capabilities, rules", async (t) => {
  const loud = await create();
  const quiet = await create("quiet_report");
  const url = {
    method: "elicitation/create",
    params: { mode: "url", message: "Go", url: "https://x.example/" },
  };
  const secret = {
    method: "elicitation/create",
    params: {
      message: "Sign in",
      requestedSchema: { type: "object", properties: { password: { type: "string" } } },
    },
  };
  const cases: [typeof loud, unknown, { code: string; cause: string }][] = [
    [loud, url, { code: "missing_capability", cause: "undeclared" }],
    [
      loud,
      { method: "sampling/createMessage", params: { messages: [], maxTokens: 1 } },
      { code: "missing_capability", cause: "undeclared" },
    ],
    [quiet, NAME_FORM, { code: "question_forbidden", cause: "elicitation.form" }],
    [loud, secret, { code: "question_forbidden", cause: "secret_name" }],
    [loud, { method: "tools/call", params: {} }, { code: "upstream_fault", cause: "unknown_kind" }],
    [
      loud,
      { method: "elicitation/create", params: { message: "x" } },
      { code: "upstream_fault", cause: "schema_shape" },
    ],
  ];
  for (const [task, question, { code, cause }] of cases) {
    ask(task.own, { q: question });
    const reply = await about("tasks/get", task.id);
    t.notMatch(reply.body, /x\.example|Sign in|Whose/);
    t.equal(scene.gateway.audit.at(-1)?.code, code);
    if (cause !== "secret_name") t.equal(scene.gateway.audit.at(-1)?.cause, cause);
  }
  ask(loud.own, { q: NAME_FORM });
  t.match((await about("tasks/get", loud.id)).json.result.status, "input_required", "an honest one passes");
  t.match(
    (await about("tasks/get", loud.id, {}, { capabilities: { extensions: DECLARED.extensions } })).json.error,
    { code: -32021, data: { requiredCapabilities: { elicitation: {} } } },
    "declared by this request, not by the call",
  );
});

t.test("questions and states elsewhere in a task do not pass", async (t) => {
  const { id, own } = await create();
  const text = JSON.stringify(NAME_FORM);
  const base = `"resultType":"complete","taskId":"${own}"`;
  for (const [body, cause] of [
    [`{${base},"status":"working","inputRequests":{"q":${text}}}`, "questions_in_task"],
    [`{${base},"status":"working","requestState":"s"}`, "state_in_task"],
    [`{${base},"status":"working","_meta":{"inputRequests":{"q":${text}}}}`, "misplaced_state"],
    [
      `{${base},"status":"completed","result":{"resultType":"input_required","inputRequests":{"q":${text}}}}`,
      "task_result",
    ],
    [`{${base},"status":"completed","result":{"inputRequests":{"q":${text}}}}`, "questions_in_task"],
    [`{${base},"status":"completed","result":{"_meta":{"requestState":"s"}}}`, "state_in_task"],
    [`{${base},"status":"completed","result":{"resultType":"task","taskId":"x"}}`, "task_result"],
    [`{${base},"status":"completed","result":[]}`, "task_result"],
    [
      `{${base},"status":"failed","error":{"code":-32042,"message":"m","data":{"elicitations":[]}}}`,
      "questions_in_error",
    ],
    [
      `{${base},"status":"failed","error":{"code":-32603,"message":"m","data":{"inputRequests":{"q":${text}}}}}`,
      "questions_in_task",
    ],
    [`{${base},"status":"failed","error":"no"}`, "task_error"],
    [`{${base},"status":"paused"}`, "task_status"],
    [`{"resultType":"complete","taskId":"task-999","status":"working"}`, "task_mismatch"],
    [`{"resultType":"complete"}`, "task_shape"],
    [`{"resultType":"task","taskId":"${own}","status":"working"}`, "unasked_task"],
    [`{"resultType":"input_required","inputRequests":{"q":${text}}}`, "input_required_method"],
  ] as const) {
    scene.upstream.script = answers(body);
    const reply = await about("tasks/get", id);
    t.equal(scene.gateway.audit.at(-1)?.cause, cause, body.slice(0, 90));
    t.notMatch(reply.body, /Whose|task-\d/);
  }
  scene.upstream.script = answers(`{"resultType":"complete","taskId":"${own}","status":"cancelled"}`);
  t.equal(
    (await about("tasks/cancel", id)).json.result.taskId,
    id,
    "a wordy acknowledgement has the client's id",
  );
  scene.upstream.script = answers(`{"resultType":"complete","inputRequests":{"q":${text}}}`);
  t.notMatch((await about("tasks/cancel", id)).body, /Whose/);
});

t.test("answers go to the question that was asked, and to no other", async (t) => {
  const [mine, second] = [await create(), await create()];
  const theirs = await create("report", scene.stranger);
  const [key = ""] = await keysOf(mine, { who: NAME_FORM });
  const [foreign = ""] = await keysOf(second, { who: NAME_FORM });
  ask(theirs.own, { who: NAME_FORM });
  const polled = await about("tasks/get", theirs.id, {}, { token: scene.stranger });
  const [strange = ""] = Object.keys(polled.json.result.inputRequests);
  t.equal(new Set([key, foreign, strange]).size, 3);
  const wide = {
    ...NAME_FORM,
    params: {
      ...NAME_FORM.params,
      requestedSchema: { type: "object", properties: { name: { type: "string" } } },
    },
  };
  const [changed = ""] = await keysOf(mine, { who: wide });
  const expected = { status: 400, code: -32602, reason: "invalid_input_responses" };
  for (const [inputResponses, cause] of [
    [{ who: ACCEPT }, "foreign_key"],
    [{ [foreign]: ACCEPT }, "foreign_key"],
    [{ [strange]: ACCEPT }, "foreign_key"],
    [{ [key]: ACCEPT, [foreign]: ACCEPT }, "foreign_key"],
    [{ [`${key.slice(0, -6)}AAAAAA`]: ACCEPT }, "foreign_key"],
    [{ [mine.id]: ACCEPT }, "foreign_key"],
    [{ [key]: ACCEPT, [changed]: ACCEPT }, "answered_twice"],
    [{ [key]: { action: "accept", content: { name: "longer than eight" } } }, "form_max_length"],
    [{ [key]: { action: "accept", content: {} } }, undefined],
    [{ [key]: { roots: [] } }, "answer_kind"],
    [{ [key]: { action: "agree" } }, "action"],
    [{ [key]: "yes" }, undefined],
    [[ACCEPT], "input_responses"],
    [undefined, "input_responses"],
    [Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`k${i}`, ACCEPT])), "too_many_answers"],
  ] as const) {
    await refuses(t, scene, () => update(mine.id, inputResponses), expected);
    if (cause !== undefined && cause !== "form_max_length") t.equal(scene.gateway.audit.at(-1)?.cause, cause);
  }
  ask(mine.own, { who: NAME_FORM });
  const extra = { ...ACCEPT, content: { name: "Ada", admin: true }, more: 1 };
  const arrived = await passes(t, scene, () => update(mine.id, { [key]: extra }));
  t.same(arrived.json.params.inputResponses, { who: ACCEPT }, "what nobody asked for is dropped");
  await refuses(t, scene, () => update(mine.id, { [key]: ACCEPT }, { token: scene.stranger }), {
    status: 200,
    reason: "unknown_task",
  });
});

t.test("what may not be asked any more may not be answered either", async (t) => {
  const task = await create();
  const [key = ""] = await keysOf(task, { who: NAME_FORM });
  t.ok(await scene.gateway.configure({ capability: { allow: ["sampling"] } }));
  await refuses(t, scene, () => update(task.id, { [key]: ACCEPT }), {
    status: 403,
    reason: "question_forbidden",
  });
  t.ok(await scene.gateway.configure({ capability }));
  await passes(t, scene, () => update(task.id, { [key]: ACCEPT }));
});

t.test("there is no state in tasks, and answers only in an update", async (t) => {
  const { id } = await create();
  for (const [method, more] of [
    ["tasks/get", { requestState: "s" }],
    ["tasks/cancel", { requestState: "s" }],
    ["tasks/update", { requestState: "s", inputResponses: {} }],
    ["tasks/get", { inputResponses: {} }],
    ["tasks/cancel", { inputResponses: {} }],
  ] as const) {
    const reply = await refuses(t, scene, () => about(method, id, more), { status: 400, code: -32602 });
    t.equal(reply.body, frozen('"task"'));
  }
  const nulls = { requestState: null, inputResponses: null };
  const arrived = await passes(t, scene, () => about("tasks/get", id, nulls));
  t.same(Object.keys(arrived.json.params).sort(), ["_meta", "taskId"]);
});

t.test("other methods in the name of tasks are not there", async (t) => {
  const { id } = await create();
  for (const method of ["tasks/list", "tasks/result", "tasks/", "tasks/Get"])
    await refuses(t, scene, () => about(method, id), { status: 404, code: -32601 });
  for (const method of ["notifications/tasks", "notifications/tasks/status"]) {
    const body = JSON.stringify({ jsonrpc: "2.0", method, params: { _meta: meta(DECLARED), taskId: id } });
    await refuses(t, scene, () => scene.raw(body, { method }), { status: 404, code: -32601 });
  }
});

t.test("policies of now decide: by the method, and by the tool of the task", async (t) => {
  const { id } = await create();
  const before = { default: "allow", policies: [] };
  for (const policies of [
    [{ id: "x", effect: "deny", tools: ["report"] }],
    [{ id: "x", effect: "deny", tools: ["report"], methods: ["tools/call"] }],
    [{ id: "x", effect: "deny", methods: ["tasks/*"] }],
    [{ id: "x", effect: "deny", methods: ["tasks/*"], tools: ["rep*"] }],
  ]) {
    t.ok(await scene.gateway.configure({ authorization: { default: "allow", policies } }));
    const reply = await refuses(t, scene, () => about("tasks/get", id), { status: 200 });
    t.equal(plain(reply), NOT_FOUND);
    t.match(scene.gateway.audit.at(-1), { cause: "policy", policy: /x|default/ });
    const listen = { method: "subscriptions/listen", params: { notifications: { taskIds: [id] } } };
    const call = () => scene.gateway.call(listen, { token: scene.owner, capabilities: DECLARED });
    await refuses(t, scene, call, { status: 200, reason: "unknown_task" });
  }
  const other = [{ id: "x", effect: "deny", tools: ["other"], methods: ["tasks/*", "tools/call"] }];
  t.ok(await scene.gateway.configure({ authorization: { default: "allow", policies: other } }));
  await passes(t, scene, () => about("tasks/get", id));
  t.ok(await scene.gateway.configure({ authorization: before }));
});

t.test("a subscription to another's task is refused whole", async (t) => {
  const mine = await create();
  const theirs = await create("report", scene.stranger);
  for (const taskIds of [
    [mine.id, theirs.id],
    ["task-1"],
    [mine.id, 7],
    "x",
    Array.from({ length: 1_001 }, () => mine.id),
  ]) {
    const listen = { method: "subscriptions/listen", params: { notifications: { taskIds } } };
    const send = () => scene.gateway.call(listen, { token: scene.owner, capabilities: DECLARED });
    const before = scene.bytesUp();
    t.equal((await send()).json.error.code, -32602);
    t.equal(scene.bytesUp(), before);
  }
});

t.test("on a stream, too, no question passes that may not be asked", async (t) => {
  const quiet = await create("quiet_report");
  const loud = await create();
  ask(quiet.own, { q: NAME_FORM });
  ask(loud.own, { q: NAME_FORM });
  const message: Message = {
    id: "l",
    method: "subscriptions/listen",
    params: { _meta: meta(DECLARED), notifications: { taskIds: [quiet.id, loud.id] } },
  };
  scene.upstream.script = (arrived, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const _meta = { "io.modelcontextprotocol/subscriptionId": arrived.json.id };
    const tell = (method: string, params: object): boolean =>
      response.write(`data: ${JSON.stringify({ jsonrpc: "2.0", method, params: { _meta, ...params } })}\n\n`);
    tell("notifications/subscriptions/acknowledged", { notifications: {} });
    tell("notifications/tasks", server.shown(quiet.own));
    tell("notifications/tasks", { ...server.shown(loud.own), requestState: "s" });
    tell("notifications/tasks", server.shown(loud.own));
  };
  const stream = await openStream(scene.gateway.url, {
    headers: { ...mirrored(message), authorization: `Bearer ${scene.owner}` },
    body: JSON.stringify({ jsonrpc: "2.0", ...message }),
  });
  await stream.until(loud.id);
  stream.leave();
  t.notMatch(stream.text(), quiet.id);
  t.equal(stream.text().match(/Whose report/g)?.length, 1);
});

t.test("an honest call beside all that", async (t) => {
  scene.upstream.script = answers(DONE);
  const call = { method: "tools/call", params: { name: "report", arguments: {} } };
  await passes(t, scene, () => scene.gateway.call(call, { token: scene.owner, capabilities: DECLARED }));
});
