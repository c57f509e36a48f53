/**
 * The overrides that all replicas share through Redis. Each reads them every 400 ms, asks its own copy, and writes back what
 * Redis has lost. While Redis is away revocations and denials stay as they were, and grants lapse.
 */
import { randomBytes } from "node:crypto";
import type { Log } from "../log.ts";
import { before } from "../redis/deadline.ts";
import { RedisFailure } from "../redis/failure.ts";
import { type Keys, openRedis, type RedisServers } from "../redis/open.ts";
import type { RedisTarget } from "../redis/target.ts";
import { type Entry, type Grant, MAX_ENTRIES, type Revocation } from "./entry.ts";
import { Ledger, type Owed } from "./ledger.ts";
import {
  type GrantOrder,
  type Lifetimes,
  makeGrant,
  makeRemoval,
  makeRevocation,
  type RevocationOrder,
} from "./orders.ts";
import { ADD, PUT, READ } from "./overrides.lua.ts";
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
import { type Signing, signEntry } from "./signature.ts";

const READ_INTERVAL_MS = 400;
/** Grants hold so long after Redis was last read, so that one slow answer does not end them. */
export const GRANTS_LAPSE_MS = 5_000;
const COMMAND_TIMEOUT_MS = 2_000;
const START_WAIT_MS = 1_000;
/** What was signed with another key than the one that seals is signed again, so often at most. */
const SIGN_AGAIN_MS = 60_000;
const RECONNECT_MS = 1_000;
/** Whatever the version says: somebody may have taken an entry out by hand. */
const READ_ALL_MS = 30_000;
/** An entry is made for the moment it was read at; for a later one it is made anew. */
const FRESH_MS = 1_000;
const TRIES = 10;
/** Entries in one command. */
const BATCH = 500;

/** How shared overrides are made. */
export interface RedisOverridesOptions {
  readonly target: RedisTarget;
  /** As of the redemption store. */
  readonly keyPrefix: string;
  /** The ring and the audience in force. */
  readonly signing: () => Signing;
  /** Those of the configuration in force. */
  readonly lifetimes: () => Lifetimes;
  readonly log: Log;
  /** The clock that states are sealed by, in milliseconds since the epoch. */
  readonly now: () => number;
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
  readonly #key: string;
  readonly #timer: NodeJS.Timeout | undefined;
  readonly #started = Promise.withResolvers<void>();
  readonly #ledger = new Ledger();
  #version = "";
  /** What the ledger was read with; with other keys everything is read again. */
  #signing: Signing | undefined;
  #clock = { redis: 0, local: Number.NEGATIVE_INFINITY };
  #readAllAt = Number.NEGATIVE_INFINITY;
  #ignored = 0;
  #skewed = false;
  #failure: string | undefined;
  #reading: Promise<void> | undefined;
  #signedAgainAt = Number.NEGATIVE_INFINITY;
  #reconnectedAt = Number.NEGATIVE_INFINITY;
  #closed = false;

