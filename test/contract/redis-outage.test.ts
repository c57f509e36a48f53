/** Redis away, slow, or behind a link that breaks: nothing is spent by it, and no honest redemption looks like a replay. */
import t from "tap";
import type { RedisStore } from "../../src/redemption/redis.ts";
import type { Mark } from "../../src/redemption/store.ts";
import { StoreUnavailable } from "../../src/redemption/store.ts";
import { freePort, ownRedis } from "../support/redis.ts";
import { redisStore, sealed } from "../support/redis-store.ts";
import { startRelay } from "../support/relay.ts";

/** Redeems and tells the outcome, or the reason why there is none, and how long it took. */
async function timed(store: RedisStore, mark: Mark): Promise<{ outcome: string; ms: number }> {
  const start = performance.now();
  const outcome = await store.redeem(mark).then(
    (redemption) => redemption.outcome,
    (error) => (error instanceof StoreUnavailable ? error.reason : String(error)),
  );
  return { outcome, ms: performance.now() - start };
}

t.test("never reached: made at once, no epoch, redemptions wait two seconds and are refused", async (t) => {
  const store = await redisStore(t, { url: `redis://127.0.0.1:${await freePort()}` });
  t.equal(store.epoch(""), undefined);
  t.same(store.health(), { available: false, reason: "unreachable" });
  const seen = await timed(store, { jti: "a", epoch: "e", exp: 4_000_000_000 });
  t.equal(seen.outcome, "unreachable");
  t.ok(seen.ms > 1900, `${seen.ms} ms`);
  const unavailable = store.lines.filter(({ message }) => message === "redemption store unavailable");
  t.equal(unavailable.length, 1, "one line, not one per try");
});

t.test("stopped and started: refused while away, epoch kept for sealing, works again after", async (t) => {
  const server = await ownRedis(t);
  const [one, two] = [
    await redisStore(t, { url: server.url, redeemTimeoutMs: 300 }),
    await redisStore(t, server),
  ];
  const mark = sealed(one);
  await server.command("SAVE");
  await server.stop();
  t.equal((await timed(one, mark)).outcome, "unreachable");
  t.equal(one.epoch(""), mark.epoch);
  t.same(one.health(), { available: false, reason: "unreachable" });

  const waiting = timed(two, mark);
  await server.start();
  t.equal(
    (await waiting).outcome,
    "epoch_mismatch",
    "one that waited gets the answer of the server that came back",
  );
  await one.refresh();
  t.same(one.health(), { available: true });
  t.equal((await timed(one, sealed(one))).outcome, "redeemed");
});

t.test("a link that breaks and comes back within the wait: the round runs, once", async (t) => {
  const server = await ownRedis(t);
  const relay = await startRelay(t, server.port);
  const url = `redis://127.0.0.1:${relay.port}`;
  for (const fate of ["lose", "lose-reply"] as const) {
    const [store, other] = [await redisStore(t, { url }), await redisStore(t, server)];
    await store.redeem(sealed(store));
    const mark = sealed(store);
    let hits = 0;
    relay.fate = (chunk) => (chunk.includes(mark.jti) && ++hits === 1 ? fate : "pass");
    t.equal((await timed(store, mark)).outcome, "redeemed", fate);
    t.equal(hits, 2, "it was sent again");
    t.equal((await timed(other, mark)).outcome, "already_redeemed");
    t.equal((await timed(store, mark)).outcome, "already_redeemed");
    relay.fate = () => "pass";
  }
});

t.test("a link that is of no use once a redemption has arrived: refused, and given back later", async (t) => {
  const server = await ownRedis(t);
  const relay = await startRelay(t, server.port);
  const store = await redisStore(t, { url: `redis://127.0.0.1:${relay.port}`, redeemTimeoutMs: 400 });
  const other = await redisStore(t, server);
  await store.redeem(sealed(store));
  const mark = sealed(store);
  // The first redemption arrives and sets the mark; nothing after it arrives, the release neither.
  let hits = 0;
  relay.fate = (chunk) => (!chunk.includes(mark.jti) ? "pass" : ++hits === 1 ? "lose-reply" : "lose");
  // Which of the two it is depends on where the last try stands when the time is over.
  t.match((await timed(store, mark)).outcome, /^(unreachable|timeout)$/);
  t.equal((await timed(other, mark)).outcome, "already_redeemed", "the mark is there");
  relay.fate = () => "pass";
  // As soon as there is a link again.
  while ((await timed(other, mark)).outcome === "already_redeemed") await store.refresh();
  t.equal((await timed(other, mark)).outcome, "already_redeemed", "given back, and then redeemed once");
});

t.test("a server that stands still: refused in time, and given back in order", async (t) => {
  const server = await ownRedis(t);
  const store = await redisStore(t, { url: server.url, redeemTimeoutMs: 250 });
  await store.redeem(sealed(store));
  const mark = sealed(store);
  server.pause();
  const seen = await timed(store, mark);
  t.equal(seen.outcome, "timeout");
  // Both redemptions and both releases are on their way; the last must not meet the first one's mark.
  t.equal((await timed(store, mark)).outcome, "timeout");
  server.resume();
  await store.refresh();
  t.equal((await timed(store, mark)).outcome, "redeemed");
  t.equal((await timed(store, mark)).outcome, "already_redeemed");
});

