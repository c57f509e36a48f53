/** Several gateways on one Redis server that stays up. */
import t, { type Test } from "tap";
import { layOut } from "../../src/redemption/layout.ts";
import { MAX_LEEWAY_SECONDS } from "../../src/redemption/store.ts";
import { ownRedis } from "../support/redis.ts";
import { redisStore, sealed } from "../support/redis-store.ts";

const server = await ownRedis(t);
const { url } = server;

t.test("two gateways share epoch and marks", async (t) => {
  const [one, two] = [await redisStore(t, { url }), await redisStore(t, { url })];
  t.equal(one.epoch(""), two.epoch(""));
  const mark = sealed(one);
  const outcomes = await Promise.all(
    Array.from({ length: 50 }, async (_, i) => (await (i % 2 === 0 ? one : two).redeem(mark)).outcome),
  );
  t.equal(outcomes.filter((outcome) => outcome === "redeemed").length, 1);
  t.equal(outcomes.filter((outcome) => outcome === "already_redeemed").length, 49);
});

t.test("one gateway's release re-opens the state for another", async (t) => {
  const [one, two] = [await redisStore(t, { url }), await redisStore(t, { url })];
  const mark = sealed(one);
  const first = await one.redeem(mark);
  if (first.outcome !== "redeemed") throw new Error("not redeemed");
  await two.release(mark, "1");
  t.same(await two.redeem(mark), { outcome: "already_redeemed" });
  await two.release(mark, first.attempt);
  t.match(await two.redeem(mark), { outcome: "redeemed" });
});

t.test("another key prefix, and another database, share nothing", async (t) => {
  const one = await redisStore(t, { url });
  for (const other of [
    await redisStore(t, { url, keyPrefix: "other:" }),
    await redisStore(t, { url: `${url}/7` }),
  ]) {
    t.not(other.epoch(""), one.epoch(""));
    t.same(await other.redeem(sealed(one)), { outcome: "epoch_mismatch" });
  }
});

t.test("a command that arrives twice recognises its own mark", async (t) => {
  // One source of randomness that stands still gives both commands the same attempt.
  const store = await redisStore(t, { url, random: (n) => Buffer.alloc(n, 7) });
  const stranger = await redisStore(t, { url });
  const mark = sealed(store);
  const first = await store.redeem(mark);
  t.match(first, { outcome: "redeemed" });
  t.same(await store.redeem(mark), first);
  t.same(await stranger.redeem(mark), { outcome: "already_redeemed" });
});

t.test("a mark holds its attempt until the expiry of the state and the leeway, to the minute", async (t) => {
  const store = await redisStore(t, { url, keyPrefix: "once:" });
  const mark = sealed(store);
  const redemption = await store.redeem(mark);
  const [key] = (await server.command("KEYS", "once:{*")) as string[];
  t.match(redemption, {
    outcome: "redeemed",
    attempt: String(await server.command("HGET", key ?? "", mark.jti)),
  });
  const until = Number(await server.command("PEXPIRETIME", key ?? ""));
  const needed = (mark.exp + MAX_LEEWAY_SECONDS) * 1000;
  t.ok(until >= needed && until < needed + 60_000, `${until - needed} ms more than needed`);
  t.equal(await server.command("PTTL", "once:epoch"), -1);
});

t.test("a server that forgot its scripts is taught them again", async (t) => {
  const store = await redisStore(t, { url });
  t.match(await store.redeem(sealed(store)), { outcome: "redeemed" });
  await server.command("SCRIPT", "FLUSH");
  const outcomes = await Promise.all(Array.from({ length: 5 }, () => store.redeem(sealed(store))));
  for (const outcome of outcomes) t.match(outcome, { outcome: "redeemed" });
});

t.test("the clock of Redis decides on expiry, not the gateway's", async (t) => {
  const store = await redisStore(t, { url });
  const time = Number((await server.command("TIME"))?.toString().split(",")[0]);
  t.same(await store.redeem(sealed(store, { exp: time })), { outcome: "expired" });
  t.match(await store.redeem(sealed(store, { exp: time + 30 })), { outcome: "redeemed" });
});

