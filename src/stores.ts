/**
 * Where a process keeps what outlives a request: in Redis, which replicas share, or in its own memory. One choice for all of it,
 * `redemption.store`; operators' overrides and approvals follow it where they are opened.
 */
import { Allowances } from "./allowance/allowance.ts";
import type { LoadedConfig } from "./config/load.ts";
import type { Config } from "./config/schema.ts";
import type { Log } from "./log.ts";
import { createMemoryReplays, type ReplayStore } from "./principal/replays.ts";
import { createSharedReplays } from "./principal/shared-replays.ts";
import { createMemoryStore } from "./redemption/memory.ts";
import { createRedisStore } from "./redemption/redis.ts";
import { createMemoryResults } from "./redemption/results.ts";
import { createSharedResults } from "./redemption/shared-results.ts";
import type { RedemptionStore } from "./redemption/store.ts";
import { redisTarget } from "./redis/target-of.ts";
import type { Repeats } from "./round-trip/repeat.ts";

/** The Redis that is shared; undefined where the process keeps things for itself. */
function sharedRedis({ config: { redis, redemption } }: LoadedConfig): Config["redis"] | undefined {
  return redemption.store === "redis" ? redis : undefined;
}

/** Marks of redeemed states. */
export async function openStore(
  loaded: LoadedConfig,
  { log, now, random }: { log: Log; now: () => number; random: (bytes: number) => Buffer },
): Promise<RedemptionStore> {
  const redis = sharedRedis(loaded);
  if (redis === undefined) return createMemoryStore({ now, random });
  const { epoch, eviction } = loaded.config.redemption;
  return createRedisStore({
    ...redisTarget(loaded),
    keyPrefix: redis.keyPrefix,
    epoch: epoch === "on",
    eviction,
    log,
  });
}

/** What callers are counted with. */
export function openAllowances(
  loaded: LoadedConfig,
  { log, now }: { log: Log; now: () => number },
): Allowances {
  const redis = sharedRedis(loaded);
  if (redis === undefined) return new Allowances(undefined, now);
  return new Allowances({ target: redisTarget(loaded), keyPrefix: redis.keyPrefix, log }, now);
}

/** Marks of used DPoP proofs. */
export function openReplays(loaded: LoadedConfig, now: () => number): ReplayStore {
  const redis = sharedRedis(loaded);
  return redis === undefined
    ? createMemoryReplays(now)
    : createSharedReplays(redisTarget(loaded), redis.keyPrefix);
}

/** Answers that are kept for a repeat; undefined where none are (`redemption.results`). */
export function openRepeats(loaded: LoadedConfig, now: () => number): Repeats | undefined {
  const { results: ms, maxResultBytes: maxBytes } = loaded.config.redemption;
  if (ms === "off") return undefined;
  const redis = sharedRedis(loaded);
  const store =
    redis === undefined
      ? createMemoryResults(now)
      : createSharedResults(redisTarget(loaded), redis.keyPrefix);
  return { store, ms, maxBytes };
}
