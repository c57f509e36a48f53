/**
 * The store of a single process: marks in memory, gone with the process, and its epoch with them.
 * Never a fallback for another store. Two processes with memory stores refuse each other's states by epoch.
 */
import { newAttempt, newEpoch, type Random } from "./epoch.ts";
import {
  MAX_LEEWAY_SECONDS,
  type Mark,
  type Redemption,
  type RedemptionStore,
  type StoreHealth,
  StoreUnavailable,
} from "./store.ts";

const DEFAULT_MAX_MARKS = 1_000_000;

/** How a memory store is made; everything has a default. */
export interface MemoryStoreOptions {
  /** The clock, in milliseconds since the Unix epoch. */
  readonly now?: () => number;
  readonly random?: Random;
  /** Bound on the number of marks; about 200 bytes each. */
  readonly maxMarks?: number;
}

/**
 * Makes a memory store with an epoch of its own. When it is full and nothing in it has expired, redemptions throw
 * `StoreUnavailable`: a live mark is never forgotten.
 */
export function createMemoryStore(options: MemoryStoreOptions = {}): RedemptionStore {
  return new MemoryStore(options);
}

interface Held {
  readonly attempt: string;
  /** Milliseconds; the mark is needed until then. */
  readonly until: number;
}

class MemoryStore implements RedemptionStore {
  readonly #now: () => number;
  readonly #random: Random | undefined;
  readonly #maxMarks: number;
  readonly #epoch: string;
  readonly #marks = new Map<string, Held>();
  /** No mark expires before this time, so a sweep before it would find nothing. */
  #nextSweep = Number.POSITIVE_INFINITY;
  #latest = 0;
  #closed = false;

  constructor(options: MemoryStoreOptions) {
    this.#now = options.now ?? Date.now;
    this.#random = options.random;
    this.#maxMarks = options.maxMarks ?? DEFAULT_MAX_MARKS;
    this.#epoch = newEpoch(this.#random);
  }

  epoch(): string {
    return this.#epoch;
  }

  async redeem(mark: Mark): Promise<Redemption> {
    // No await in here: the check and the mark are one step of the event loop, which makes exactly one winner.
    if (this.#closed) throw new StoreUnavailable("unreachable", "The memory store is closed");
    if (mark.epoch !== this.#epoch) return { outcome: "epoch_mismatch" };
    if (this.#marks.has(mark.jti)) return { outcome: "already_redeemed" };
    const now = this.#clock();
    // Written so that an exp that is no number is expired.
    if (!(now < mark.exp * 1000)) return { outcome: "expired" };
    if (this.#marks.size >= this.#maxMarks) this.#sweep(now);
    if (this.#marks.size >= this.#maxMarks) throw new StoreUnavailable("error", "The memory store is full");
    const attempt = newAttempt(this.#random);
    const until = (mark.exp + MAX_LEEWAY_SECONDS) * 1000;
    this.#marks.set(mark.jti, { attempt, until });
    this.#nextSweep = Math.min(this.#nextSweep, until);
    return { outcome: "redeemed", attempt };
  }

  async release(jti: string, attempt: string): Promise<void> {
    if (this.#marks.get(jti)?.attempt === attempt) this.#marks.delete(jti);
  }

  health(): StoreHealth {
    if (this.#closed) return { available: false, reason: "unreachable" };
    const full = this.#marks.size >= this.#maxMarks && this.#clock() < this.#nextSweep;
    return full ? { available: false, reason: "error" } : { available: true };
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#marks.clear();
  }

  /** The clock, held still while it runs backwards: else a swept mark's state would come back to life. */
  #clock(): number {
    this.#latest = Math.max(this.#latest, this.#now());
    return this.#latest;
  }

  #sweep(now: number): void {
    if (now < this.#nextSweep) return;
    this.#nextSweep = Number.POSITIVE_INFINITY;
    for (const [jti, { until }] of this.#marks) {
      if (until <= now) this.#marks.delete(jti);
      else this.#nextSweep = Math.min(this.#nextSweep, until);
    }
  }
}
