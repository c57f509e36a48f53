/** Masters with Sentinels that lose marks when a replica takes over, and Sentinels that say what is not so. */
import t from "tap";
import { ownRedis } from "../support/redis.ts";
import { ownSentinels } from "../support/redis-groups.ts";
import { caughtUp, cutOff, lossOf, redeemed, twoStores } from "../support/redis-losses.ts";
import { redisStore, sealed } from "../support/redis-store.ts";
import { until } from "../support/until.ts";

t.test("Sentinels fail over to a replica that missed the marks", async (t) => {
  const { master, replica, nodes, name, named } = await ownSentinels(t);
  const stores = await twoStores(t, { sentinels: { name, nodes } });
  await lossOf(
    t,
    stores,
    async () => {
      await caughtUp(replica, master);
      await cutOff(replica, master);
    },
    async () => {
      await master.stop("SIGKILL");
      await named(replica.port);
    },
  );
});

t.test("a Sentinel failover with the old master alive: it is left for the new one", async (t) => {
  const group = await ownSentinels(t);
  const { name, nodes, master, replica } = group;
  const store = await redisStore(t, { sentinels: { name, nodes } });
  const [spent, unspent] = [sealed(store), sealed(store)];
  t.equal(await redeemed(store, spent), "redeemed");
  await caughtUp(replica, master);
  await group.failover();
  await until(async () => /role:slave/.test(String(await master.command("INFO", "replication"))));
  t.equal(await redeemed(store, spent), "already_redeemed", "the mark went along");
  t.equal(await redeemed(store, unspent), "epoch_mismatch");
  await until(async () => (await store.redeem(sealed(store)).catch(() => undefined))?.outcome === "redeemed");
});

t.test("a Sentinel that names a replica, or nothing, is one link lost, and another is asked", async (t) => {
  const { name, nodes, master, replica } = await ownSentinels(t, { count: 1 });
  const lying = await ownRedis(t, ["--sentinel"]);
  await lying.command("SENTINEL", "MONITOR", name, "127.0.0.1", String(replica.port), "1");
  const ignorant = await ownRedis(t, ["--sentinel"]);
  const wrong = [lying, ignorant].map(({ port }) => ({ host: "127.0.0.1", port }));
  const store = await redisStore(t, { sentinels: { name, nodes: [...wrong, ...nodes] } });
  await until(async () => store.health().available);
  const mark = sealed(store);
  t.match(await store.redeem(mark), { outcome: "redeemed" });
  const direct = await redisStore(t, { url: master.url });
  t.same(await direct.redeem(mark), { outcome: "already_redeemed" }, "on the one master there is");
});

t.test("Sentinels with a user of their own, who may ask for the master and nothing else", async (t) => {
  const { name, nodes, sentinels } = await ownSentinels(t, { count: 1 });
  const [sentinel] = sentinels;
  const rights = ["-@all", "+sentinel|get-master-addr-by-name"];
  await sentinel?.command("ACL", "SETUSER", "probe", "on", ">right/secret", ...rights);
  const wrong = { name, nodes, username: "probe", password: "wr0ng/secret" };
  const refused = await redisStore(t, { sentinels: wrong, redeemTimeoutMs: 50 });
  await until(async () => refused.lines.length > 0);
  t.match(refused.lines[0], { level: "warn", fields: { cause: /^Sentinel 127\.0\.0\.1:\d+: WRONGPASS/ } });
  t.notMatch(JSON.stringify(refused.lines), /wr0ng/);
  const store = await redisStore(t, { sentinels: { ...wrong, password: "right/secret" } });
  await until(async () => store.health().available);
  t.match(await store.redeem(sealed(store)), { outcome: "redeemed" });
});
