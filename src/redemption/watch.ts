/**
 * The look at Redis in the background: epochs to seal under, and whether each server can be used. First thing on every link,
 * then once a second. It, and no user's request, finds out that a server is back.
 */
import type { Connection } from "../redis/connection.ts";
import type { Finding } from "../redis/description.ts";
import { RedisFailure } from "../redis/failure.ts";
import { openRedis, type RedisServers } from "../redis/open.ts";
import type { RedisTarget } from "../redis/target.ts";
import { newEpoch, type Random } from "./epoch.ts";
import { REFRESH } from "./redeem.lua.ts";
import { ServerState, type Standards } from "./server-state.ts";
import type { StoreHealth, StoreReport, UnavailableReason } from "./store.ts";

const INTERVAL_MS = 1000;
/** A server's epoch records are read in so many turns: what takes one away takes all, and then all are read at once. */
const TURNS = 16;

/** An epoch record, as last read. */
interface Epoch {
  value: string | undefined;
  /** The server that told it; undefined where it should be read again soon. */
  teller: Connection | undefined;
}

/** What is watched, and how. */
export interface WatchOptions extends Standards {
  readonly target: RedisTarget;
  /** Keys of the epoch records. */
  readonly epochs: readonly string[];
  readonly timeoutMs: number;
  readonly random?: Random | undefined;
  /** Called after each look that found a server well. */
  readonly well: () => Promise<void>;
}

/** See the file's header. */
export class Watch {
  readonly servers: RedisServers;
  readonly #options: WatchOptions;
  readonly #epochs: ReadonlyMap<string, Epoch>;
  readonly #states = new Map<Connection, ServerState>();
  /** Stands for the server that no epoch record has yet. */
  readonly #nobody: ServerState;
  readonly #looks = new Map<Connection, Promise<void>>();
  readonly #timer: NodeJS.Timeout;
  readonly #started = Promise.withResolvers<void>();
  #turn = 0;
  #closed = false;

  /** Starts to connect. Throws an Error without credentials for a target that cannot be used. */
  constructor(options: WatchOptions) {
    this.#options = options;
    this.#epochs = new Map(options.epochs.map((key) => [key, { value: undefined, teller: undefined }]));
    this.servers = openRedis(options.target, options.timeoutMs, {
      ready: (link) => void this.#greet(link),
      lost: (link, reason, cause) => this.#fail(this.#serves(link) ? link : undefined, reason, cause),
    });
    this.#nobody = new ServerState(this.servers.name, options);
    this.#timer = setInterval(() => this.#tick(), INTERVAL_MS).unref();
  }

  /** Settles when every epoch was read, or something has failed. */
  get started(): Promise<void> {
    return this.#started.promise;
  }

  epoch(key: string): string | undefined {
    return this.#epochs.get(key)?.value;
  }

  /** The state of the server that has the epoch record `key`. */
  serverOf(key: string): ServerState {
    return this.#stateOf(this.servers.linkTo(key));
  }

