/**
 * What one replica has read of the shared hash, and the clock it reads it by. Reads when it is told to, one reading at a time,
 * and puts back what Redis has lost. Knows nothing of links.
 */
import type { Log } from "../log.ts";
import { RedisFailure } from "../redis/failure.ts";
import { type Entry, MAX_ENTRIES } from "./entry.ts";
import type { Reading, SharedHash } from "./hash.ts";
import { Ledger } from "./ledger.ts";
import type { Lifetimes } from "./orders.ts";
import type { Signing } from "./signature.ts";
import { StoreClock } from "./store-clock.ts";

/** What was signed with another key than the one that seals is signed again, so often at most. */
const SIGN_AGAIN_MS = 60_000;
/** Whatever the version says: somebody may have taken an entry out by hand. */
const READ_ALL_MS = 30_000;
/** From here on what nobody has signed is taken out of the store, so that there is room for operators. */
const CROWDED = (MAX_ENTRIES * 9) / 10;
/** How often a part is read and cleared, of a hash that somebody else has filled. */
const MOST_PARTS = 20;

/** What a replica works with. */
export interface ReplicaOptions {
  /** The ring and the audience in force. */
  readonly signing: () => Signing;
  /** Those of the configuration in force. */
  readonly lifetimes: () => Lifetimes;
  readonly log: Log;
  /** The clock that states are sealed by, in milliseconds since the epoch. */
  readonly now: () => number;
  /** False for a command that sets one entry and goes: no timer, nothing is written back or taken out. */
  readonly follow: boolean;
}

/** See the file's header. */
export class Replica {
  readonly ledger = new Ledger();
  readonly #hash: SharedHash;
  readonly #options: ReplicaOptions;
  readonly #store: string;
  readonly #changed: () => void;
  #version = "";
  /** What the ledger was read with; with other keys everything is read again. */
  #signing: Signing | undefined;
  readonly #clock = new StoreClock();
  /** When the reading that succeeded last was asked for. */
  #readAt = Number.NEGATIVE_INFINITY;
  #readAllAt = Number.NEGATIVE_INFINITY;
  #signedAgainAt = Number.NEGATIVE_INFINITY;
  #ignored = 0;
  /** Values in the hash. */
  #stored = 0;
  /** It was more than can be read; what is left of that goes too. */
  #filled = false;
  #skewed = false;
  #reading: Promise<void> | undefined;
  /** When the reading under way was begun. */
  #readingSince = Number.POSITIVE_INFINITY;

  /**
   * @param store its name, for logs
   * @param changed called when other entries are known
   */
  constructor(hash: SharedHash, options: ReplicaOptions, store: string, changed: () => void) {
    this.#hash = hash;
    this.#options = options;
    this.#store = store;
    this.#changed = changed;
  }

  /** False until a reading has succeeded. */
  get known(): boolean {
    return this.#signing !== undefined;
  }

  /** Values in the hash that do not count. */
  get ignored(): number {
    return this.#ignored;
  }

