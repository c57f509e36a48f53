/**
 * A loss of marks that meets two stores at once: without epochs the replay of a spent state succeeds, with them it is refused.
 */
import type { Test } from "tap";
import type { RedisStore } from "../../src/redemption/redis.ts";
import type { Mark } from "../../src/redemption/store.ts";
import type { RedisTarget } from "../../src/redis/target.ts";
import type { OwnRedis } from "./redis.ts";
import { redisStore, sealed } from "./redis-store.ts";
import { until } from "./until.ts";

/** What the spent states are called: their marks are in the bucket `{42}`. */
export const JTI = Buffer.alloc(16, 0x42).toString("base64url");

/** Keeps a replica from following: it cannot log in any more, and its link is cut. */
export async function cutOff(replica: OwnRedis, master: OwnRedis): Promise<void> {
  await replica.command("CONFIG", "SET", "masterauth", "wrong");
  await master.command("CLIENT", "KILL", "TYPE", "replica");
  await until(async () =>
    /master_link_status:down/.test(String(await replica.command("INFO", "replication"))),
  );
}

/** Waits until the replica has the epochs; what is written from then on can be lost. */
export async function caughtUp(replica: OwnRedis, master: OwnRedis): Promise<void> {
  const offset = async (server: OwnRedis) =>
    /(?:master|slave)_repl_offset:(\d+)/.exec(String(await server.command("INFO", "replication")))?.[1];
  await until(async () => (await offset(replica)) === (await offset(master)));
}

/** Two stores on the same servers. */
export interface Stores {
  readonly off: RedisStore;
  readonly on: RedisStore;
}

/** One store that compares epochs, and one that does not. */
export async function twoStores(t: Test, target: RedisTarget): Promise<Stores> {
  return {
    off: await redisStore(t, { ...target, epoch: false, keyPrefix: "off:" }),
    on: await redisStore(t, { ...target, keyPrefix: "on:" }),
  };
}

/** Redeems until there is a server that answers. */
export async function redeemed(store: RedisStore, mark: Mark): Promise<string> {
  let outcome = "";
  await until(async () => {
    outcome = await store.redeem(mark).then(
      (redemption) => redemption.outcome,
      () => "",
    );
    return outcome !== "";
  });
  return outcome;
}

/** Spends a state of each store, lets `loses` happen between, and shows what a replay comes to. */
export async function lossOf(
  t: Test,
  stores: Stores,
  prepare: () => Promise<void>,
  loses: () => Promise<void>,
) {
  const { on, off } = stores;
  const spent = { on: sealed(on, { jti: JTI }), off: sealed(off, { jti: JTI }) };
  const unspent = sealed(on, { jti: `${JTI.slice(0, 12)}${"A".repeat(10)}` });
  await prepare();
  t.equal(await redeemed(off, spent.off), "redeemed");
  t.equal(await redeemed(on, spent.on), "redeemed");
  await loses();
  t.equal(await redeemed(off, spent.off), "redeemed", "without epochs the replay succeeds");
  t.equal(await redeemed(on, spent.on), "epoch_mismatch", "with epochs it is refused");
  t.equal(await redeemed(on, unspent), "epoch_mismatch", "as is what nobody can know about");
  await on.refresh();
  t.not(on.epoch(JTI), spent.on.epoch);
  const next = sealed(on, { jti: `${JTI.slice(0, 12)}${"B".repeat(10)}` });
  t.equal(await redeemed(on, next), "redeemed", "new rounds work");
  t.equal(await redeemed(on, next), "already_redeemed");
}

let writes = 0;

/** Makes `replica` copy `master`; resolves when it has all that was written so far. */
export async function follow(replica: OwnRedis, master: OwnRedis): Promise<void> {
  await replica.command("REPLICAOF", "127.0.0.1", String(master.port));
  await reached(replica, master);
}

/** Resolves when `replica` has all that was written to `master` so far. */
export async function reached(replica: OwnRedis, master: OwnRedis): Promise<void> {
  const last = String(writes++);
  await master.command("SET", "last", last);
  // Not WAIT: it answers for the writes of its own connection only.
  while ((await replica.command("GET", "last")) !== last);
}

/** Makes a replica a master. */
export const promote = (server: OwnRedis): Promise<unknown> => server.command("REPLICAOF", "NO", "ONE");
