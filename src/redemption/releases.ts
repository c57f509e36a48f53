/** Releases that have to reach the store some time, even if it is away now. */

import { before } from "../redis/deadline.ts";
import { MAX_LEEWAY_SECONDS, type Mark } from "./store.ts";

const MAX_OWED = 10_000;

type Released = Pick<Mark, "jti" | "exp">;

/** Whether a state was given back since the watch began, or was last asked. */
export interface ReleaseWatch {
  readonly jti: string;
  paid: boolean;
}

interface Owed {
  readonly mark: Released;
  /** Settles when the store has answered, or when the release is given up: whether it has. */
  readonly paid: PromiseWithResolvers<boolean>;
  /** Settles when it has been sent and answered, or has failed; undefined while it lies here only. */
  sending?: Promise<void> | undefined;
}

/** Marks that are to go and may still be there. In the memory of this process only. */
export class OwedReleases {
  /** By attempt. */
  readonly #owed = new Map<string, Owed>();
  readonly #send: (mark: Released, attempt: string) => Promise<unknown>;
  readonly #overflow: () => void;
  readonly #now: () => number;
  readonly #watches = new Set<ReleaseWatch>();
  /** Releases that are being sent for the first time: none of them is kept yet. */
  #fresh = 0;

  /**
   * `send` rejects when it is not sure that the store has answered; `overflow` is told of a release that is dropped; `now` tells
   * Unix seconds.
   */
  constructor(
    send: (mark: Released, attempt: string) => Promise<unknown>,
    overflow: () => void,
    now: () => number,
  ) {
    this.#send = send;
    this.#overflow = overflow;
    this.#now = now;
  }

  /** How many releases the store has not answered. */
  get size(): number {
    return this.#owed.size;
  }

  /** Sends a release at once, before anything the caller sends next; keeps it if that fails and there is room. Never throws. */
  async add(mark: Released, attempt: string): Promise<void> {
    const owed: Owed = { mark, paid: Promise.withResolvers() };
    this.#owed.set(attempt, owed);
    this.#fresh += 1;
    await this.#pay(attempt, owed);
    this.#fresh -= 1;
    if (this.#owed.get(attempt) !== owed || this.#hasRoom()) return;
    this.#forgetExpired();
    if (this.#hasRoom()) return;
    this.#giveUp(attempt, owed);
    this.#overflow();
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
      all.then((answers) => answers.every(Boolean)),
      () => false,
    );
  }

  /** Sends all that is owed but what is being sent now, and waits for both. Never throws. */
  async payAll(): Promise<void> {
    this.#forgetExpired();
    await Promise.all([...this.#owed].map(([attempt, owed]) => owed.sending ?? this.#pay(attempt, owed)));
  }

  /** Sends what is still owed by `deadline` (`performance.now()` clock), each as soon as `ready` says that it can be. */
  async payBy(deadline: number, ready: (mark: Released) => Promise<boolean>): Promise<void> {
    const payments = [...this.#owed].map(async ([attempt, owed]) => {
      if (await ready(owed.mark)) await this.#pay(attempt, owed);
    });
    await before(deadline, Promise.all(payments), () => []);
  }

  /** A release sent twice does nothing the second time. */
  #pay(attempt: string, owed: Owed): Promise<void> {
    const sending = this.#sendOne(attempt, owed).finally(() => {
      if (owed.sending === sending) owed.sending = undefined;
    });
    owed.sending = sending;
    return sending;
  }

  async #sendOne(attempt: string, { mark, paid }: Owed): Promise<void> {
    try {
      await this.#send(mark, attempt);
      this.#owed.delete(attempt);
      for (const watch of this.#watches) if (watch.jti === mark.jti) watch.paid = true;
      paid.resolve(true);
    } catch {
      // Stays owed until the store has answered.
    }
  }

  #hasRoom(): boolean {
    return this.#owed.size - this.#fresh <= MAX_OWED;
  }

  /** A state that no clock takes any more needs no release; its mark goes by itself. */
  #forgetExpired(): void {
    const now = this.#now();
    for (const [attempt, owed] of this.#owed)
      if (owed.mark.exp + MAX_LEEWAY_SECONDS <= now) this.#giveUp(attempt, owed);
  }

  #giveUp(attempt: string, { paid }: Owed): void {
    this.#owed.delete(attempt);
    paid.resolve(false);
  }
}
