/**
 * Requests in a window of time, counted by `rate-limiter-flexible`: in Redis for all gateways together, and in this process where
 * there is no Redis or while it is away. A window begins with the first request and does not grow by refused ones.
 */
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from "rate-limiter-flexible";
import { CountingClient, type SharedCounts } from "./shared-counts.ts";

/** So many requests in so many milliseconds. */
export interface Rate {
  readonly points: number;
  readonly per: number;
}

/** Callers that one process counts by itself at a time, for each rate. All others share one count. */
const MAX_COUNTED = 100_000;
/** Callers that are known to have used their window up. One that is forgotten is asked for anew. */
const MAX_BLOCKED = 50_000;
const REST = "rest";

/** What is counted of a caller on a route. */
export type Counted = "requests" | "polls" | "retries";

type Limiter = RateLimiterRedis | RateLimiterMemory;

/** See the file's header. */
export class Windows {
  readonly #shared: SharedCounts | undefined;
  readonly #now: () => number;
  readonly #maxCounted: number;
  /** By rate: what counts together, and for this process alone. */
  readonly #limiters = new Map<string, { readonly all: Limiter; readonly own: RateLimiterMemory }>();
  /** Until when (ms) a window is used up, by rate and key; the oldest first. */
  readonly #blocked = new Map<string, number>();

  /**
   * @param now milliseconds since the epoch
   * @param maxCounted bound on callers counted in memory, for tests
   */
  constructor(shared: SharedCounts | undefined, now: () => number, maxCounted = MAX_COUNTED) {
    this.#shared = shared;
    this.#now = now;
    this.#maxCounted = maxCounted;
  }

  /** Milliseconds until a window that is known to be used up ends; 0 for any other. Asks nobody. */
  blockedFor(rate: Rate, caller: string, what: Counted): number {
    const until = this.#blocked.get(blockOf(rate, this.#keyOf(caller, what)));
    return until === undefined ? 0 : Math.max(0, until - this.#now());
  }

  /**
   * Counts one request. Returns 0 if it is within the rate, else the milliseconds until the window ends. Never throws.
   * Bad retries are counted in this process alone: they take nothing but its time.
   */
  async count(rate: Rate, caller: string, what: Counted): Promise<number> {
    const waiting = this.blockedFor(rate, caller, what);
    if (waiting > 0) return waiting;
    const { all, own } = this.#limitersOf(rate);
    return await this.#consume(what === "retries" ? own : all, rate, this.#keyOf(caller, what));
  }

  #keyOf(caller: string, what: Counted): string {
    return this.#shared?.keyOf(caller, what) ?? `${caller}:${what}`;
  }

  async #consume(limiter: Limiter, rate: Rate, key: string): Promise<number> {
    try {
      const { remainingPoints, msBeforeNext } = await limiter.consume(key);
      // The next one is refused without being counted.
      if (remainingPoints === 0) this.#block(rate, key, msBeforeNext);
      return 0;
    } catch (error) {
      if (!(error instanceof RateLimiterRes)) throw error;
      const ms = Math.max(1, error.msBeforeNext);
      this.#block(rate, key, ms);
      return ms;
    }
  }

  #block(rate: Rate, key: string, ms: number): void {
    const name = blockOf(rate, key);
    this.#blocked.delete(name);
    for (const [oldest, until] of this.#blocked) {
      if (until > this.#now() && this.#blocked.size < MAX_BLOCKED) break;
      this.#blocked.delete(oldest);
    }
    this.#blocked.set(name, this.#now() + ms);
  }

  #limitersOf(rate: Rate): { readonly all: Limiter; readonly own: RateLimiterMemory } {
    const name = `${rate.points}/${rate.per}`;
    const known = this.#limiters.get(name);
    if (known !== undefined) return known;
    const options = { points: rate.points, duration: Math.ceil(rate.per / 1000), keyPrefix: "" };
    const memory = () => new BoundedMemory(options, this.#maxCounted);
    const all =
      this.#shared === undefined
        ? memory()
        : new RateLimiterRedis({
            ...options,
            storeClient: new CountingClient(this.#shared),
            insuranceLimiter: memory(),
          });
    const made = { all, own: memory() };
    this.#limiters.set(name, made);
    return made;
  }
}

/** A new rate begins without the blocks of the old one. */
const blockOf = ({ points, per }: Rate, key: string): string => `${points}/${per}/${key}`;

/** Counts so many callers at most, however many addresses somebody has; those beyond them share one count. */
class BoundedMemory extends RateLimiterMemory {
  readonly #max: number;
  /** Until when (ms) a key is counted; in the order in which they end. */
  readonly #counted = new Map<string, number>();

  constructor(options: ConstructorParameters<typeof RateLimiterMemory>[0], max: number) {
    super(options);
    this.#max = max;
  }

  override consume(...[key, ...rest]: Parameters<RateLimiterMemory["consume"]>): Promise<RateLimiterRes> {
    return super.consume(this.#keyFor(String(key)), ...rest);
  }

  #keyFor(key: string): string {
    const now = Date.now();
    for (const [oldest, until] of this.#counted) {
      if (until > now) break;
      this.#counted.delete(oldest);
    }
    if (this.#counted.has(key)) return key;
    if (this.#counted.size >= this.#max) return REST;
    this.#counted.set(key, now + this.duration * 1000);
    return key;
  }
}