for (const epoch of [true, false]) {
  t.test(`gateways whose clocks are minutes apart, epochs ${epoch ? "on" : "off"}`, (t) => apart(t, epoch));
}

async function apart(t: Test, epoch: boolean): Promise<void> {
  const [ahead, behind] = [await redisStore(t, { url, epoch }), await redisStore(t, { url, epoch })];
  const time = Number((await server.command("TIME"))?.toString().split(",")[0]);
  // Sealed for a minute by a clock that is four minutes ahead.
  const mark = sealed(ahead, { exp: time + 240 + 60 });
  t.match(await behind.redeem(mark), { outcome: "redeemed" });
  for (const store of [ahead, behind]) t.same(await store.redeem(mark), { outcome: "already_redeemed" });
  // By a clock that is four minutes behind it has not begun, and by that of Redis it has ended.
  t.same(await behind.redeem(sealed(behind, { exp: time - 240 + 60 })), { outcome: "expired" });
}

t.test("a clock of Redis that was set back begins a new epoch", async (t) => {
  const store = await redisStore(t, { url });
  const mark = sealed(store);
  const record = String(await server.command("GET", "sg:epoch"));
  const ahead = (seconds: number) =>
    record.replace(/ (\d{6,}) /, (_, clock) => ` ${Number(clock) + seconds} `);
  await server.command("SET", "sg:epoch", ahead(200));
  t.match(
    await store.redeem(mark),
    { outcome: "redeemed" },
    "a small step takes no mark away before its time",
  );
  await server.command("SET", "sg:epoch", ahead(86_400));
  t.same(await store.redeem(sealed(store)), { outcome: "epoch_mismatch" });
  t.not(store.epoch(mark.jti), mark.epoch, "the answer to a redemption tells the new epoch");
  t.match(await store.redeem(sealed(store)), { outcome: "redeemed" });
});

t.test("an epoch record that is no record is replaced", async (t) => {
  const store = await redisStore(t, { url });
  for (const garbage of ["", "x", `${store.epoch("")}`, `${store.epoch("")} a b c`]) {
    const mark = sealed(store);
    await server.command("SET", "sg:epoch", garbage);
    t.same(await store.redeem(mark), { outcome: "epoch_mismatch" }, garbage);
  }
});

t.test("a key of another type in the way is an error, not a pass", async (t) => {
  const store = await redisStore(t, { url, keyPrefix: "type:" });
  const mark = sealed(store);
  const { key } = layOut("type:", false).place(mark);
  await server.command("LPUSH", key, "1");
  t.same(await store.redeem(mark).catch((error) => error.reason), "error");
  await server.command("DEL", "type:epoch");
  await server.command("LPUSH", "type:epoch", "1");
  t.same(await store.redeem(sealed(store)).catch((error) => error.reason), "error");
  await store.refresh();
  t.same(store.health(), { available: false, reason: "error" });
});

t.test("FLUSHALL takes the marks", async (t) => {
  t.test("epochs off: a spent state is redeemed a second time", async (t) => {
    const store = await redisStore(t, { url, epoch: false });
    const mark = sealed(store);
    t.match(await store.redeem(mark), { outcome: "redeemed" });
    await server.command("FLUSHALL");
    t.match(await store.redeem(mark), { outcome: "redeemed" });
  });

  t.test("epochs on: no state sealed before it is redeemed, spent or not", async (t) => {
    const [one, two] = [await redisStore(t, { url }), await redisStore(t, { url })];
    const [spent, unspent] = [sealed(one), sealed(one)];
    t.match(await one.redeem(spent), { outcome: "redeemed" });
    await server.command("FLUSHALL");
    for (const store of [one, two]) {
      t.same(await store.redeem(spent), { outcome: "epoch_mismatch" });
      t.same(await store.redeem(unspent), { outcome: "epoch_mismatch" });
      t.not(store.epoch(spent.jti), spent.epoch);
      t.match(await store.redeem(sealed(store)), { outcome: "redeemed" }, "new rounds work");
    }
  });
});
