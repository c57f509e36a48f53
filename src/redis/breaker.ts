/**
 * Ends the waiting for a server that is away. The first to miss it wait; after some misses in a row nobody does, until a look
 * in the background finds it answering. Pure: it counts, and has no clock.
 */

const MISSES_TO_OPEN = 3;

/** Open: do not wait, do not even ask. */
export class Breaker {
  #misses = 0;

  /** True while the server is not to be asked. */
  get open(): boolean {
    return this.#misses >= MISSES_TO_OPEN;
  }

  /** The server was waited for in vain. Tells whether that opened the breaker. */
  miss(): boolean {
    this.#misses += 1;
    return this.#misses === MISSES_TO_OPEN;
  }

  /** The server has answered. */
  reset(): void {
    this.#misses = 0;
  }
}
