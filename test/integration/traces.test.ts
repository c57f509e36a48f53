/** Traces: what a collector is told of requests, whose parent is whose, and how the rounds of one call hang together. */
import t, { type Test } from "tap";
import { generateSecret } from "../../src/key-secret.ts";
import { meta, mirrored, startGateway, type TestGateway } from "../support/gateway.ts";
import { type Collector, startCollector, type Taken } from "../support/otlp.ts";
import { ownRedis } from "../support/redis.ts";
import { result, startUpstream, type TestUpstream } from "../support/upstream.ts";
import { asksOnce, holding, INNER, retryOf, stateOf, TRANSFER } from "./rounds.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const OTHER = "4bf92f3577b34da6a3ce929d0e0e4736";
const SPAN = "b7ad6b7169203331";
const parent = (trace: string, flags = "01"): string => `00-${trace}-${SPAN}-${flags}`;

interface Scene {
  readonly collector: Collector;
  readonly upstream: TestUpstream;
  readonly gateway: TestGateway;
  /** Ends the gateway, which sends what waits. */
  spans(): Promise<Taken[]>;
}

async function open(
  t: Test,
  traces: Readonly<Record<string, unknown>> = {},
  sections: Readonly<Record<string, unknown>> = {},
): Promise<Scene> {
  const collector = await startCollector();
  t.teardown(() => collector.close());
  const upstream = await startUpstream(asksOnce);
  t.teardown(() => upstream.close());
  const gateway = await startGateway(upstream.url, {
    telemetry: { traces: { endpoint: collector.url, ...traces } },
    ...sections,
  });
  let closed = false;
  const close = async (): Promise<void> => {
    if (!closed) await gateway.close(0);
    closed = true;
  };
  t.teardown(close);
  return {
    ...{ collector, upstream, gateway },
    spans: async () => {
      await close();
      t.same(collector.wrong, []);
      return collector.spans;
    },
  };
}

const of = (spans: readonly Taken[], kind: number): Taken[] => spans.filter((span) => span.kind === kind);
const [ROUND, SERVER, CLIENT] = [1, 2, 3];

t.test("one request: its own span, and below it that of the call to the server", async (t) => {
  const { gateway, upstream, spans } = await open(t, { serviceName: "gate-1" });
  await gateway.call({ id: 4711, method: "tools/list" });
  const taken = await spans();
  t.equal(taken.length, 2);
  const [client] = of(taken, CLIENT);
  const [server] = of(taken, SERVER);
  t.match(server, {
    name: "tools/list",
    parentSpanId: undefined,
    failed: false,
    attributes: {
      "mcp.method.name": "tools/list",
      "mcp.protocol.version": "2026-07-28",
      "jsonrpc.request.id": "4711",
      "http.request.method": "POST",
      "http.response.status_code": "200",
      "http.route": "/mcp",
      "server.address": "gateway.test",
      "network.transport": "tcp",
      "sealgate.outcome": "complete",
      "sealgate.request_id": gateway.audit[0]?.requestId,
    },
  });
  t.match(client, {
    ...{ name: "tools/list", traceId: server?.traceId, parentSpanId: server?.spanId },
    attributes: { "server.address": "127.0.0.1", "server.port": new URL(upstream.url).port },
  });
  t.equal(upstream.arrived[0]?.headers["traceparent"], `00-${client?.traceId}-${client?.spanId}-01`);
  t.notMatch(upstream.arrived[0]?.body, "traceparent", "a message that named none is left alone");
});

t.test("the context of the HTTP request", async (t) => {
  const { gateway, upstream, spans } = await open(t);
  await gateway.call(
    { method: "tools/list" },
    { headers: { traceparent: parent(TRACE), tracestate: "a=1,b=2" } },
  );
  const taken = await spans();
  const [client] = of(taken, CLIENT);
  t.match(of(taken, SERVER), [{ traceId: TRACE, parentSpanId: SPAN, traceState: "a=1,b=2", links: [] }]);
  t.match(upstream.arrived[0]?.headers, {
    traceparent: `00-${TRACE}-${client?.spanId}-01`,
    tracestate: "a=1,b=2",
  });
});

t.test("the context of the message comes before that of the HTTP request, which is linked", async (t) => {
  const { gateway, upstream, spans } = await open(t);
  const own = { ...meta(), tracestate: "m=1", note: 1.0, traceparent: parent(OTHER), baggage: "user=alice" };
  await gateway.call(
    { method: "tools/list", params: { _meta: own } },
    { headers: { traceparent: parent(TRACE), tracestate: "a=1" } },
  );
  const taken = await spans();
  const [client] = of(taken, CLIENT);
  t.match(of(taken, SERVER), [
    { traceId: OTHER, parentSpanId: SPAN, traceState: "m=1", links: [{ traceId: TRACE, spanId: SPAN }] },
  ]);
  const up = `00-${OTHER}-${client?.spanId}-01`;
  t.match(upstream.arrived[0]?.headers, { traceparent: up, tracestate: "m=1" });
  // Every other byte is as it came.
  t.same(upstream.arrived[0]?.json.params._meta, { ...own, traceparent: up });
  t.notMatch(JSON.stringify(taken), "alice");
});

