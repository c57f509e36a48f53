/**
 * Requests in a window of time, counted by `rate-limiter-flexible`: in Redis for all gateways together, and in this process where
 * there is no Redis or while it is away. A window begins with the first request and does not grow by refused ones.
 */
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from "rate-limiter-flexible";
import { BoundedNames } from "./bounded-names.ts";
import { isAddress } from "./caller.ts";
import { CountingClient, type SharedCounts } from "./shared-counts.ts";

/** So many requests in so many milliseconds. */
export interface Rate {
  readonly points: number;
  readonly per: number;
}

/** Bounds on callers that are counted apart by one process, for each rate. Those beyond share one count. */
export interface MostCounted {
  /** Callers without a token, in Redis too. */
  readonly addresses: number;
  /** Callers with one, while this process counts alone. */
  readonly people: number;
}

const MOST: MostCounted = { addresses: 100_000, people: 250_000 };
/** Callers that are known to have used their window up. One that is forgotten is asked for anew. */
const MAX_BLOCKED = 50_000;
const OTHER_ADDRESSES = "a-others";
const OTHER_PEOPLE = "others";

/** What is counted of a caller on a route. */
export type Counted = "requests" | "polls" | "retries";

type Limiter = RateLimiterRedis | RateLimiterMemory;

/** What counts at one rate. */
interface Limiters {
  /** For all gateways together, where there is a Redis. */
  readonly all: Limiter;
  /** For this process alone. */
  readonly own: RateLimiterMemory;
  readonly addresses: BoundedNames;
}

/** See the file's header. */
export class Windows {
  readonly #shared: SharedCounts | undefined;
  readonly #now: () => number;
  readonly #most: MostCounted;
  readonly #limiters = new Map<string, Limiters>();
  /** Until when (ms) a window is used up, by rate and key; the oldest first. */
  readonly #blocked = new Map<string, number>();

  /**
   * @param now milliseconds since the epoch
   * @param most bounds on callers, for tests
   */
  constructor(shared: SharedCounts | undefined, now: () => number, most = MOST) {
    this.#shared = shared;
    this.#now = now;
    this.#most = most;
  }

  /** Milliseconds until a window that is known to be used up ends; 0 for any other. Asks nobody. */
  blockedFor(rate: Rate, caller: string, what: Counted): number {
    const name = isAddress(caller) ? this.#limitersOf(rate).addresses.look(caller) : caller;
    const until = this.#blocked.get(blockOf(rate, this.#keyOf(name, what)));
    return until === undefined ? 0 : Math.max(0, until - this.#now());
  }

  /**
   * Counts one request. Returns 0 if it is within the rate, else the milliseconds until the window ends. Never throws.
   * Bad retries are counted in this process alone: they take nothing but its time.
   */
  async count(rate: Rate, caller: string, what: Counted): Promise<number> {
    const waiting = this.blockedFor(rate, caller, what);
    if (waiting > 0) return waiting;
    const { all, own, addresses } = this.#limitersOf(rate);
    const name = isAddress(caller) ? addresses.take(caller) : caller;
    return await this.#consume(what === "retries" ? own : all, rate, this.#keyOf(name, what));
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

  #limitersOf(rate: Rate): Limiters {
    const name = `${rate.points}/${rate.per}`;
    const known = this.#limiters.get(name);
    if (known !== undefined) return known;
    const options = { points: rate.points, duration: Math.ceil(rate.per / 1000), keyPrefix: "" };
    // Addresses come bounded already, with as many counts as there are kinds.
    const keys = 3 * this.#most.addresses + this.#most.people;
    const memory = () => new BoundedMemory(options, keys);
    const all =
      this.#shared === undefined
        ? memory()
        : new RateLimiterRedis({
            ...options,
            storeClient: new CountingClient(this.#shared),
            insuranceLimiter: memory(),
          });
    const addresses = new BoundedNames(this.#most.addresses, rate.per, OTHER_ADDRESSES, this.#now);
    const made = { all, own: memory(), addresses };
    this.#limiters.set(name, made);
    return made;
  }
}

/** A new rate begins without the blocks of the old one. */
const blockOf = ({ points, per }: Rate, key: string): string => `${points}/${per}/${key}`;

/** Counts so many keys at most. */
class BoundedMemory extends RateLimiterMemory {
  readonly #keys: BoundedNames;

  constructor(options: { readonly points: number; readonly duration: number }, max: number) {
    super(options);
    this.#keys = new BoundedNames(max, options.duration * 1000, OTHER_PEOPLE, Date.now);
  }

  override consume(...[key, ...rest]: Parameters<RateLimiterMemory["consume"]>): Promise<RateLimiterRes> {
    return super.consume(this.#keys.take(String(key)), ...rest);
  }
}
