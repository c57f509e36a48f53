/** Results that gateways share: one Redis string for each, on a link of its own, so that a large one holds up no redemption. */
import { before } from "../redis/deadline.ts";
import { RedisFailure } from "../redis/failure.ts";
import { openRedis } from "../redis/open.ts";
import { script } from "../redis/script.ts";
import type { RedisTarget } from "../redis/target.ts";
import type { ResultKey, ResultStore } from "./results.ts";

/** A repeat that waits longer is told that the state is spent, as it would be without results. */
const TIMEOUT_MS = 1_000;

/** KEYS: result. ARGV: sealed text, life in milliseconds. Returns OK, or nothing where one is kept already. */
const KEEP = script("return redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2])");
/** KEYS: result. Returns its text, or nothing. */
const RECALL = script("return redis.call('GET', KEYS[1])");

/** Opens a store of results; it connects, and connects again, in the background. @throws Error for a target that cannot be used */
export function createSharedResults(target: RedisTarget, keyPrefix: string): ResultStore {
  const servers = openRedis(target, TIMEOUT_MS, { ready: () => undefined, lost: () => undefined });
  // The jti is random, so as a hash tag it spreads results evenly over a Cluster.
  const keyOf = ({ jti }: ResultKey): string => `${keyPrefix}result:{${jti}}`;
  const keeping = new Set<Promise<unknown>>();
  const run = async (...call: Parameters<typeof servers.run>): Promise<unknown> => {
    const [what, keys, args] = call;
    const deadline = performance.now() + TIMEOUT_MS;
    try {
      if (!(await servers.whenReady(keys[0], deadline))) return undefined;
      return await before(deadline, servers.run(what, keys, args, deadline), () => undefined);
    } catch (error) {
      if (error instanceof RedisFailure) return undefined;
      throw error;
    }
  };
  return {
    async keep(key, text, ms) {
      const kept = run(KEEP, [keyOf(key)], [text, String(ms)]);
      keeping.add(kept);
      try {
        return (await kept) === "OK";
      } finally {
        keeping.delete(kept);
      }
    },
    async recall(key) {
      const text = await run(RECALL, [keyOf(key)], []);
      return typeof text === "string" ? text : undefined;
    },
    async close() {
      await Promise.all(keeping);
      await servers.close();
    },
  };
}
