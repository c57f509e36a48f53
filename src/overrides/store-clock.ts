/**
 * The clock of Redis as one replica believes it. Pure: both clocks come from outside. A clock that suddenly is ahead is not
 * believed for an hour: in one second of that all that forbids would expire, and be forgotten, for good. One that is behind is
 * believed at once: then things only last longer.
 */

/** Redis may be ahead by so much, in milliseconds, of what is expected of it. */
const LEAP_MS = 5 * 60_000;
/** A clock that stays ahead for so long is right. */
const BELIEVED_AFTER_MS = 60 * 60_000;

/** See the file's header. Times in milliseconds; `steady` is a clock that nobody sets. */
export class StoreClock {
  #believed = { redis: 0, steady: Number.NEGATIVE_INFINITY };
  #read = { redis: 0, steady: Number.NEGATIVE_INFINITY };
  #leaptAt: number | undefined;

  /** Takes a reading. @returns `ahead` or `behind` where it has begun to be so, by more than is believed */
  take(redis: number, steady: number): "ahead" | "behind" | undefined {
    const first = this.#believed.steady === Number.NEGATIVE_INFINITY;
    const leap = first ? 0 : redis - this.now(steady);
    this.#read = { redis, steady };
    if (leap > LEAP_MS) {
      const begins = this.#leaptAt === undefined;
      this.#leaptAt ??= steady;
      if (steady - this.#leaptAt < BELIEVED_AFTER_MS) return begins ? "ahead" : undefined;
    }
    this.#leaptAt = undefined;
    this.#believed = this.#read;
    return leap < -LEAP_MS ? "behind" : undefined;
  }

  /** True while it is ahead and not believed. */
  get leapt(): boolean {
    return this.#leaptAt !== undefined;
  }

  /** The time that is believed. */
  now(steady: number): number {
    return this.#believed.redis + (steady - this.#believed.steady);
  }

  /** The later of what is believed and what Redis says. */
  latest(steady: number): number {
    return Math.max(this.now(steady), this.#read.redis + (steady - this.#read.steady));
  }

  /** What Redis said last. */
  get read(): number {
    return this.#read.redis;
  }
}
