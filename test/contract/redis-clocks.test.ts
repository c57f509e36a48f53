/** Clocks of Redis that are set while gateways run: what one bucket of a Cluster has seen, all have to know. */
import { Redis } from "ioredis";
import t, { type Test } from "tap";
import { layOut } from "../../src/redemption/layout.ts";
import type { RedisStore } from "../../src/redemption/redis.ts";
import type { Mark } from "../../src/redemption/store.ts";
import { type OwnRedis, ownRedis } from "../support/redis.ts";
import { type LoggedStore, redisStore, sealed } from "../support/redis-store.ts";
import { until } from "../support/until.ts";

const CLOCK = "clock";
const now = () => Math.floor(Date.now() / 1000);

// Scripts take the time from a key, so that a test can set it. By name no server knows them then, so that all come by here.
const { eval: send } = Redis.prototype;
Redis.prototype.eval = function (this: Redis, text: string, ...rest: unknown[]) {
  const told = text.replace("redis.call('TIME')[1]", `redis.call('GET', '${CLOCK}')`);
  return Reflect.apply(send, this, [told, ...rest]);
} as typeof send;

const outcome = (store: RedisStore, mark: Mark): Promise<string> =>
  store.redeem(mark).then(
    (redemption) => redemption.outcome,
    (error) => error.reason,
  );

/** A Cluster of one server, by whose clock it is so many seconds later than it is. */
async function cluster(t: Test): Promise<{ server: OwnRedis; set(ahead: number): Promise<unknown> }> {
  const server = await ownRedis(t, ["--cluster-enabled", "yes"]);
  await server.command("CLUSTER", "ADDSLOTS", ...Array.from({ length: 16_384 }, (_, slot) => String(slot)));
  await until(async () => /cluster_state:ok/.test(String(await server.command("CLUSTER", "INFO"))));
  const set = (ahead: number) => server.command("SET", CLOCK, String(now() + ahead));
  await set(0);
  return { server, set };
}

const stored = (t: Test, { port }: OwnRedis, epoch = true): Promise<LoggedStore> =>
  redisStore(t, { cluster: { nodes: [{ host: "127.0.0.1", port }] }, epoch });

/** A state of every bucket. */
const ofAll = (store: RedisStore): Mark[] =>
  Array.from({ length: 256 }, (_, bucket) =>
    sealed(store, { jti: Buffer.alloc(16, bucket).toString("base64url"), exp: now() + 600 }),
  );

/** What Redis does with marks when its clock is past their end. */
async function drop(server: OwnRedis, marks: readonly Mark[]): Promise<void> {
  const { place } = layOut("sg:", true);
  for (const { key } of marks.map(place)) await server.command("DEL", key);
}

t.test(
  "far ahead and back, seen by one redemption only: no bucket redeems what it may have lost",
  async (t) => {
    const { server, set } = await cluster(t);
    const [saw, other] = [await stored(t, server), await stored(t, server)];
    await Promise.all([saw.refresh(), other.refresh()]);
    const marks = ofAll(saw);
    for (const mark of marks) t.equal(await outcome(saw, mark), "redeemed");
    await set(1200);
    t.match(await outcome(saw, sealed(saw, { jti: marks[7]?.jti ?? "", exp: now() + 1 })), /already|expired/);
    await set(0);
    await drop(server, marks);
    const again = await Promise.all(marks.map((mark) => outcome(saw, mark)));
    t.same(new Set(again), new Set(["epoch_mismatch"]), "by the gateway that saw it");
    await saw.refresh();
    await drop(server, marks);
    const elsewhere = await Promise.all(marks.map((mark) => outcome(other, mark)));
    t.same(
      new Set(elsewhere),
      new Set(["epoch_mismatch"]),
      "by one that saw nothing, after a look of the first",
    );
    await other.refresh();
    for (const mark of ofAll(other)) t.equal(await outcome(other, mark), "redeemed", "new rounds work");
  },
);

t.test("epochs off: what was lost while the clock was ahead is redeemed again", async (t) => {
  const { server, set } = await cluster(t);
  const store = await stored(t, server, false);
  await store.refresh();
  const mark = sealed(store);
  t.equal(await outcome(store, mark), "redeemed");
  await set(1200);
  await store.refresh();
  await set(0);
  t.equal(await outcome(store, mark), "already_redeemed");
  await drop(server, [mark]);
  t.equal(await outcome(store, mark), "redeemed");
});

t.test("a clock that is set is written to every record at once", async (t) => {
  const { server, set } = await cluster(t);
  const store = await stored(t, server);
  await store.refresh();
  const [mark] = ofAll(store) as [Mark];
  await set(1200);
  await outcome(store, mark);
  const clocks = async () => {
    const records = layOut("sg:", true).epochs.map((key) => server.command("GET", key));
    return (await Promise.all(records)).map((record) => Number(String(record).split(" ")[2]));
  };
  const before = store.epoch(mark.jti);
  await until(async () => (await clocks()).every((clock) => clock > now() + 1000));
  t.equal(store.epoch(mark.jti), before, "ahead alone takes nothing away");
});

t.test("ahead and back by minutes that no mark is lost in: nothing begins anew", async (t) => {
  const { server, set } = await cluster(t);
  const store = await stored(t, server);
  await store.refresh();
  const marks = ofAll(store);
  for (const mark of marks) t.equal(await outcome(store, mark), "redeemed");
  for (const ahead of [200, 0]) {
    await set(ahead);
    await store.refresh();
  }
  for (const mark of marks) t.equal(await outcome(store, mark), "already_redeemed");
  t.same(
    marks.map(({ jti }) => store.epoch(jti)),
    marks.map(({ epoch }) => epoch),
  );
});
