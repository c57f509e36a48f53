/** The Redis that the gateways share, and what can be done to it. */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Random } from "../fuzz/random.ts";
import { type OwnRedis, ownRedis } from "../test/support/redis.ts";
import { type Fate, type Relay, startRelay } from "../test/support/relay.ts";
import { type Fault, pauseFor } from "./faults.ts";
import type { Closers } from "./processes.ts";

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
