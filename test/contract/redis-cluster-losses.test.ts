/** Clusters that lose marks: replicas promoted without them, slots handed over without their keys. */
import t from "tap";
import { slotOf } from "../../src/redis/slots.ts";
import type { OwnRedis } from "../support/redis.ts";
import { type OwnCluster, ownCluster } from "../support/redis-groups.ts";
import { caughtUp, cutOff, lossOf, twoStores } from "../support/redis-losses.ts";
import { until } from "../support/until.ts";

/** The master that has the states of these tests, its replica, and all others. */
function partsOf(cluster: OwnCluster) {
  const master = cluster.ownerOf("{42}");
  const index = cluster.masters.indexOf(master);
  const replica = cluster.replicas[index] as OwnRedis;
  return { master, replica, others: cluster.masters.filter((server) => server !== master) };
}

for (const how of ["TAKEOVER", "FORCE"] as const) {
  t.test(`a Cluster's replica that missed the marks takes its master's place (${how})`, async (t) => {
    const cluster = await ownCluster(t, { replicas: 1 });
    const { master, replica } = partsOf(cluster);
    const stores = await twoStores(t, { cluster: { nodes: cluster.nodes } });
    await lossOf(
      t,
      stores,
      async () => {
        await caughtUp(replica, master);
        await cutOff(replica, master);
      },
      async () => {
        // A takeover asks nobody, so the old master is still there; a forced one is voted for.
        if (how === "FORCE") await master.stop("SIGKILL");
        await until(async () => {
          await replica.command("CLUSTER", "FAILOVER", how).catch(() => undefined);
          return /role:master/.test(String(await replica.command("INFO", "replication")));
        });
        if (how === "TAKEOVER")
          await until(async () => /role:slave/.test(String(await master.command("INFO", "replication"))));
      },
    );
  });
}

t.test("a slot that another master gets without its keys", async (t) => {
  const cluster = await ownCluster(t);
  const { master, others } = partsOf(cluster);
  const next = others[0] as OwnRedis;
  const slot = String(slotOf("{42}"));
  const stores = await twoStores(t, { cluster: { nodes: cluster.nodes } });
  await lossOf(
    t,
    stores,
    async () => undefined,
    async () => {
      const keys = (await master.command("CLUSTER", "GETKEYSINSLOT", slot, "100")) as string[];
      t.ok(keys.length >= 4, "epochs and marks of both stores");
      await master.command("DEL", ...keys);
      const id = String(await next.command("CLUSTER", "MYID"));
      await next.command(
        "CLUSTER",
        "SETSLOT",
        slot,
        "IMPORTING",
        String(await master.command("CLUSTER", "MYID")),
      );
      for (const server of [next, master, ...others.slice(1)])
        await server.command("CLUSTER", "SETSLOT", slot, "NODE", id);
    },
  );
});