  /**
   * What a change is made to: the version that was read last, and when (milliseconds): by the clock of Redis, and by the one that
   * the change is made for. Those are the same, unless Redis's has leapt; then it is the clock that states are sealed by.
   */
  get read(): { readonly version: string; readonly redis: number; readonly now: number } {
    const { read: redis, leapt } = this.#clock;
    return { version: this.#version, redis, now: leapt ? this.#options.now() : redis };
  }

  /** Redis's own clock in milliseconds, carried on by one that nobody sets, as far as it is believed. */
  now(): number {
    return this.#clock.now(performance.now());
  }

  /** The same for what must not last too long: believed or not. */
  latest(): number {
    return this.#clock.latest(performance.now());
  }

  /** What has expired by then may be dropped from the store: it has by every clock there is. */
  spare(): number {
    return Math.floor(Math.min(this.now(), this.#options.now()));
  }

  /** Milliseconds since the reading that succeeded last; infinite before the first. */
  age(): number {
    return performance.now() - this.#readAt;
  }

  /** What counts now. */
  entries(): Entry[] {
    return this.ledger.live(this.now()).map(({ entry }) => entry);
  }

  /** Reads what has changed, or waits for the reading that is under way. @throws RedisFailure */
  refresh(): Promise<void> {
    if (this.#reading !== undefined) return this.#reading;
    this.#readingSince = performance.now();
    this.#reading = this.#readOnce().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  /** Reads, but for what was under way: that may have been sent before the caller's own change. @throws RedisFailure */
  async refreshAnew(): Promise<void> {
    await this.#reading?.catch(() => undefined);
    await this.refresh();
  }

  /** True while a reading is under way. */
  get busy(): boolean {
    return this.#reading !== undefined;
  }

  /** Milliseconds since the reading under way was begun; 0 where there is none. */
  waiting(): number {
    return this.busy ? performance.now() - this.#readingSince : 0;
  }

  /** Puts back what Redis has lost, and drops what has expired. @throws RedisFailure */
  async writeBack(): Promise<void> {
    const signing = this.#signing;
    if (signing === undefined) return;
    const now = this.now();
    const signsAgain = performance.now() - this.#signedAgainAt >= SIGN_AGAIN_MS;
    if (signsAgain) this.#signedAgainAt = performance.now();
    const owed = this.ledger.owed(signing, now, signsAgain);
    const expired = this.ledger.sweep(now);
    if (owed.length === 0 && !expired) return;
    const entries = await this.#hash.put(owed, this.spare());
    if (entries > 0) this.#options.log.info({ store: this.#store, entries }, "overrides written back");
  }

  /** Takes out what nobody has signed, where there is much of it. @throws RedisFailure */
  async makeRoom(): Promise<void> {
    if (this.#stored < CROWDED && !this.#filled) return;
    this.#filled = false;
    const entries = await this.#hash.drop(this.ledger.dropStrange());
    if (entries > 0) this.#warnOfRoom(entries);
  }

  async #readOnce(): Promise<void> {
    const signing = this.#options.signing();
    const due = performance.now() - this.#readAllAt >= READ_ALL_MS;
    const fresh = due || !sameSigning(signing, this.#signing);
    const asked = performance.now();
    const { now, found } = await this.#readWhole(fresh ? "" : this.#version, signing);
    // Both clocks err to the safe side: what forbids does not end before its time, and grants do not outlive their reading.
    const leap = this.#clock.take(now, performance.now());
    this.#readAt = asked;
    this.#compareClocks(now);
    if (leap === "ahead") {
      const message =
        "clock of Redis has leapt ahead and is not believed for an hour: what forbids stays, grants that it ends lapse";
      this.#options.log.warn({ store: this.#store }, message);
    }
    if (fresh) this.ledger.forgetVerdicts();
    if (found !== undefined) this.#learn(signing, found);
    // What seemed to have expired may not have.
    if (leap === "behind") this.#readAllAt = Number.NEGATIVE_INFINITY;
  }

  /** Reads; what somebody else has filled is cleared, part by part, of what nobody has signed. */
  async #readWhole(known: string, signing: Signing): Promise<Reading> {
    for (let part = 0; part < MOST_PARTS; part++) {
      const reading = await this.#hash.read(part === 0 ? known : "");
      const { found } = reading;
      if (found === undefined || found.whole) return reading;
      const strange = this.#options.follow ? this.ledger.dropStrangers(found.pairs, signing) : [];
      if (strange.length === 0) break;
      this.#filled = true;
      this.#warnOfRoom(await this.#hash.drop(strange));
    }
    throw new RedisFailure("error", "the hash of overrides has too many fields");
  }

  #warnOfRoom(entries: number): void {
    const message = "entries of overrides that are not signed filled the store, and were taken out of it";
    this.#options.log.warn({ store: this.#store, entries }, message);
  }

  #learn(signing: Signing, { version, pairs, dropped }: NonNullable<Reading["found"]>): void {
    const before = this.ledger.changes;
    const ignored = this.ledger.take(pairs, signing, this.now());
    if (dropped > 0) {
      const message = "values among the overrides in the store are no entries, and were dropped";
      this.#options.log.warn({ store: this.#store, values: dropped }, message);
    }
    if (ignored > 0 && ignored !== this.#ignored) {
      const fields = { store: this.#store, ignored };
      const message = "entries of overrides in the store are malformed or not signed, and do not count";
      this.#options.log.warn(fields, message);
    }
    this.#ignored = ignored;
    this.#stored = pairs.length;
    this.#version = version;
    // Another ring may seal with another key: a rotation is settled at once.
    if (!sameSigning(signing, this.#signing)) this.#signedAgainAt = Number.NEGATIVE_INFINITY;
    this.#signing = signing;
    this.#readAllAt = performance.now();
    if (this.ledger.changes !== before) this.#changed();
  }

  /** Chains are born by the gateway's clock and revoked by that of Redis. */
  #compareClocks(redis: number): void {
    const aheadSeconds = Math.round((this.#options.now() - redis) / 1000);
    const { skewSeconds } = this.#options.lifetimes();
    const skewed = Math.abs(aheadSeconds) > skewSeconds + 1;
    if (skewed && !this.#skewed) {
      const fields = { store: this.#store, aheadSeconds, skewSeconds };
      const message =
        "clock differs from that of Redis by more than envelope.clockSkew: revocations may miss";
      this.#options.log.warn(fields, message);
    }
    this.#skewed = skewed;
  }
}

function sameSigning(a: Signing, b: Signing | undefined): boolean {
  return (
    b !== undefined && a.audience === b.audience && (a.ring === b.ring || String(a.ring) === String(b.ring))
  );
}