t.test("a release while Redis is away is carried out when it is back", async (t) => {
  const server = await ownRedis(t);
  const relay = await startRelay(t, server.port);
  const store = await redisStore(t, { url: `redis://127.0.0.1:${relay.port}` });
  const mark = sealed(store);
  const first = await store.redeem(mark);
  if (first.outcome !== "redeemed") throw new Error("not redeemed");
  relay.fate = () => "lose";
  await store.release(mark, first.attempt);
  relay.fate = () => "pass";
  await store.refresh();
  t.equal((await timed(store, mark)).outcome, "redeemed");
});

t.test("closing ends the wait of those that wait", async (t) => {
  const store = await redisStore(t, { url: `redis://127.0.0.1:${await freePort()}` });
  const waiting = timed(store, { jti: "a", epoch: "e", exp: 4_000_000_000 });
  await store.close();
  const seen = await waiting;
  t.equal(seen.outcome, "unreachable");
  t.ok(seen.ms < 1900, `${seen.ms} ms`);
});

t.test(
  "closing while a server stands still: what it carries out later is given back behind it",
  async (t) => {
    const server = await ownRedis(t);
    const [store, other] = [
      await redisStore(t, { url: server.url, redeemTimeoutMs: 300 }),
      await redisStore(t, server),
    ];
    // From here on Redis knows the script by its name.
    await store.redeem(sealed(store));
    const mark = sealed(store);
    server.pause();
    const waiting = timed(store, mark);
    // By then it is on its way; what comes later is not sent any more.
    await new Promise((resolve) => setImmediate(resolve));
    const late = sealed(store);
    const refused = timed(store, late);
    await store.close();
    t.equal((await waiting).outcome, "timeout");
    t.equal((await refused).outcome, "unreachable");
    server.resume();
    // By its answer, what the first had sent has been carried out.
    await server.command("PING");
    t.equal((await timed(other, mark)).outcome, "redeemed");
    t.equal((await timed(other, mark)).outcome, "already_redeemed", "once");
    t.equal((await timed(other, late)).outcome, "redeemed");
  },
);

t.test("closing waits for a redemption that is on its way, and for its release", async (t) => {
  const server = await ownRedis(t);
  const other = await redisStore(t, server);
  for (const gone of [true, false]) {
    const store = await redisStore(t, server);
    const mark = sealed(store);
    server.pause();
    const round = store.redeem(mark).then(async (redemption) => {
      if (redemption.outcome === "redeemed" && gone) await store.release(mark, redemption.attempt);
      return redemption.outcome;
    });
    // By then it is on its way.
    await new Promise((resolve) => setImmediate(resolve));
    const closed = store.close();
    t.equal(await store.redeem(sealed(store)).catch((error) => error.reason), "unreachable", "nothing new");
    server.resume();
    t.equal(await round, "redeemed");
    await closed;
    t.equal((await timed(other, mark)).outcome, gone ? "redeemed" : "already_redeemed");
  }
});

t.test("closing while the link is lost: the release goes out on the next one", async (t) => {
  const server = await ownRedis(t);
  const relay = await startRelay(t, server.port);
  const store = await redisStore(t, { url: `redis://127.0.0.1:${relay.port}` });
  const other = await redisStore(t, server);
  const mark = sealed(store);
  const redemption = await store.redeem(mark);
  if (redemption.outcome !== "redeemed") throw new Error("not redeemed");
  let hits = 0;
  relay.fate = (chunk) => (chunk.includes(mark.jti) && ++hits === 1 ? "lose" : "pass");
  await store.release(mark, redemption.attempt);
  await store.close();
  t.equal((await timed(other, mark)).outcome, "redeemed");
  t.notOk(store.lines.some(({ message }) => message.includes("owed")));
});

t.test("closing while Redis is away says what is left owed", async (t) => {
  const server = await ownRedis(t);
  const store = await redisStore(t, server);
  const mark = sealed(store);
  const redemption = await store.redeem(mark);
  if (redemption.outcome !== "redeemed") throw new Error("not redeemed");
  await server.stop();
  await store.release(mark, redemption.attempt);
  await store.close();
  t.match(store.lines.at(-1), { level: "warn", fields: { owed: 1 } });
});

t.test("a moved master is found again through its name", async (t) => {
  const [old, next] = [await ownRedis(t), await ownRedis(t)];
  const relay = await startRelay(t, old.port);
  const store = await redisStore(t, { url: `redis://127.0.0.1:${relay.port}` });
  await old.command("REPLICAOF", "127.0.0.1", String(next.port));
  relay.target = next.port;
  await store.refresh();
  t.same(store.health(), { available: false, reason: "not_master" });
  // By its own timer: the connection to what is now a replica lives, and only a new one asks where the name leads.
  while (!store.health().available) await new Promise((resolve) => setImmediate(resolve));
  t.equal((await timed(store, sealed(store))).outcome, "redeemed");
});
