/** Releases that have to reach the store some time, even if it is away now. */

import { before } from "../redis/deadline.ts";
import type { Mark } from "./store.ts";

const MAX_OWED = 10_000;

type Released = Pick<Mark, "jti" | "exp">;

/** Marks that are to go and may still be there. In the memory of this process only. */
export class OwedReleases {
  /** By attempt. */
  readonly #owed = new Map<string, Released>();
  readonly #send: (mark: Released, attempt: string) => Promise<unknown>;
  readonly #overflow: () => void;

  /** `send` rejects when it is not sure that the store has answered; `overflow` is told of a release that is dropped. */
  constructor(send: (mark: Released, attempt: string) => Promise<unknown>, overflow: () => void) {
    this.#send = send;
    this.#overflow = overflow;
  }

  /** How many releases the store has not answered. */
  get size(): number {
    return this.#owed.size;
  }

  /** Sends a release at once, before anything the caller sends next; keeps it if that fails. Never throws. */
  async add(mark: Released, attempt: string): Promise<void> {
    if (this.#owed.size >= MAX_OWED) return this.#overflow();
    this.#owed.set(attempt, mark);
    await this.#pay(attempt, mark);
  }

  /** Sends all that is owed. A release sent twice does nothing the second time. Never throws. */
  async payAll(): Promise<void> {
    await Promise.all([...this.#owed].map(([attempt, mark]) => this.#pay(attempt, mark)));
  }

  /** Sends what is still owed by `deadline` (`performance.now()` clock), each as soon as `ready` says that it can be. */
  async payBy(deadline: number, ready: (mark: Released) => Promise<boolean>): Promise<void> {
    const payments = [...this.#owed].map(async ([attempt, mark]) => {
      if (await ready(mark)) await this.#pay(attempt, mark);
    });
    await before(deadline, Promise.all(payments), () => []);
  }

  async #pay(attempt: string, mark: Released): Promise<void> {
    try {
      await this.#send(mark, attempt);
      this.#owed.delete(attempt);
    } catch {
      // Stays owed until the store has answered.
    }
  }
}
