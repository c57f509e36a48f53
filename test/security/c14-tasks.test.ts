/** C14: questions and answers that travel through tasks, on routes that serve none (the default). */
import t from "tap";
import { result, type Script } from "../support/upstream.ts";
import { answers, DONE, passes, refuses, setScene, TRANSFER, YES } from "./scene.ts";

const TASKS = "io.modelcontextprotocol/tasks";
const scene = await setScene(t, {
  sections: (url) => ({ routes: [{ path: "/mcp", upstream: { url }, legacy: "pass" }] }),
});
const capabilities = { elicitation: {}, extensions: { [TASKS]: {}, "example.com/other": {} } };

t.test("the extension is taken out of what is declared, and out of what is offered", async (t) => {
  scene.upstream.script = answers(DONE);
  const arrived = await passes(t, scene, () => scene.gateway.call(TRANSFER, { capabilities }));
  t.same(arrived.json.params._meta["io.modelcontextprotocol/clientCapabilities"], {
    elicitation: {},
    extensions: { "example.com/other": {} },
  });
  scene.upstream.script = answers(
    `{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{},"extensions":{"${TASKS}":{},"example.com/other":{}}}}`,
  );
  const discovered = await scene.gateway.call({ method: "server/discover" });
  t.same(discovered.json.result.capabilities.extensions, { "example.com/other": {} });
});

t.test("the extension in another case is refused", async (t) => {
  const twin = { extensions: { "io.modelcontextprotocol/Tasks": {} } };
  await refuses(t, scene, () => scene.gateway.call(TRANSFER, { capabilities: twin }), {
    status: 400,
    code: -32602,
  });
});

t.test("the methods of tasks are not there, modern or legacy", async (t) => {
  for (const method of [
    "tasks/get",
    "tasks/update",
    "tasks/cancel",
    "tasks/list",
    "tasks/result",
    "tasks/",
  ]) {
    const params = { taskId: "t-81", inputResponses: method === "tasks/update" ? YES : undefined };
    const headers = { "mcp-name": "t-81" };
    const expected = { status: 404, code: -32601 };
    await refuses(
      t,
      scene,
      () => scene.gateway.call({ method, params }, { capabilities, headers }),
      expected,
    );
    const legacy = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { taskId: "t-81" } });
    const plain = { "content-type": "application/json", accept: "application/json, text/event-stream" };
    await refuses(t, scene, () => scene.gateway.send({ headers: plain, body: legacy }), expected);
  }
});

t.test("a task that is created all the same is an error", async (t) => {
  const texts = [
    '{"resultType":"task","taskId":"t-81","status":"working","ttl":60000}',
    '{"resultType":"task","task":{"taskId":"t-81"}}',
    '{"resultType":"input_required_task","taskId":"t-81"}',
  ];
  for (const text of texts) {
    scene.upstream.script = answers(text);
    const reply = await scene.gateway.call(TRANSFER, { capabilities });
    t.equal(reply.json.error.code, -32603);
    t.notMatch(reply.body, /t-81/);
  }
});

const sse =
  (...events: string[]): Script =>
  (_arrived, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(events.map((event) => `data: ${event}\n\n`).join(""));
  };
const task = (method: string): string =>
  `{"jsonrpc":"2.0","method":"${method}","params":{"taskId":"t-81","status":"input_required","inputRequests":{"q":{"method":"elicitation/create","params":{"message":"card number?","requestedSchema":{"type":"object","properties":{}}}}}}}`;

t.test("their notifications do not pass a stream; others do", async (t) => {
  const log = '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}';
  const acknowledged =
    '{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{}}}';
  for (const method of ["notifications/tasks", "notifications/tasks/status", "notifications/other"]) {
    scene.upstream.script = (arrived, response) =>
      sse(
        task(method),
        arrived.json.method === "tools/call" ? log : acknowledged,
        `{"jsonrpc":"2.0","id":${arrived.json.id},"result":${DONE}}`,
      )(arrived, response);
    for (const message of [TRANSFER, { method: "subscriptions/listen", params: { notifications: {} } }]) {
      const reply = await scene.gateway.call(message, { capabilities });
      t.equal(reply.status, 200);
      t.notMatch(reply.body, /card number|t-81/, method);
      t.match(reply.body, /notifications\/(message|subscriptions\/acknowledged)/);
    }
  }
});

t.test("an error of the server that asks for tasks is a refusal by policy", async (t) => {
  scene.upstream.script = (arrived, response) => {
    response.writeHead(400, { "content-type": "application/json" });
    const error = {
      code: -32021,
      message: "card number",
      data: { requiredCapabilities: { extensions: { [TASKS]: {} } } },
    };
    response.end(JSON.stringify({ jsonrpc: "2.0", id: arrived.json.id, error }));
  };
  const reply = await scene.gateway.call(TRANSFER, { capabilities });
  t.equal(reply.status, 403);
  t.notMatch(reply.body, /card number/);
  scene.upstream.script = (arrived, response) => result(arrived, response, DONE);
  await passes(t, scene, () => scene.gateway.call(TRANSFER, { capabilities }));
});
