/**
 * The overrides that all replicas share through Redis. Each reads them every 400 ms, asks its own copy, and writes back what
 * Redis has lost. While Redis is away revocations and denials stay as they were, and grants lapse.
 */
import { randomBytes } from "node:crypto";
import { before } from "../redis/deadline.ts";
import { RedisFailure, TooLate } from "../redis/failure.ts";
import { openRedis, type RedisServers } from "../redis/open.ts";
import type { RedisTarget } from "../redis/target.ts";
import { type Entry, type Grant, MAX_ENTRIES, type Revocation } from "./entry.ts";
import { SharedHash } from "./hash.ts";
import {
  type GrantOrder,
  type Making,
  makeGrant,
  makeRemoval,
  makeRevocation,
  type RevocationOrder,
} from "./orders.ts";
import { Outage } from "./outage.ts";
import {
  counted,
  type OverridesDesk,
  OverridesFull,
  type OverridesStatus,
  OverridesUnavailable,
  readable,
  type Shown,
  Standing,
  shown,
} from "./overrides.ts";
import { Replica, type ReplicaOptions } from "./replica.ts";
import { signEntry } from "./signature.ts";
import { Turns } from "./turns.ts";

const READ_INTERVAL_MS = 400;
/** A reading without an answer when the next is due may wait at a link that is dead and does not know it. */
const SLOW_READING_MS = 300;
/** Grants hold so long after Redis was last read, so that one slow answer does not end them. */
const GRANTS_LAPSE_MS = 5_000;
const COMMAND_TIMEOUT_MS = 2_000;
const START_WAIT_MS = 1_000;
const RECONNECT_MS = 1_000;
/** An entry is made for the moment it was read at; for a later one it is made anew. */
const FRESH_MS = 1_000;

/** How shared overrides are made. */
export interface RedisOverridesOptions extends ReplicaOptions {
  readonly target: RedisTarget;
  /** As of the redemption store. */
  readonly keyPrefix: string;
  readonly random?: (bytes: number) => Buffer;
  /** Default 5,000. */
  readonly grantsLapseMs?: number;
  /** Bound on a single command; default 2,000. */
  readonly commandTimeoutMs?: number;
}

/** Shared overrides that can be told to read now. */
export interface RedisOverrides extends OverridesDesk {
  /** Reads Redis. Throws OverridesUnavailable. */
  refresh(): Promise<void>;
  /** Whether there are entries, as last read, and none says that it is signed with the key that seals here. */
  sealsAlone(): boolean;
}

/**
 * Starts to connect. Resolves as soon as Redis was read or has failed once, after 1 s at the latest; a replica goes on in the
 * background. Throws if the target cannot be used.
 */
export async function createRedisOverrides(options: RedisOverridesOptions): Promise<RedisOverrides> {
  const overrides = new SharedOverrides(options);
  await before(performance.now() + START_WAIT_MS, overrides.started, () => undefined);
  return overrides;
}

class SharedOverrides extends Standing implements RedisOverrides {
  readonly #options: RedisOverridesOptions;
  readonly #servers: RedisServers;
  readonly #hash: SharedHash;
  readonly #replica: Replica;
  readonly #turns = new Turns();
  readonly #outage: Outage;
  readonly #timer: NodeJS.Timeout | undefined;
  readonly #started = Promise.withResolvers<void>();
  #reconnectedAt = Number.NEGATIVE_INFINITY;
  /** Orders of operators that Redis is asked for now. */
  #orders = 0;
  #closed = false;

