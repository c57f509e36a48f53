/**
 * Requests that one caller has in flight at all gateways together: each holds a lease in Redis while it is under way, which lapses
 * unless its gateway renews it, so that what a killed gateway had in flight counts for a moment only. Each gateway has the same bound
 * for itself besides, in memory, and goes by that alone while Redis is away.
 */
import { randomUUID } from "node:crypto";
import type { Slot } from "../limits.ts";
import { RedisFailure } from "../redis/failure.ts";
import { ON_MASTER, type Script, script } from "../redis/script.ts";
import type { SharedCounts } from "./shared-counts.ts";

/** How long a lease counts that nobody renews, in milliseconds. */
const LIFE_MS = 30_000;

/** KEYS: leases. ARGV: id, the most, life (ms). Whether there was room. The set goes with its last lease. */
const TAKE = script(`${ON_MASTER}
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[2]) then return 0 end
redis.call('ZADD', KEYS[1], now + ARGV[3], ARGV[1])
redis.call('PEXPIREAT', KEYS[1], now + ARGV[3])
return 1`);
/** KEYS: leases. ARGV: life (ms), ids. One that has lapsed is held again, since its request is under way all the same. */
const RENEW = script(`${ON_MASTER}
for at = 2, #ARGV do redis.call('ZADD', KEYS[1], now + ARGV[1], ARGV[at]) end
redis.call('PEXPIREAT', KEYS[1], now + ARGV[1])`);
/** KEYS: leases. ARGV: id. */
const GIVE = script("return redis.call('ZREM', KEYS[1], ARGV[1])");

/** See the file's header. */
export class Leases {
  readonly #shared: SharedCounts;
  readonly #lifeMs: number;
  /** By caller. */
  readonly #held = new Map<string, Set<string>>();
  #timer: NodeJS.Timeout | undefined;

  /** @param lifeMs how long a lease counts that is not renewed, for tests */
  constructor(shared: SharedCounts, lifeMs = LIFE_MS) {
    this.#shared = shared;
    this.#lifeMs = lifeMs;
  }

  /** Callers with a lease of this process. */
  get size(): number {
    return this.#held.size;
  }

  /**
   * Takes a lease, if the caller has fewer than `most` of them. Where Redis cannot be asked there is always room.
   * @returns the lease, to be given back when the request is over; undefined where there is no room
   */
  async take(caller: string, most: number): Promise<Slot | undefined> {
    const id = randomUUID();
    const room = await this.#run(TAKE, caller, [id, String(most), String(this.#lifeMs)]);
    if (room === 0) return undefined;
    // Also one whose answer was lost: if it is there, it is renewed and given back like any other.
    const ids = this.#held.get(caller) ?? new Set();
    this.#held.set(caller, ids.add(id));
    this.#timer ??= setInterval(() => this.#renew(), this.#lifeMs / 3).unref();
    let inside = true;
    return {
      leave: () => {
        if (!inside) return;
        inside = false;
        ids.delete(id);
        if (ids.size === 0) this.#held.delete(caller);
        void this.#run(GIVE, caller, [id]);
      },
    };
  }

  /** Renews no more. */
  close(): void {
    clearInterval(this.#timer);
  }

  #renew(): void {
    for (const [caller, ids] of this.#held) void this.#run(RENEW, caller, [String(this.#lifeMs), ...ids]);
  }

  /** In the order of the calls, or what is given back could be renewed behind that. Undefined where Redis cannot be asked. */
  async #run(what: Script, caller: string, args: readonly string[]): Promise<unknown> {
    try {
      return await this.#shared.runInOrder(what, [this.#shared.keyOf(caller, "flight")], args);
    } catch (error) {
      if (!(error instanceof RedisFailure)) throw error;
      return undefined;
    }
  }
}
