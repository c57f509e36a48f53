/**
 * Redis servers that lose marks: restarts, old snapshots, replicas promoted too early, two masters. Each loss is shown
 * twice: what a mark alone allows (epochs off: the replay succeeds), and that epochs refuse it.
 */
import t, { type Test } from "tap";
import { type OwnRedis, ownRedis } from "../support/redis.ts";
import { follow, promote, reached } from "../support/redis-losses.ts";
import { redisStore, sealed } from "../support/redis-store.ts";
import { startRelay } from "../support/relay.ts";

interface Loss {
  readonly what: string;
  /** Before anything is sealed. */
  readonly setUp?: (server: OwnRedis, other: OwnRedis) => Promise<void>;
  /** Between sealing and the first redemption. */
  readonly before?: (server: OwnRedis, other: OwnRedis) => Promise<void>;
  /** After the first redemption; the relay then leads to the server that is returned. */
  readonly loses: (server: OwnRedis, other: OwnRedis) => Promise<OwnRedis>;
}

const losses: readonly Loss[] = [
  {
    what: "a restart without persistence",
    loses: async (server) => {
      await server.stop();
      await server.start();
      return server;
    },
  },
  {
    what: "a crash and the return of an old snapshot",
    before: async (server) => void (await server.command("SAVE")),
    loses: async (server) => {
      await server.stop("SIGKILL");
      await server.start();
      return server;
    },
  },
  {
    what: "a failover to a replica that missed the mark",
    setUp: async (server, other) => await follow(other, server),
    before: async (server, other) => {
      await reached(other, server);
      await promote(other);
    },
    loses: async (_server, other) => other,
  },
  {
    what: "a master demoted and promoted again, with another's data",
    setUp: async (server, other) => await follow(other, server),
    before: async (server, other) => {
      await reached(other, server);
      await promote(other);
    },
    loses: async (server, other) => {
      await follow(server, other);
      await promote(server);
      return server;
    },
  },
];

async function replay(t: Test, loss: Loss, epoch: boolean) {
  const [server, other] = [await ownRedis(t), await ownRedis(t)];
  await loss.setUp?.(server, other);
  const relay = await startRelay(t, server.port);
  const store = await redisStore(t, { url: `redis://127.0.0.1:${relay.port}`, epoch });
  await store.refresh();
  const [spent, unspent] = [sealed(store), sealed(store)];
  await loss.before?.(server, other);
  const first = await store.redeem(spent);
  relay.target = (await loss.loses(server, other)).port;
  relay.cut();
  const again = await store.redeem(spent);
  const fresh = await store.redeem(unspent);
  await store.refresh();
  return { store, spent, first, again, fresh, next: await store.redeem(sealed(store)) };
}

for (const loss of losses) {
  t.test(loss.what, async (t) => {
    t.test("epochs off: the replay succeeds", async (t) => {
      const seen = await replay(t, loss, false);
      t.match(seen.first, { outcome: "redeemed" });
      t.match(seen.again, { outcome: "redeemed" });
    });

    t.test("epochs on: nothing sealed before is redeemed, and new rounds work", async (t) => {
      const seen = await replay(t, loss, true);
      t.match(seen.first, { outcome: "redeemed" });
      t.same(seen.again, { outcome: "epoch_mismatch" });
      t.same(seen.fresh, { outcome: "epoch_mismatch" });
      t.not(seen.store.epoch(seen.spent.jti), seen.spent.epoch);
      t.match(seen.next, { outcome: "redeemed" });
    });
  });
}

t.test("a restart that kept every mark still begins a new epoch, and what is known is told", async (t) => {
  const server = await ownRedis(t);
  const store = await redisStore(t, server);
  const [spent, unspent] = [sealed(store), sealed(store)];
  t.match(await store.redeem(spent), { outcome: "redeemed" });
  await server.command("SAVE");
  await server.stop();
  await server.start();
  t.same(await store.redeem(unspent), { outcome: "epoch_mismatch" });
  t.same(await store.redeem(spent), { outcome: "already_redeemed" });
});

t.test("epochs off: after a restart that kept every mark nothing starts over", async (t) => {
  const server = await ownRedis(t);
  const store = await redisStore(t, { url: server.url, epoch: false });
  const [spent, unspent] = [sealed(store), sealed(store)];
  t.match(await store.redeem(spent), { outcome: "redeemed" });
  await server.command("SAVE");
  await server.stop();
  await server.start();
  t.match(await store.redeem(unspent), { outcome: "redeemed" });
  t.same(await store.redeem(spent), { outcome: "already_redeemed" });
});

t.test("demoted and promoted again under a live connection: run_id stays, the epoch does not", async (t) => {
  const server = await ownRedis(t);
  const store = await redisStore(t, server);
  const mark = sealed(store);
  const runId = async () => /run_id:(\w+)/.exec(String(await server.command("INFO", "server")))?.[1];
  const before = await runId();
  await server.command("REPLICAOF", "127.0.0.1", "1");
  await promote(server);
  t.equal(await runId(), before);
  t.same(await store.redeem(mark), { outcome: "epoch_mismatch" });
});

t.test("two masters after a split: a state is good on one side only", async (t) => {
  const [old, promoted] = [await ownRedis(t), await ownRedis(t)];
  await follow(promoted, old);
  const here = await redisStore(t, old);
  const mark = sealed(here);
  await reached(promoted, old);
  await promote(promoted);
  const there = await redisStore(t, promoted);
  t.not(there.epoch(mark.jti), here.epoch(mark.jti));
  t.match(await here.redeem(mark), { outcome: "redeemed" });
  t.same(await there.redeem(mark), { outcome: "epoch_mismatch" });
  t.match(await there.redeem(sealed(there)), { outcome: "redeemed" });
  const sides = [
    await redisStore(t, { ...old, epoch: false }),
    await redisStore(t, { ...promoted, epoch: false }),
  ];
  for (const side of sides)
    t.match(
      await side.redeem(sealed(side, { jti: "twice" })),
      { outcome: "redeemed" },
      "epochs off: on both",
    );
});

t.test("a replica is no store", async (t) => {
  const [master, replica] = [await ownRedis(t), await ownRedis(t)];
  const [store, astray] = [await redisStore(t, master), await redisStore(t, replica)];
  await follow(replica, master);
  await store.refresh();
  const mark = sealed(store);
  // Writable replicas exist; that they would take the mark is the danger.
  await replica.command("CONFIG", "SET", "replica-read-only", "no");
  t.same(await astray.redeem(mark).catch((error) => error.reason), "not_master");
  await astray.refresh();
  t.same(astray.health(), { available: false, reason: "not_master" });
  t.match(await store.redeem(mark), { outcome: "redeemed" }, "the attempt spent nothing");

  const late = await redisStore(t, replica);
  t.equal(late.epoch(""), undefined, "and no epoch is taken from it");
});
