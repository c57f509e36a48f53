/** What every redemption store promises, whichever it is: one suite, run on each. */
import t, { type Test } from "tap";
import { createMemoryStore } from "../../src/redemption/memory.ts";
import { createRedisStore } from "../../src/redemption/redis.ts";
import { type Mark, type RedemptionStore, StoreUnavailable } from "../../src/redemption/store.ts";
import { anyRedis } from "../support/redis.ts";
import { KINDS } from "../support/redis-kinds.ts";
import { redisStore, sealed } from "../support/redis-store.ts";

const silent = { info() {}, warn() {}, error() {} };

const stores: Record<string, (t: Test) => Promise<RedemptionStore>> = {
  memory: async () => createMemoryStore(),
  redis: async (t) => {
    const { url, keyPrefix } = await anyRedis(t);
    return await createRedisStore({ url, keyPrefix, epoch: true, eviction: "refuse", log: silent });
  },
  ...Object.fromEntries(
    Object.entries(KINDS).map(([name, make]) => [
      name,
      async (t: Test) => await redisStore(t, (await make(t)).target),
    ]),
  ),
};

const nowSeconds = () => Math.floor(Date.now() / 1000);

async function attemptOf(store: RedemptionStore, mark: Mark): Promise<string> {
  const redemption = await store.redeem(mark);
  if (redemption.outcome !== "redeemed") throw new Error(`not redeemed: ${redemption.outcome}`);
  return redemption.attempt;
}

for (const [name, create] of Object.entries(stores)) {
  t.test(name, async (t) => {
    const store = await create(t);
    const outcome = async (mark: Mark) => (await store.redeem(mark)).outcome;

    t.test("is healthy and has one epoch", async (t) => {
      t.same(store.health(), { available: true });
      t.match(store.epoch("state"), /^[\w-]{22}$/);
      t.equal(store.epoch("state"), store.epoch("state"));
    });

    t.test("the first redemption wins and every later one is told so", async (t) => {
      const mark = sealed(store);
      const first = await store.redeem(mark);
      t.match(first, { outcome: "redeemed", attempt: /^[\w-]{11}$/ });
      t.same(await store.redeem(mark), { outcome: "already_redeemed" });
      t.same(await store.redeem({ ...mark }), { outcome: "already_redeemed" });
      t.equal(await outcome(sealed(store)), "redeemed", "another state is not touched");
    });

    t.test("of 50 at once one wins", async (t) => {
      const mark = sealed(store);
      const all = await Promise.all(Array.from({ length: 50 }, () => outcome(mark)));
      t.equal(all.filter((one) => one === "redeemed").length, 1);
      t.equal(all.filter((one) => one === "already_redeemed").length, 49);
    });

    t.test("attempts differ", async (t) => {
      const attempts = [await attemptOf(store, sealed(store)), await attemptOf(store, sealed(store))];
      t.not(attempts[0], attempts[1]);
    });

    t.test("another epoch is refused and leaves no mark", async (t) => {
      const mark = sealed(store);
      for (const epoch of ["", " ", "A".repeat(22), mark.epoch.toLowerCase(), `${mark.epoch} `, "off"]) {
        if (epoch !== mark.epoch) t.equal(await outcome({ ...mark, epoch }), "epoch_mismatch", epoch);
      }
      t.equal(await outcome(mark), "redeemed");
      t.equal(
        await outcome({ ...mark, epoch: "other" }),
        "already_redeemed",
        "where the mark says more, it is told",
      );
    });

    t.test("an expired state is refused and leaves no mark", async (t) => {
      const mark = sealed(store);
      for (const exp of [0, -1, nowSeconds() - 1, nowSeconds(), Number.NaN, Number.NEGATIVE_INFINITY]) {
        t.equal(await outcome({ ...mark, exp }), "expired", String(exp));
      }
      t.equal(await outcome(mark), "redeemed");
    });

    t.test("the right attempt re-opens a state, another does not", async (t) => {
      const mark = sealed(store);
      const attempt = await attemptOf(store, mark);
      for (const wrong of ["", "0", `${attempt} `, attempt.slice(1), await attemptOf(store, sealed(store))]) {
        await store.release(mark, wrong);
        t.equal(await outcome(mark), "already_redeemed", `released by '${wrong}'`);
      }
      await store.release(mark, attempt);
      const second = await attemptOf(store, mark);
      await store.release(mark, attempt);
      t.equal(
        await outcome(mark),
        "already_redeemed",
        "an attempt that is over does not hold the next one's mark",
      );
      await store.release(mark, second);
      t.equal(await outcome(mark), "redeemed");
    });

    t.test("releasing what is unknown does nothing", async (t) => {
      await store.release({ jti: "never-redeemed", exp: nowSeconds() }, "1");
      t.same(store.health(), { available: true });
    });

    t.test("any text is a jti, and only equal texts are equal", async (t) => {
      const odd = [
        "",
        " ",
        "'",
        '"',
        "\r\n",
        "\0",
        "{a}",
        "}{",
        "*",
        "?",
        "[a-z]",
        "\u00e9",
        "e\u0301",
        "🦭",
        "epoch",
        "m:",
        ":",
      ];
      const jtis = [
        ...odd,
        "$1",
        "__proto__",
        "constructor",
        "x".repeat(5000),
        'a"); redis.call("FLUSHALL") --',
      ];
      const marks = jtis.map((jti) => sealed(store, { jti }));
      for (const mark of marks) t.equal(await outcome(mark), "redeemed", JSON.stringify(mark.jti));
      for (const mark of marks) t.equal(await outcome(mark), "already_redeemed", JSON.stringify(mark.jti));
    });

    t.test("a closed store is not available", async (t) => {
      const mark = sealed(store);
      await store.close();
      await store.close();
      t.match(store.health(), { available: false });
      await t.rejects(store.redeem(mark), StoreUnavailable);
      await store.release(mark, "1");
    });
  });
}
