/**
 * So many names at a time, however many there are: those beyond share one. A name is forgotten when its time is over. With it whoever has
 * a great many addresses can fill neither this process nor Redis with counters.
 */
export class BoundedNames {
  readonly #max: number;
  readonly #ms: number;
  readonly #rest: string;
  readonly #now: () => number;
  /** Until when (ms) a name is known; in the order in which they end, since all are known for the same time. */
  readonly #known = new Map<string, number>();

  /** @param rest the name that all others share */
  constructor(max: number, ms: number, rest: string, now: () => number) {
    this.#max = max;
    this.#ms = ms;
    this.#rest = rest;
    this.#now = now;
  }

  /** What a name is called now; it is not taken in. */
  look(name: string): string {
    const now = this.#now();
    for (const [oldest, until] of this.#known) {
      if (until > now) break;
      this.#known.delete(oldest);
    }
    return this.#known.has(name) || this.#known.size < this.#max ? name : this.#rest;
  }

  /** What a name is called from now on. */
  take(name: string): string {
    const called = this.look(name);
    if (called === name && !this.#known.has(name)) this.#known.set(name, this.#now() + this.#ms);
    return called;
  }
}
