/** Real Redis Clusters and masters with Sentinels for tests, all on loopback, ended with the test. */

import { slotOf } from "../../src/redis/slots.ts";
import type { Address } from "../../src/redis/target.ts";
import { type OwnAccess, type OwnRedis, ownRedis, type Teardown } from "./redis.ts";
import { until } from "./until.ts";

const SLOTS = 16_384;

/** How the servers of a group are made. */
export interface GroupOptions {
  /** More arguments for every server; gets its port. */
  readonly args?: (port: number, index: number) => readonly string[];
  /** What a test's own commands need to get in. */
  readonly access?: OwnAccess;
}

/** A running Cluster. */
export interface OwnCluster {
  readonly masters: readonly OwnRedis[];
  /** The replica of the master in the same place, if it was asked for. */
  readonly replicas: readonly OwnRedis[];
  readonly nodes: Address[];
  /** The master that a key belonged to when the Cluster was made. */
  ownerOf(key: string): OwnRedis;
}

/** Three masters that share the slots evenly, each with a replica if asked for. */
export async function ownCluster(
  t: Teardown,
  { replicas = 0, args = () => [], access = {} }: GroupOptions & { readonly replicas?: 0 | 1 } = {},
): Promise<OwnCluster> {
  const count = 3;
  const timeout = ["--cluster-enabled", "yes", "--cluster-node-timeout", "1500"];
  // A replica counts as fit to take over, however old its link.
  const fit = ["--cluster-replica-validity-factor", "0"];
  const all = await Promise.all(
    Array.from({ length: count * (1 + replicas) }, (_, index) =>
      ownRedis(t, (port) => [...timeout, ...fit, ...args(port, index)], access),
    ),
  );
  const [masters, followers] = [all.slice(0, count), all.slice(count)];
  const first = (index: number) => Math.floor((index * SLOTS) / count);
  for (const [index, master] of masters.entries()) {
    await master.command("CLUSTER", "SET-CONFIG-EPOCH", String(index + 1));
    const slots = Array.from({ length: first(index + 1) - first(index) }, (_, slot) => first(index) + slot);
    await master.command("CLUSTER", "ADDSLOTS", ...slots.map(String));
  }
  for (const server of all) {
    if (server === all[0]) continue;
    await all[0]?.command("CLUSTER", "MEET", "127.0.0.1", String(server.port));
  }
  await until(async () => {
    const known = await Promise.all(all.map((server) => server.command("CLUSTER", "INFO")));
    return known.every((info) => /cluster_state:ok/.test(String(info)) && knows(String(info), all.length));
  });
  for (const [index, replica] of followers.entries()) {
    const id = String(await masters[index]?.command("CLUSTER", "MYID"));
    await until(() =>
      replica.command("CLUSTER", "REPLICATE", id).then(
        () => true,
        () => false,
      ),
    );
    await until(async () =>
      /master_link_status:up/.test(String(await replica.command("INFO", "replication"))),
    );
  }
  return {
    masters,
    replicas: followers,
    nodes: masters.map(({ port }) => ({ host: "127.0.0.1", port })),
    ownerOf(key) {
      const slot = slotOf(key);
      const index = masters.findIndex((_, place) => slot < first(place + 1));
      return masters[index] as OwnRedis;
    },
  };
}

const knows = (info: string, nodes: number): boolean => info.includes(`cluster_known_nodes:${nodes}\r`);

/** A running master with a replica and Sentinels. */
export interface Watched {
  readonly master: OwnRedis;
  readonly replica: OwnRedis;
  readonly sentinels: readonly OwnRedis[];
  readonly name: string;
  readonly nodes: Address[];
  /** Makes the Sentinels promote the other server, and waits until all of them name it; `to` is its port, the replica's unless said. */
  failover(to?: number): Promise<void>;
  /** Waits until every Sentinel names the server on this port. */
  named(port: number, seconds?: number): Promise<void>;
}

/** A master, a replica, and so many Sentinels; `port` is what the Sentinels say of the master, in place of its own. */
export async function ownSentinels(
  t: Teardown,
  {
    count = 3,
    port,
    args = () => [],
    access = {},
  }: GroupOptions & { readonly count?: number; readonly port?: (master: OwnRedis) => number } = {},
): Promise<Watched> {
  const name = "main";
  const master = await ownRedis(t, (port) => args(port, 0), access);
  const replica = await ownRedis(t, (port) => args(port, 1), access);
  await replica.command("REPLICAOF", "127.0.0.1", String(master.port));
  await until(async () => /master_link_status:up/.test(String(await replica.command("INFO", "replication"))));
  const sentinels = await Promise.all(Array.from({ length: count }, () => ownRedis(t, ["--sentinel"])));
  const quorum = Math.floor(count / 2) + 1;
  for (const sentinel of sentinels) {
    await sentinel.command(
      "SENTINEL",
      "MONITOR",
      name,
      "127.0.0.1",
      String(port?.(master) ?? master.port),
      String(quorum),
    );
    const { username, password } = access;
    if (username !== undefined) await sentinel.command("SENTINEL", "SET", name, "auth-user", username);
    if (password !== undefined) await sentinel.command("SENTINEL", "SET", name, "auth-pass", password);
    for (const [setting, value] of [
      ["down-after-milliseconds", "500"],
      ["failover-timeout", "2000"],
    ] as const)
      await sentinel.command("SENTINEL", "SET", name, setting, value);
  }
  await until(async () => {
    const known = await Promise.all(
      sentinels.map((sentinel) => sentinel.command("SENTINEL", "MASTER", name)),
    );
    return known.every((reply) => {
      const fields = (reply as string[]).map(String);
      const of = (field: string) => fields[fields.indexOf(field) + 1];
      return of("num-slaves") === "1" && of("num-other-sentinels") === String(count - 1);
    });
  });
  const named = async (wanted: number, seconds?: number): Promise<void> => {
    await until(async () => {
      const told = await Promise.all(
        sentinels.map((sentinel) => sentinel.command("SENTINEL", "get-master-addr-by-name", name)),
      );
      return told.every((reply) => (reply as string[])[1] === String(wanted));
    }, seconds);
  };
  return {
    ...{ master, replica, sentinels, name, named },
    nodes: sentinels.map(({ port }) => ({ host: "127.0.0.1", port })),
    async failover(to = replica.port) {
      await until(() =>
        (sentinels[0] as OwnRedis).command("SENTINEL", "FAILOVER", name).then(
          () => true,
          () => false,
        ),
      );
      await named(to);
    },
  };
}
