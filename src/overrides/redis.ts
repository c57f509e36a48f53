/**
 * The overrides that all replicas share through Redis. Each reads them every 400 ms, asks its own copy, and writes back what
 * Redis has lost. While Redis is away revocations and denials stay as they were, and grants lapse.
 */
import { randomBytes } from "node:crypto";
import { before } from "../redis/deadline.ts";
import { RedisFailure } from "../redis/failure.ts";
import { openRedis, type RedisServers } from "../redis/open.ts";
import type { RedisTarget } from "../redis/target.ts";
import { type Entry, type Grant, MAX_ENTRIES, type Revocation } from "./entry.ts";
import { SharedHash } from "./hash.ts";
import { type GrantOrder, makeGrant, makeRemoval, makeRevocation, type RevocationOrder } from "./orders.ts";
import {
  counted,
  type OverridesDesk,
  OverridesFull,
  type OverridesStatus,
  OverridesUnavailable,
  type Shown,
  Standing,
  shown,
} from "./overrides.ts";
import { Replica, type ReplicaOptions } from "./replica.ts";
import { signEntry } from "./signature.ts";

const READ_INTERVAL_MS = 400;
/** Grants hold so long after Redis was last read, so that one slow answer does not end them. */
const GRANTS_LAPSE_MS = 5_000;
const COMMAND_TIMEOUT_MS = 2_000;
const START_WAIT_MS = 1_000;
const RECONNECT_MS = 1_000;
/** An entry is made for the moment it was read at; for a later one it is made anew. */
const FRESH_MS = 1_000;
const TRIES = 10;

/** How shared overrides are made. */
export interface RedisOverridesOptions extends ReplicaOptions {
  readonly target: RedisTarget;
  /** As of the redemption store. */
  readonly keyPrefix: string;
  readonly random?: (bytes: number) => Buffer;
  /** Default 5,000. */
  readonly grantsLapseMs?: number;
  /** False for a command that sets one entry and goes: no timer, nothing is written back. */
  readonly follow: boolean;
}

/** Shared overrides that can be told to read now. */
export interface RedisOverrides extends OverridesDesk {
  /** Reads Redis. Throws OverridesUnavailable. */
  refresh(): Promise<void>;
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
  readonly #timer: NodeJS.Timeout | undefined;
  readonly #started = Promise.withResolvers<void>();
  #failure: string | undefined;
  #reconnectedAt = Number.NEGATIVE_INFINITY;
  #closed = false;

  constructor(options: RedisOverridesOptions) {
    super();
    this.#options = options;
    this.#servers = openRedis(options.target, COMMAND_TIMEOUT_MS, {
      ready: () => void this.#tick(),
      // In a Cluster most links are to servers that hold nothing of this.
      lost: (_link, reason, cause) => this.#linked() || this.#fail(reason, cause),
    });
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

  protected grantsHold(): boolean {
    return this.#replica.age() <= (this.#options.grantsLapseMs ?? GRANTS_LAPSE_MS);
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
    return await this.#add((making) =>
      makeRevocation(order, making, ledger.newest(), this.#options.lifetimes()),
    );
  }

  async grant(order: GrantOrder): Promise<Grant> {
    return await this.#add((making) => makeGrant(order, making));
  }

  async remove(kind: Entry["kind"], id: string, by: string): Promise<Revocation | Grant | undefined> {
    const { ledger } = this.#replica;
    for (let tries = 0; tries < TRIES; tries++) {
      await this.refresh();
      const { now } = this.#replica.read;
      const entry = ledger.find(id);
      if (entry === undefined || entry.kind === "removal" || entry.kind !== kind || entry.until <= now)
        return undefined;
      const value = signEntry(this.#options.signing(), makeRemoval(entry, by, now), now);
      const owed = { id, value, instead: ledger.stored(id) };
      if ((await this.#run(() => this.#hash.put([owed]), true)) === 1) {
        await this.#readOwn();
        return entry;
      }
    }
    throw new OverridesUnavailable("others change the same entry all the time; nothing was removed");
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

  async #add<T extends Entry>(make: (making: { id: string; now: number }) => T): Promise<T> {
    const id = this.#random();
    for (let tries = 0; tries < TRIES; tries++) {
      await this.refresh();
      const { version, now } = this.#replica.read;
      const entry = make({ id, now });
      const value = signEntry(this.#options.signing(), entry, now);
      const reply = await this.#run(() => this.#hash.add(version, id, value, now + FRESH_MS), true);
      if (reply === "full") {
        throw new OverridesFull(`there are ${MAX_ENTRIES} entries, and no more can be set; some must expire`);
      }
      if (reply === "added") {
        await this.#readOwn();
        return entry;
      }
    }
    throw new OverridesUnavailable("others set entries all the time; this one was not set");
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
      throw new OverridesUnavailable(`Redis ${name}: ${this.#failure ?? "not connected"}`);
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof RedisFailure)) throw error;
      const unsure = changes && (error.reason === "timeout" || error.reason === "unreachable");
      const more = unsure ? " (whether it took effect is not known; look at the list)" : "";
      throw new OverridesUnavailable(`${error.message}${more}`, { cause: error });
    }
  }

  async #tick(): Promise<void> {
    if (this.#closed || this.#replica.busy || !this.#linked()) return;
    try {
      await this.#replica.refresh();
      this.#succeed();
      if (this.#options.follow) await this.#replica.writeBack();
    } catch (error) {
      if (!(error instanceof RedisFailure)) throw error;
      this.#fail(error.reason, error.message);
    }
  }

  #random(): string {
    return (this.#options.random ?? randomBytes)(16).toString("base64url");
  }

  #succeed(): void {
    if (this.#failure !== undefined)
      this.#options.log.info({ store: this.#servers.name }, "overrides can be read");
    this.#failure = undefined;
    this.#started.resolve();
  }

  #fail(reason: string, cause: string): void {
    this.#started.resolve();
    if (reason === "not_master" && performance.now() - this.#reconnectedAt >= RECONNECT_MS) {
      this.#reconnectedAt = performance.now();
      this.#servers.linkTo(this.#hash.key)?.reconnect();
    }
    const before = this.#failure;
    this.#failure = cause;
    if (before !== undefined || this.#closed) return;
    const fields = { store: this.#servers.name, reason, cause };
    this.#options.log.warn(fields, "overrides cannot be read: revocations and denials stay, grants lapse");
  }
}
