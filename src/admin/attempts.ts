/** Failed sign-ins by address: after a few, none of that address is looked at for the rest of a minute. Bounded; the oldest go. */

const WINDOW_MS = 60_000;
const MAX_FAILURES = 10;
const MAX_ADDRESSES = 1_024;

/** See the file's header. */
export class Attempts {
  readonly #failures = new Map<string, { count: number; readonly until: number }>();
  readonly #now: () => number;

  /** @param now milliseconds since the epoch */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Seconds until an attempt of this address is looked at again; 0 where it is now. */
  wait(address: string): number {
    const found = this.#failures.get(address);
    if (found === undefined || found.count < MAX_FAILURES) return 0;
    return Math.max(0, Math.ceil((found.until - this.#now()) / 1_000));
  }

  /** One more has failed. */
  failed(address: string): void {
    const now = this.#now();
    const found = this.#failures.get(address);
    if (found !== undefined && found.until > now) {
      found.count += 1;
      return;
    }
    this.#failures.delete(address);
    const [oldest] = this.#failures.keys();
    if (this.#failures.size >= MAX_ADDRESSES && oldest !== undefined) this.#failures.delete(oldest);
    this.#failures.set(address, { count: 1, until: now + WINDOW_MS });
  }

  /** One has succeeded. */
  succeeded(address: string): void {
    this.#failures.delete(address);
  }
}
