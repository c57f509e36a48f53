/** The admin listener: liveness, readiness, metrics that move, and nothing else. */
import t, { type Test } from "tap";
import { exchange, startGateway, type TestGateway } from "../support/gateway.ts";
import { ownRedis } from "../support/redis.ts";
import { until } from "../support/until.ts";
import { result, startUpstream } from "../support/upstream.ts";
import { asksOnce, holding, retryOf, sendAs, stateOf, TRANSFER } from "./rounds.ts";

const admin = (store?: "required") => ({
  admin: { listen: "127.0.0.1:0", ...(store === undefined ? {} : { readiness: { store } }) },
});

const get = (gateway: TestGateway, path: string, method = "GET") =>
  exchange(gateway.adminUrl ?? "", { path, method });

/** The sum of a metric's samples that have these labels. */
async function metric(
  gateway: TestGateway,
  name: string,
  labels: Record<string, string> = {},
): Promise<number> {
  const { body } = await get(gateway, "/metrics");
  const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
  return body
    .split("\n")
    .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
    .filter((line) => wanted.every((label) => line.includes(label)))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" "))), 0);
}

async function open(t: Test, sections: Record<string, unknown>, script = asksOnce): Promise<TestGateway> {
  const upstream = await startUpstream(script);
  t.teardown(() => upstream.close());
  const gateway = await startGateway(upstream.url, sections);
  t.teardown(() => gateway.close(0));
  return gateway;
}

t.test("alive and ready, whatever the upstream does", async (t) => {
  const upstream = await startUpstream(asksOnce);
  await upstream.close();
  const gateway = await startGateway(upstream.url, admin());
  t.teardown(() => gateway.close(0));
  t.match(await get(gateway, "/healthz"), { status: 200, json: { status: "ok" } });
  t.match(await get(gateway, "/readyz"), { status: 200, json: { status: "ready", store: "ok" } });
  t.equal((await get(gateway, "/readyz")).headers["cache-control"], "no-store");
});

t.test("the two listeners do not serve each other's paths, and admin says nothing more", async (t) => {
  const gateway = await open(t, admin());
  for (const path of ["/healthz", "/readyz", "/metrics"])
    t.equal((await gateway.send({ path, method: "GET" })).status, 404, path);
  for (const path of ["/mcp", "/", "/v1/keys", "/metrics/../mcp"]) {
    const reply = await get(gateway, path);
    t.equal(reply.status, 404);
    t.equal(reply.body, '{"error":"not found"}');
  }
  t.equal((await get(gateway, "/metrics", "POST")).status, 404);
  const none = await open(t, {});
  t.equal(none.adminUrl, undefined, "no admin listener unless configured");
});

t.test(
  "a store that is away: degraded where optional, not ready where required, ready when it comes",
  async (t) => {
    const redis = await ownRedis(t);
    await redis.stop();
    const key = `${t.testdir({ key: "k".repeat(43) })}/key`;
    const sections = {
      keys: { primary: "k", ring: [{ id: "k", secret: { file: key } }] },
      redis: { url: redis.url },
      redemption: { store: "redis" },
    };
    const optional = await open(t, { ...sections, ...admin() });
    const required = await open(t, { ...sections, ...admin("required") });
    t.match(await get(optional, "/readyz"), { status: 200, json: { status: "ready", store: "degraded" } });
    t.match(await get(required, "/readyz"), {
      status: 503,
      json: { status: "not ready", store: "degraded" },
    });
    t.equal((await get(required, "/healthz")).status, 200, "liveness does not depend on it");
    t.equal(await metric(required, "sealgate_store_available"), 0);
    t.notMatch((await get(required, "/readyz")).body, /127\.0\.0\.1|ECONN/);
    await redis.start();
    await until(async () => (await get(required, "/readyz")).status === 200);
    t.match((await get(required, "/readyz")).json, { status: "ready", store: "ok" });
    t.equal(await metric(required, "sealgate_store_available"), 1);
    await redis.stop();
    await until(async () => (await get(required, "/readyz")).status === 503);
    t.match((await get(optional, "/readyz")).status, 200);
  },
);

