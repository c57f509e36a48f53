/**
 * The store that gateways share: one Redis, one script call per redemption. docs/redemption.md has the argument.
 * While Redis is away nothing is redeemed; there is no other place to look, on purpose.
 */
import type { Log } from "../log.ts";
import { before } from "../redis/deadline.ts";
import { RedisFailure } from "../redis/failure.ts";
import { openRedis, type RedisServers } from "../redis/open.ts";
import type { RedisTarget } from "../redis/target.ts";
import { newAttempt, newEpoch, type Random } from "./epoch.ts";
import { REDEEM, REFRESH, RELEASE } from "./redeem.lua.ts";
import { OwedReleases } from "./releases.ts";
import {
  type Mark,
  type Redemption,
  type RedemptionStore,
  type StoreHealth,
  StoreUnavailable,
  type UnavailableReason,
} from "./store.ts";

const REDEEM_TIMEOUT_MS = 2000;
const REFRESH_INTERVAL_MS = 1000;
const START_WAIT_MS = 1000;
const CLOSE_WAIT_MS = 2000;

/** How a Redis store is made. */
export interface RedisStoreOptions extends RedisTarget {
  /** In front of every key; the same for all gateways that share states, different for those that do not. */
  readonly keyPrefix: string;
  /** False: epochs are not compared, and a Redis that loses marks lets states be redeemed again. */
  readonly epoch: boolean;
  /** What to do with a Redis that may evict marks. */
  readonly eviction: "refuse" | "accept";
  readonly log: Log;
  readonly random?: Random;
  /** Bound on a redemption, waiting for a lost store included; default 2000. */
  readonly redeemTimeoutMs?: number;
}

/** A redemption store that can be told to look at Redis now. */
export interface RedisStore extends RedemptionStore {
  /** Reads epoch, role and memory policy and pays owed releases. Happens each second by itself. Never throws. */
  refresh(): Promise<void>;
}

/**
 * Makes a store on Redis. Resolves as soon as Redis has answered or failed once, after 1 s at the latest; connecting
 * goes on in the background. Throws if the URL or the CA cannot be used.
 */
export async function createRedisStore(options: RedisStoreOptions): Promise<RedisStore> {
  const store = new SharedStore(options);
  await before(performance.now() + START_WAIT_MS, store.started, () => undefined);
  return store;
}

class SharedStore implements RedisStore {
  readonly #options: RedisStoreOptions;
  readonly #timeoutMs: number;
  readonly #connection: RedisServers;
  readonly #timer: NodeJS.Timeout;
  readonly #started = Promise.withResolvers<void>();
  readonly #owed: OwedReleases;
  #epoch: string | undefined;
  #failure: UnavailableReason | undefined = "unreachable";
  #logged: UnavailableReason | undefined;
  /** A redemption was refused for want of rights since the last that was not. */
  #lacking = false;
  #memory = "kept";
  #refreshing: Promise<void> | undefined;
  /** Redemptions that Redis may carry out; each settles within its own time. */
  readonly #sent = new Set<Promise<void>>();
  #closed: Promise<void> | undefined;