  constructor(options: RedisOverridesOptions) {
    super();
    this.#options = options;
    this.#key = `${options.keyPrefix}{overrides}`;
    this.#servers = openRedis(options.target, COMMAND_TIMEOUT_MS, {
      ready: () => void this.#tick(),
      lost: (_link, reason, cause) => this.#fail(reason, cause),
    });
    this.#timer = options.follow ? setInterval(() => void this.#tick(), READ_INTERVAL_MS).unref() : undefined;
  }

  get started(): Promise<void> {
    return this.#started.promise;
  }

  known(): boolean {
    return this.#signing !== undefined;
  }

  protected entries(): Entry[] {
    return this.#ledger.live(this.now()).map(({ entry }) => entry);
  }

  /** Redis's own clock, carried on by one that nobody sets. */
  protected now(): number {
    return this.#clock.redis + (performance.now() - this.#clock.local);
  }

  protected grantsHold(): boolean {
    return performance.now() - this.#clock.local <= (this.#options.grantsLapseMs ?? GRANTS_LAPSE_MS);
  }

  list(): Shown[] {
    return shown(this.#ledger.live(this.now()));
  }

  status(): OverridesStatus {
    const age = (performance.now() - this.#clock.local) / 1000;
    return {
      ...counted(this.known() ? this.list() : []),
      ignored: this.#ignored,
      ageSeconds: this.known() ? age : undefined,
    };
  }

  async revoke(order: RevocationOrder): Promise<Revocation> {
    const { lifetimes } = this.#options;
    return await this.#add((making) => makeRevocation(order, making, this.#ledger.newest(), lifetimes()));
  }

  async grant(order: GrantOrder): Promise<Grant> {
    return await this.#add((making) => makeGrant(order, making));
  }

  async remove(kind: Entry["kind"], id: string, by: string): Promise<Revocation | Grant | undefined> {
    for (let tries = 0; tries < TRIES; tries++) {
      await this.refresh();
      const entry = this.#ledger.find(id);
      if (entry === undefined || entry.kind === "removal" || entry.kind !== kind || entry.until <= this.now())
        return undefined;
      const value = signEntry(
        this.#options.signing(),
        makeRemoval(entry, by, Math.floor(this.now())),
        this.now(),
      );
      const instead = this.#ledger.stored(id);
      const put = await this.#run(() => this.#put([{ id, value, instead }]));
      if (put === 1) {
        await this.refresh();
        return entry;
      }
    }
    throw new OverridesUnavailable("others change the same entry all the time; nothing was removed");
  }

  async refresh(): Promise<void> {
    // What is being read now may have been sent before the caller's own change.
    await this.#reading?.catch(() => undefined);
    await this.#run(() => this.#readOnce());
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    clearInterval(this.#timer);
    await this.#servers.close();
    this.#started.resolve();
  }

  async #add<T extends Entry>(make: (making: { id: string; now: number }) => T): Promise<T> {
    const id = this.#random(16);
    for (let tries = 0; tries < TRIES; tries++) {
      await this.refresh();
      const { redis: now } = this.#clock;
      const entry = make({ id, now });
      const value = signEntry(this.#options.signing(), entry, now);
      const args = [this.#version, this.#random(16), id, value, String(now + FRESH_MS)];
      const reply = await this.#run(() => this.#servers.run(ADD, [this.#key], args));
      if (reply === "full") {
        throw new OverridesFull(`there are ${MAX_ENTRIES} entries, and no more can be set; remove some`);
      }
      if (reply === "added") {
        await this.refresh();
        return entry;
      }
    }
    throw new OverridesUnavailable("others set entries all the time; this one was not set");
  }

  /** Waits for a link first. @throws OverridesUnavailable in place of what failed */
  async #run<T>(work: () => Promise<T>): Promise<T> {
    try {
      if (!(await this.#servers.whenReady(this.#key, performance.now() + COMMAND_TIMEOUT_MS)))
        throw new RedisFailure(
          "unreachable",
          `Redis ${this.#servers.name}: ${this.#failure ?? "not connected"}`,
        );
      return await work();
    } catch (error) {
      if (!(error instanceof RedisFailure)) throw error;
      const unsure =
        error.reason === "timeout" ? " (whether it took effect is not known; look at the list)" : "";
      throw new OverridesUnavailable(`${error.message}${unsure}`, { cause: error });
    }
  }

  async #tick(): Promise<void> {
    if (this.#closed || this.#reading !== undefined) return;
    if (this.#servers.linkTo(this.#key)?.ready !== true) return;
    try {
      await this.#readOnce();
      if (this.#options.follow) await this.#writeBack();
    } catch (error) {
      if (!(error instanceof RedisFailure)) throw error;
      this.#fail(error.reason, error.message);
    }
  }

  /** One read at a time. @throws RedisFailure */
  #readOnce(): Promise<void> {
    this.#reading ??= this.#readAll().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #readAll(): Promise<void> {
    const signing = this.#options.signing();
    const due = performance.now() - this.#readAllAt >= READ_ALL_MS;
    const known = !due && sameSigning(signing, this.#signing) ? this.#version : "";
    const reply = await this.#servers.run(READ, [this.#key], [known]);
    const [kind, stamp, version, fields] = Array.isArray(reply) ? (reply as unknown[]) : [];
    const redis = Number(stamp);
    if ((kind !== "same" && kind !== "all") || !Number.isSafeInteger(redis))
      throw new RedisFailure("error", "unknown reply");
    // The answer is as old as its way back: the earlier clock makes nothing expire too late by more than that.
    this.#clock = { redis, local: performance.now() };
    this.#compareClocks(redis);
    if (kind === "all") {
      if (typeof version !== "string" || !Array.isArray(fields))
        throw new RedisFailure("error", "unknown reply");
      this.#learn(signing, version, pairsOf(fields as unknown[]));
    }
    this.#succeed();
  }

  #learn(signing: Signing, version: string, pairs: readonly [string, string][]): void {
    const ignored = this.#ledger.take(pairs, signing, this.#clock.redis);
    if (ignored > 0 && ignored !== this.#ignored) {
      const fields = { store: this.#servers.name, ignored };
      this.#options.log.warn(
        fields,
        "entries of overrides in the store are malformed or not signed, and do not count",
      );
    }
    this.#ignored = ignored;
    this.#version = version;
    this.#signing = signing;
    this.#readAllAt = performance.now();
    this.changed();
  }

  /** Chains are born by the gateway's clock and revoked by that of Redis. */
  #compareClocks(redis: number): void {
    const ahead = Math.round((this.#options.now() - redis) / 1000);
    const { skewSeconds } = this.#options.lifetimes();
    const skewed = Math.abs(ahead) > skewSeconds + 1;
    if (skewed && !this.#skewed) {
      const fields = { store: this.#servers.name, aheadSeconds: ahead, skewSeconds };
      this.#options.log.warn(
        fields,
        "clock differs from that of Redis by more than envelope.clockSkew: revocations may miss",
      );
    }
    this.#skewed = skewed;
  }

  /** Puts back what Redis has lost, and drops what has expired. @throws RedisFailure */
  async #writeBack(): Promise<void> {
    const signing = this.#signing;
    if (signing === undefined) return;
    const now = this.#clock.redis;
    const signsAgain = performance.now() - this.#signedAgainAt >= SIGN_AGAIN_MS;
    if (signsAgain) this.#signedAgainAt = performance.now();
    const owed = this.#ledger.owed(signing, now, signsAgain);
    const expired = this.#ledger.sweep(now);
    if (owed.length === 0 && !expired) return;
    for (let at = 0; at < Math.max(owed.length, 1); at += BATCH) await this.#put(owed.slice(at, at + BATCH));
    if (owed.length > 0)
      this.#options.log.info({ store: this.#servers.name, entries: owed.length }, "overrides written back");
  }

  async #put(entries: readonly Owed[]): Promise<unknown> {
    const args = entries.flatMap(({ id, value, instead }) => [id, value, instead]);
    return await this.#servers.run(PUT, [this.#key] satisfies Keys, [this.#random(16), ...args]);
  }

  #random(bytes: number): string {
    return (this.#options.random ?? randomBytes)(bytes).toString("base64url");
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
      this.#servers.linkTo(this.#key)?.reconnect();
    }
    const before = this.#failure;
    this.#failure = cause;
    if (before !== undefined || this.#closed) return;
    const fields = { store: this.#servers.name, reason, cause };
    this.#options.log.warn(fields, "overrides cannot be read: revocations and denials stay, grants lapse");
  }
}

function sameSigning(a: Signing, b: Signing | undefined): boolean {
  return (
    b !== undefined && a.audience === b.audience && (a.ring === b.ring || String(a.ring) === String(b.ring))
  );
}

function pairsOf(fields: readonly unknown[]): [string, string][] {
  const pairs: [string, string][] = [];
  for (let at = 0; at + 1 < fields.length; at += 2) {
    if (fields[at] !== "version") pairs.push([String(fields[at]), String(fields[at + 1])]);
  }
  return pairs;
}
