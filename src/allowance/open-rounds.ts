/**
 * How many chains of a caller wait for an answer: from the first question to the last answer, or until the state expires. A chain
 * takes one place however many rounds it has, so that no round of it can be refused once its first question was asked.
 *
 * What is open is kept in Redis for all gateways, and here for this one; what other gateways do while a request is under way is not
 * seen, so that together they may open a few too many. No promise of safety rests on it.
 */
import { RedisFailure } from "../redis/failure.ts";
import { script } from "../redis/script.ts";
import { KnownChains, type MostChains } from "./known-chains.ts";
import type { SharedCounts } from "./shared-counts.ts";

const PURGE = "redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', redis.call('TIME')[1])";
/** KEYS: chains. Returns how many are open. */
const COUNT = script(`${PURGE} return redis.call('ZCARD', KEYS[1])`);
/** KEYS: chains. ARGV: chain, expiry (Unix seconds). The set goes with its last chain. */
const OPEN = script(`${PURGE}
redis.call('ZADD', KEYS[1], ARGV[2], ARGV[1])
local last = redis.call('ZREVRANGE', KEYS[1], 0, 0, 'WITHSCORES')
return redis.call('PEXPIREAT', KEYS[1], last[2] * 1000)`);
/** KEYS: chains. ARGV: chain. */
const CLOSE = script("return redis.call('ZREM', KEYS[1], ARGV[1])");

/** A chain as far as it is counted. */
export interface OpenChain {
  readonly chain: string;
  /** Unix seconds. */
  readonly exp: number;
}

/** What one request sees of its caller's open chains, from its beginning to its end. */
export interface View {
  /** Settles when Redis has said how many there are, or cannot. Never throws. */
  readonly ready: Promise<void>;
  /** How many are open. */
  count(): number;
  /** Call it when the request is over. */
  end(): void;
}

/** See the file's header. */
export class OpenRounds {
  readonly #shared: SharedCounts | undefined;
  /** What this process knows of; counts while there is no Redis to ask. */
  readonly #here: KnownChains;
  readonly #views = new Map<string, Set<{ change: number }>>();

  /**
   * @param now milliseconds since the epoch
   * @param most bounds on chains kept here, for tests
   */
  constructor(shared: SharedCounts | undefined, now: () => number, most?: MostChains) {
    this.#shared = shared;
    this.#here = new KnownChains(now, most);
  }

  /** Callers who have a request under way that looks at their chains. */
  get watched(): number {
    return this.#views.size;
  }

  /** Begins to look at a caller's chains. */
  look(caller: string): View {
    // What changes here from now on is not in what Redis answers: on one link it is asked first.
    const view = { change: 0 };
    const views = this.#views.get(caller) ?? new Set();
    this.#views.set(caller, views.add(view));
    let told: number | undefined;
    const ask = async (): Promise<void> => {
      const reply = await this.#run(COUNT, caller, []);
      if (typeof reply === "number") told = reply;
    };
    return {
      ready: this.#shared === undefined ? Promise.resolve() : ask(),
      count: () => (told === undefined ? this.#here.count(caller) : told + view.change),
      end: () => {
        views.delete(view);
        if (views.size === 0 && this.#views.get(caller) === views) this.#views.delete(caller);
      },
    };
  }

  /** A question leaves, sealed. @param begun whether it is the first of its chain */
  opened(caller: string, { chain, exp }: OpenChain, begun: boolean): void {
    this.#here.keep(caller, chain, exp);
    if (begun) for (const view of this.#views.get(caller) ?? []) view.change += 1;
    void this.#run(OPEN, caller, [chain, String(exp)]);
  }

  /** A chain has had its last answer. */
  closed(caller: string, chain: string): void {
    this.#here.drop(caller, chain);
    for (const view of this.#views.get(caller) ?? []) view.change -= 1;
    void this.#run(CLOSE, caller, [chain]);
  }

  /** Undefined where Redis cannot be asked. */
  async #run(what: typeof COUNT, caller: string, args: readonly string[]): Promise<unknown> {
    if (this.#shared === undefined) return undefined;
    try {
      return await this.#shared.runInOrder(what, [this.#shared.keyOf(caller, "open")], args);
    } catch (error) {
      if (!(error instanceof RedisFailure)) throw error;
      return undefined;
    }
  }
}
