/** Two gateways and one Redis: limits per caller hold over both, cost one round trip, and go on without Redis. */
import t, { type Test } from "tap";
import { Leases } from "../../src/allowance/leases.ts";
import { SharedCounts } from "../../src/allowance/shared-counts.ts";
import { createLog } from "../../src/log.ts";
import { exchange, PUBLIC_URL, type Reply, startGateway, type TestGateway } from "../support/gateway.ts";
import { startIssuer } from "../support/issuer.ts";
import { ownRedis } from "../support/redis.ts";
import { until } from "../support/until.ts";
import { startUpstream } from "../support/upstream.ts";
import { asksOnce, isRetry, retryOf, stateOf, TRANSFER } from "./rounds.ts";

process.env["SG_LIMITS_KEY"] = "an operator's secret of more than 32 bytes";
const LIST = { method: "tools/list" };
const issuer = await startIssuer();
t.teardown(() => issuer.close());
const tokenOf = (sub: string) => issuer.token({ sub, aud: `${PUBLIC_URL}/mcp` });

async function open(t: Test, perPrincipal: Record<string, unknown> | undefined) {
  const redis = await ownRedis(t);
  const upstream = await startUpstream(asksOnce);
  t.teardown(() => upstream.close());
  const sections = {
    admin: { listen: "127.0.0.1:0", readiness: { store: "required" } },
    authentication: { issuers: [{ issuer: issuer.issuer, jwks: { url: issuer.jwksUrl } }] },
    keys: { primary: "k", ring: [{ id: "k", secret: { env: "SG_LIMITS_KEY" } }] },
    redis: { url: redis.url },
    redemption: { store: "redis" },
    ...(perPrincipal === undefined ? {} : { limits: { perPrincipal } }),
  };
  const [a, b] = await Promise.all([1, 2].map(() => startGateway(upstream.url, sections)));
  if (a === undefined || b === undefined) throw new Error("no gateways");
  for (const gateway of [a, b]) {
    t.teardown(() => gateway.close(0));
    await until(async () => (await admin(gateway, "/readyz")).status === 200);
  }
  return { redis, upstream, a, b, both: [a, b] };
}

const admin = (gateway: TestGateway, path: string): Promise<Reply> =>
  exchange(gateway.adminUrl ?? "", { path, method: "GET" });
const reasonOf = ({ json }: Reply): unknown => json?.error?.data?.reason;

/** Sends so many at once, to the gateways in turn; tells how many were served. */
async function flood(gateways: readonly TestGateway[], token: string, requests: number): Promise<number> {
  const replies = await Promise.all(
    Array.from({ length: requests }, (_, i) =>
      (gateways[i % gateways.length] as TestGateway).call(LIST, { token }),
    ),
  );
  for (const reply of replies) if (reply.status !== 200 && reply.status !== 429) throw new Error(reply.body);
  return replies.filter(({ status }) => status === 200).length;
}

t.test("a flood over both: as many run as one window holds, and a neighbour notices nothing", async (t) => {
  const { upstream, a, b, both } = await open(t, { requests: { points: 10, per: "1h" } });
  const [alice, bob] = [await tokenOf("alice"), await tokenOf("bob")];
  const [served, ...neighbour] = await Promise.all([
    flood(both, alice, 400),
    ...[a, b, a, b].map((gateway) => gateway.call(LIST, { token: bob })),
  ]);
  t.equal(served, 10);
  for (const reply of neighbour) t.equal((reply as Reply).status, 200);
  t.equal(upstream.arrived.length, 14, "what the server executed");
  const refused = await b.call(LIST, { token: alice });
  t.equal(reasonOf(refused), "rate_limited");
});

t.test("open rounds are those of both", async (t) => {
  const { a, b } = await open(t, { openRounds: 2 });
  const token = await tokenOf("alice");
  const state = stateOf(await a.call(TRANSFER, { token }));
  stateOf(await b.call(TRANSFER, { token }));
  for (const gateway of [a, b])
    t.equal(reasonOf(await gateway.call(TRANSFER, { token })), "open_rounds_limited");
  t.equal((await b.call(TRANSFER, { token: await tokenOf("bob") })).status, 200, "those of one caller");
  t.equal((await b.call(retryOf(state), { token })).status, 200, "sealed by one, answered at the other");
  await until(async () => (await a.call(TRANSFER, { token })).json.result !== undefined);
});

