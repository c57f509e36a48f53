/** Releases that have to reach the store some time, even if it is away now. */

const MAX_OWED = 10_000;

/** Marks that are to go and may still be there. In the memory of this process only. */
export class OwedReleases {
  /** attempt → jti. */
  readonly #owed = new Map<string, string>();
  readonly #send: (jti: string, attempt: string) => Promise<unknown>;
  readonly #overflow: () => void;

  /** `send` rejects when it is not sure that the store has answered; `overflow` is told of a release that is dropped. */
  constructor(send: (jti: string, attempt: string) => Promise<unknown>, overflow: () => void) {
    this.#send = send;
    this.#overflow = overflow;
  }

  /** How many releases the store has not answered. */
  get size(): number {
    return this.#owed.size;
  }

  /** Sends a release at once, before anything the caller sends next; keeps it if that fails. Never throws. */
  async add(jti: string, attempt: string): Promise<void> {
    if (this.#owed.size >= MAX_OWED) return this.#overflow();
    this.#owed.set(attempt, jti);
    await this.#pay(attempt, jti);
  }

  /** Sends all that is owed. A release sent twice does nothing the second time. Never throws. */
  async payAll(): Promise<void> {
    await Promise.all([...this.#owed].map(([attempt, jti]) => this.#pay(attempt, jti)));
  }

  async #pay(attempt: string, jti: string): Promise<void> {
    try {
      await this.#send(jti, attempt);
      this.#owed.delete(attempt);
    } catch {
      // Stays owed until the store has answered.
    }
  }
}