t.test("whoever came before decides whether it is recorded, and else the share does", async (t) => {
  const all = await open(t, { sample: 1 });
  await all.gateway.call(
    { method: "tools/list" },
    { headers: { traceparent: parent(TRACE, "00"), tracestate: "a=1" } },
  );
  t.match(all.upstream.arrived[0]?.headers, { traceparent: parent(TRACE, "00"), tracestate: "a=1" });
  t.same(await all.spans(), []);
  const none = await open(t, { sample: 0 });
  await none.gateway.call({ method: "tools/list" });
  t.equal(none.upstream.arrived[0]?.headers["traceparent"], undefined);
  await none.gateway.call({ method: "tools/list" }, { headers: { traceparent: parent(TRACE) } });
  t.equal((await none.spans()).length, 2);
});

t.test("a refusal is a failed span, and asks no server", async (t) => {
  const { gateway, spans } = await open(t, {}, { authorization: { default: "deny", policies: [] } });
  await gateway.call({
    method: "tools/call",
    params: { name: "hunter2-tool", arguments: { a: "hunter2-argument" } },
  });
  const taken = await spans();
  t.match(taken, [
    {
      ...{ kind: SERVER, name: "tools/call", failed: true },
      attributes: { "sealgate.outcome": "refused", "rpc.response.status_code": /^-\d+$/ },
    },
  ]);
  t.equal(taken[0]?.attributes["error.type"], gateway.audit[0]?.code);
  t.notMatch(JSON.stringify(taken), "hunter2");
});

t.test("rounds over two gateways make one trace of their chain", async (t) => {
  const redis = await ownRedis(t);
  const folder = t.testdir({ key: generateSecret() });
  const sections = {
    keys: { primary: "k", ring: [{ id: "k", secret: { file: `${folder}/key` } }] },
    redis: { url: redis.url },
    redemption: { store: "redis" },
  };
  const collector = await startCollector();
  t.teardown(() => collector.close());
  const upstream = await startUpstream(asksOnce);
  t.teardown(() => upstream.close());
  const telemetry = { traces: { endpoint: collector.url } };
  const [a, b] = await Promise.all([1, 2].map(() => startGateway(upstream.url, { ...sections, telemetry })));
  if (a === undefined || b === undefined) throw new Error("no gateways");
  const state = stateOf(await a.call(TRANSFER));
  t.equal((await b.call(retryOf(state))).status, 200);
  t.equal((await b.call(retryOf(state))).json.error.data.reason, "already_redeemed");
  await a.close(0);
  await b.close(0);
  t.same(collector.wrong, []);
  const rounds = of(collector.spans, ROUND);
  const servers = of(collector.spans, SERVER);
  t.equal(rounds.length, 3);
  const chain = a.audit[0]?.chain;
  t.same(
    rounds.map((span) => span.attributes["sealgate.chain"]),
    [chain, chain, chain],
  );
  t.equal(new Set(rounds.map(({ traceId }) => traceId)).size, 1, "one trace");
  t.equal(
    new Set(servers.map(({ traceId }) => traceId)).size,
    3,
    "of three requests, each with a trace of its own",
  );
  t.equal(new Set(rounds.map(({ spanId }) => spanId)).size, 3);
  const [first, second, replay] = rounds;
  t.equal(first?.parentSpanId, undefined);
  t.equal(second?.parentSpanId, first?.spanId);
  t.equal(replay?.parentSpanId, first?.spanId);
  t.match(replay, { failed: true, attributes: { "sealgate.replay": "already_redeemed" } });
  for (const [index, round] of rounds.entries()) {
    const server = servers[index];
    t.match(round.links, [{ traceId: server?.traceId, spanId: server?.spanId }]);
    t.match(server?.links, [{ traceId: round.traceId, spanId: round.spanId }]);
  }
  t.match(servers[1], { name: "tools/call transfer", attributes: { "gen_ai.tool.name": "transfer" } });
  const text = JSON.stringify(collector.bodies);
  for (const secret of [state, "inner-state", "acct-9", "Sure?", "clientInfo"]) t.notMatch(text, secret);
});

t.test("a collector that says nothing holds up nobody", async (t) => {
  const { gateway, collector } = await open(t);
  collector.silent = true;
  for (let count = 0; count < 300; count += 1) await gateway.call({ method: "tools/list" });
  t.equal(gateway.audit.length, 300);
});

