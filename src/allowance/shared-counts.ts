/**
 * The way to the Redis that gateways count callers in: a link of its own by the rules of all others (`redis/`), so that a flood of
 * counts holds up no redemption. While Redis is away nobody waits for it: counting goes on in this process, and one request a
 * second finds out whether it is back.
 */
import type { Log } from "../log.ts";
import { before } from "../redis/deadline.ts";
import { RedisFailure } from "../redis/failure.ts";
import { type Keys, openRedis, type RedisServers } from "../redis/open.ts";
import { type Script, script } from "../redis/script.ts";
import type { RedisTarget } from "../redis/target.ts";

/** No request waits longer for its count. */
const TIMEOUT_MS = 250;
/** Links take longer to make. */
const LINK_TIMEOUT_MS = 1_000;
const COOL_DOWN_MS = 1_000;

/** How they are opened. */
export interface SharedCountsOptions {
  readonly target: RedisTarget;
  /** In front of every key, as of the redemption store. */
  readonly keyPrefix: string;
  readonly log: Log;
  /** Bound on one count; default 250 ms. */
  readonly timeoutMs?: number;
}

/** See the file's header. */
export class SharedCounts {
  readonly #servers: RedisServers;
  readonly #options: SharedCountsOptions;
  readonly #timeoutMs: number;
  /** Nobody asks before (`performance.now()` clock). */
  #notBefore = Number.NEGATIVE_INFINITY;
  #away = false;
  #closed = false;

  /** Starts to connect. @throws Error without credentials for a target that cannot be used */
  constructor(options: SharedCountsOptions) {
    this.#options = options;
    this.#timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
    this.#servers = openRedis(options.target, LINK_TIMEOUT_MS, {
      ready: () => {
        this.#notBefore = Number.NEGATIVE_INFINITY;
      },
      lost: () => undefined,
    });
  }

  /** Whether the last count had to do without Redis. */
  get away(): boolean {
    return this.#away;
  }

  /** The key of a caller's count. All keys of a caller lie in one slot of a Cluster. */
  keyOf(caller: string, what: string): string {
    return `${this.#options.keyPrefix}limit:{${caller}}:${what}`;
  }

  /** Runs a script. @throws RedisFailure at once while Redis is away, and after the timeout at the latest */
  async run(what: Script, keys: Keys, args: readonly string[]): Promise<unknown> {
    return await this.#ask(keys, (servers, deadline) => servers.run(what, keys, args, deadline));
  }

  /** As `run`, and in the order of the calls. */
  async runInOrder(what: Script, keys: Keys, args: readonly string[]): Promise<unknown> {
    return await this.#ask(keys, (servers, deadline) =>
      before(deadline, servers.runInOrder(what, keys, args), () => {
        throw new RedisFailure("timeout", `Redis ${servers.name}: no answer in time`);
      }),
    );
  }

  async #ask(
    keys: Keys,
    send: (servers: RedisServers, deadline: number) => Promise<unknown>,
  ): Promise<unknown> {
    const now = performance.now();
    if (now < this.#notBefore) throw new RedisFailure("unreachable", `Redis ${this.#servers.name}: away`);
    // Until the answer of this one is there, one more may ask a second later, and nobody else.
    if (this.#away) this.#notBefore = now + COOL_DOWN_MS;
    const deadline = now + this.#timeoutMs;
    try {
      // A link that is being made, or was lost just now.
      if (!this.#away) await this.#servers.whenReady(keys[0], deadline);
      const reply = await send(this.#servers, deadline);
      this.#notBefore = Number.NEGATIVE_INFINITY;
      this.#tell(undefined);
      return reply;
    } catch (error) {
      if (!(error instanceof RedisFailure)) throw error;
      this.#notBefore = performance.now() + COOL_DOWN_MS;
      // A master that is one no more: its name may lead elsewhere by now.
      if (error.reason === "not_master") this.#servers.linkTo(keys[0])?.reconnect();
      this.#tell(error);
      throw error;
    }
  }

  /** Ends the link. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#servers.close();
  }

  #tell(failure: RedisFailure | undefined): void {
    const away = failure !== undefined;
    if (away === this.#away || this.#closed) return;
    this.#away = away;
    const { log } = this.#options;
    const store = this.#servers.name;
    if (failure === undefined) log.info({ store }, "callers are counted in Redis again");
    else
      log.warn(
        { store, reason: failure.reason, cause: failure.message },
        "callers cannot be counted in Redis: each gateway counts alone, by the same limits",
      );
  }
}

/**
 * What `RateLimiterRedis` takes for a client of ioredis: it defines one command, a script, and calls it with one key. So the limiter
 * has the links, waits and failures of everything else here, for one server, Sentinels and a Cluster.
 */
export class CountingClient {
  readonly #counts: SharedCounts;
  #script: Script | undefined;

  constructor(counts: SharedCounts) {
    this.#counts = counts;
  }

  defineCommand(_name: string, { lua }: { readonly lua: string }): void {
    this.#script = script(lua);
  }

  /** @param call the key, then the arguments */
  async rlflxIncr([key = "", ...args]: readonly string[]): Promise<unknown> {
    if (this.#script === undefined) throw new Error("no script was defined");
    return await this.#counts.run(this.#script, [key], args);
  }
}
