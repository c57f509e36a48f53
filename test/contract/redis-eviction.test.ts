/** Redis servers with a memory limit: marks that are evicted before their time are replays. */
import t from "tap";
import { ownRedis } from "../support/redis.ts";
import { redisStore, sealed } from "../support/redis-store.ts";

const LIMITED = ["--maxmemory", "100mb", "--maxmemory-policy"];

for (const policy of ["volatile-lru", "allkeys-lfu", "volatile-ttl", "allkeys-random"]) {
  t.test(`${policy} under a limit is refused, and the log says what to change`, async (t) => {
    const server = await ownRedis(t, [...LIMITED, policy]);
    const store = await redisStore(t, server);
    t.same(store.health(), { available: false, reason: "eviction" });
    t.equal(await store.redeem(sealed(store)).catch((error) => error.reason), "eviction");
    await store.refresh();
    const warnings = store.lines.filter((line) => line.level === "warn");
    t.equal(warnings.length, 1, "once, not each second");
    t.match(warnings[0]?.fields, { reason: "eviction", cause: new RegExp(`${policy}.*noeviction`) });
  });
}

t.test("without a limit, or with noeviction, no mark is evicted", async (t) => {
  for (const args of [
    ["--maxmemory-policy", "allkeys-lru"],
    [...LIMITED, "noeviction"],
  ]) {
    const store = await redisStore(t, await ownRedis(t, args));
    t.same(store.health(), { available: true });
    t.match(await store.redeem(sealed(store)), { outcome: "redeemed" });
  }
});

t.test("accepted: it works, and the log warns once", async (t) => {
  const store = await redisStore(t, {
    ...(await ownRedis(t, [...LIMITED, "volatile-lru"])),
    eviction: "accept",
  });
  t.same(store.health(), { available: true });
  t.match(await store.redeem(sealed(store)), { outcome: "redeemed" });
  await store.refresh();
  t.equal(store.lines.filter((line) => line.level === "warn" && /evict/.test(line.message)).length, 1);
});

t.test(
  "a limit that comes later stops redemptions, of other gateways too, and its end begins an epoch",
  async (t) => {
    const server = await ownRedis(t, ["--maxmemory-policy", "volatile-lru"]);
    const [one, two] = [await redisStore(t, server), await redisStore(t, server)];
    const mark = sealed(one);
    await server.command("CONFIG", "SET", "maxmemory", "100mb");
    await one.refresh();
    t.equal(await two.redeem(mark).catch((error) => error.reason), "eviction");
    await server.command("CONFIG", "SET", "maxmemory-policy", "noeviction");
    await one.refresh();
    t.same(one.health(), { available: true });
    t.same(
      await two.redeem(mark),
      { outcome: "epoch_mismatch" },
      "its mark may have been evicted in between",
    );
    t.match(await one.redeem(sealed(one)), { outcome: "redeemed" });
  },
);

t.test("evicted marks: what the refusal is for", async (t) => {
  const server = await ownRedis(t, ["--maxmemory-policy", "volatile-lru"]);
  const accepting = await redisStore(t, { ...server, eviction: "accept" });
  const refusing = await redisStore(t, server);
  const mark = sealed(accepting);
  t.match(await accepting.redeem(mark), { outcome: "redeemed" });
  // A byte is no room for anything: the next write evicts whatever may go.
  await server.command("CONFIG", "SET", "maxmemory", "1");
  await server.command("SET", "other", "x").catch(() => undefined);
  await server.command("CONFIG", "SET", "maxmemory", "100mb");
  await refusing.refresh();
  t.match(await accepting.redeem(mark), { outcome: "redeemed" }, "accepted, the replay succeeds");
  t.equal(await refusing.redeem(mark).catch((error) => error.reason), "eviction");
});

t.test("a full server with noeviction refuses and spends nothing", async (t) => {
  const server = await ownRedis(t, ["--maxmemory-policy", "noeviction"]);
  const store = await redisStore(t, server);
  const mark = sealed(store);
  await server.command("CONFIG", "SET", "maxmemory", "1");
  t.equal(await store.redeem(mark).catch((error) => error.reason), "full");
  await server.command("CONFIG", "SET", "maxmemory", "0");
  t.match(await store.redeem(mark), { outcome: "redeemed" });
});
