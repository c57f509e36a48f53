/** The Redis that the gateways share, and what can be done to it. */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Random } from "../fuzz/random.ts";
import { type OwnRedis, ownRedis } from "../test/support/redis.ts";
import { ownSentinels, type Watched } from "../test/support/redis-groups.ts";
import { type Fate, type Relay, startRelay } from "../test/support/relay.ts";
import { until } from "../test/support/until.ts";
import { type Fault, pauseFor } from "./faults.ts";
import type { Closers } from "./processes.ts";

/** Longest that Sentinels may take to make a server follow, with a machine that has no time for them. */
const PATIENCE_SECONDS = 120;

/** A store that breaks when it is told to. */
export interface Store {
  /** Section `redis` of each gateway. */
  readonly sections: readonly Readonly<Record<string, unknown>>[];
  readonly faults: readonly Fault[];
}

/** One Redis, with a link of its own to each gateway. */
export async function standalone(closers: Closers, gateways: number, random: Random): Promise<Store> {
  const redis = await ownRedis(closers);
  const links: Relay[] = [];
  for (let n = 0; n < gateways; n++) links.push(await startRelay(closers, redis.port));
  return {
    sections: links.map(({ port }) => ({ url: `redis://127.0.0.1:${port}` })),
    faults: [...serverFaults(redis), ...linkFaults(links, random)],
  };
}

/** A master and a replica that three Sentinels watch; the gateways ask these where the master is. */
export async function sentinels(closers: Closers, gateways: number): Promise<Store> {
  const watched = await ownSentinels(closers);
  const { name, nodes } = watched;
  const section = { sentinels: { name, nodes: nodes.map(({ host, port }) => `${host}:${port}`) } };
  return { sections: Array.from({ length: gateways }, () => section), faults: failovers(watched) };
}

/** Changes of the master, each of which ends with a master and a replica that follows it. */
function failovers(watched: Watched): Fault[] {
  let [master, replica] = [watched.master, watched.replica];
  const promoted = async (): Promise<void> => {
    await watched.named(replica.port, PATIENCE_SECONDS);
    [master, replica] = [replica, master];
  };
  /** The old master is back, and the Sentinels have made it follow the new one. */
  const following = (): Promise<void> =>
    until(
      async () =>
        /role:slave.*master_link_status:up/s.test(
          String(await replica.command("INFO", "replication").catch(() => "")),
        ),
      PATIENCE_SECONDS,
    );
  return [
    {
      name: "the master is killed, its replica takes over, it comes back",
      async run(random) {
        await master.stop("SIGKILL");
        await promoted();
        await pauseFor(random, 0, 500);
        await replica.start();
        await following();
      },
    },
    {
      name: "a replica that missed marks takes over from a master that is killed",
      async run(random) {
        replica.pause();
        await pauseFor(random, 200, 1_000);
        await master.stop("SIGKILL");
        replica.resume();
        await promoted();
        await replica.start();
        await following();
      },
    },
    {
      name: "the master stands still until it is replaced, and wakes up as one of two",
      async run() {
        master.pause();
        await promoted();
        replica.resume();
        await following();
      },
    },
    {
      name: "the master hands over on demand",
      async run() {
        await watched.failover(replica.port);
        [master, replica] = [replica, master];
        await following();
      },
    },
    { name: "the master is flushed", run: async () => void (await master.command("FLUSHALL")) },
  ];
}

function serverFaults(redis: OwnRedis): Fault[] {
  return [
    {
      name: "Redis stands still",
      async run(random) {
        redis.pause();
        await pauseFor(random, 100, 3_000);
        redis.resume();
      },
    },
    {
      name: "Redis is killed and comes back empty",
      async run(random) {
        await redis.stop("SIGKILL");
        await rm(join(redis.dir, "dump.rdb"), { force: true });
        await pauseFor(random, 0, 500);
        await redis.start();
      },
    },
    {
      name: "Redis is killed and comes back with an old snapshot",
      async run(random) {
        await redis.command("SAVE");
        await pauseFor(random, 200, 1_000);
        await redis.stop("SIGKILL");
        await redis.start();
      },
    },
    { name: "Redis is flushed", run: async () => void (await redis.command("FLUSHALL")) },
  ];
}

function linkFaults(links: readonly Relay[], random: Random): Fault[] {
  const during = async (fate: (chunk: string) => Fate): Promise<void> => {
    const link = random.pick(links);
    link.fate = fate;
    await pauseFor(random, 100, 1_000);
    link.fate = () => "pass";
  };
  return [
    { name: "a link to Redis is cut", run: async () => random.pick(links).cut() },
    { name: "a link to Redis loses commands", run: () => during(() => (random.oneIn(20) ? "lose" : "pass")) },
    {
      name: "a link to Redis loses answers",
      run: () => during(() => (random.oneIn(20) ? "lose-reply" : "pass")),
    },
  ];
}
