/** Approval beside what else holds for states: repeats, revocations, epochs, tasks, older revisions, and changes in the middle. */
import t, { type Test } from "tap";
import { type Scene, setScene, TRANSFER } from "../security/scene.ts";
import { meta, startGateway } from "../support/gateway.ts";
import { ownRedis } from "../support/redis.ts";
import { createTaskServer, DECLARED } from "../support/task-server.ts";
import { until } from "../support/until.ts";
import { result, type Script } from "../support/upstream.ts";
import { operated, set } from "./operators.ts";
import { DONE, ASK as SERVER_ASKS } from "./rounds.ts";

const YES = { approval: { action: "accept", content: {} } };
const done: Script = (arrived, response) => result(arrived, response, DONE);
const ASK = { id: "ask", effect: "approve", tools: ["transfer", "report"] };

async function open(
  t: Test,
  more: Record<string, unknown> = {},
  script: Script = done,
  route: Record<string, unknown> = {},
): Promise<Scene> {
  return setScene(t, {
    users: true,
    script,
    sections: (url, { issuer, jwksUrl }) => ({
      authentication: { issuers: [{ issuer, jwks: { url: jwksUrl } }] },
      authorization: { default: "allow", policies: [ASK] },
      routes: [{ path: "/mcp", upstream: { url }, legacy: "refuse", ...route }],
      ...more,
    }),
  });
}

const say = (scene: Scene, state: string, id: string, inputResponses: object = YES) =>
  scene.retry(state, { id, inputResponses });

t.test("with results kept, the owner gets the answer of the one run again, and of a no the no", async (t) => {
  const scene = await open(t, { redemption: { store: "memory", results: "5m" } });
  const state = await scene.ask();
  const first = await say(scene, state, "a");
  t.match(first.json, { result: { resultType: "complete" } });
  t.same((await say(scene, state, "b")).json, { ...first.json, id: "b" });
  t.equal(scene.upstream.arrived.length, 1, "one run");
  t.match(scene.gateway.audit.at(-1), { state: "repeated" });
  const other = await scene.ask();
  const no = await say(scene, other, "c", { approval: { action: "decline" } });
  t.match(no.json, { result: { isError: true } });
  t.same((await say(scene, other, "d", { approval: { action: "decline" } })).json, { ...no.json, id: "d" });
  t.match((await say(scene, other, "e")).json, { error: { data: { reason: "already_redeemed" } } });
  t.equal(scene.upstream.arrived.length, 1, "no run more");
});

t.test(
  "a remembered consent runs at once, in a chain of its own, and nothing of it is for shared caches",
  async (t) => {
    const policies = [
      { id: "ask", effect: "approve", resources: ["note://*"], approval: { remember: "15m" } },
    ];
    const read: Script = (arrived, response) =>
      result(
        arrived,
        response,
        '{"resultType":"complete","contents":[{"uri":"note://a","text":"x"}],"ttlMs":60000,"cacheScope":"public"}',
      );
    const scene = await open(t, { ...operated(t), authorization: { default: "allow", policies } }, read);
    const message = { method: "resources/read", params: { uri: "note://a" } };
    const own = { token: scene.owner };
    const asked = await scene.gateway.call(message, own);
    const requestState = asked.json.result.requestState;
    const yes = { ...message, params: { ...message.params, requestState, inputResponses: YES } };
    const hints = { result: { cacheScope: "private", ttlMs: 0 } };
    t.match((await scene.gateway.call(yes, own)).json, hints);
    await until(async () => (await scene.gateway.call(message, own)).json.result.resultType === "complete");
    t.match((await scene.gateway.call(message, own)).json, hints);
    const { chain } = scene.gateway.audit[0] ?? {};
    t.match(scene.gateway.audit.at(-1), {
      outcome: "complete",
      approval: { policies: ["ask"], remembered: chain },
    });
    const runs = scene.upstream.arrived.length;
    for (const [other, options] of [
      [{ ...message, params: { uri: "note://b" } }, own],
      [message, { token: scene.stranger }],
    ] as const) {
      const reply = await scene.gateway.call(other, options);
      t.match(reply.json, { result: { resultType: "input_required" } }, "another's, or of something else");
    }
    await set(scene.gateway, "revocations", { chain });
    t.match((await scene.gateway.call(message, own)).json, { result: { resultType: "input_required" } });
    t.equal(scene.upstream.arrived.length, runs);
  },
);

