/** Revocations on three gateways and a real Redis: open rounds end everywhere, new ones go on, whatever clocks say. */
import t from "tap";
import { type Reply, startGateway, type TestGateway } from "../support/gateway.ts";
import { ownRedis } from "../support/redis.ts";
import { until } from "../support/until.ts";
import { result, startUpstream } from "../support/upstream.ts";
import { ask, inForce, openGateway, operated, set } from "./operators.ts";
import { ASK, asksAlways, asksOnce, DONE, holding, isRetry, retryOf, stateOf, TRANSFER } from "./rounds.ts";

const FROZEN = { status: 400, json: { error: { code: -32602, data: { reason: "invalid_request_state" } } } };

const redis = await ownRedis(t);
const upstream = await startUpstream(asksOnce);
t.teardown(() => upstream.close());
const sections = operated(t, redis.url);
const [a, b, c] = await Promise.all([
  openGateway(t, upstream.url, sections),
  openGateway(t, upstream.url, sections),
  openGateway(t, upstream.url, sections),
]);
if (a === undefined || b === undefined || c === undefined) throw new Error("no gateways");
const all = [a, b, c];

const ups = (): number => upstream.arrived.filter(isRetry).length;
const known = (count: number) =>
  until(async () => (await Promise.all(all.map(inForce))).every(({ revocation }) => revocation === count));
async function clear(): Promise<void> {
  // What another has set just now is not on this one's list yet.
  await until(async () => {
    for (const { id } of (await ask(a as TestGateway, "/v1/revocations")).json.revocations)
      await ask(a as TestGateway, `/v1/revocations/${id}`, { method: "DELETE" });
    return (await Promise.all(all.map(inForce))).every(({ revocation }) => revocation === 0);
  });
}
t.beforeEach(async () => {
  upstream.script = asksOnce;
  await clear();
});

t.test("a route: what was open ends on every gateway, unspent; new calls are asked and go on", async (t) => {
  const open = await Promise.all(all.map(async (gateway) => stateOf(await gateway.call(TRANSFER))));
  const before = ups();
  const { id } = await set(a, "revocations", { route: "/mcp", reason: "incident 7", by: "ops" });
  await known(1);
  for (const [index, state] of open.entries()) {
    for (const gateway of all) t.match(await gateway.call(retryOf(state)), FROZEN, `state ${index}`);
  }
  t.equal(ups(), before);
  for (const gateway of all)
    t.match(gateway.audit.at(-1), { outcome: "refused", cause: "revoked", state: "rejected" });
  for (const gateway of all) {
    const fresh = stateOf(await gateway.call(TRANSFER));
    t.match(await b.call(retryOf(fresh)), { status: 200, json: { result: JSON.parse(DONE) } });
  }
  t.match(
    a.deeds.find(({ action }) => action === "revoke"),
    { type: "admin", outcome: "done", entry: { route: "/mcp", reason: "incident 7", by: "ops" } },
  );
  t.notOk(a.logged().includes("incident 7"), "the reason is on record, not in the log");
  await ask(c, `/v1/revocations/${id}`, { method: "DELETE" });
  await known(0);
  t.match(await b.call(retryOf(open[0])), { status: 200 }, "a revoked state was not spent");
});

t.test("a chain: one call and no other, in every round of it", async (t) => {
  upstream.script = asksAlways;
  const [first, other] = [stateOf(await a.call(TRANSFER)), stateOf(await a.call(TRANSFER))];
  const second = stateOf(await b.call(retryOf(first)));
  const chain = b.audit.at(-1)?.chain;
  t.equal(b.audit.at(-1)?.round, 2);
  await set(b, "revocations", { chain });
  await known(1);
  t.match(await c.call(retryOf(second)), FROZEN);
  t.type(stateOf(await c.call(retryOf(other))), "string");
});

t.test("a retry in flight carries nothing on, but what is done is done", async (t) => {
  const held = holding();
  const states = [stateOf(await a.call(TRANSFER)), stateOf(await a.call(TRANSFER))];
  upstream.script = held.script;
  const asking = b.call(retryOf(states[0]));
  const one = await held.next();
  const finishing = c.call(retryOf(states[1]));
  const two = await held.next();
  await set(a, "revocations", { route: "/mcp" });
  await known(1);
  result(one.arrived, one.response, ASK);
  result(two.arrived, two.response, DONE);
  const reply = await asking;
  t.match(reply, FROZEN);
  t.notMatch(reply.body, /Sure\?/, "not one word of the question");
  t.match(b.audit.at(-1), { cause: "revoked", state: "redeemed", code: "invalid_request_state" });
  t.match(await finishing, { status: 200, json: { result: JSON.parse(DONE) } });
});

