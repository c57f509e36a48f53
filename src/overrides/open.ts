/** The overrides of a gateway, by its configuration: shared where marks are shared, else those of the process. */
import type { LoadedConfig } from "../config/load.ts";
import type { Config } from "../config/schema.ts";
import type { Keyring } from "../keyring.ts";
import type { Log } from "../log.ts";
import { redisTarget } from "../redis/target-of.ts";
import { createMemoryOverrides } from "./memory.ts";
import { lifetimesOf } from "./orders.ts";
import type { OverridesDesk } from "./overrides.ts";
import { createRedisOverrides } from "./redis.ts";

/** What they work with; rings and configurations are replaced while they are open. */
export interface OverridesParts {
  readonly log: Log;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly random: (bytes: number) => Buffer;
  readonly keys: { readonly ring: Keyring };
  /** The configuration in force. */
  readonly config: () => Config;
}

/** Opens them; `loaded` is the configuration at start. Throws if Redis is named in a way that cannot be used. */
export async function openOverrides(loaded: LoadedConfig, parts: OverridesParts): Promise<OverridesDesk> {
  const { redis, redemption } = loaded.config;
  const { log, now, random, keys, config } = parts;
  const lifetimes = (): ReturnType<typeof lifetimesOf> => lifetimesOf(config());
  if (redemption.store === "memory" || redis === undefined)
    return createMemoryOverrides({ lifetimes, now, random });
  return createRedisOverrides({
    target: redisTarget(loaded),
    keyPrefix: redis.keyPrefix,
    signing: () => ({ ring: keys.ring, audience: config().envelope.audience }),
    lifetimes,
    log,
    now,
    random,
    follow: true,
  });
}
