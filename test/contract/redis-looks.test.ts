/** The look in the background keeps its second, whatever else is owed or under way. */
import t from "tap";
import { slotOf } from "../../src/redis/slots.ts";
import { ownRedis } from "../support/redis.ts";
import { JTI } from "../support/redis-losses.ts";
import { redisStore } from "../support/redis-store.ts";
import { until } from "../support/until.ts";

t.test("a release owed to a slot that nobody serves does not hold up the looks at the rest", async (t) => {
  const server = await ownRedis(t, [
    ...["--cluster-enabled", "yes", "--cluster-require-full-coverage", "no"],
  ]);
  const slots = Array.from({ length: 16_384 }, (_, slot) => slot).filter((slot) => slot !== slotOf("{42}"));
  await server.command("CLUSTER", "ADDSLOTS", ...slots.map(String));
  await until(async () => /cluster_state:ok/.test(String(await server.command("CLUSTER", "INFO"))));
  const nodes = [{ host: "127.0.0.1", port: server.port }];
  // So long a release follows the slot, each time that it is sent.
  const store = await redisStore(t, { cluster: { nodes }, redeemTimeoutMs: 300_000 });
  await until(async () => store.report().available === 255 / 256);
  void store.release({ jti: JTI, exp: Math.floor(Date.now() / 1000) + 600 }, "an attempt");
  await server.command("CONFIG", "RESETSTAT");
  // Releases are sent by text, so what is run by name are looks: by now 16 scripts each.
  await until(async () => {
    const stats = String(await server.command("INFO", "commandstats"));
    return Number(/cmdstat_evalsha:calls=(\d+)/.exec(stats)?.[1] ?? 0) > 4 * 16;
  });
});
