/** The access log: one line for each HTTP request, whatever becomes of it, and nothing in it that somebody could not want there. */
import t, { type Test } from "tap";
import { startGateway, type TestGateway } from "../support/gateway.ts";
import { startIssuer } from "../support/issuer.ts";
import { startCollector } from "../support/otlp.ts";
import { until } from "../support/until.ts";
import { startUpstream } from "../support/upstream.ts";
import { asksOnce, DONE, holding, retryOf, stateOf, TRANSFER } from "./rounds.ts";

// biome-ignore lint/suspicious/noExplicitAny: lines of a log
type Line = any;

const lines = (gateway: TestGateway): Line[] =>
  gateway
    .logged()
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line))
    .filter(({ type }) => type === "access");

async function open(t: Test, sections: object = {}, access = "on") {
  const upstream = await startUpstream(asksOnce);
  t.teardown(() => upstream.close());
  const gateway = await startGateway(upstream.url, { log: { level: "info", access }, ...sections });
  t.teardown(() => gateway.close(0));
  return { upstream, gateway };
}

t.test("off by default", async (t) => {
  const { gateway } = await open(t, { log: {} });
  await gateway.call({ method: "tools/list" });
  t.same(lines(gateway), []);
});

t.test("a call and its retry, by callers that are told apart and not named", async (t) => {
  const issuer = await startIssuer();
  t.teardown(() => issuer.close());
  const collector = await startCollector();
  t.teardown(() => collector.close());
  const { gateway } = await open(t, {
    authentication: { issuers: [{ issuer: issuer.issuer, jwks: { url: issuer.jwksUrl } }] },
    telemetry: { traces: { endpoint: collector.url } },
  });
  const tokenOf = (sub: string) => issuer.token({ sub, aud: "http://gateway.test/mcp" });
  const [alice, bob] = [await tokenOf("alice"), await tokenOf("bob")];
  const first = await gateway.call(TRANSFER, { token: alice });
  const state = stateOf(first);
  const second = await gateway.call(retryOf(state), { token: alice });
  await gateway.call({ method: "tools/list" }, { token: bob });
  await gateway.call({ method: "tools/list" });
  await until(() => lines(gateway).length === 4);
  const [one, two, three, four] = lines(gateway);
  t.match(one, {
    ...{
      level: "info",
      requestId: first.headers["x-request-id"],
      method: "POST",
      route: "/mcp",
      status: 200,
    },
    ...{ mcpMethod: "tools/call", traceId: /^[0-9a-f]{32}$/, principal: /^[\w-]{22}$/ },
  });
  t.ok(one.bytesIn > 100 && one.bytesOut > state.length && one.durationMs >= 0);
  t.ok(two.bytesIn > state.length);
  t.equal(two.principal, one.principal);
  t.not(three.principal, one.principal);
  t.match(four, { status: 401, bytesIn: 0 });
  t.notOk("principal" in four);
  const text = JSON.stringify(lines(gateway));
  for (const secret of [alice, state, "alice", "acct-9", DONE, "127.0.0.1"]) t.notMatch(text, secret);
  t.equal(second.status, 200);
  await gateway.close(0);
  const traces = collector.spans.map(({ traceId }) => traceId);
  t.ok(traces.includes(one.traceId) && traces.includes(two.traceId));
});

t.test("what no route is for has a line without its path", async (t) => {
  const { gateway } = await open(t);
  const reply = await gateway.send({ method: "GET", path: "/hunter2?token=hunter2", headers: {} });
  await gateway.send({ path: "/mcp?token=hunter2", headers: { "mcp-method": "hunter2" }, body: "hunter2" });
  await until(() => lines(gateway).length === 2);
  t.match(lines(gateway), [
    { method: "GET", status: reply.status, requestId: reply.headers["x-request-id"] },
    {},
  ]);
  t.notOk("route" in lines(gateway)[0]);
  t.notMatch(JSON.stringify(lines(gateway)), "hunter2");
});

t.test("a client that leaves before its answer: a line without a status", async (t) => {
  const { gateway, upstream } = await open(t);
  const held = holding();
  upstream.script = held.script;
  const leaving = new AbortController();
  const call = gateway.call({ method: "tools/list" }, { signal: leaving.signal });
  await held.next();
  leaving.abort();
  await t.rejects(call);
  await until(() => lines(gateway).length === 1);
  t.notOk("status" in lines(gateway)[0]);
});

t.test("it is taken up while the gateway runs", async (t) => {
  const { gateway } = await open(t, {}, "off");
  await gateway.call({ method: "tools/list" });
  t.ok(await gateway.configure({ log: { access: "on" } }));
  await gateway.call({ method: "tools/list" });
  await until(() => lines(gateway).length === 1);
  t.equal(lines(gateway).length, 1);
});
