/** Grants, denials and requirements of capabilities, on two gateways and a real Redis: in both halves, and in retries. */
import t from "tap";
import type { CallOptions, Reply, TestGateway } from "../support/gateway.ts";
import { ownRedis } from "../support/redis.ts";
import { until } from "../support/until.ts";
import { result, type Script, startUpstream } from "../support/upstream.ts";
import { ask, inForce, openGateway, operated, set } from "./operators.ts";
import { ASK, answers, asksOnce, DONE, holding, isRetry, retryOf, stateOf, TRANSFER } from "./rounds.ts";

const SAMPLE = JSON.stringify({
  resultType: "input_required",
  requestState: "s",
  inputRequests: {
    confirm: {
      method: "sampling/createMessage",
      params: { messages: [{ role: "user", content: { type: "text", text: "Sure?" } }], maxTokens: 5 },
    },
  },
});
const ANSWER = { confirm: { role: "assistant", content: { type: "text", text: "yes" }, model: "m" } };
const ABLE: CallOptions = { capabilities: { elicitation: { form: {} }, sampling: {} } };
const FORBIDDEN = { status: 403, json: { error: { code: -32603, data: { reason: "question_forbidden" } } } };

const samples: Script = (arrived, response) => result(arrived, response, isRetry(arrived) ? DONE : SAMPLE);

const redis = await ownRedis(t);
const upstream = await startUpstream(samples);
t.teardown(() => upstream.close());
const sections = { ...operated(t, redis.url), capability: { allow: ["elicitation.form"] } };
const a = await openGateway(t, upstream.url, sections);
const b = await openGateway(t, upstream.url, sections);

const declared = (): unknown =>
  upstream.arrived.at(-1)?.json.params._meta["io.modelcontextprotocol/clientCapabilities"];
const reasonOf = ({ json }: Reply): unknown => json.error?.data.reason;
const both = async (kind: "allow" | "deny", count: number): Promise<void> =>
  until(async () => (await inForce(a))[kind] === count && (await inForce(b))[kind] === count);

async function clear(): Promise<void> {
  await until(async () => {
    for (const { id } of (await ask(a, "/v1/grants")).json.grants)
      await ask(a, `/v1/grants/${id}`, { method: "DELETE" });
    const left = await Promise.all([a, b].map(inForce));
    return left.every(({ allow, deny }) => allow + deny === 0);
  });
}
t.beforeEach(async () => {
  upstream.script = samples;
  await clear();
});

t.test("a grant opens both halves on every gateway, a removal closes them", async (t) => {
  t.match(await b.call(TRANSFER, ABLE), FORBIDDEN);
  t.same(declared(), { elicitation: { form: {} } });
  const { id } = await set(a, "grants", {
    effect: "allow",
    capability: ["sampling"],
    tool: "trans*",
    ttl: "10m",
  });
  await both("allow", 1);
  const state = stateOf(await b.call(TRANSFER, ABLE));
  t.same(declared(), { elicitation: { form: {} }, sampling: {} });
  t.match(await a.call(retryOf(state, ANSWER), ABLE), { status: 200, json: { result: JSON.parse(DONE) } });
  const other = { ...TRANSFER, params: { ...TRANSFER.params, name: "other" } };
  t.match(await b.call(other, ABLE), FORBIDDEN, "another tool");
  t.match(await b.call(TRANSFER), { json: { error: { code: -32021 } } }, "a client that cannot");
  await ask(b, `/v1/grants/${id}`, { method: "DELETE" });
  await both("allow", 0);
  t.match(await b.call(TRANSFER, ABLE), FORBIDDEN);
});

t.test("a denial wins over policy and grants, also over what was asked before it", async (t) => {
  upstream.script = asksOnce;
  const state = stateOf(await a.call(TRANSFER));
  await set(a, "grants", { effect: "allow", capability: ["elicitation.form"] });
  const { id } = await set(b, "grants", { effect: "deny", capability: ["elicitation.form"], route: "/mcp" });
  await both("deny", 1);
  t.match(await a.call(TRANSFER), FORBIDDEN);
  const before = upstream.arrived.length;
  t.match(await b.call(retryOf(state)), FORBIDDEN);
  t.match(b.audit.at(-1), { cause: "elicitation.form", state: "opened" });
  t.equal(upstream.arrived.length, before);
  await ask(a, `/v1/grants/${id}`, { method: "DELETE" });
  await both("deny", 0);
  t.match(await b.call(retryOf(state)), { status: 200 }, "the state was not spent");
});

t.test("what is denied while the server works does not reach the client", async (t) => {
  const held = holding();
  upstream.script = held.script;
  const call = b.call(TRANSFER);
  const { arrived, response } = await held.next();
  await set(a, "grants", { effect: "deny", tool: "transfer" });
  await both("deny", 1);
  result(arrived, response, ASK);
  const reply = await call;
  t.match(reply, FORBIDDEN);
  t.notMatch(reply.body, /Sure/);
});

