/**
 * The look at Redis in the background: epochs to seal under, and whether each server can be used. First thing on every link,
 * then once a second. It, and no user's request, finds out that a server is back.
 */
import type { Connection } from "../redis/connection.ts";
import { RedisFailure } from "../redis/failure.ts";
import { openRedis, type RedisServers } from "../redis/open.ts";
import type { RedisTarget } from "../redis/target.ts";
import type { Random } from "./epoch.ts";
import { type EpochRecord, EpochRecords } from "./epoch-records.ts";
import { hasNotAnswered, Look, type Told } from "./look.ts";
import { ServerState, type Standards } from "./server-state.ts";
import { healthOf, reportOf, type Share } from "./standing.ts";
import type { StoreHealth, StoreReport, UnavailableReason } from "./store.ts";

const INTERVAL_MS = 1000;
/** What is watched, and how. */
export interface WatchOptions extends Standards {
  readonly target: RedisTarget;
  /** Keys of the epoch records. */
  readonly epochs: readonly string[];
  readonly timeoutMs: number;
  readonly random?: Random | undefined;
  /** Called after each look that found a server well, which does not wait for it. Must not throw. */
  readonly well: () => Promise<void>;
}

/** See the file's header. */
export class Watch {
  readonly servers: RedisServers;
  readonly #options: WatchOptions;
  readonly #epochs: EpochRecords;
  readonly #states = new Map<Connection, ServerState>();
  /** Stands for the server that no epoch record has yet. */
  readonly #nobody: ServerState;
  readonly #looks = new Map<Connection, Promise<void>>();
  /** When the last look at a server began, in seconds. */
  readonly #looked = new WeakMap<Connection, number>();
  readonly #timer: NodeJS.Timeout;
  readonly #started = Promise.withResolvers<void>();
  #closed = false;

  /** Starts to connect. Throws an Error without credentials for a target that cannot be used. */
  constructor(options: WatchOptions) {
    this.#options = options;
    // Asked only once there is something to ask about.
    this.#epochs = new EpochRecords(options.epochs, (key) => this.servers.linkTo(key));
    this.servers = openRedis(options.target, options.timeoutMs, {
      ready: (link) => void this.#greet(link),
      lost: (link, reason, cause) =>
        this.#fail(this.#epochs.isServed(link) ? link : undefined, reason, cause),
    });
    this.#nobody = new ServerState(this.servers.name, options);
    this.#timer = setInterval(() => this.#tick(), INTERVAL_MS).unref();
  }

  /** Settles when every epoch was read, or something has failed. */
  get started(): Promise<void> {
    return this.#started.promise;
  }

  epoch(key: string): string | undefined {
    return this.#epochs.at(key)?.value;
  }

  /** An epoch of this record that is over, whatever Redis says; empty if there is none. */
  overAt(key: string): string {
    return this.#epochs.at(key)?.over ?? "";
  }

  /** True where a look has waited in vain for a server of the Cluster that takes the record. */
  isUnserved(key: string): boolean {
    return this.#epochs.at(key)?.failure === "not_served";
  }

  /** The state of the server that has the epoch record `key`. */
  serverOf(key: string): ServerState {
    return this.#stateOf(this.servers.linkTo(key));
  }