t.test("the same on an event stream", async (t) => {
  const held = holding();
  const state = stateOf(await a.call(TRANSFER));
  upstream.script = held.script;
  const asking = b.call(retryOf(state));
  const { response, arrived } = await held.next();
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write(": working\n\n");
  await set(a, "revocations", { route: "/mcp" });
  await known(1);
  response.end(`data: {"jsonrpc":"2.0","id":${JSON.stringify(arrived.json.id)},"result":${ASK}}\n\n`);
  t.match((await asking).json, FROZEN.json);
});

t.test("clocks of gateways that differ by the skew: old chains end, new ones go on", async (t) => {
  const now = Date.now();
  const ahead = await openGateway(t, upstream.url, sections, { clock: now + 55_000 });
  const behind = await openGateway(t, upstream.url, sections, { clock: now - 55_000 });
  const old = stateOf(await ahead.call(TRANSFER));
  await set(a, "revocations", { route: "/mcp" });
  await known(1);
  await until(
    async () => (await inForce(ahead)).revocation === 1 && (await inForce(behind)).revocation === 1,
  );
  t.match(await a.call(retryOf(old)), FROZEN);
  t.equal((await behind.call(retryOf(stateOf(await behind.call(TRANSFER))))).status, 200);
  const carried = stateOf(await behind.call(TRANSFER));
  t.match(await ahead.call(retryOf(carried)), { status: 200 }, "also where its second is long over");
  const again = stateOf(await behind.call(TRANSFER));
  await set(a, "revocations", { route: "/mcp" });
  await known(2);
  t.match(await a.call(retryOf(again)), FROZEN, "and the next revocation hits those too");
});

t.test("after a flush, for a gateway that starts later", async (t) => {
  await set(a, "revocations", { route: "/mcp" });
  await known(1);
  await redis.command("FLUSHALL");
  await until(async () => (await redis.command("EXISTS", "sg:{overrides}")) === 1);
  const late = await openGateway(t, upstream.url, sections);
  t.equal((await inForce(late)).revocation, 1);
});

t.test("every channel of refused states but asking again", async (t) => {
  const cases: readonly [string, (reply: Reply) => void][] = [
    ["tool-error", (reply) => t.match(reply, { status: 200, json: { result: { isError: true } } })],
    ["reprompt", (reply) => t.match(reply, FROZEN)],
  ];
  for (const [rejection, expected] of cases) {
    const gateway = await openGateway(t, upstream.url, { ...sections, roundTrip: { rejection } });
    const state = stateOf(await gateway.call(TRANSFER));
    await set(gateway, "revocations", { route: "/mcp" });
    const before = upstream.arrived.length;
    expected(await gateway.call(retryOf(state)));
    t.equal(gateway.audit.at(-1)?.cause, "revoked");
    t.equal(upstream.arrived.length, before);
  }
});

t.test("nobody knows what is revoked: nothing is asked, nothing redeemed", async (t) => {
  await redis.command("ACL", "SETUSER", "half", "on", ">pw", "~*", "+@all", "-hkeys");
  const password = { file: `${t.testdir({ password: "pw" })}/password` };
  const gateway = await openGateway(t, upstream.url, sections);
  const state = stateOf(await gateway.call(TRANSFER));
  const half = await startGateway(upstream.url, {
    ...sections,
    redis: { url: redis.url, username: "half", password },
  });
  t.teardown(() => half.close(0));
  const away = { status: 503, json: { error: { data: { reason: "store_unavailable" } } } };
  t.match(await half.call(retryOf(state)), away);
  t.match(await half.call(TRANSFER), away);
  t.equal((await half.call({ method: "tools/list" })).status, 200, "everything else works");
  await redis.command("ACL", "SETUSER", "half", "+hkeys");
  await until(async () => (await half.call(retryOf(state))).status === 200);
});
