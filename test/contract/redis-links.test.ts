/** A link that breaks under a redemption, with Sentinels and in a Cluster: the round runs, once, and is no replay of itself. */
import t, { type Test } from "tap";
import type { RedisTarget } from "../../src/redis/target.ts";
import { ownCluster, ownSentinels } from "../support/redis-groups.ts";
import { redisStore, sealed } from "../support/redis-store.ts";
import { type Relay, startRelay } from "../support/relay.ts";
import { until } from "../support/until.ts";

/** Both kinds, each master behind a relay that the gateway is told of in place of it. */
const KINDS: Readonly<Record<string, (t: Test) => Promise<{ target: RedisTarget; relays: Relay[] }>>> = {
  Sentinel: async (t) => {
    const relay = await startRelay(t, 0);
    const { name, nodes } = await ownSentinels(t, {
      count: 1,
      port: (master) => {
        relay.target = master.port;
        return relay.port;
      },
    });
    return { target: { sentinels: { name, nodes } }, relays: [relay] };
  },
  Cluster: async (t) => {
    const relays = await Promise.all([0, 1, 2].map(() => startRelay(t, 0)));
    await ownCluster(t, {
      args: (port, index) => {
        const relay = relays[index] as Relay;
        relay.target = port;
        return [
          ...["--cluster-announce-ip", "127.0.0.1", "--cluster-announce-port", String(relay.port)],
          ...["--cluster-announce-bus-port", String(port + 10_000)],
        ];
      },
    });
    const nodes = relays.map(({ port }) => ({ host: "127.0.0.1", port }));
    return { target: { cluster: { nodes } }, relays };
  },
};

for (const [name, make] of Object.entries(KINDS)) {
  t.test(name, async (t) => {
    const { target, relays } = await make(t);
    const store = await redisStore(t, target);
    const other = await redisStore(t, target);
    await until(async () => store.health().available && other.health().available);
    await store.redeem(sealed(store));

    for (const fate of ["lose", "lose-reply"] as const) {
      const mark = sealed(store);
      let hits = 0;
      for (const relay of relays)
        relay.fate = (chunk) => (chunk.includes(mark.jti) && ++hits === 1 ? fate : "pass");
      t.match(await store.redeem(mark), { outcome: "redeemed" }, fate);
      // Twice, or once more where the server does not know the script by name yet.
      t.ok(hits >= 2, "it was sent again");
      t.same(await other.redeem(mark), { outcome: "already_redeemed" });
      t.same(await store.redeem(mark), { outcome: "already_redeemed" });
      for (const relay of relays) relay.fate = () => "pass";
    }

    t.test("a release that is lost is sent again", async (t) => {
      const mark = sealed(store);
      const first = await store.redeem(mark);
      if (first.outcome !== "redeemed") throw new Error("not redeemed");
      let hits = 0;
      for (const relay of relays)
        relay.fate = (chunk) => (chunk.includes(mark.jti) && ++hits === 1 ? "lose" : "pass");
      await store.release(mark, first.attempt);
      await until(async () => (await other.redeem(mark).catch(() => undefined))?.outcome === "redeemed");
      t.same(await store.redeem(mark), { outcome: "already_redeemed" });
    });
  });
}
