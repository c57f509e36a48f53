/** Slots of a Cluster that move between masters, with their keys and in halves: no state is redeemed on both. */
import t from "tap";
import { layOut } from "../../src/redemption/layout.ts";
import type { RedisStore } from "../../src/redemption/redis.ts";
import { slotOf } from "../../src/redis/slots.ts";
import { type OwnRedis, ownRedis } from "../support/redis.ts";
import { ownCluster } from "../support/redis-groups.ts";
import { JTI } from "../support/redis-losses.ts";
import { redisStore, sealed } from "../support/redis-store.ts";
import { until } from "../support/until.ts";

const SLOT = String(slotOf("{42}"));
const jtiNo = (n: number) => `${JTI.slice(0, 12)}${String(n).padStart(10, "0")}`;

const outcome = (store: RedisStore, mark: Parameters<RedisStore["redeem"]>[0]) =>
  store.redeem(mark).then(
    (redemption) => redemption.outcome,
    (error) => error.reason,
  );

async function begin(from: OwnRedis, to: OwnRedis): Promise<void> {
  await to.command("CLUSTER", "SETSLOT", SLOT, "IMPORTING", String(await from.command("CLUSTER", "MYID")));
  await from.command("CLUSTER", "SETSLOT", SLOT, "MIGRATING", String(await to.command("CLUSTER", "MYID")));
}

const move = (from: OwnRedis, to: OwnRedis, key: string) =>
  from.command("MIGRATE", "127.0.0.1", String(to.port), key, "0", "5000");

async function end(to: OwnRedis, all: readonly OwnRedis[]): Promise<void> {
  const id = String(await to.command("CLUSTER", "MYID"));
  for (const server of [to, ...all.filter((one) => one !== to)])
    await server.command("CLUSTER", "SETSLOT", SLOT, "NODE", id);
}

t.test("a whole slot moves: marks and epoch go along, and the epoch begins anew", async (t) => {
  const { masters, nodes, ownerOf } = await ownCluster(t);
  const from = ownerOf("{42}");
  const to = masters.find((server) => server !== from) as OwnRedis;
  const target = { cluster: { nodes } };
  const on = await redisStore(t, { ...target, keyPrefix: "on:" });
  const off = await redisStore(t, { ...target, epoch: false, keyPrefix: "off:" });
  const spent = { on: sealed(on, { jti: JTI }), off: sealed(off, { jti: JTI }) };
  const unspent = sealed(on, { jti: jtiNo(1) });
  t.equal(await outcome(on, spent.on), "redeemed");
  t.equal(await outcome(off, spent.off), "redeemed");
  await begin(from, to);
  for (const key of (await from.command("CLUSTER", "GETKEYSINSLOT", SLOT, "100")) as string[])
    await move(from, to, key);
  await end(to, masters);
  t.equal(await outcome(off, spent.off), "already_redeemed", "the mark went along");
  t.equal(await outcome(on, spent.on), "already_redeemed");
  t.equal(await outcome(on, unspent), "epoch_mismatch", "another server vouches for nothing of before");
  t.equal(await outcome(on, sealed(on, { jti: jtiNo(2) })), "redeemed");
  const elsewhere = sealed(on);
  t.equal(await outcome(on, elsewhere), "redeemed", "other slots are as they were");
});

