/** One suite for both memories of proofs: something is used once, whoever asks, and the answer is never a guess. */
import t, { type Test } from "tap";
import { createMemoryReplays, type ReplayStore, ReplaysUnavailable } from "../../src/principal/replays.ts";
import { createSharedReplays } from "../../src/principal/shared-replays.ts";
import { freePort, ownRedis } from "../support/redis.ts";

const id = (name: string) => name.padEnd(22, "A");
const redis = await ownRedis(t);

async function suite(t: Test, replays: ReplayStore, beside: ReplayStore): Promise<void> {
  t.equal(await replays.first(id("a"), 60_000), true);
  t.equal(await replays.first(id("a"), 60_000), false);
  t.equal(await beside.first(id("a"), 60_000), false, "another that shares it");
  t.equal(await beside.first(id("b"), 60_000), true);
  t.equal(await replays.first(id("b"), 60_000), false);
  const race = await Promise.all(
    Array.from({ length: 50 }, (_, n) => (n % 2 === 0 ? replays : beside).first(id("race"), 60_000)),
  );
  t.equal(race.filter(Boolean).length, 1, "one winner");
}

t.test("memory", async (t) => {
  const replays = createMemoryReplays(() => 1_000);
  await suite(t, replays, replays);
});

t.test("Redis", async (t) => {
  const open = () => {
    const made = createSharedReplays({ url: redis.url }, "t1:");
    t.teardown(() => made.close());
    return made;
  };
  await suite(t, open(), open());
  t.equal(await createAndClose("t2:"), true, "another prefix is another memory");
  const keys = (await redis.command("KEYS", "t1:*")) as string[];
  t.equal(keys.length, 3);
  for (const key of keys) {
    const ms = Number(await redis.command("PTTL", key));
    t.ok(ms > 0 && ms <= 60_000, "ends by itself");
  }
});

async function createAndClose(prefix: string): Promise<boolean> {
  const made = createSharedReplays({ url: redis.url }, prefix);
  const first = await made.first(id("a"), 60_000);
  await made.close();
  return first;
}

t.test("memory forgets what is over, and refuses what it may have forgotten", async (t) => {
  const clock = { now: 1_000 };
  const replays = createMemoryReplays(() => clock.now);
  t.equal(await replays.first(id("a"), 100), true);
  clock.now = 1_100;
  t.equal(await replays.first(id("b"), 100), true);
  t.equal(await replays.first(id("a"), 100), true, "its time was over");
  clock.now = 1_000;
  t.equal(await replays.first(id("c"), 100), false, "the clock was set back: it may have been used");
  clock.now = 1_101;
  t.equal(await replays.first(id("c"), 100), true);
});

t.test("a full memory forgets nothing that is needed", async (t) => {
  const clock = { now: 1_000 };
  const replays = createMemoryReplays(() => clock.now, 3);
  for (const name of ["a", "b", "c"]) t.equal(await replays.first(id(name), 100), true);
  await t.rejects(replays.first(id("d"), 100), ReplaysUnavailable);
  t.equal(await replays.first(id("a"), 100), false);
  clock.now = 1_100;
  t.equal(await replays.first(id("d"), 100), true);
});

t.test("a Redis that is away, read-only or full is a fault and no answer", async (t) => {
  const nobody = createSharedReplays({ url: `redis://127.0.0.1:${await freePort()}` }, "t:");
  t.teardown(() => nobody.close());
  await t.rejects(nobody.first(id("a"), 1_000), ReplaysUnavailable);
  await t.rejects(nobody.first(id("a"), 1_000), { message: /away/ }, "the next does not wait");
  const replica = await ownRedis(t, ["--replicaof", "127.0.0.1", String(redis.port)]);
  const readOnly = createSharedReplays({ url: replica.url }, "t:");
  t.teardown(() => readOnly.close());
  await t.rejects(readOnly.first(id("a"), 1_000), ReplaysUnavailable);
  const small = await ownRedis(t, ["--maxmemory", "1", "--maxmemory-policy", "noeviction"]);
  const full = createSharedReplays({ url: small.url }, "t:");
  t.teardown(() => full.close());
  await t.rejects(full.first(id("a"), 1_000), ReplaysUnavailable);
  const closed = createSharedReplays({ url: redis.url }, "t:");
  await closed.close();
  await t.rejects(closed.first(id("a"), 1_000), ReplaysUnavailable);
});
