/**
 * The store that gateways share: Redis, one script call per redemption. docs/redemption.md has the argument.
 * While Redis is away nothing is redeemed; there is no other place to look, on purpose.
 */
import { before } from "../redis/deadline.ts";
import { RedisFailure } from "../redis/failure.ts";
import type { RedisServers } from "../redis/open.ts";
import type { RedisTarget } from "../redis/target.ts";
import { newAttempt, newEpoch, type Random } from "./epoch.ts";
import { type Layout, layOut } from "./layout.ts";
import { hasNotAnswered } from "./look.ts";
import { REDEEM, RELEASE } from "./redeem.lua.ts";
import { OwedReleases } from "./releases.ts";
import type { Standards } from "./server-state.ts";
import {
  type Mark,
  type Redemption,
  type RedemptionStore,
  type StoreHealth,
  type StoreReport,
  StoreUnavailable,
} from "./store.ts";
import { Watch } from "./watch.ts";

const REDEEM_TIMEOUT_MS = 2000;
const START_WAIT_MS = 1000;
const CLOSE_WAIT_MS = 2000;

/** How a Redis store is made. */
export type RedisStoreOptions = RedisTarget &
  Standards & {
    /** In front of every key; the same for all gateways that share states, different for those that do not. */
    readonly keyPrefix: string;
    readonly random?: Random;
    /** Bound on a redemption, waiting for a lost store included; default 2000. */
    readonly redeemTimeoutMs?: number;
  };

/** A redemption store that can be told to look at Redis now. */
export interface RedisStore extends RedemptionStore {
  /** Reads epochs, roles and memory policies and pays owed releases, for tests: it happens each second by itself. Never throws. */
  refresh(): Promise<void>;
}

/**
 * Makes a store on Redis. Resolves as soon as Redis has answered or failed once, after 1 s at the latest; connecting
 * goes on in the background. Throws if the target cannot be used.
 */
export async function createRedisStore(options: RedisStoreOptions): Promise<RedisStore> {
  const store = new SharedStore(options);
  await before(performance.now() + START_WAIT_MS, store.started, () => undefined);
  return store;
}

class SharedStore implements RedisStore {
  readonly #options: RedisStoreOptions;
  readonly #timeoutMs: number;
  readonly #layout: Layout;
  readonly #watch: Watch;
  readonly #servers: RedisServers;
  readonly #owed: OwedReleases;
  /** Redemptions that Redis may carry out; each settles within its own time. */
  readonly #sent = new Set<Promise<void>>();
  #closed: Promise<void> | undefined;

  constructor(options: RedisStoreOptions) {
    const { epoch, eviction, log, random } = options;
    this.#options = options;
    this.#timeoutMs = options.redeemTimeoutMs ?? REDEEM_TIMEOUT_MS;
    this.#layout = layOut(options.keyPrefix, "cluster" in options);
    this.#owed = new OwedReleases(
      (mark, attempt) =>
        this.#servers.runInOrder(RELEASE, [this.#layout.place(mark).key], [attempt, mark.jti]),
      () => log.warn({ store: this.#servers.name }, "too many releases are owed; one is dropped"),
      () => Date.now() / 1000,
    );
    this.#watch = new Watch({
      ...{ target: options, epochs: this.#layout.epochs, timeoutMs: this.#timeoutMs },
      ...{ epoch, eviction, log, random },
      well: () => this.#owed.payAll(),
    });
    this.#servers = this.#watch.servers;
  }

  get started(): Promise<void> {
    return this.#watch.started;
  }

  epoch(jti: string): string | undefined {
    return this.#watch.epoch(this.#layout.epochOf(jti));
  }

  health(): StoreHealth {
    return this.#watch.health();
  }

  report(): StoreReport {
    return this.#watch.report();
  }

