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
  type StoreReport,
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
  readonly #marks = new Map<string, Held>();
  #epoch: string;
  /** Marks needed until this time (ms) or earlier may have been forgotten. */
  #forgotten = Number.NEGATIVE_INFINITY;
  /** No mark expires before this time (ms), so a sweep before it would find nothing. */
  #nextSweep = Number.POSITIVE_INFINITY;
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
    if (this.#marks.has(mark.jti)) return { outcome: "already_redeemed" };
    if (mark.epoch !== this.#epoch) return { outcome: "epoch_mismatch" };
    const now = this.#now();
    const until = (mark.exp + MAX_LEEWAY_SECONDS) * 1000;
    // Written so that an exp, or a time, that is no number counts as expired.
    if (!(now < mark.exp * 1000)) return { outcome: "expired" };
    if (until <= this.#forgotten) return this.#startOver();
    this.#forgetOldest(now);
    if (this.#marks.size >= this.#maxMarks) this.#sweep(now);
    if (this.#marks.size >= this.#maxMarks) throw new StoreUnavailable("full", "The memory store is full");
    const attempt = newAttempt(this.#random);
    this.#marks.set(mark.jti, { attempt, until });
    this.#nextSweep = Math.min(this.#nextSweep, until);
    return { outcome: "redeemed", attempt };
  }

  async release({ jti }: Pick<Mark, "jti">, attempt: string): Promise<void> {
    if (this.#marks.get(jti)?.attempt === attempt) this.#marks.delete(jti);
  }

  health(): StoreHealth {
    if (this.#closed) return { available: false, reason: "unreachable" };
    const full = this.#marks.size >= this.#maxMarks && this.#now() < this.#nextSweep;
    return full ? { available: false, reason: "full" } : { available: true };
  }

  report(): StoreReport {
    return { available: this.health().available ? 1 : 0, refusing: 0, findings: new Map() };
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#marks.clear();
  }

  /**
   * The clock was set back: a state is alive again whose mark may have been forgotten. Nobody can tell any more what
   * was redeemed, so everything sealed so far is refused.
   */
  #startOver(): Redemption {
    this.#epoch = newEpoch(this.#random);
    this.#marks.clear();
    this.#forgotten = Number.NEGATIVE_INFINITY;
    this.#nextSweep = Number.POSITIVE_INFINITY;
    return { outcome: "epoch_mismatch" };
  }

  /** Marks come in nearly the order in which they end, so two looks at the oldest per redemption keep the map small. */
  #forgetOldest(now: number): void {
    let looks = 2;
    for (const [jti, { until }] of this.#marks) {
      if (until > now || looks-- === 0) return;
      this.#forget(jti, until);
    }
  }

  #sweep(now: number): void {
    if (now < this.#nextSweep) return;
    this.#nextSweep = Number.POSITIVE_INFINITY;
    for (const [jti, { until }] of this.#marks) {
      if (until <= now) this.#forget(jti, until);
      else this.#nextSweep = Math.min(this.#nextSweep, until);
    }
  }

  #forget(jti: string, until: number): void {
    this.#marks.delete(jti);
    this.#forgotten = Math.max(this.#forgotten, until);
  }
}
