/** A Redis that is there, and answers with errors: whom that concerns, and what is told of it. */
import t, { type Test } from "tap";
import { layOut } from "../../src/redemption/layout.ts";
import type { RedisStore } from "../../src/redemption/redis.ts";
import type { Mark } from "../../src/redemption/store.ts";
import { type OwnRedis, ownRedis } from "../support/redis.ts";
import { redisStore, sealed } from "../support/redis-store.ts";
import { until } from "../support/until.ts";

const outcome = (store: RedisStore, mark: Mark): Promise<string> =>
  store.redeem(mark).then(
    (redemption) => redemption.outcome,
    (error) => error.reason,
  );

async function wholeCluster(t: Test): Promise<OwnRedis> {
  const server = await ownRedis(t, ["--cluster-enabled", "yes"]);
  await server.command("CLUSTER", "ADDSLOTS", ...Array.from({ length: 16_384 }, (_, slot) => String(slot)));
  await until(async () => /cluster_state:ok/.test(String(await server.command("CLUSTER", "INFO"))));
  return server;
}

const inBucket = (store: RedisStore, bucket: number): Mark =>
  sealed(store, {
    jti: Buffer.from([bucket, ...crypto.getRandomValues(new Uint8Array(15))]).toString("base64url"),
  });

t.test(
  "one epoch record that is no record: its bucket is refused, all others outlive an outage",
  async (t) => {
    const server = await wholeCluster(t);
    const nodes = [{ host: "127.0.0.1", port: server.port }];
    const store = await redisStore(t, { cluster: { nodes }, redeemTimeoutMs: 1000 });
    await until(async () => store.report().available === 1);
    await server.command("DEL", "sg:{07}:epoch");
    await server.command("LPUSH", "sg:{07}:epoch", "no record");
    await until(async () => store.report().available < 1);
    t.same(store.health(), { available: true, reason: "error" });
    t.equal(store.report().available, 255 / 256);
    server.pause();
    await until(async () => store.report().refusing === 1);
    t.equal(store.health().available, false);
    server.resume();
    await until(async () => store.report().refusing === 0 && store.health().available);
    for (const bucket of [0, 6, 8, 255]) t.equal(await outcome(store, inBucket(store, bucket)), "redeemed");
    t.equal(await outcome(store, inBucket(store, 7)), "error");
    await server.command("DEL", "sg:{07}:epoch");
    await until(async () => store.report().available === 1);
    t.same(store.health(), { available: true });
    t.equal(await outcome(store, inBucket(store, 7)), "redeemed");
    const told = () =>
      store.lines.map(({ message }) => message).filter((message) => /^(some|all) states/.test(message));
    await until(async () => told().length > 1);
    t.same(told(), ["some states cannot be redeemed", "all states can be redeemed again"]);
  },
);

for (const [reason, setting, wrong, right] of [
  ["error", "min-replicas-to-write", "1", "0"],
  ["full", "maxmemory", "1", "0"],
] as const) {
  for (const kind of ["one server", "Cluster"]) {
    t.test(
      `${kind}: readiness learns of ${reason} from a redemption, and of its end from a look`,
      async (t) => {
        const server = kind === "Cluster" ? await wholeCluster(t) : await ownRedis(t);
        const nodes = [{ host: "127.0.0.1", port: server.port }];
        const store = await redisStore(t, kind === "Cluster" ? { cluster: { nodes } } : { url: server.url });
        await store.refresh();
        const mark = sealed(store);
        await server.command("CONFIG", "SET", setting, wrong);
        await until(async () => {
          t.equal(await outcome(store, mark), reason);
          return !store.health().available;
        });
        t.same(store.health(), { available: false, reason });
        t.equal(store.report().available, 0);
        await server.command("CONFIG", "SET", setting, right);
        await until(async () => store.health().available);
        t.same(store.health(), { available: true }, "without a redemption");
        t.equal(await outcome(store, mark), "redeemed", "nothing was spent");
      },
    );
  }
}

t.test("marks that are no marks concern their states only", async (t) => {
  const server = await ownRedis(t);
  const store = await redisStore(t, { url: server.url });
  const mark = sealed(store);
  const { key } = layOut("sg:", false).place(mark);
  await server.command("SET", key, "no marks");
  t.equal(await outcome(store, mark), "error");
  await store.refresh();
  t.same(store.health(), { available: true });
  await server.command("DEL", key);
  t.equal(await outcome(store, mark), "redeemed");
});

t.test("a state that is on its way back is waited for", async (t) => {
  const server = await ownRedis(t);
  const store = await redisStore(t, { url: server.url });
  for (let i = 0; i < 100; i++) {
    const mark = sealed(store);
    const first = store.redeem(mark).then(async (redemption) => {
      if (redemption.outcome === "redeemed") void store.release(mark, redemption.attempt);
      return redemption.outcome;
    });
    t.same(await Promise.all([first, outcome(store, mark)]), ["redeemed", "redeemed"]);
    t.equal(await outcome(store, mark), "already_redeemed", "which was kept");
  }
});