t.test("a grant ends by itself", async (t) => {
  await set(a, "grants", { effect: "allow", capability: ["sampling"], ttl: "1s" });
  await until(async () => (await inForce(b)).allow === 0 && (await inForce(a)).allow === 0);
  t.match(await b.call(TRANSFER, ABLE), FORBIDDEN);
  t.same((await ask(a, "/v1/grants")).json, { grants: [] });
});

t.test("with Redis away grants lapse and denials stay", async (t) => {
  await set(a, "grants", { effect: "allow", capability: ["sampling"] });
  await set(a, "grants", { effect: "deny", capability: ["elicitation.form"] });
  await both("allow", 1);
  await both("deny", 1);
  stateOf(await b.call(TRANSFER, ABLE));
  redis.pause();
  await until(async () => reasonOf(await b.call(TRANSFER, ABLE)) === "question_forbidden");
  upstream.script = asksOnce;
  t.match(await b.call(TRANSFER, ABLE), FORBIDDEN);
  t.match(await ask(b, "/v1/grants", { body: { effect: "deny", tool: "x" } }), { status: 503 });
  t.match(b.deeds.at(-1), { outcome: "failed", cause: "store_unavailable" });
  redis.resume();
  upstream.script = samples;
  await until(async () => (await b.call(TRANSFER, ABLE)).status === 200);
});

t.test(
  "required capabilities: refused before the server sees the call, exactly what is missing",
  async (t) => {
    const gateway: TestGateway = await openGateway(t, upstream.url, {
      ...sections,
      authorization: {
        default: "allow",
        policies: [{ id: "hide", effect: "deny", methods: ["tools/call"], tools: ["hidden", "url_hidden"] }],
      },
      capability: {
        requires: ["elicitation.form"],
        tools: [
          { match: ["hidden"], requires: ["roots"] },
          { match: ["url_*"], requires: ["elicitation.url", "elicitation.form", "sampling"] },
          { match: ["free"], requires: [] },
        ],
      },
    });
    upstream.script = answers(DONE);
    const call = (name: string, capabilities: Record<string, unknown>): Promise<Reply> =>
      gateway.call({ method: "tools/call", params: { name, arguments: {} } }, { capabilities });
    const missing = (requiredCapabilities: object) => ({
      status: 400,
      json: { error: { code: -32021, data: { reason: "missing_capability", requiredCapabilities } } },
    });
    for (const [name, capabilities, lacks] of [
      ["x", {}, { elicitation: { form: {} } }],
      ["x", { elicitation: { url: {} } }, { elicitation: { form: {} } }],
      ["url_x", { elicitation: {} }, { elicitation: { url: {} }, sampling: {} }],
      ["url_x", { sampling: {}, elicitation: { url: {} } }, { elicitation: { form: {} } }],
      // Of a hidden tool no more is told than of a name that nobody has.
      ["hidden", {}, { elicitation: { form: {} } }],
      ["url_hidden", { elicitation: {} }, { elicitation: { url: {} }, sampling: {} }],
    ] as const) {
      const before = upstream.arrived.length;
      const reply = await call(name, capabilities);
      t.match(reply, missing(lacks), name);
      t.same(reply.json.error.data.requiredCapabilities, lacks);
      t.equal(upstream.arrived.length, before);
      t.equal(gateway.audit.at(-1)?.cause, "required");
    }
    for (const [name, capabilities] of [
      ["x", { elicitation: {} }],
      ["url_x", { elicitation: { form: {}, url: {} }, sampling: {} }],
      ["free", {}],
    ] as const)
      t.equal((await call(name, capabilities)).status, 200, name);
    t.equal(reasonOf(await call("hidden", { elicitation: {} })), "unknown_tool");
    for (const method of ["tools/list", "server/discover"])
      t.equal((await gateway.call({ method }, { capabilities: {} })).status, 200, method);
  },
);

t.test("needs are learnt from traffic and told, not enforced", async (t) => {
  const gateway = await openGateway(t, upstream.url, operated(t, redis.url));
  t.same((await ask(gateway, "/v1/needs")).json, { needs: [] });
  t.equal(reasonOf(await gateway.call(TRANSFER)), "missing_capability");
  t.equal(reasonOf(await gateway.call(TRANSFER)), "missing_capability");
  upstream.script = (arrived, response) => {
    const { id } = arrived.json;
    response.writeHead(400, { "content-type": "application/json" });
    const data = { requiredCapabilities: { elicitation: { url: {} }, madeUp: {} } };
    response.end(JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32021, message: "x", data } }));
  };
  await gateway.call(TRANSFER);
  t.same((await ask(gateway, "/v1/needs")).json.needs, [
    { route: "/mcp", target: "transfer", capability: "sampling" },
    { route: "/mcp", target: "transfer", capability: "elicitation.url" },
  ]);
  t.match((await ask(gateway, "/metrics")).body, /^sealgate_needs 2$/m);
  upstream.script = samples;
  t.equal((await gateway.call(TRANSFER, ABLE)).status, 200);
  t.equal(
    reasonOf(await gateway.call(TRANSFER)),
    "missing_capability",
    "by the server's question, as before",
  );
});
