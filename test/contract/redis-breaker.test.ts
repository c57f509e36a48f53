/** A Redis that is away costs the first few a wait, and the rest nothing, until it is found again in the background. */
import t from "tap";
import type { RedisStore } from "../../src/redemption/redis.ts";
import { type Mark, StoreUnavailable } from "../../src/redemption/store.ts";
import { freePort, ownRedis } from "../support/redis.ts";
import { ownCluster } from "../support/redis-groups.ts";
import { type LoggedStore, redisStore, sealed } from "../support/redis-store.ts";
import { until } from "../support/until.ts";

const outcomeOf = (store: RedisStore, mark: Mark): Promise<string> =>
  store.redeem(mark).then(
    ({ outcome }) => outcome,
    (error) => (error instanceof StoreUnavailable ? error.reason : String(error)),
  );

/** What a redemption comes to in this turn of the event loop, without I/O and timers: `waits` if it comes to nothing. */
const atOnce = (store: RedisStore, mark: Mark): Promise<string> =>
  Promise.race([outcomeOf(store, mark), new Promise<string>((resolve) => setImmediate(resolve, "waits"))]);

const said = (store: LoggedStore, what: RegExp): number =>
  store.lines.filter(({ message }) => what.test(message)).length;

const MARK: Mark = { jti: "a", epoch: "e", exp: 4_000_000_000 };

t.test("never reached: some wait, then nobody does", async (t) => {
  const store = await redisStore(t, {
    url: `redis://127.0.0.1:${await freePort()}`,
    redeemTimeoutMs: 50,
  });
  t.equal(await atOnce(store, MARK), "waits");
  t.same(await Promise.all([1, 2, 3].map(() => outcomeOf(store, MARK))), Array(3).fill("unreachable"));
  for (let i = 0; i < 1000; i++) if ((await atOnce(store, MARK)) !== "unreachable") t.fail("one waits");
  t.equal(said(store, /refused without waiting/), 1, "one line");
  t.equal(store.report().refusing, 1);
});

t.test("without users the looks of the background open it, too", async (t) => {
  const store = await redisStore(t, { url: `redis://127.0.0.1:${await freePort()}` });
  await until(async () => store.report().refusing === 1);
  t.equal(await atOnce(store, MARK), "unreachable");
});

t.test("stopped and started: found again by itself, and the same state works once", async (t) => {
  const server = await ownRedis(t);
  const store = await redisStore(t, { url: server.url, redeemTimeoutMs: 50 });
  await until(async () => store.report().available === 1);
  await server.command("SAVE");
  const before = sealed(store);
  await server.stop();
  await until(async () => {
    await outcomeOf(store, before);
    return store.report().refusing === 1;
  });
  t.equal(await atOnce(store, before), "unreachable");
  await server.start();
  await until(async () => store.report().refusing === 0);
  t.same(store.health(), { available: true });
  t.equal(said(store, /wait for the store again/), 1);
  t.equal(await outcomeOf(store, before), "epoch_mismatch", "sealed before the restart");
  const mark = sealed(store);
  t.equal(await outcomeOf(store, mark), "redeemed");
  t.equal(await outcomeOf(store, mark), "already_redeemed");
});

t.test("a server that hangs: time-outs open it, and what they had sent is given back", async (t) => {
  const server = await ownRedis(t);
  const store = await redisStore(t, { url: server.url, redeemTimeoutMs: 200 });
  await store.redeem(sealed(store));
  const marks = [sealed(store), sealed(store), sealed(store)];
  server.pause();
  t.same(await Promise.all(marks.map((mark) => outcomeOf(store, mark))), Array(3).fill("timeout"));
  t.equal(store.report().refusing, 1);
  t.not(await atOnce(store, sealed(store)), "waits");
  server.resume();
  await until(async () => store.report().refusing === 0);
  for (const mark of marks) {
    t.equal(await outcomeOf(store, mark), "redeemed", "nothing was spent");
    t.equal(await outcomeOf(store, mark), "already_redeemed");
  }
});

t.test("users that do not get in are refused at once with that reason", async (t) => {
  const server = await ownRedis(t);
  await server.command("CONFIG", "SET", "requirepass", "right");
  const store = await redisStore(t, { url: server.url, password: "wrong", redeemTimeoutMs: 50 });
  for (let i = 0; i < 3; i++) await outcomeOf(store, MARK);
  t.equal(await atOnce(store, MARK), "unauthorized");
});

t.test("one server of a Cluster away: its share is refused at once, the rest works", async (t) => {
  // Else a Cluster that is not whole serves nothing at all.
  const { masters, nodes, ownerOf } = await ownCluster(t, {
    args: () => ["--cluster-require-full-coverage", "no"],
  });
  const store = await redisStore(t, { cluster: { nodes }, redeemTimeoutMs: 500 });
  const [gone, there] = [sealed(store), sealed(store)];
  const keyOf = (mark: Mark) => `{${Buffer.from(mark.jti, "base64url").toString("hex", 0, 1)}}`;
  const lost = ownerOf(keyOf(gone));
  while (ownerOf(keyOf(there)) === lost) Object.assign(there, sealed(store));
  t.equal(masters.length, 3);
  await lost.stop("SIGKILL");
  await until(async () => {
    await outcomeOf(store, gone);
    return store.report().refusing > 0;
  });
  t.not(await atOnce(store, gone), "waits");
  t.equal(await outcomeOf(store, there), "redeemed");
  t.match(store.health(), { available: true, reason: /./ }, "in part");
  const { available, refusing } = store.report();
  t.ok(available > 0.5 && available < 0.8, String(available));
  t.equal(available + refusing, 1);
  await lost.start();
  await until(async () => store.report().available === 1);
  t.match(await outcomeOf(store, sealed(store, { jti: gone.jti })), "redeemed");
});

t.test("too late to ask: nothing is sent, and the server is not blamed", async (t) => {
  const server = await ownRedis(t);
  const store = await redisStore(t, { url: server.url });
  await until(async () => store.report().available === 1);
  t.equal(await outcomeOf(store, sealed(store)), "redeemed");
  const sent = async (): Promise<number> => {
    const stats = String(await server.command("INFO", "commandstats"));
    return Number(/cmdstat_hsetnx:calls=(\d+)/.exec(stats)?.[1]);
  };
  const before = await sent();
  const { now } = performance;
  t.teardown(() => {
    performance.now = now;
  });
  const marks = Array.from({ length: 5 }, () => sealed(store));
  for (const mark of marks) {
    // The time is read once, and then the process stands still for a minute.
    const redemption = outcomeOf(store, mark);
    performance.now = () => now.call(performance) + 60_000;
    t.equal(await redemption, "timeout");
    performance.now = now;
  }
  t.equal(await sent(), before, "no mark was set");
  t.equal(store.report().refusing, 0);
  for (const mark of marks) t.equal(await outcomeOf(store, mark), "redeemed");
  t.equal(await sent(), before + marks.length);
});