  constructor(options: RedisOverridesOptions) {
    super();
    this.#options = options;
    this.#servers = openRedis(options.target, options.commandTimeoutMs ?? COMMAND_TIMEOUT_MS, {
      ready: () => void this.#tick(),
      // In a Cluster most links are to servers that hold nothing of this.
      lost: (_link, reason, cause) => this.#linked() || this.#fail(reason, cause),
    });
    this.#outage = new Outage(options.log, this.#servers.name);
    this.#hash = new SharedHash(this.#servers, options.keyPrefix, () => this.#random());
    this.#replica = new Replica(this.#hash, options, this.#servers.name, () => this.changed());
    this.#timer = options.follow ? setInterval(() => void this.#tick(), READ_INTERVAL_MS).unref() : undefined;
  }

  get started(): Promise<void> {
    return this.#started.promise;
  }

  known(): boolean {
    return this.#replica.known;
  }

  protected entries(): Entry[] {
    return this.#replica.entries();
  }

  protected now(): number {
    return this.#replica.now();
  }

  protected grantsNow(): number {
    const lapsed = this.#replica.age() > (this.#options.grantsLapseMs ?? GRANTS_LAPSE_MS);
    return lapsed ? Number.POSITIVE_INFINITY : this.#replica.latest();
  }

  sealsAlone(): boolean {
    return this.#replica.ledger.sealsAlone(this.#options.signing(), this.#replica.now());
  }

  list(): Shown[] {
    return shown(this.#replica.ledger.live(this.#replica.now()));
  }

  status(): OverridesStatus {
    const { known, ignored } = this.#replica;
    const ageSeconds = known ? this.#replica.age() / 1000 : undefined;
    return { ...counted(known ? this.list() : []), ignored, ageSeconds };
  }

  async revoke(order: RevocationOrder): Promise<Revocation> {
    const { ledger } = this.#replica;
    const make = (making: Making): Revocation =>
      makeRevocation(order, making, ledger.newest(order.target, making.now), this.#options.lifetimes());
    return await this.#add(make, true);
  }

  async grant(order: GrantOrder): Promise<Grant> {
    return await this.#add((making) => makeGrant(order, making), false);
  }

  async remove(kind: Entry["kind"], id: string, by: string): Promise<Revocation | Grant | undefined> {
    const { ledger } = this.#replica;
    return await this.#turns.take(async () => {
      await this.refresh();
      const { now } = this.#replica.read;
      const entry = ledger.find(id);
      if (entry === undefined || entry.kind === "removal" || entry.kind !== kind || entry.until <= now)
        return { done: undefined };
      const removal = readable(makeRemoval(entry, by, now), now);
      const value = signEntry(this.#options.signing(), removal, now);
      const owed = { id, value, instead: ledger.stored(id), signed: true };
      const put = await this.#run(() => this.#hash.put([owed], this.#replica.spare()), true);
      if (put !== 1) return undefined;
      await this.#readOwn();
      return { done: entry };
    });
  }

  async refresh(): Promise<void> {
    await this.#run(() => this.#replica.refreshAnew());
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    clearInterval(this.#timer);
    await this.#servers.close();
    this.#started.resolve();
  }

  /** @param alone whether what was read must not have changed until it is added, since births grow */
  async #add<T extends Entry>(make: (making: Making) => T, alone: boolean): Promise<T> {
    const id = this.#random();
    return await this.#turns.take(async () => {
      await this.refresh();
      const { version, redis, now } = this.#replica.read;
      const entry = readable(make({ id, now }), now);
      const value = signEntry(this.#options.signing(), entry, now);
      const addition = { version: alone ? version : undefined, id, value, latest: redis + FRESH_MS };
      const reply = await this.#run(() => this.#hash.add(addition, this.#replica.spare()), true);
      if (reply === "full")
        throw new OverridesFull(`there are ${MAX_ENTRIES} entries, and no more can be set; some must expire`);
      if (reply === "stale") return undefined;
      await this.#readOwn();
      return { done: entry };
    });
  }

  /** Takes in what was just written; that it is written is true whether or not it can be read. */
  async #readOwn(): Promise<void> {
    await this.refresh().catch((error: unknown) => {
      if (!(error instanceof OverridesUnavailable)) throw error;
    });
  }

  #linked(): boolean {
    return this.#servers.linkTo(this.#hash.key)?.ready === true;
  }

  /**
   * Waits for a link first.
   * @param changes whether it may have taken effect although no answer came
   * @throws OverridesUnavailable in place of what failed
   */
  async #run<T>(work: () => Promise<T>, changes = false): Promise<T> {
    const { name } = this.#servers;
    if (!(await this.#servers.whenReady(this.#hash.key, performance.now() + COMMAND_TIMEOUT_MS)))
      throw new OverridesUnavailable(`Redis ${name}: ${this.#outage.cause ?? "not connected"}`);
    if (changes) this.#orders += 1;
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof RedisFailure)) throw error;
      const unasked = error instanceof TooLate;
      const unsure = changes && !unasked && (error.reason === "timeout" || error.reason === "unreachable");
      const more = unsure ? " (whether it took effect is not known; look at the list)" : "";
      throw new OverridesUnavailable(`${error.message}${more}`, { cause: error });
    } finally {
      if (changes) this.#orders -= 1;
    }
  }

  async #tick(): Promise<void> {
    if (this.#closed || !this.#linked()) return;
    if (this.#replica.busy) return this.#doubtLink();
    try {
      await this.#replica.refresh();
      this.#outage.end();
      this.#started.resolve();
      if (!this.#options.follow) return;
      await this.#replica.writeBack();
      await this.#replica.makeRoom();
    } catch (error) {
      if (!(error instanceof RedisFailure)) throw error;
      this.#fail(error.reason, error.message);
    }
  }

  /**
   * What is revoked holds on every gateway within a second, so nobody waits for a link to be given up that long. Once: a server
   * that is slow on the next link too gets its time. Nor while an order is under way, whose outcome would be lost with the link.
   */
  #doubtLink(): void {
    if (this.#orders > 0 || this.#outage.cause !== undefined) return;
    // After a moment in which this process stood still, timers come before what has arrived meanwhile.
    setImmediate(() => {
      if (this.#closed || this.#replica.waiting() < SLOW_READING_MS) return;
      this.#servers.linkTo(this.#hash.key)?.reconnect();
    });
  }

  #random(): string {
    return (this.#options.random ?? randomBytes)(16).toString("base64url");
  }

  #fail(reason: string, cause: string): void {
    this.#started.resolve();
    if (reason === "not_master" && performance.now() - this.#reconnectedAt >= RECONNECT_MS) {
      this.#reconnectedAt = performance.now();
      this.#servers.linkTo(this.#hash.key)?.reconnect();
    }
    this.#outage.begin(reason, cause, !this.#closed);
  }
}
