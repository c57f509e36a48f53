/** What a gateway says of the servers it finds: one line for each, and what is wrong with it. */
import t from "tap";
import { ownRedis } from "../support/redis.ts";
import { type LoggedStore, redisStore } from "../support/redis-store.ts";
import { until } from "../support/until.ts";

const described = (store: LoggedStore) =>
  store.lines.filter(({ message }) => /^redemption store: /.test(message)).map(({ message }) => message);
const warned = (store: LoggedStore, what: RegExp) =>
  store.lines.filter(({ level, message }) => level === "warn" && what.test(message)).length;

t.test("a server as it should be: one line, nothing to find", async (t) => {
  const server = await ownRedis(t, ["--appendonly", "yes"]);
  const store = await redisStore(t, { url: server.url });
  await until(async () => described(store).length > 0);
  t.match(described(store), [
    /^redemption store: (Redis|Valkey) [\d.]+, master, no memory limit, append-only file; after a restart or failover open rounds start over$/,
  ]);
  t.same([...store.report().findings], []);
  t.equal(store.lines.filter(({ level }) => level !== "info").length, 0);
});

t.test("without an append-only file: told, and a warning only where epochs are off", async (t) => {
  const server = await ownRedis(t);
  const on = await redisStore(t, { url: server.url });
  const off = await redisStore(t, { url: server.url, epoch: false, keyPrefix: "off:" });
  await until(async () => described(on).length > 0 && described(off).length > 0);
  t.same([...on.report().findings], [["no_append_only_file", 1]]);
  t.equal(warned(on, /append-only/), 0);
  t.equal(warned(off, /after a restart spent states work again/), 1);
});

t.test("a replica, and a policy that evicts", async (t) => {
  const [master, replica] = [await ownRedis(t), await ownRedis(t)];
  await replica.command("REPLICAOF", "127.0.0.1", String(master.port));
  const store = await redisStore(t, { url: replica.url });
  await until(async () => described(store).length > 0);
  t.ok(store.report().findings.has("replica"));
  t.equal(warned(store, /is a replica: nothing is redeemed/), 1);
  t.same(store.health(), { available: false, reason: "not_master" });

  const full = await ownRedis(t, ["--maxmemory", "100mb", "--maxmemory-policy", "volatile-lru"]);
  const evicting = await redisStore(t, { url: full.url });
  await until(async () => described(evicting).length > 0);
  t.match(described(evicting)[0], /maxmemory with volatile-lru/);
  t.ok(evicting.report().findings.has("evicts"));
});

t.test("said again only when it is another", async (t) => {
  const server = await ownRedis(t);
  const store = await redisStore(t, { url: server.url });
  await until(async () => described(store).length === 1);
  for (const args of [undefined, ["--appendonly", "yes"]]) {
    await server.stop();
    await until(async () => !store.health().available);
    await server.start(args);
    await until(async () => store.health().available);
  }
  await until(async () => described(store).length > 1);
  t.equal(described(store).length, 2);
  t.match(described(store)[1], /, append-only file;/);
});