  async redeem(mark: Mark): Promise<Redemption> {
    if (!Number.isSafeInteger(mark.exp)) return { outcome: "expired" };
    const key = this.#layout.epochOf(mark.jti);
    const state = this.#watch.serverOf(key);
    // The misses of others have shown it, and the watch will see it come back.
    if (state.refusing)
      throw new StoreUnavailable(state.failure ?? "unreachable", `Redis ${this.#servers.name}: away`);
    if (this.#watch.isUnserved(key))
      throw new StoreUnavailable("not_served", `Redis ${this.#servers.name}: nobody serves the slot`);
    try {
      return await this.#redeemWaiting(mark, key);
    } catch (error) {
      if (!(error instanceof RedisFailure)) throw error;
      const { reason, message } = error;
      const server = this.#watch.serverOf(key);
      if (reason === "unauthorized") server.lack(message);
      if (reason === "error" || reason === "full") server.doubt();
      // In a Cluster the server that has not answered may be another than the one that was asked first.
      const missed = error.server === undefined ? server : this.#watch.serverNamed(error.server);
      if (hasNotAnswered(error)) missed?.miss(reason, message);
      throw new StoreUnavailable(reason, message);
    }
  }

  async release(mark: Pick<Mark, "jti" | "exp">, attempt: string): Promise<void> {
    await this.#owed.add(mark, attempt);
  }

  async refresh(): Promise<void> {
    await this.#watch.refresh();
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#watch.stop();
    const deadline = performance.now() + CLOSE_WAIT_MS;
    // A redemption that Redis carries out when nobody listens any more would burn the state of its owner.
    await Promise.all(this.#sent);
    // Whoever has just been told "redeemed" gives it back in this turn, if its request is gone.
    await new Promise<void>((resolve) => setImmediate(resolve));
    await this.#owed.payBy(deadline, (mark) =>
      this.#servers.whenReady(this.#layout.place(mark).key, deadline),
    );
    if (this.#owed.size > 0) {
      const fields = { store: this.#servers.name, owed: this.#owed.size };
      this.#options.log.warn(fields, "closed while releases are owed; their states may stay spent");
    }
    await this.#watch.close();
  }

  async #redeemWaiting(mark: Mark, key: string): Promise<Redemption> {
    const attempt = newAttempt(this.#options.random);
    const deadline = performance.now() + this.#timeoutMs;
    const over = Promise.withResolvers<void>();
    const given = this.#owed.watch(mark.jti);
    let sent = false;
    try {
      for (;;) {
        if (!(await this.#servers.whenReady(key, deadline))) {
          const server = this.#watch.serverOf(key);
          const message = `Redis ${this.#servers.name}: not connected`;
          // It does not let us in: a wait in vain like any other.
          if (server.failure !== "unauthorized") throw new RedisFailure("unreachable", message);
          server.miss("unauthorized", message);
          throw new RedisFailure("unauthorized", message);
        }
        // Whoever closes waits for what was sent by then, and for nothing that is sent later.
        if (this.#closed !== undefined && !sent)
          throw new RedisFailure("unreachable", `Redis ${this.#servers.name}: closed`);
        sent = true;
        this.#sent.add(over.promise);
        try {
          const redemption = this.#outcome(
            await this.#redeemOnce(mark, key, attempt, deadline),
            key,
            attempt,
          );
          if (redemption.outcome !== "already_redeemed") return redemption;
          // It may have been redeemed for a request that has left, and be on its way back: then it is free in a moment.
          await new Promise<void>((resolve) => setImmediate(resolve));
          if (!(await this.#owed.paid(given, deadline))) return redemption;
        } catch (error) {
          // The link broke: whether the script ran is unknown. The same attempt goes again, and knows its own mark.
          const lost = error instanceof RedisFailure && error.reason === "unreachable";
          if (!lost || performance.now() >= deadline) throw error;
        }
      }
    } catch (error) {
      // Nobody was told "redeemed" and nobody will be, so a mark of this attempt holds nothing. The release is written
      // behind the redemption on the same link, before anyone hears of the failure and tries again.
      if (sent) void this.release(mark, attempt);
      throw error;
    } finally {
      this.#owed.unwatch(given);
      this.#sent.delete(over.promise);
      over.resolve();
    }
  }

  async #redeemOnce(mark: Mark, key: string, attempt: string, deadline: number): Promise<unknown> {
    const { epoch, eviction, random } = this.#options;
    const { key: marks, until } = this.#layout.place(mark);
    const epochs = [newEpoch(random), this.#watch.overAt(key), mark.epoch];
    const state = [String(mark.exp), attempt, eviction, epoch ? "on" : "off", mark.jti, String(until)];
    return await this.#servers.run(REDEEM, [key, marks], [...epochs, ...state], deadline);
  }

  #outcome(reply: unknown, key: string, attempt: string): Redemption {
    const [outcome, epoch, time] = Array.isArray(reply) ? (reply as unknown[]) : [];
    if (typeof epoch === "string") this.#watch.learn(key, { epoch, time: Number(time) });
    // The clock was set back, as this very reply shows, and the record had seen nothing of it: the mark may have been gone.
    if (this.#options.epoch && outcome === "redeemed" && this.#watch.overAt(key) === epoch)
      return { outcome: "epoch_mismatch" };
    switch (outcome) {
      case "redeemed":
        this.#watch.serverOf(key).redeemed();
        return { outcome, attempt };
      case "already_redeemed":
      case "epoch_mismatch":
      case "expired":
        return { outcome };
      case "eviction":
        throw new StoreUnavailable("eviction", `Redis ${this.#servers.name}: it may evict marks`);
      default:
        throw new RedisFailure("error", `Redis ${this.#servers.name}: unknown reply`);
    }
  }
}
