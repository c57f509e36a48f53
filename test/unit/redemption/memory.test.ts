import t from "tap";
import { createMemoryStore, type MemoryStoreOptions } from "../../../src/redemption/memory.ts";
import { MAX_LEEWAY_SECONDS, StoreUnavailable } from "../../../src/redemption/store.ts";

const START = 1_800_000_000;

function setUp(options: MemoryStoreOptions = {}) {
  const clock = { seconds: START };
  const store = createMemoryStore({ now: () => clock.seconds * 1000, ...options });
  const redeem = (jti: string, exp = START + 60, epoch = store.epoch("") ?? "") =>
    store.redeem({ jti, epoch, exp });
  return { clock, store, redeem };
}

t.test("two processes have two epochs and refuse each other's states", async (t) => {
  const [one, two] = [setUp(), setUp()];
  t.not(one.store.epoch(""), two.store.epoch(""));
  t.same(await two.redeem("a", START + 60, one.store.epoch("")), { outcome: "epoch_mismatch" });
});

t.test("epoch and attempts come from the given randomness", async (t) => {
  const { store, redeem } = setUp({ random: (n) => Buffer.alloc(n, 0xff) });
  t.equal(store.epoch(""), "_____________________w");
  t.same(await redeem("a"), { outcome: "redeemed", attempt: "__________8" });
});

t.test("a state is good until the second of its exp, and its mark for longer", async (t) => {
  const { clock, redeem, store } = setUp();
  clock.seconds = START + 59.999;
  t.match(await redeem("a"), { outcome: "redeemed" });
  clock.seconds = START + 60;
  t.same(await redeem("b"), { outcome: "expired" });
  clock.seconds = START + 60 + MAX_LEEWAY_SECONDS - 1;
  t.same(await redeem("a"), { outcome: "already_redeemed" });
  await store.release({ jti: "a", exp: START + 60 }, "1");
});

t.test("a release after expiry is harmless", async (t) => {
  const { clock, redeem, store } = setUp();
  const first = await redeem("a");
  if (first.outcome !== "redeemed") throw new Error("not redeemed");
  clock.seconds = START + 61;
  await store.release({ jti: "a", exp: START + 60 }, first.attempt);
  t.same(await redeem("a"), { outcome: "expired" });
});

t.test("a full store refuses, forgets only what has ended, and then goes on", async (t) => {
  const { clock, redeem, store } = setUp({ maxMarks: 3 });
  t.match(await redeem("long", START + 600), { outcome: "redeemed" });
  t.match(await redeem("a"), { outcome: "redeemed" });
  t.match(await redeem("b"), { outcome: "redeemed" });
  await t.rejects(redeem("c"), new StoreUnavailable("full", "The memory store is full"));
  t.same(store.health(), { available: false, reason: "full" });
  t.same(await redeem("a"), { outcome: "already_redeemed" }, "a full store still knows its marks");

  clock.seconds = START + 60 + MAX_LEEWAY_SECONDS;
  t.same(store.health(), { available: true });
  t.match(await redeem("c", START + 3600), { outcome: "redeemed" }, "behind one that lives on");
  t.same(await redeem("long", START + 600), { outcome: "already_redeemed" });
});

t.test("a released mark makes room", async (t) => {
  const { redeem, store } = setUp({ maxMarks: 1 });
  const first = await redeem("a");
  if (first.outcome !== "redeemed") throw new Error("not redeemed");
  await t.rejects(redeem("b"), StoreUnavailable);
  await store.release({ jti: "a", exp: START + 60 }, first.attempt);
  t.match(await redeem("b"), { outcome: "redeemed" });
});

t.test("marks are forgotten as they end, without waiting for the bound", async (t) => {
  const { clock, redeem } = setUp({ maxMarks: 50 });
  for (let i = 0; i < 1000; i++) {
    clock.seconds = START + i * 10;
    t.match(await redeem(`j${i}`, clock.seconds + 60), { outcome: "redeemed" });
  }
});

t.test("a clock that jumps forward and back cannot bring a spent state to life", async (t) => {
  const { clock, redeem, store } = setUp();
  const before = store.epoch("");
  t.match(await redeem("a", START + 60), { outcome: "redeemed" });
  clock.seconds = START + 86_400;
  t.match(await redeem("b", START + 90_000), { outcome: "redeemed" });
  t.match(await redeem("c", START + 90_000), { outcome: "redeemed" });

  clock.seconds = START + 1;
  t.same(await redeem("a", START + 60, before), { outcome: "epoch_mismatch" });
  t.not(store.epoch(""), before);
  t.match(await redeem("d", START + 60), { outcome: "redeemed" }, "and new rounds work");
});
