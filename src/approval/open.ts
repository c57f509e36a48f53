/** The approvals of a gateway, by its configuration: shared where marks are shared, else those of the process. */
import type { LoadedConfig } from "../config/load.ts";
import type { Config } from "../config/schema.ts";
import type { Sealing } from "../keyring.ts";
import { redisTarget } from "../redis/target-of.ts";
import { type ApprovalsDesk, type ApprovalsParts, createApprovals } from "./approvals.ts";
import { createMemoryShelf } from "./memory-shelf.ts";
import { createRedisShelf } from "./redis-shelf.ts";

/** What they work with; rings and configurations are replaced while they are open. */
export interface OpenParts extends Pick<ApprovalsParts, "overrides" | "log">, Omit<Sealing, "audience"> {
  /** The configuration in force. */
  readonly config: () => Config;
}

/** Opens them; `loaded` is the configuration at start. No link to Redis is opened before one is needed. */
export function openApprovals(loaded: LoadedConfig, parts: OpenParts): ApprovalsDesk {
  const { redis, redemption } = loaded.config;
  const { keys, now, random, config, overrides, log } = parts;
  const sealing: Sealing = {
    keys,
    now,
    random,
    get audience() {
      return config().envelope.audience;
    },
  };
  const shelf =
    redemption.store === "memory" || redis === undefined
      ? createMemoryShelf(now)
      : createRedisShelf(redisTarget(loaded), redis.keyPrefix);
  return createApprovals({ shelf, sealing, overrides, log });
}