  /** A script has told the epoch. */
  learn(key: string, value: string): void {
    const epoch = this.#epochs.get(key);
    if (epoch === undefined || epoch.value === value) return;
    if (epoch.value !== undefined) {
      this.serverOf(key).epochChanged();
      // It is not the only one, most likely.
      for (const other of this.#epochs.values()) if (other.teller === epoch.teller) other.teller = undefined;
    }
    epoch.value = value;
  }

  /** Looks at every server that answers, at all its epochs. Waits for a server to answer. Never throws. */
  async refresh(): Promise<void> {
    const deadline = performance.now() + this.#options.timeoutMs;
    await Promise.all([...this.#epochs.keys()].map((key) => this.servers.whenReady(key, deadline)));
    for (const [link, keys] of this.#groups()) {
      if (link?.ready !== true) continue;
      await this.#looks.get(link);
      await this.#look(link, keys);
    }
  }

  health(): StoreHealth {
    const failures = this.#failures();
    const reason = failures.find((failure) => failure !== undefined);
    if (this.#closed || failures.every((failure) => failure !== undefined))
      return { available: false, reason: this.#closed ? "unreachable" : (reason ?? "unreachable") };
    return { available: true, ...(reason === undefined ? {} : { reason }) };
  }

  report(): StoreReport {
    const states = [...this.#epochs.keys()].map((key) => this.serverOf(key));
    const findings = new Map<Finding, number>();
    for (const state of new Set(states))
      for (const finding of state.findings) findings.set(finding, (findings.get(finding) ?? 0) + 1);
    const share = (is: (state: ServerState) => boolean) => states.filter(is).length / states.length;
    return {
      available: this.#closed ? 0 : share((state) => state.failure === undefined),
      refusing: share((state) => state.refusing),
      findings,
    };
  }

  /** Ends the looks; the links stay for what is still to be sent. */
  stop(): void {
    clearInterval(this.#timer);
  }

  /** Ends the links too. */
  async close(): Promise<void> {
    this.stop();
    this.#closed = true;
    await this.servers.close();
    this.#started.resolve();
  }

  #tick(): void {
    this.#turn += 1;
    const groups = this.#groups();
    if (!groups.has(undefined)) this.#nobody.forget();
    for (const [link, keys] of groups) {
      const state = this.#stateOf(link);
      state.tick();
      if (link?.ready !== true) state.miss(state.failure ?? "unreachable", "not connected");
      // A replica stays one until its name leads elsewhere, and only a new link asks the name.
      else if (state.failure === "not_master") link.reconnect();
      else void this.#look(link, state.failure === undefined ? this.#due(link, keys) : keys);
    }
    for (const link of this.#states.keys()) if (!this.#serves(link)) this.#states.delete(link);
  }

  /** Those that this server has not told yet, and a share of the others. */
  #due(link: Connection, keys: readonly string[]): string[] {
    return keys.filter(
      (key, index) =>
        this.#epochs.get(key)?.teller !== link || keys.length < TURNS || index % TURNS === this.#turn % TURNS,
    );
  }

  async #greet(link: Connection): Promise<void> {
    const keys = this.#groups().get(link);
    if (keys === undefined) return;
    // A look that began on the link before this one sees nothing of it.
    const before = this.#looks.get(link);
    const looked = before === undefined ? this.#look(link, keys) : before.then(() => this.#look(link, keys));
    const info = await link.command("INFO").catch(() => undefined);
    await looked;
    if (typeof info === "string" && !this.#closed) this.#stateOf(link).describe(info);
  }

  #look(link: Connection, keys: readonly string[]): Promise<void> {
    const running = this.#looks.get(link);
    if (running !== undefined) return running;
    const look = this.#read(link, keys).finally(() => this.#looks.delete(link));
    this.#looks.set(link, look);
    return look;
  }

  async #read(link: Connection, keys: readonly string[]): Promise<void> {
    let [first, ...rest] = keys;
    if (first === undefined) return;
    try {
      let [epoch, memory, policy] = await this.#readOne(first);
      const changed = this.epoch(first) !== undefined && this.epoch(first) !== epoch;
      this.learn(first, epoch);
      if (changed) rest = (this.#groups().get(link) ?? []).filter((key) => key !== first);
      const replies = rest.map(async (key) => {
        [epoch, memory, policy] = await this.#readOne(key);
        this.learn(key, epoch);
      });
      await Promise.all(replies);
      for (const key of [first, ...rest]) (this.#epochs.get(key) as Epoch).teller = this.servers.linkTo(key);
      this.#stateOf(link).seen(memory, policy);
    } catch (error) {
      if (!(error instanceof RedisFailure)) throw error;
      this.#fail(link, error.reason, error.message);
      if (error.reason === "timeout" || error.reason === "unreachable")
        this.#stateOf(link).miss(error.reason, error.message);
      return;
    }
    if ([...this.#epochs.values()].every(({ value }) => value !== undefined)) this.#started.resolve();
    await this.#options.well();
  }

  async #readOne(key: string): Promise<[epoch: string, memory: string, policy: string]> {
    const reply = await this.servers.run(REFRESH, [key], [newEpoch(this.#options.random)]);
    const [epoch, memory, policy] = Array.isArray(reply) ? (reply as unknown[]) : [];
    if (typeof epoch !== "string") throw new RedisFailure("error", "unknown reply");
    return [epoch, String(memory), String(policy)];
  }

  #fail(link: Connection | undefined, reason: UnavailableReason, cause: string): void {
    this.#stateOf(link).fail(reason, cause);
    this.#started.resolve();
  }

  /** The epoch records by the server that has them. */
  #groups(): Map<Connection | undefined, string[]> {
    return Map.groupBy(this.#epochs.keys(), (key) => this.servers.linkTo(key));
  }

  #serves(link: Connection): boolean {
    for (const key of this.#epochs.keys()) if (this.servers.linkTo(key) === link) return true;
    return false;
  }

  #stateOf(link: Connection | undefined): ServerState {
    if (link === undefined) return this.#nobody;
    let state = this.#states.get(link);
    if (state === undefined) {
      state = new ServerState(link.name, this.#options);
      this.#states.set(link, state);
    }
    return state;
  }

  #failures(): (UnavailableReason | undefined)[] {
    return [...this.#epochs.keys()].map((key) => this.serverOf(key).failure);
  }
}