  /** The server of a link that is named; undefined if it has no epoch record. */
  serverNamed(name: string): ServerState | undefined {
    for (const [link, state] of this.#states) if (link.name === name) return state;
    return undefined;
  }

  /** A script on the server of this record has told its epoch and its clock. */
  learn(key: string, { epoch, time }: Told): void {
    const record = this.#epochs.at(key);
    if (record === undefined) return;
    this.#judgeClock(this.servers.linkTo(key), time);
    if (record.over !== epoch) record.over = undefined;
    if (record.value === epoch) return;
    if (record.value !== undefined) {
      this.serverOf(key).epochChanged();
      // It is not the only one, most likely.
      for (const other of this.#epochs.all) if (other.teller === record.teller) other.teller = undefined;
    }
    record.value = epoch;
  }

  /** Looks at every server that answers, at all its epochs. Waits for servers, and for what `well` does. For tests. Never throws. */
  async refresh(): Promise<void> {
    const deadline = performance.now() + this.#options.timeoutMs;
    await Promise.all(this.#epochs.all.map(({ key }) => this.servers.whenReady(key, deadline)));
    for (const [link, records] of this.#epochs.groups()) {
      if (link?.ready !== true) continue;
      await this.#looks.get(link);
      await this.#look(link, records);
    }
    await this.#options.well();
  }

  health(): StoreHealth {
    return this.#closed ? { available: false, reason: "unreachable" } : healthOf(this.#shares());
  }

  report(): StoreReport {
    const report = reportOf(this.#shares());
    return this.#closed ? { ...report, available: 0 } : report;
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
    const second = secondNow();
    const groups = this.#epochs.groups();
    if (!groups.has(undefined)) this.#nobody.forget();
    for (const [link, records] of groups) {
      const state = this.#stateOf(link);
      state.tick();
      if (link?.ready !== true) state.miss(state.failure ?? "unreachable", "not connected");
      // A replica stays one until its name leads elsewhere, and only a new link asks the name.
      else if (state.failure === "not_master") link.reconnect();
      else {
        const all = state.doubted || state.failure !== undefined;
        const since = Math.max(1, second - (this.#looked.get(link) ?? 0));
        void this.#look(link, all ? records : this.#epochs.due(link, second, since));
      }
    }
    for (const link of this.#states.keys()) if (!this.#epochs.isServed(link)) this.#states.delete(link);
  }

  async #greet(link: Connection): Promise<void> {
    const records = this.#epochs.of(link);
    if (records.length === 0) return;
    // A look that began on the link before this one sees nothing of it.
    const before = this.#looks.get(link);
    const looked =
      before === undefined ? this.#look(link, records) : before.then(() => this.#look(link, records));
    const info = await link.command("INFO").catch(() => undefined);
    await looked;
    if (typeof info === "string" && !this.#closed) this.#stateOf(link).describe(info);
  }

  #look(link: Connection, records: readonly EpochRecord[]): Promise<void> {
    const running = this.#looks.get(link);
    if (running !== undefined) return running;
    this.#looked.set(link, secondNow());
    const look = this.#read(link, records).finally(() => this.#looks.delete(link));
    this.#looks.set(link, look);
    return look;
  }

  async #read(link: Connection, records: readonly EpochRecord[]): Promise<void> {
    const state = this.#stateOf(link);
    const { random } = this.#options;
    const look = new Look({
      ...{ servers: this.servers, random, writes: state.doubted },
      learn: (key, told) => this.learn(key, told),
      due: () => this.#epochs.untold(link),
    });
    try {
      await look.read(records);
    } catch (error) {
      if (!(error instanceof RedisFailure)) throw error;
      this.#fail(link, error.reason, error.message);
      if (hasNotAnswered(error)) state.miss(error.reason, error.message);
      return;
    }
    const { memory, failure } = look;
    if (memory !== undefined) {
      state.seen(...memory);
      const bad = this.#epochs.of(link).find((record) => record.failure !== undefined);
      state.part(bad?.failure, failure?.message);
    } else if (failure !== undefined) {
      state.answered();
      state.fail(failure.reason, failure.message);
    }
    if (this.#epochs.known || failure !== undefined) this.#started.resolve();
    // Not waited for: what is owed to one server must not keep the looks at the others from their second.
    void this.#options.well();
  }

  /**
   * A clock that was set has to be seen by every record of its server: those that see it ahead notice by themselves that it has gone
   * back. For those that saw nothing of it, this gateway notices.
   */
  #judgeClock(link: Connection | undefined, time: number): void {
    if (link === undefined) return;
    const course = this.#stateOf(link).clock.told(time, performance.now());
    if (course === "steady") return;
    const records = this.#epochs.of(link);
    for (const record of records) {
      record.teller = undefined;
      if (course === "set_back") record.over = record.value;
    }
    // One that is under way takes them up at its end.
    void this.#look(link, records);
  }

  #fail(link: Connection | undefined, reason: UnavailableReason, cause: string): void {
    this.#stateOf(link).fail(reason, cause);
    this.#started.resolve();
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

  #shares(): Share[] {
    return this.#epochs.all.map(({ key, failure }) => ({ server: this.serverOf(key), failure }));
  }
}

/** By a clock that nobody sets: a tick can be late. */
const secondNow = (): number => Math.floor(performance.now() / INTERVAL_MS);
