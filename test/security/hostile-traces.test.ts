/** Contexts of traces and names that somebody made up: nothing of them reaches a collector or a server that should not. */
import t, { type Test } from "tap";
import { asksOnce } from "../integration/rounds.ts";
import { meta, mirrored, startGateway, type TestGateway } from "../support/gateway.ts";
import { startIssuer } from "../support/issuer.ts";
import { type Collector, startCollector } from "../support/otlp.ts";
import { startUpstream, type TestUpstream } from "../support/upstream.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const GOOD = `00-${TRACE}-b7ad6b7169203331-01`;
const LIST = { method: "tools/list" };

interface Scene {
  readonly collector: Collector;
  readonly upstream: TestUpstream;
  readonly gateway: TestGateway;
}

async function open(t: Test, traces: object = {}, sections: object = {}): Promise<Scene> {
  const collector = await startCollector();
  t.teardown(() => collector.close());
  const upstream = await startUpstream(asksOnce);
  t.teardown(() => upstream.close());
  const gateway = await startGateway(upstream.url, {
    telemetry: { traces: { endpoint: collector.url, ...traces } },
    ...sections,
  });
  return { collector, upstream, gateway };
}

const post = (gateway: TestGateway, metaJson: string, headers: Record<string, string> = {}, id = "1") =>
  gateway.send({
    headers: { ...mirrored(LIST), ...headers },
    body: `{"jsonrpc":"2.0","id":${id},"method":"tools/list","params":{"_meta":${metaJson}}}`,
  });
/** `_meta` with one member more, as JSON text. */
const withMember = (member: string): string => JSON.stringify(meta()).replace(/\}$/, `,${member}}`);

t.test("contexts in messages that are none", async (t) => {
  const { gateway, upstream, collector } = await open(t);
  const values = [
    ...["7", "null", "{}", "[]", "true", '""', `["${GOOD}"]`, `"${GOOD}\\u0000"`, `"${GOOD}\\r\\nx: y"`],
    ...[`"${GOOD.toUpperCase()}"`, '"\\ud800"', `"${"0".repeat(100_000)}"`, `" ${GOOD}"`],
  ];
  for (const value of values) {
    t.equal((await post(gateway, withMember(`"traceparent":${value}`))).status, 200, value.slice(0, 60));
    const arrived = upstream.arrived.at(-1);
    t.ok(arrived?.body.includes(`"traceparent":${value}`), "left as it came");
    t.notMatch(arrived?.headers["traceparent"], TRACE);
    t.match(arrived?.headers["traceparent"], /^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
  }
  await gateway.close(0);
  t.same(collector.wrong, []);
  t.notMatch(JSON.stringify(collector.spans), TRACE);
});

t.test("a vendors' list of the message is no way into the headers of the server", async (t) => {
  const { gateway, upstream, collector } = await open(t);
  for (const state of [
    '"a=1\\r\\nauthorization: Bearer x"',
    '"a=\\u00e9"',
    "7",
    '"\\ud800=1"',
    `"a=${"x".repeat(600)}"`,
  ]) {
    const members = `"traceparent":"${GOOD}","tracestate":${state}`;
    t.equal(
      (await post(gateway, withMember(members), { tracestate: "h=1" })).status,
      200,
      state.slice(0, 40),
    );
    t.equal(upstream.arrived.at(-1)?.headers["tracestate"], undefined, "nor is that of another trace");
  }
  await gateway.close(0);
  t.same(collector.wrong, []);
});

t.test("spelled with escapes it is the same member, and it is replaced whole", async (t) => {
  const { gateway, upstream } = await open(t);
  t.teardown(() => gateway.close(0));
  const escaped = GOOD.replace("00-", "\\u0030\\u0030-");
  await post(gateway, withMember(`"trace\\u0070arent":"${escaped}"`));
  const { headers, json } = upstream.arrived[0] ?? {};
  t.match(headers?.["traceparent"], `00-${TRACE}-`);
  t.equal(json.params._meta.traceparent, headers?.["traceparent"]);
  // Two that readers could choose between are refused, as ever.
  const twice = await post(gateway, withMember(`"traceparent":"${GOOD}","trace\\u0070arent":"${GOOD}"`));
  const sent = upstream.arrived.length === 2 ? upstream.arrived[1]?.body.split(TRACE).length : undefined;
  t.ok(twice.status === 400 || sent !== undefined, `status ${twice.status}`);
});

t.test("headers that are no context", async (t) => {
  const { gateway, upstream } = await open(t);
  t.teardown(() => gateway.close(0));
  for (const traceparent of [
    "00",
    GOOD.toUpperCase(),
    `${GOOD}-1`,
    `00-${"0".repeat(32)}-b7ad6b7169203331-01`,
    "x".repeat(4_000),
  ]) {
    const reply = await post(gateway, JSON.stringify(meta()), { traceparent, tracestate: "evil=1" });
    t.equal(reply.status, 200);
    const { headers } = upstream.arrived.at(-1) ?? {};
    t.match(headers?.["traceparent"], /^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
    t.not(headers?.["traceparent"]?.slice(0, 35), GOOD.slice(0, 35));
    t.equal(headers?.["tracestate"], undefined, "the list belongs to a trace that is not gone on with");
  }
});

t.test("whoever is not let in has nothing recorded by asking for it", async (t) => {
  const issuer = await startIssuer();
  t.teardown(() => issuer.close());
  const authentication = { issuers: [{ issuer: issuer.issuer, jwks: { url: issuer.jwksUrl } }] };
  const { gateway, collector } = await open(t, { sample: 0 }, { authentication });
  for (let count = 0; count < 50; count += 1)
    t.equal((await gateway.call(LIST, { headers: { traceparent: GOOD } })).status, 401);
  const token = await issuer.token({ sub: "alice", aud: "http://gateway.test/mcp" });
  t.equal((await gateway.call(LIST, { token, headers: { traceparent: GOOD } })).status, 200);
  await gateway.close(0);
  t.equal(collector.spans.length, 2, "of the one who was");
  const text = collector.bodies.join("");
  for (const secret of [token, "alice", "Bearer"]) t.notMatch(text, secret);
});

t.test("names, ids and addresses that somebody made up", async (t) => {
  const { gateway, collector } = await open(t);
  await post(gateway, JSON.stringify(meta()), {}, '"hunter2"');
  await post(gateway, JSON.stringify(meta()), {}, "123456789012345678901234567890");
  await gateway.call({ method: "hunter2/method" });
  await gateway.call({ method: "resources/read", params: { uri: "file:///home/hunter2?key=hunter2" } });
  const odd = { method: "tools/call", params: { name: "\ud800\u0000", arguments: { a: "hunter2" } } };
  await gateway.call(odd, { headers: { "mcp-name": undefined } });
  await gateway.send({ method: "POST", path: "/hunter2?hunter2", body: "{}" });
  await gateway.close(0);
  t.same(collector.wrong, []);
  t.ok(collector.spans.length > 5);
  t.notMatch(collector.bodies.join(""), "hunter2");
});