t.test("requests in flight are those of both, and who has left makes room", async (t) => {
  const held: (() => void)[] = [];
  const { upstream, a, b, redis } = await open(t, { concurrent: 2 });
  upstream.script = (arrived, response) => void held.push(() => asksOnce(arrived, response));
  const [alice, bob] = [await tokenOf("alice"), await tokenOf("bob")];
  const leaving = new AbortController();
  const first = a.call(TRANSFER, { token: alice, signal: leaving.signal }).catch(() => undefined);
  const second = b.call(TRANSFER, { token: alice });
  await until(() => held.length === 2);
  for (const gateway of [a, b]) {
    t.equal(reasonOf(await gateway.call(TRANSFER, { token: alice })), "concurrency_limited");
    t.equal((await gateway.call({ method: "server/discover" }, { token: alice })).status, 503);
  }
  const neighbour = b.call(LIST, { token: bob });
  await until(() => held.length === 3);
  held.pop()?.();
  t.equal((await neighbour).status, 200, "those of one caller");
  t.equal(held.length, 2, "what the server has got");
  leaving.abort();
  await first;
  const third = (): Promise<Reply> => b.call(TRANSFER, { token: alice });
  let reply = third();
  await until(async () => {
    if (held.length > 2 || (await Promise.race([reply, undefined])) === undefined) return held.length > 2;
    reply = third();
    return false;
  });
  for (const answer of held.splice(0)) answer();
  t.type(stateOf(await second), "string");
  const state = stateOf(await reply);
  // A retry is a request in flight like any other; refused, it has spent nothing.
  const full = [a, b].map((gateway) => gateway.call(LIST, { token: alice }));
  await until(() => held.length === 2);
  t.equal(reasonOf(await a.call(retryOf(state), { token: alice })), "concurrency_limited");
  for (const answer of held.splice(0)) answer();
  await Promise.all(full);
  upstream.script = asksOnce;
  await until(async () => ((await redis.command("KEYS", "sg:limit:*:flight")) as unknown[]).length === 0);
  t.match((await a.call(retryOf(state), { token: alice })).json.result, { resultType: "complete" });
});

t.test(
  "what a killed gateway had in flight counts until its leases lapse, and what is under way counts on",
  async (t) => {
    const redis = await ownRedis(t);
    const log = createLog("error", { write: () => true });
    const counts = new SharedCounts({ target: { url: redis.url }, keyPrefix: "sg:", log, timeoutMs: 5_000 });
    t.teardown(() => counts.close());
    const [killed, alive] = [new Leases(counts, 3_000), new Leases(counts, 300)];
    t.teardown(() => alive.close());
    t.ok(await killed.take("alice", 2));
    killed.close();
    const own = await alive.take("alice", 2);
    t.ok(own);
    t.equal(await alive.take("alice", 2), undefined);
    let next: Awaited<ReturnType<Leases["take"]>>;
    await until(async () => {
      next = await alive.take("alice", 2);
      return next !== undefined;
    });
    t.equal(await alive.take("alice", 2), undefined, "ten times its life later the own one is still held");
    own?.leave();
    own?.leave();
    t.ok(await alive.take("alice", 2));
    t.equal(await alive.take("alice", 2), undefined, "given back once");
    await redis.stop("SIGKILL");
    t.ok(await alive.take("alice", 2), "while Redis is away nobody is refused for what it holds");
  },
);

/** Scripts that Redis has run on keys of limits, from a text of MONITOR. */
async function scriptsDuring(redis: { port: number }, work: () => Promise<void>): Promise<string[]> {
  const { Redis } = await import("ioredis");
  const client = new Redis({ host: "127.0.0.1", port: redis.port });
  const monitor = await client.monitor();
  const seen: string[] = [];
  monitor.on("monitor", (_time: string, args: string[], source: string) => {
    if (source !== "lua") seen.push(args.join(" "));
  });
  await work();
  // What was sent before has been told once this comes back.
  const mark = `end-${Math.random()}`;
  await client.echo(mark);
  await until(() => seen.some((line) => line.includes(mark)));
  monitor.disconnect();
  client.disconnect();
  return seen.filter((line) => line.includes("sg:limit:"));
}