t.test("a stream has a span when it is over, a request that is left has one too", async (t) => {
  const { gateway, upstream, spans } = await open(t);
  const held = holding();
  upstream.script = held.script;
  const leaving = new AbortController();
  const call = gateway.call({ method: "tools/list" }, { signal: leaving.signal });
  const { arrived } = await held.next();
  leaving.abort();
  await t.rejects(call);
  await arrived.closed;
  t.match(await spans(), [
    { kind: CLIENT, failed: true, attributes: { "error.type": "cancelled" } },
    { kind: SERVER, failed: true, attributes: { "error.type": "cancelled" } },
  ]);
});

t.test("another endpoint is taken up while it runs, and the old one gets what was for it", async (t) => {
  const { gateway, collector } = await open(t);
  const second = await startCollector();
  t.teardown(() => second.close());
  await gateway.call({ method: "tools/list" });
  t.ok(await gateway.configure({ telemetry: { traces: { endpoint: second.url } } }));
  await gateway.call({ method: "tools/list" });
  await gateway.close(0);
  t.equal(collector.spans.length, 2);
  t.equal(second.spans.length, 2);
});

t.test("without traces, what goes up is what came", async (t) => {
  const { gateway, upstream, collector } = await open(t, {}, { telemetry: {} });
  const body = JSON.stringify({
    ...{ jsonrpc: "2.0", id: 1, method: "tools/list" },
    params: { _meta: { ...meta(), traceparent: parent(OTHER) } },
  });
  const headers = { ...mirrored({ method: "tools/list" }), traceparent: parent(TRACE) };
  await gateway.send({ headers, body });
  t.equal(upstream.arrived[0]?.headers["traceparent"], parent(TRACE));
  t.match(upstream.arrived[0]?.body, parent(OTHER));
  await gateway.close(0);
  t.same(collector.bodies, []);
});

t.test("a retry, whose state is opened in the same message", async (t) => {
  const { gateway, upstream, spans } = await open(t);
  const state = stateOf(await gateway.call(TRANSFER));
  const retry = retryOf(state);
  const _meta = { ...meta(), traceparent: parent(OTHER), tracestate: "m=1" };
  t.equal((await gateway.call({ ...retry, params: { ...retry.params, _meta } })).status, 200);
  const up = upstream.arrived[1];
  t.equal(up?.json.params.requestState, INNER);
  const taken = await spans();
  const client = of(taken, CLIENT).find(({ traceId }) => traceId === OTHER);
  t.equal(up?.json.params._meta.traceparent, `00-${OTHER}-${client?.spanId}-01`);
  t.equal(up?.json.params._meta.tracestate, "m=1");
  t.equal(up?.headers["traceparent"], up?.json.params._meta.traceparent);
});

t.test("a notification, and messages of older revisions", async (t) => {
  const { gateway, upstream, spans } = await open(t);
  const own = { ...meta(), traceparent: parent(OTHER) };
  upstream.script = (_arrived, response) => void response.writeHead(202).end();
  await gateway.call({ id: null, method: "notifications/progress", params: { _meta: own } });
  t.match(upstream.arrived[0]?.json.params._meta.traceparent, `00-${OTHER}-`);
  t.not(upstream.arrived[0]?.json.params._meta.traceparent, parent(OTHER));
  await gateway.configure({ routes: [{ path: "/mcp", upstream: { url: upstream.url }, legacy: "pass" }] });
  upstream.script = asksOnce;
  const body = JSON.stringify({
    ...{ jsonrpc: "2.0", id: 1, method: "tools/call" },
    params: { name: "a", arguments: {}, _meta: { traceparent: parent(OTHER), progressToken: 1 } },
  });
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  upstream.script = (arrived, response) => result(arrived, response, '{"content":[]}');
  await gateway.send({ headers: { ...headers, "mcp-protocol-version": "2025-06-18" }, body });
  const legacy = upstream.arrived[1];
  t.match(legacy?.json.params._meta, { progressToken: 1, traceparent: new RegExp(`^00-${OTHER}-`) });
  t.equal(legacy?.headers["traceparent"], legacy?.json.params._meta.traceparent);
  const names = of(await spans(), SERVER).map(({ name }) => name);
  t.same(names, ["other", "tools/call a"]);
});

t.test("a change of telemetry alone ends no open stream, another one does", async (t) => {
  for (const [change, ends] of [
    [{ telemetry: {} }, false],
    [{ envelope: { ttl: "5m" } }, true],
  ] as const) {
    const { gateway, upstream, spans } = await open(t);
    const held = holding();
    upstream.script = held.script;
    const stream = gateway.call({ method: "subscriptions/listen", params: {} });
    const { response } = await held.next();
    response.writeHead(200, { "content-type": "text/event-stream" }).write(": here\n\n");
    t.ok(await gateway.configure(change));
    // Where the stream has been ended, this comes too late.
    response.end();
    t.equal((await stream).body.includes("configuration_changed"), ends);
    const names = of(await spans(), SERVER).map(({ name }) => name);
    t.same(names, ["subscriptions/listen"], "told where it began");
  }
});