t.test("half a slot has moved: nothing is redeemed on either side until the rest has", async (t) => {
  const { masters, nodes, ownerOf } = await ownCluster(t);
  const from = ownerOf("{42}");
  const to = masters.find((server) => server !== from) as OwnRedis;
  const store = await redisStore(t, { cluster: { nodes }, keyPrefix: "on:", redeemTimeoutMs: 20_000 });
  const spent = sealed(store, { jti: JTI });
  t.equal(await outcome(store, spent), "redeemed");
  const again = async () =>
    Number(/errorstat_TRYAGAIN:count=(\d+)/.exec(String(await to.command("INFO", "errorstats")))?.[1] ?? 0) +
    Number(/errorstat_TRYAGAIN:count=(\d+)/.exec(String(await from.command("INFO", "errorstats")))?.[1] ?? 0);
  await begin(from, to);
  const layout = layOut("on:", true);
  await move(from, to, layout.place(spent).key);
  const before = await again();
  let settled = false;
  const replay = outcome(store, spent).finally(() => {
    settled = true;
  });
  await until(async () => (await again()) > before);
  t.notOk(settled, "it waits");
  await move(from, to, layout.epochOf(JTI));
  await end(to, masters);
  t.equal(await replay, "already_redeemed");
  t.equal(await outcome(store, sealed(store, { jti: jtiNo(3) })), "redeemed");
});

t.test(
  "half a slot has moved for long: its states say so, and its master is not held to be away",
  async (t) => {
    const { masters, nodes, ownerOf } = await ownCluster(t);
    const from = ownerOf("{42}");
    const to = masters.find((server) => server !== from) as OwnRedis;
    const store = await redisStore(t, { cluster: { nodes }, keyPrefix: "on:", redeemTimeoutMs: 300 });
    await store.refresh();
    const spent = sealed(store, { jti: JTI });
    t.equal(await outcome(store, spent), "redeemed");
    await begin(from, to);
    await move(from, to, layOut("on:", true).epochOf(JTI));
    for (let i = 0; i < 5; i++) t.equal(await outcome(store, spent), "not_served");
    t.equal(store.report().refusing, 0, "five in a row, and the server had answered each");
    const neighbour = Array.from({ length: 256 }, (_, bucket) => Buffer.alloc(16, bucket)).find(
      (jti) => jti[0] !== 0x42 && ownerOf(`{${jti.toString("hex", 0, 1)}}`) === from,
    );
    const jti = neighbour?.toString("base64url") ?? "";
    t.equal(await outcome(store, sealed(store, { jti })), "redeemed", "a slot of the same master");
    await to.stop("SIGKILL");
    for (let i = 0; i < 5; i++) t.match(await outcome(store, spent), /not_served|unreachable|timeout/);
    const state = store.report();
    t.ok(state.refusing < 0.6, `who is asked in its place has answered: ${state.refusing}`);
  },
);

t.test("a slot that nobody serves is refused alone, and works when somebody does", async (t) => {
  const server = await ownRedis(t, [
    ...["--cluster-enabled", "yes", "--cluster-require-full-coverage", "no"],
  ]);
  await server.command("CLUSTER", "ADDSLOTS", ...Array.from({ length: 16_384 }, (_, slot) => String(slot)));
  await until(async () => /cluster_state:ok/.test(String(await server.command("CLUSTER", "INFO"))));
  const node = { host: "127.0.0.1", port: server.port };
  const store = await redisStore(t, { cluster: { nodes: [node] }, keyPrefix: "on:", redeemTimeoutMs: 1000 });
  await until(async () => store.report().available === 1);
  const mark = sealed(store, { jti: JTI });
  await server.command("CLUSTER", "DELSLOTS", SLOT);
  t.match(await outcome(store, mark), /not_served|unreachable/);
  t.equal(
    await outcome(store, sealed(store, { jti: Buffer.alloc(16, 1).toString("base64url") })),
    "redeemed",
  );
  await server.command("CLUSTER", "ADDSLOTS", SLOT);
  await until(async () => (await outcome(store, mark)) === "redeemed");
  t.equal(await outcome(store, mark), "already_redeemed");
});

t.test("nodes that are not named are found, and each master gets a link", async (t) => {
  const { masters, nodes } = await ownCluster(t);
  const store = await redisStore(t, { cluster: { nodes: nodes.slice(2) } });
  await until(async () => store.report().available === 1);
  for (const server of masters) {
    const clients = String(await server.command("CLIENT", "LIST"));
    t.match(clients, /cmd=(evalsha|eval|info|cluster\|slots)/);
  }
});