t.test("counters move with what happens", async (t) => {
  const gateway = await open(t, admin());
  const call = { route: "/mcp", method: "tools/call" };
  const state = stateOf(await gateway.call(TRANSFER));
  t.equal(await metric(gateway, "sealgate_seals_total"), 1);
  t.equal(await metric(gateway, "sealgate_requests_total", { ...call, outcome: "input_required" }), 1);
  await gateway.call(retryOf("sg1.forged"));
  t.equal(await metric(gateway, "sealgate_opens_total", { result: "rejected" }), 1);
  t.equal(
    await metric(gateway, "sealgate_refusals_total", { code: "invalid_request_state", cause: "encoding" }),
    1,
  );
  await gateway.call(retryOf(state));
  t.equal(await metric(gateway, "sealgate_opens_total", { result: "redeemed" }), 1);
  t.equal(await metric(gateway, "sealgate_redemptions_total", { outcome: "redeemed" }), 1);
  await gateway.call(retryOf(state));
  t.equal(await metric(gateway, "sealgate_redemptions_total", { outcome: "already_redeemed" }), 1);
  t.equal(await metric(gateway, "sealgate_requests_total"), 4);
  t.equal(await metric(gateway, "sealgate_request_duration_seconds_count"), 4);
  t.equal(await metric(gateway, "sealgate_keys"), 1);
});

t.test("what a client makes up does not become a label", async (t) => {
  const gateway = await open(t, admin());
  for (const method of ['x"} 1\nsealgate_fake 1', "made/up", "tools/call\u0000"])
    await sendAs(gateway, "1", { method }, { headers: { "mcp-method": "x" } });
  const { body } = await get(gateway, "/metrics");
  t.notMatch(body, /made\/up|fake/);
  t.equal(await metric(gateway, "sealgate_requests_total", { method: "other" }), 3);
});

t.test("what is in flight is counted and given back; a draining gateway is not ready", async (t) => {
  const held = holding();
  const gateway = await open(t, admin(), held.script);
  const listen = gateway.call({ method: "subscriptions/listen" });
  const stream = await held.next();
  const call = gateway.call(TRANSFER);
  const request = await held.next();
  t.equal(await metric(gateway, "sealgate_in_flight", { kind: "request" }), 1);
  t.equal(await metric(gateway, "sealgate_in_flight", { kind: "stream" }), 1);
  result(stream.arrived, stream.response, "{}");
  await listen;
  await until(async () => (await metric(gateway, "sealgate_in_flight", { kind: "stream" })) === 0);
  const closing = gateway.close(60_000);
  t.match(await get(gateway, "/readyz"), { status: 503, json: { status: "draining" } });
  t.equal((await get(gateway, "/healthz")).status, 200, "it still lives");
  t.match(await gateway.call(TRANSFER), {
    status: 503,
    headers: { connection: "close", "retry-after": "1" },
    json: { error: { data: { reason: "shutting_down" } } },
  });
  result(request.arrived, request.response, "{}");
  t.equal((await call).status, 200, "what was in flight is served");
  await closing;
  await t.rejects(get(gateway, "/healthz"), { code: "ECONNREFUSED" });
});

t.test("on loopback, only loopback names: a web page cannot read it through a name of its own", async (t) => {
  const gateway = await open(t, admin());
  const port = new URL(gateway.adminUrl ?? "").port;
  for (const [host, status] of [
    [`127.0.0.1:${port}`, 200],
    ["localhost", 200],
    [`evil.example:${port}`, 421],
    ["127.0.0.1.evil.example", 421],
  ] as const) {
    const reply = await exchange(gateway.adminUrl ?? "", {
      path: "/metrics",
      method: "GET",
      headers: { host },
    });
    t.equal(reply.status, status, host);
  }
});
