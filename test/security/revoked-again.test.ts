/** Revocations that follow each other, are taken back, or come while a call is under way: what was open before is hit, always. */
import t, { type Test } from "tap";
import { ask, openGateway, operated, set } from "../integration/operators.ts";
import { ASK, asksOnce, holding, retryOf, stateOf, TRANSFER } from "../integration/rounds.ts";
import { ownRedis } from "../support/redis.ts";
import { until } from "../support/until.ts";
import { result, startUpstream } from "../support/upstream.ts";

const FROZEN = { status: 400, json: { error: { code: -32602, data: { reason: "invalid_request_state" } } } };
const redis = await ownRedis(t);
const upstream = await startUpstream(asksOnce);
t.teardown(() => upstream.close());
t.beforeEach(async () => {
  upstream.script = asksOnce;
  await redis.command("FLUSHALL");
});

const ahead = (entry: Readonly<Record<string, unknown>>): number =>
  (Date.parse(String(entry["bornBefore"])) - Date.parse(String(entry["setAt"]))) / 1000;

for (const store of ["redis", "memory"]) {
  const sections = (test: Test) => (store === "redis" ? operated(test, redis.url) : operated(test));

  t.test(`${store}: a revocation that was taken back shields no chain from the next`, async (t) => {
    const gateway = await openGateway(t, upstream.url, sections(t));
    for (const taken of [{ route: "/mcp" }, { route: "/mcp" }]) {
      const first = await set(gateway, "revocations", taken);
      const state = stateOf(await gateway.call(TRANSFER));
      const carried = stateOf(await gateway.call(TRANSFER));
      await ask(gateway, `/v1/revocations/${first.id}`, { method: "DELETE" });
      t.equal((await gateway.call(retryOf(carried))).status, 200, "taken back is taken back");
      const second = await set(gateway, "revocations", { route: "/mcp" });
      t.match(await gateway.call(retryOf(state)), FROZEN);
      const fresh = stateOf(await gateway.call(TRANSFER));
      t.equal((await gateway.call(retryOf(fresh))).status, 200);
      await ask(gateway, `/v1/revocations/${second.id}`, { method: "DELETE" });
    }
  });

  t.test(`${store}: many callers in one second are not dated ahead of each other`, async (t) => {
    const gateway = await openGateway(t, upstream.url, sections(t));
    let latest = 0;
    for (let count = 0; count < 150; count++) {
      const principal = { issuer: "https://i.example", subject: `u${count}` };
      latest = Math.max(latest, ahead(await set(gateway, "revocations", { principal })));
    }
    t.ok(latest <= 62, String(latest));
    const route = await set(gateway, "revocations", { route: "/mcp" });
    t.ok(ahead(route) <= 63, "a route's chains are all callers'");
    const state = stateOf(await gateway.call(TRANSFER));
    await set(gateway, "revocations", { route: "/mcp" });
    t.match(await gateway.call(retryOf(state)), FROZEN);
  });

  t.test(`${store}: a first call that was under way gets no state that works`, async (t) => {
    const gateway = await openGateway(t, upstream.url, sections(t));
    const held = holding();
    upstream.script = held.script;
    const call = gateway.call(TRANSFER);
    const one = await held.next();
    const { id } = await set(gateway, "revocations", { route: "/mcp" });
    result(one.arrived, one.response, ASK);
    const refused = await call;
    t.match(refused, FROZEN);
    t.notMatch(refused.body, /Sure\?/, "not one word of the question");
    t.match(gateway.audit.at(-1), { outcome: "refused", cause: "revoked" });
    const later = gateway.call(TRANSFER);
    const two = await held.next();
    await set(gateway, "revocations", { principal: { issuer: "https://i.example", subject: "other" } });
    result(two.arrived, two.response, ASK);
    upstream.script = asksOnce;
    t.equal((await gateway.call(retryOf(stateOf(await later)))).status, 200, "its neighbour goes on");
    await ask(gateway, `/v1/revocations/${id}`, { method: "DELETE" });
  });
}

t.test("twenty at once: all are set, through one listener and by as many processes", async (t) => {
  const gateway = await openGateway(t, upstream.url, operated(t, redis.url));
  const principal = (subject: string) => ({ issuer: "https://i.example", subject });
  const replies = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      ask(gateway, "/v1/revocations", { body: { principal: principal(`u${index}`) } }),
    ),
  );
  t.same([...new Set(replies.map(({ status }) => status))], [201]);
  const others = await Promise.all(
    Array.from({ length: 6 }, () => openGateway(t, upstream.url, operated(t, redis.url))),
  );
  const more = await Promise.all(
    others.flatMap((other) =>
      Array.from({ length: 4 }, () => ask(other, "/v1/revocations", { body: { route: "/mcp" } })),
    ),
  );
  t.same([...new Set(more.map(({ status }) => status))], [201]);
  t.equal(new Set(more.map(({ json }) => json.bornBefore)).size, more.length);
  await until(async () => (await ask(gateway, "/v1/revocations")).json.revocations.length === 44);
});
