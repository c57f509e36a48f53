/**
 * What one replica has read of the shared hash, and the clock it reads it by. Reads when it is told to, one reading at a time,
 * and puts back what Redis has lost. Knows nothing of links.
 */
import type { Log } from "../log.ts";
import type { Entry } from "./entry.ts";
import type { SharedHash } from "./hash.ts";
import { Ledger } from "./ledger.ts";
import type { Lifetimes } from "./orders.ts";
import type { Signing } from "./signature.ts";

/** What was signed with another key than the one that seals is signed again, so often at most. */
const SIGN_AGAIN_MS = 60_000;
/** Whatever the version says: somebody may have taken an entry out by hand. */
const READ_ALL_MS = 30_000;

/** What a replica works with. */
export interface ReplicaOptions {
  /** The ring and the audience in force. */
  readonly signing: () => Signing;
  /** Those of the configuration in force. */
  readonly lifetimes: () => Lifetimes;
  readonly log: Log;
  /** The clock that states are sealed by, in milliseconds since the epoch. */
  readonly now: () => number;
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
  #clock = { redis: 0, local: Number.NEGATIVE_INFINITY };
  /** When the reading that succeeded last was asked for. */
  #readAt = Number.NEGATIVE_INFINITY;
  #readAllAt = Number.NEGATIVE_INFINITY;
  #signedAgainAt = Number.NEGATIVE_INFINITY;
  #ignored = 0;
  #skewed = false;
  #reading: Promise<void> | undefined;

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

  /** The version that was read last, and when by the clock of Redis (milliseconds): what a change is made to. */
  get read(): { readonly version: string; readonly now: number } {
    return { version: this.#version, now: this.#clock.redis };
  }

  /** Redis's own clock in milliseconds, carried on by one that nobody sets. */
  now(): number {
    return this.#clock.redis + (performance.now() - this.#clock.local);
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
    this.#reading ??= this.#readOnce().finally(() => {
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

  /** Puts back what Redis has lost, and drops what has expired. @throws RedisFailure */
  async writeBack(): Promise<void> {
    const signing = this.#signing;
    if (signing === undefined) return;
    const now = this.#clock.redis;
    const signsAgain = performance.now() - this.#signedAgainAt >= SIGN_AGAIN_MS;
    if (signsAgain) this.#signedAgainAt = performance.now();
    const owed = this.ledger.owed(signing, now, signsAgain);
    const expired = this.ledger.sweep(now);
    if (owed.length === 0 && !expired) return;
    await this.#hash.put(owed);
    if (owed.length > 0)
      this.#options.log.info({ store: this.#store, entries: owed.length }, "overrides written back");
  }

  async #readOnce(): Promise<void> {
    const signing = this.#options.signing();
    const due = performance.now() - this.#readAllAt >= READ_ALL_MS;
    const known = !due && sameSigning(signing, this.#signing) ? this.#version : "";
    const asked = performance.now();
    const { now, all } = await this.#hash.read(known);
    // Both clocks err to the safe side: what forbids does not end before its time, and grants do not outlive their reading.
    this.#clock = { redis: now, local: performance.now() };
    this.#readAt = asked;
    this.#compareClocks(now);
    if (all !== undefined) this.#learn(signing, all.version, all.pairs);
  }

  #learn(signing: Signing, version: string, pairs: Iterable<readonly [string, string]>): void {
    const ignored = this.ledger.take(pairs, signing, this.#clock.redis);
    if (ignored > 0 && ignored !== this.#ignored) {
      const fields = { store: this.#store, ignored };
      const message = "entries of overrides in the store are malformed or not signed, and do not count";
      this.#options.log.warn(fields, message);
    }
    this.#ignored = ignored;
    this.#version = version;
    // Another ring may seal with another key: a rotation is settled at once.
    if (!sameSigning(signing, this.#signing)) this.#signedAgainAt = Number.NEGATIVE_INFINITY;
    this.#signing = signing;
    this.#readAllAt = performance.now();
    this.#changed();
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
