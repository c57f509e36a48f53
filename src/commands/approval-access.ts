/**
 * How `approve` reaches what waits and what is remembered: in Redis itself, which works while gateways are down, or through the admin
 * listener of one of them, which is the only way to a gateway with the memory store.
 */
import { randomBytes } from "node:crypto";
import { type AdminPlace, AdminRefused, decideThere, listApprovalsThere } from "../admin/client.ts";
import { createApprovals } from "../approval/approvals.ts";
import { presentDecided, presentHeld, presentWaiting, type ShownApproval } from "../approval/presented.ts";
import { createRedisShelf } from "../approval/redis-shelf.ts";
import { ShelfUnavailable } from "../approval/shelf.ts";
import type { LoadedConfig } from "../config/load.ts";
import { OverridesFull, OverridesUnavailable } from "../overrides/overrides.ts";
import { redisTarget } from "../redis/target-of.ts";
import { EXIT } from "./exit.ts";
import { type Given, QUIET, redisOverridesOf, sharingOf, wayOf } from "./override-access.ts";

/** What the command does with it. */
export interface ApprovalAccess {
  list(kind: "waiting" | "remembered"): Promise<readonly ShownApproval[]>;
  /** Undefined where there is no such entry. */
  decide(id: string, decision: "approve" | "deny" | "forget", by: string): Promise<ShownApproval | undefined>;
  close(): Promise<void>;
}

/**
 * Opens it, works, closes it, and says in one line what stood in the way.
 * @returns the exit code
 * @throws UsageError, ConfigError, ConfigFileError; the command line prints them
 */
export async function withApprovals(
  given: Given,
  work: (access: ApprovalAccess) => Promise<number>,
): Promise<number> {
  try {
    const way = await wayOf(given);
    const access = "loaded" in way ? await throughRedis(way.loaded) : throughListener(way.place);
    try {
      return await work(access);
    } finally {
      await access.close();
    }
  } catch (error) {
    const known =
      error instanceof ShelfUnavailable ||
      error instanceof OverridesFull ||
      error instanceof OverridesUnavailable ||
      error instanceof AdminRefused;
    if (!known) throw error;
    const unsure = error instanceof ShelfUnavailable && error.unsure;
    const more = unsure ? " (whether it took effect is not known; look at the list)" : "";
    process.stderr.write(`sealgate: ${error.message}${more}\n`);
    return EXIT.unavailable[0];
  }
}

async function throughRedis(loaded: LoadedConfig): Promise<ApprovalAccess> {
  const { ring, keyPrefix } = sharingOf(loaded);
  const overrides = await redisOverridesOf(loaded);
  const { audience } = loaded.config.envelope;
  const approvals = createApprovals({
    shelf: createRedisShelf(redisTarget(loaded), keyPrefix),
    sealing: { keys: { ring }, audience, now: Date.now, random: randomBytes },
    overrides,
    log: QUIET,
  });
  return {
    async list(kind) {
      if (kind === "waiting") return (await approvals.listWaiting()).map(presentWaiting);
      return (await approvals.listRemembered()).map(presentHeld);
    },
    async decide(id, decision, by) {
      if (decision === "forget") {
        const held = await approvals.forget(id, by);
        return held === undefined ? undefined : presentHeld(held);
      }
      const decided = await approvals.decide(id, decision === "approve", by);
      return decided === undefined ? undefined : presentDecided(decided);
    },
    async close() {
      await approvals.close();
      await overrides.close();
    },
  };
}

const throughListener = (place: AdminPlace): ApprovalAccess => ({
  list: (kind) => listApprovalsThere(place, kind),
  decide: (id, decision, by) => decideThere(place, id, decision, by),
  close: async () => undefined,
});
