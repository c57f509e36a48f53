/**
 * How often an introspection endpoint is asked when it does not answer: after some failures in a row it is left alone for a while, then
 * asked once. Tokens that were good a moment ago are counted apart from those that nobody knows: whoever makes up tokens, which costs
 * nothing, must not keep those who have one from being let in. Pure.
 */

/** Failures in a row after which the endpoint is left alone, and for how long: first and longest, in milliseconds. */
const FAILURES = 3;
const REST = { first: 1_000, longest: 30_000 };

/** The calls of one kind of token. */
export class Lane {
  /** Under way. */
  calls = 0;
  /** In a row. */
  #failures = 0;
  /** The last rest, in milliseconds. */
  #rest = 0;
  #restsUntil = 0;

  /** @param now Unix milliseconds */
  isResting(now: number): boolean {
    // A clock that was set back ends the rest as well.
    const left = this.#restsUntil - now;
    return left > 0 && left <= REST.longest;
  }

  /** Whether a call may begin: not in a rest, and after one only a single call until there is an answer. */
  mayAsk(now: number): boolean {
    return !this.isResting(now) && !(this.calls > 0 && this.#failures >= FAILURES);
  }

  succeeded(): void {
    this.#failures = 0;
    this.#rest = 0;
  }

  /** @returns how long a rest begins with this failure, in milliseconds; 0 for none */
  failed(now: number): number {
    this.#failures += 1;
    // Calls that were under way together and fail together are one failure: only the first begins a rest.
    if (this.#failures < FAILURES || this.isResting(now)) return 0;
    this.#rest = Math.min(REST.longest, this.#rest * 2 || REST.first);
    this.#restsUntil = now + this.#rest;
    return this.#rest;
  }
}