  constructor(options: RedisStoreOptions) {
    this.#options = options;
    this.#timeoutMs = options.redeemTimeoutMs ?? REDEEM_TIMEOUT_MS;
    this.#connection = openRedis(options, this.#timeoutMs, {
      ready: () => void this.#refreshNow(),
      lost: (_link, reason, cause) => this.#fail(reason, cause),
    });
    this.#owed = new OwedReleases(
      // By text, not by name: what Redis does not know by name is sent twice, and then out of order.
      (jti, attempt) => this.#connection.runInOrder(RELEASE, [this.#markKey(jti)], [attempt]),
      () => options.log.warn({ store: this.#connection.name }, "too many releases are owed; one is dropped"),
    );
    this.#timer = setInterval(() => void this.#tick(), REFRESH_INTERVAL_MS).unref();
  }

  get started(): Promise<void> {
    return this.#started.promise;
  }

  epoch(): string | undefined {
    return this.#epoch;
  }

  health(): StoreHealth {
    return this.#failure === undefined ? { available: true } : { available: false, reason: this.#failure };
  }

  async redeem(mark: Mark): Promise<Redemption> {
    if (!Number.isSafeInteger(mark.exp)) return { outcome: "expired" };
    const attempt = newAttempt(this.#options.random);
    const deadline = performance.now() + this.#timeoutMs;
    let sent = false;
    const over = Promise.withResolvers<void>();
    try {
      for (;;) {
        if (!(await this.#connection.whenReady(this.#epochKey(), deadline))) {
          const reason = this.#failure === "unauthorized" ? "unauthorized" : "unreachable";
          throw new StoreUnavailable(reason, `Redis ${this.#connection.name}: not connected`);
        }
        // Whoever closes waits for what was sent by then, and for nothing that is sent later.
        if (this.#closed !== undefined && !sent)
          throw new StoreUnavailable("unreachable", `Redis ${this.#connection.name}: closed`);
        sent = true;
        this.#sent.add(over.promise);
        try {
          return this.#outcome(await this.#redeemOnce(mark, attempt, deadline), attempt);
        } catch (error) {
          // The link broke: whether the script ran is unknown. The same attempt goes again, and knows its own mark.
          if (!(error instanceof StoreUnavailable) || error.reason !== "unreachable") throw error;
        }
      }
    } catch (error) {
      // Nobody was told "redeemed" and nobody will be, so a mark of this attempt holds nothing. The release is written
      // behind the redemption on the same link, before anyone hears of the failure and tries again.
      if (sent) void this.release(mark.jti, attempt);
      if (error instanceof StoreUnavailable && error.reason === "unauthorized") this.#lack(error.message);
      throw error;
    } finally {
      this.#sent.delete(over.promise);
      over.resolve();
    }
  }

  async release(jti: string, attempt: string): Promise<void> {
    await this.#owed.add(jti, attempt);
  }

  async refresh(): Promise<void> {
    if (!(await this.#connection.whenReady(this.#epochKey(), performance.now() + this.#timeoutMs))) return;
    await this.#refreshing;
    await this.#refreshNow();
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    clearInterval(this.#timer);
    const deadline = performance.now() + CLOSE_WAIT_MS;
    // A redemption that Redis carries out when nobody listens any more would burn the state of its owner.
    await Promise.all(this.#sent);
    // Whoever has just been told "redeemed" gives it back in this turn, if its request is gone.
    await new Promise<void>((resolve) => setImmediate(resolve));
    if (this.#owed.size > 0 && (await this.#connection.whenReady(this.#epochKey(), deadline))) {
      await before(deadline, this.#owed.payAll(), () => undefined);
    }
    if (this.#owed.size > 0) {
      const fields = { store: this.#connection.name, owed: this.#owed.size };
      this.#options.log.warn(fields, "closed while releases are owed; their states may stay spent");
    }
    this.#failure = "unreachable";
    await this.#connection.close();
    this.#started.resolve();
  }

  async #redeemOnce(mark: Mark, attempt: string, deadline: number): Promise<unknown> {
    const { epoch, eviction, random } = this.#options;
    const keys: [string, string] = [this.#epochKey(), this.#markKey(mark.jti)];
    const args = [newEpoch(random), mark.epoch, String(mark.exp), attempt, eviction, epoch ? "on" : "off"];
    const late = () => {
      throw new StoreUnavailable("timeout", `Redis ${this.#connection.name}: no answer in time`);
    };
    return await before(
      deadline,
      this.#connection.run(REDEEM, keys, args, deadline).catch(asUnavailable),
      late,
    );
  }

  #outcome(reply: unknown, attempt: string): Redemption {
    const [outcome, epoch] = Array.isArray(reply) ? (reply as unknown[]) : [];
    if (typeof epoch === "string") this.#learn(epoch);
    switch (outcome) {
      case "redeemed":
        this.#lacking = false;
        return { outcome, attempt };
      case "already_redeemed":
      case "epoch_mismatch":
      case "expired":
        return { outcome };
      case "eviction":
        throw new StoreUnavailable("eviction", `Redis ${this.#connection.name}: it may evict marks`);
      default:
        throw new StoreUnavailable("error", `Redis ${this.#connection.name}: unknown reply`);
    }
  }

  async #tick(): Promise<void> {
    // A replica stays one until the name leads elsewhere, and only a new connection asks the name.
    const link = this.#connection.linkTo(this.#epochKey());
    if (this.#failure === "not_master" && link?.ready === true) link.reconnect();
    else if (link?.ready === true) await this.#refreshNow();
  }

  #refreshNow(): Promise<void> {
    this.#refreshing ??= this.#readAll().finally(() => {
      this.#refreshing = undefined;
    });
    return this.#refreshing;
  }

  async #readAll(): Promise<void> {
    try {
      const reply = await this.#connection
        .run(REFRESH, [this.#epochKey()], [newEpoch(this.#options.random)])
        .catch(asUnavailable);
      const [epoch, memory, policy] = Array.isArray(reply) ? (reply as unknown[]) : [];
      if (typeof epoch !== "string") throw new StoreUnavailable("error", "unknown reply");
      this.#learn(epoch);
      this.#weigh(String(memory), String(policy));
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      this.#fail(error.reason, error.message);
      return;
    }
    await this.#owed.payAll();
  }

  #learn(epoch: string): void {
    if (epoch === this.#epoch) return;
    if (this.#epoch !== undefined) {
      const fields = { store: this.#connection.name };
      this.#options.log.warn(fields, "the store began a new epoch; rounds in flight have to start over");
    }
    this.#epoch = epoch;
  }

  #weigh(memory: string, policy: string): void {
    const { eviction, log } = this.#options;
    const fields = { store: this.#connection.name, policy };
    if (memory === "kept") {
      this.#succeed();
    } else if (eviction === "refuse") {
      this.#fail("eviction", `maxmemory-policy is ${policy} and must be noeviction`);
    } else {
      if (this.#memory !== memory)
        log.warn(fields, "the store may evict marks; states it forgets can be redeemed again");
      this.#succeed();
    }
    this.#memory = memory;
  }

  #succeed(): void {
    if (this.#failure !== undefined)
      this.#options.log.info({ store: this.#connection.name }, "redemption store available");
    this.#failure = undefined;
    this.#logged = undefined;
    this.#started.resolve();
  }

  #fail(reason: UnavailableReason, cause: string): void {
    this.#failure = reason;
    this.#started.resolve();
    if (this.#logged === reason) return;
    this.#logged = reason;
    const fields = { store: this.#connection.name, reason, cause };
    if (reason === "unauthorized") this.#options.log.error(fields, sentenceOf(cause));
    else this.#options.log.warn(fields, "redemption store unavailable");
  }

  /** The once-a-second look needs fewer rights than a redemption does. */
  #lack(cause: string): void {
    if (this.#lacking || this.#failure !== undefined) return;
    this.#lacking = true;
    const fields = { store: this.#connection.name, reason: "unauthorized", cause };
    this.#options.log.error(fields, sentenceOf(cause));
  }

  #epochKey(): string {
    return `${this.#options.keyPrefix}epoch`;
  }

  #markKey(jti: string): string {
    return `${this.#options.keyPrefix}m:${jti}`;
  }
}

function asUnavailable(error: unknown): never {
  if (error instanceof RedisFailure) throw new StoreUnavailable(error.reason, error.message);
  throw error;
}

/** Waiting does not help here: says who has to do what. `cause` is what Redis answered. */
function sentenceOf(cause: string): string {
  const what = cause.includes("NOAUTH")
    ? "Redis wants a password and got none; set redis.password"
    : cause.includes("WRONGPASS")
      ? "Redis does not accept the user name or password; check redis.username and redis.password"
      : "Redis does not give this user the rights the gateway needs; give them to it with ACL SETUSER";
  return `redemption store unavailable: ${what}`;
}