t.test("the server's question after a remembered consent goes on like any other", async (t) => {
  const policies = [{ ...ASK, approval: { remember: "15m" } }];
  const asks: Script = (arrived, response) =>
    result(arrived, response, arrived.json.params.inputResponses === undefined ? SERVER_ASKS : DONE);
  const scene = await open(t, { authorization: { default: "allow", policies } }, asks);
  const inner = async (state: string) =>
    scene.retry(state, { inputResponses: { confirm: { action: "accept", content: { ok: true } } } });
  const first = await say(scene, await scene.ask(), "a");
  t.match((await inner(first.json.result.requestState)).json, { result: { resultType: "complete" } });
  let again = await scene.gateway.call(TRANSFER, { token: scene.owner });
  await until(async () => {
    again = await scene.gateway.call(TRANSFER, { token: scene.owner });
    return again.json.result.inputRequests.confirm !== undefined;
  });
  t.match((await inner(again.json.result.requestState)).json, { result: { resultType: "complete" } });
  t.ok(await scene.gateway.configure({ authorization: { default: "allow", policies: [ASK] } }));
  const changed = await inner(
    (await scene.gateway.call(TRANSFER, { token: scene.owner })).json.result.requestState,
  );
  t.match(changed.json, { error: { data: { reason: "invalid_input_responses" } } }, "asked again by then");
});

t.test("revoked between the question and the answer", async (t) => {
  const scene = await open(t, operated(t));
  for (const body of [
    { principal: { issuer: scene.issuer.issuer, subject: "u-1001" } },
    { route: "/mcp" },
    undefined,
  ]) {
    const state = await scene.ask();
    const chain = scene.gateway.audit.at(-1)?.chain;
    await set(scene.gateway, "revocations", body ?? { chain });
    const reply = await say(scene, state, "a");
    t.match(reply.json, { error: { data: { reason: "invalid_request_state" } } });
    t.match(scene.gateway.audit.at(-1), { cause: "revoked" });
    t.equal(scene.bytesUp(), 0);
  }
  t.match((await say(scene, await scene.ask(), "b")).json, { result: { resultType: "complete" } });
});

t.test("a store that lost its marks, and one that is away", async (t) => {
  const redis = await ownRedis(t);
  process.env["SG_TEST_EDGES_KEY"] = "an operator's secret of more than 32 bytes";
  const scene = await open(t, {
    redis: { url: redis.url },
    redemption: { store: "redis" },
    keys: { primary: "k", ring: [{ id: "k", secret: { env: "SG_TEST_EDGES_KEY" } }] },
  });
  await until(async () => (await scene.gateway.call(TRANSFER, { token: scene.owner })).status === 200);
  const state = await scene.ask();
  await redis.command("FLUSHALL");
  t.match((await say(scene, state, "a")).json, { error: { data: { reason: "outcome_unknown" } } });
  await until(async () => {
    const fresh = await scene.ask();
    return (await say(scene, fresh, "b")).status === 200;
  });
  const before = scene.upstream.arrived.length;
  const last = await scene.ask();
  await redis.stop();
  t.match((await say(scene, last, "c")).json, { error: { data: { reason: "store_unavailable" } } });
  t.match(
    (await say(scene, last, "d", { approval: { action: "decline" } })).json,
    { error: { data: { reason: "store_unavailable" } } },
    "a no is spent in the store too",
  );
  t.equal(scene.upstream.arrived.length, before);
});

t.test(
  "two replicas, of which one has seen the list: each asks by what it knows, and either takes the yes",
  async (t) => {
    const redis = await ownRedis(t);
    process.env["SG_TEST_EDGES_KEY"] = "an operator's secret of more than 32 bytes";
    const policies = [{ id: "damage", effect: "approve", tools: ["*"], when: ["destructive"] }];
    const lists: Script = (arrived, response) =>
      result(
        arrived,
        response,
        arrived.json.method === "tools/list"
          ? '{"resultType":"complete","tools":[{"name":"transfer","annotations":{"readOnlyHint":true}}],"ttlMs":0,"cacheScope":"private"}'
          : DONE,
      );
    const sections = {
      redis: { url: redis.url },
      redemption: { store: "redis" },
      keys: { primary: "k", ring: [{ id: "k", secret: { env: "SG_TEST_EDGES_KEY" } }] },
      authorization: { default: "allow", policies },
    };
    const scene = await open(t, sections, lists);
    const own = { token: scene.owner };
    await until(async () => (await scene.gateway.call(TRANSFER, own)).status === 200);
    const { issuer, jwksUrl } = scene.issuer;
    const knowing = await startGateway(scene.upstreamUrl, {
      ...sections,
      authentication: { issuers: [{ issuer, jwks: { url: jwksUrl } }] },
    });
    t.teardown(() => knowing.close(0));
    await until(async () => (await knowing.call({ method: "tools/list" }, own)).status === 200);
    t.match((await knowing.call(TRANSFER, own)).json, { result: { resultType: "complete" } });
    const state = await scene.ask();
    const params = { ...TRANSFER.params, requestState: state, inputResponses: YES };
    const runs = scene.upstream.arrived.length;
    const reply = await knowing.call({ ...TRANSFER, id: "yes", params }, own);
    t.match(reply.json, { result: { resultType: "complete" } });
    t.equal(scene.upstream.arrived.length, runs + 1);
    const again = await say(scene, state, "again");
    t.match(again.json, { error: { data: { reason: "already_redeemed" } } });
  },
);

