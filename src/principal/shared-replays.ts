/** What was used once, known to all gateways: one Redis string for each use, that ends by itself. */
import { before } from "../redis/deadline.ts";
import { RedisFailure } from "../redis/failure.ts";
import { openRedis, type RedisServers } from "../redis/open.ts";
import { script } from "../redis/script.ts";
import type { RedisTarget } from "../redis/target.ts";
import { type ReplayStore, ReplaysUnavailable } from "./replays.ts";

/** A proof that waits longer for its mark is told to come again. */
const TIMEOUT_MS = 1_000;
/** After a wait in vain nobody else waits for so long. */
const PAUSE_MS = 1_000;

/** KEYS: mark. ARGV: life in milliseconds. Returns OK, or nothing where it is there already. */
const MARK = script("return redis.call('SET', KEYS[1], '1', 'NX', 'PX', ARGV[1])");

/** Opens the memory; connects on first use, and again, in the background. @throws Error for a target that cannot be used */
export function createSharedReplays(target: RedisTarget, keyPrefix: string): ReplayStore {
  let servers: RedisServers | undefined;
  let closed = false;
  /** On the clock of `performance.now()`. */
  let pausedUntil = 0;
  const unavailable = (why: string): ReplaysUnavailable =>
    new ReplaysUnavailable(`the memory of proofs cannot be asked: ${why}`);
  return {
    async first(id, ms) {
      if (closed) throw unavailable("closed");
      const started = performance.now();
      if (started < pausedUntil) throw unavailable("away");
      servers ??= openRedis(target, TIMEOUT_MS, { ready: () => undefined, lost: () => undefined });
      const key = `${keyPrefix}proof:${id}`;
      const deadline = started + TIMEOUT_MS;
      try {
        if (!(await servers.whenReady(key, deadline))) throw new RedisFailure("unreachable", "not connected");
        const reply = await before(
          deadline,
          servers.run(MARK, [key], [String(Math.ceil(ms))], deadline),
          () => {
            throw new RedisFailure("timeout", "no answer in time");
          },
        );
        return reply === "OK";
      } catch (error) {
        if (!(error instanceof RedisFailure)) throw error;
        if (error.reason === "unreachable" || error.reason === "timeout") {
          pausedUntil = performance.now() + PAUSE_MS;
        }
        // Whether the mark was set is not known. The proof is lost then, and its sender makes another.
        throw unavailable(error.reason);
      }
    },
    async close() {
      closed = true;
      await servers?.close();
    },
  };
}
