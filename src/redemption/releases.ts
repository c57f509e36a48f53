/** Releases that have to reach the store some time, even if it is away now. */

import { before } from "../redis/deadline.ts";
import type { Mark } from "./store.ts";

const MAX_OWED = 10_000;

type Released = Pick<Mark, "jti" | "exp">;

/** Whether a state was given back since the watch began, or was last asked. */
export interface ReleaseWatch {
  readonly jti: string;
  paid: boolean;
}

interface Owed {
  readonly mark: Released;
  /** Settles when the store has answered. */
  readonly paid: PromiseWithResolvers<void>;
}

/** Marks that are to go and may still be there. In the memory of this process only. */
export class OwedReleases {
  /** By attempt. */
  readonly #owed = new Map<string, Owed>();
  readonly #send: (mark: Released, attempt: string) => Promise<unknown>;
  readonly #overflow: () => void;
  readonly #watches = new Set<ReleaseWatch>();

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
    const owed = { mark, paid: Promise.withResolvers<void>() };
    this.#owed.set(attempt, owed);
    await this.#pay(attempt, owed);
  }

  /** Begins to watch for releases of a state. */
  watch(jti: string): ReleaseWatch {
    const watch = { jti, paid: false };
    this.#watches.add(watch);
    return watch;
  }

  unwatch(watch: ReleaseWatch): void {
    this.#watches.delete(watch);
  }

  /**
   * Waits until the releases of a state that are owed now have been answered, at most to `deadline` (`performance.now()` clock).
   * Tells whether there were any, now or since `watch` was last asked, and all have been.
   */
  async paid(watch: ReleaseWatch, deadline: number): Promise<boolean> {
    const owed = [...this.#owed.values()].filter(({ mark }) => mark.jti === watch.jti);
    const wasPaid = watch.paid;
    watch.paid = false;
    if (owed.length === 0) return wasPaid;
    const all = Promise.all(owed.map(({ paid }) => paid.promise));
    return await before(
      deadline,
      all.then(() => true),
      () => false,
    );
  }

  /** Sends all that is owed. A release sent twice does nothing the second time. Never throws. */
  async payAll(): Promise<void> {
    await Promise.all([...this.#owed].map(([attempt, owed]) => this.#pay(attempt, owed)));
  }

  /** Sends what is still owed by `deadline` (`performance.now()` clock), each as soon as `ready` says that it can be. */
  async payBy(deadline: number, ready: (mark: Released) => Promise<boolean>): Promise<void> {
    const payments = [...this.#owed].map(async ([attempt, owed]) => {
      if (await ready(owed.mark)) await this.#pay(attempt, owed);
    });
    await before(deadline, Promise.all(payments), () => []);
  }

  async #pay(attempt: string, { mark, paid }: Owed): Promise<void> {
    try {
      await this.#send(mark, attempt);
      this.#owed.delete(attempt);
      for (const watch of this.#watches) if (watch.jti === mark.jti) watch.paid = true;
      paid.resolve();
    } catch {
      // Stays owed until the store has answered.
    }
  }
}