t.test("a task is approved before there is one, and nobody is asked while it goes on", async (t) => {
  const tasks = createTaskServer();
  const scene = await open(t, {}, tasks.script, { tasks: "pass" });
  const options = { token: scene.owner, capabilities: DECLARED };
  const params = { name: "report", arguments: { of: "June" }, task: { ttl: 60_000 } };
  const asked = await scene.gateway.call({ method: "tools/call", params }, options);
  t.match(asked.json, { result: { resultType: "input_required", inputRequests: { approval: {} } } });
  t.equal(tasks.tasks.size, 0);
  const requestState = asked.json.result.requestState;
  const made = await scene.gateway.call(
    { method: "tools/call", params: { ...params, requestState, inputResponses: YES } },
    options,
  );
  t.match(made.json, { result: { resultType: "task", taskId: /^sgt1\./ } });
  t.equal(tasks.tasks.size, 1);
  t.same(scene.upstream.arrived[0]?.json.params.task, { ttl: 60_000 });
  const { taskId } = made.json.result;
  const poll = { method: "tasks/get", params: { taskId } };
  const got = await scene.gateway.call(poll, { ...options, headers: { "mcp-name": taskId } });
  t.match(got.json, { result: { status: "working" } });
  t.equal(scene.gateway.audit.at(-1)?.chain, scene.gateway.audit[0]?.chain, "in the chain of the approval");
});

t.test("older revisions: refused where it would be asked, and served where not", async (t) => {
  const script: Script = (arrived, response) =>
    result(
      arrived,
      response,
      arrived.json.method === "tools/list"
        ? '{"tools":[{"name":"look","annotations":{"readOnlyHint":true}},{"name":"wipe"}]}'
        : '{"content":[]}',
    );
  const policies = [ASK, { id: "hints", effect: "approve", tools: ["*"], when: ["destructive"] }];
  const scene = await open(t, { authorization: { default: "allow", policies } }, script, { legacy: "pass" });
  const call = (method: string, params: object) =>
    scene.gateway.send({
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        authorization: `Bearer ${scene.owner}`,
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    });
  const refused = { status: 200, json: { error: { code: -32603, data: { reason: "approval_required" } } } };
  t.match(await call("tools/call", { name: "transfer", arguments: {} }), refused);
  t.match(await call("tools/call", { name: "look", arguments: {} }), refused, "no list was seen");
  t.equal(scene.bytesUp(), 0);
  t.equal((await call("tools/list", {})).status, 200);
  t.match((await call("tools/call", { name: "look", arguments: {} })).json, { result: { content: [] } });
  t.match(await call("tools/call", { name: "wipe", arguments: {} }), refused);
  t.match(scene.gateway.audit.at(-1), {
    code: "approval_required",
    cause: "legacy",
    target: { name: "wipe" },
  });
});

t.test("streams and prompts of the same route are as they were", async (t) => {
  const scene = await open(t);
  const progress: Script = (arrived, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(
      `data: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":1}}\n\n`,
    );
    response.end(`data: {"jsonrpc":"2.0","id":${JSON.stringify(arrived.json.id)},"result":${DONE}}\n\n`);
  };
  scene.upstream.script = progress;
  const _meta = { ...meta(), progressToken: "p" };
  const params = { ...TRANSFER.params, _meta };
  const asked = await scene.gateway.call({ ...TRANSFER, params }, { token: scene.owner });
  t.match(asked.headers, { "content-type": "application/json" });
  const requestState = asked.json.result.requestState;
  const reply = await scene.gateway.call(
    { ...TRANSFER, params: { ...params, requestState, inputResponses: YES } },
    { token: scene.owner },
  );
  t.match(reply.headers, { "content-type": /event-stream/ });
  t.match(reply.body, /notifications\/progress/);
  t.match(reply.json, { result: { resultType: "complete" } });
});

t.test("what was not sent gives the yes back", async (t) => {
  const scene = await open(t, {}, done, { upstream: { url: "http://127.0.0.1:9/mcp" } });
  const state = await scene.ask();
  for (const id of ["a", "b"]) {
    const reply = await say(scene, state, id);
    t.match(reply.json, { error: { data: { reason: "upstream_unreachable" } } });
    t.match(scene.gateway.audit.at(-1), { state: "released", approval: { action: "accept" } });
  }
});