t.test(
  "a request costs Redis one script, a flood none, and a retry none before it is redeemed",
  async (t) => {
    const { redis, a } = await open(t, { requests: { points: 3, per: "1h" } });
    const token = await tokenOf("alice");
    await a.call(LIST, { token: await tokenOf("warm-up") });
    const call = async (message = LIST as typeof TRANSFER) => void (await a.call(message, { token }));
    t.equal((await scriptsDuring(redis, () => call())).length, 1);
    const state = stateOf(await a.call(TRANSFER, { token }));
    t.same(await scriptsDuring(redis, () => call(retryOf(state))), [], "a retry");
    t.equal((await scriptsDuring(redis, () => call(retryOf(state)))).length, 1, "a repeat is counted");
    const during = await scriptsDuring(redis, async () => {
      t.equal(await flood([a], token, 200), 0);
    });
    t.same(during, [], "known to be over the limit");
  },
);

t.test("without limits nothing is asked, and there is no link for it", async (t) => {
  const { redis, a, both } = await open(t, undefined);
  const links = async () =>
    String(await redis.command("CLIENT", "LIST"))
      .trim()
      .split("\n").length;
  const before = await links();
  const token = await tokenOf("alice");
  const during = await scriptsDuring(redis, async () => {
    for (const gateway of both) await gateway.call(LIST, { token });
  });
  t.same(during, []);
  t.equal(await links(), before);
  t.ok(await a.configure({ limits: { perPrincipal: { requests: { points: 3, per: "1h" } } } }));
  t.equal(await flood([a], token, 20), 3, "limits that come with a reload hold");
  t.equal(await links(), before + 1);
});

t.test(
  "Redis is killed in the middle of a flood: never without a limit, and single use stays closed",
  async (t) => {
    const { redis, upstream, a, b, both } = await open(t, { requests: { points: 10, per: "1h" } });
    const [alice, bob] = [await tokenOf("alice"), await tokenOf("bob")];
    const state = stateOf(await a.call(TRANSFER, { token: bob }));
    const flooding = flood(both, alice, 600);
    await redis.stop("SIGKILL");
    const served = await flooding;
    t.ok(served >= 10 && served <= 30, `${served} of 600: a window of Redis and one of each gateway at most`);
    const later = await flood(both, alice, 100);
    t.ok(served + later <= 30, `${served} + ${later}`);
    t.equal((await b.call(LIST, { token: bob })).status, 200, "honest callers go on");
    t.match((await admin(b, "/metrics")).body, /^sealgate_limits_alone 1$/m);
    const retry = await a.call(retryOf(state), { token: bob });
    t.match([retry.status, reasonOf(retry)], [503, "store_unavailable"]);
    t.equal(upstream.arrived.filter(isRetry).length, 0);
    t.match(b.logged(), /each gateway counts alone/);
    await redis.start();
    let newcomers = 0;
    await until(async () => {
      // A new caller each time: whoever is known to be over the limit is refused without a look at Redis.
      await b.call(LIST, { token: await tokenOf(`newcomer ${newcomers++}`) });
      return /^sealgate_limits_alone 0$/m.test((await admin(b, "/metrics")).body);
    });
  },
);

t.test("Redis does not answer: requests go on, and wait no longer than they must", async (t) => {
  const { redis, b } = await open(t, { requests: { points: 5, per: "1h" }, openRounds: 2 });
  const token = await tokenOf("alice");
  redis.pause();
  t.equal(await flood([b], token, 40), 5);
  const bob = await tokenOf("bob");
  for (let i = 0; i < 2; i++) stateOf(await b.call(TRANSFER, { token: bob }));
  t.equal(
    reasonOf(await b.call(TRANSFER, { token: bob })),
    "open_rounds_limited",
    "as far as this gateway knows",
  );
  redis.resume();
});

t.test("nothing of a caller stands in Redis by name", async (t) => {
  const { redis, a } = await open(t, { requests: { points: 5, per: "1h" }, openRounds: 5 });
  const subject = "sg:limit:{x}:requests\r\nSET evil 1\r\n";
  stateOf(await a.call(TRANSFER, { token: await tokenOf(subject) }));
  await until(async () => ((await redis.command("KEYS", "sg:limit:*")) as string[]).length === 2);
  for (const key of (await redis.command("KEYS", "*")) as string[]) {
    t.match(key, /^sg:(limit:\{[ap]-[\w-]{22}\}:(requests|open)|epoch|overrides.*|\{..\}:\d+)$/);
    t.notMatch(key, /evil/);
  }
});
