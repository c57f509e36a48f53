/**
 * One connection to Redis that never hides what happened to a command: no offline queue, no resending, bounded waits.
 * It knows scripts and reachability, and nothing of marks or epochs. No credential leaves it in a message.
 */
import { Redis, type RedisOptions } from "ioredis";
import { type Locate, linkConnector } from "./connector.ts";
import { before } from "./deadline.ts";
import { type FailureReason, RedisFailure, reasonOf, TooLate } from "./failure.ts";
import type { Script } from "./script.ts";
import { type Access, checkTrust } from "./target.ts";

const CONNECT_TIMEOUT_MS = 2000;
const RECONNECT_MS = { least: 25, most: 400 };
const CLOSE_TIMEOUT_MS = 500;

/** What a connection is made of. */
export interface ConnectionOptions extends Access {
  /** For logs. */
  readonly name: string;
  readonly locate: Locate;
  /** Number of the database; default 0. */
  readonly db?: number;
  /** Texts beside the password that must not get into a message. */
  readonly secrets?: readonly string[];
  /** Bounds every single command, those of the handshake included. */
  readonly timeoutMs: number;
}

/** What the owner of a connection is told. */
export interface ConnectionEvents {
  /** Commands can be sent; what the listener sends goes out before anybody else's. */
  ready(link: Connection): void;
  /** The link is gone or could not be made, or Redis does not let us in; called for every try. */
  lost(link: Connection, reason: FailureReason, cause: string): void;
}

/** Bounds of a script call. */
export interface RunOptions {
  /** After this time (`performance.now()` clock) nothing more is sent or waited for. */
  readonly deadline?: number;
  /** The server has to take keys of a hash slot that is on its way to it. */
  readonly asking?: boolean;
}

/** A connection that reconnects by itself until it is closed. */
export class Connection {
  /** For logs. */
  readonly name: string;
  readonly #redis: Redis;
  readonly #secrets: readonly string[];
  #gate = Promise.withResolvers<boolean>();
  #open = false;
  #closed = false;
  /** The link is being dropped; its end has not been told yet. */
  #dropping = false;

  /** Starts to connect. Throws an Error without credentials if the CA cannot be used. */
  constructor(
    { name, locate, db = 0, username, password, tls, secrets = [], timeoutMs }: ConnectionOptions,
    events: ConnectionEvents,
  ) {
    checkTrust(tls);
    this.name = name;
    this.#secrets = [password ?? "", ...secrets].filter((secret) => secret !== "");
    const options: RedisOptions & { replyMapping: "legacy" } = {
      db,
      Connector: linkConnector(locate, tls),
      // RESP2: no HELLO, so the same handshake on every server and proxy.
      protocol: 2,
      replyMapping: "legacy",
      disableClientInfo: true,
      connectTimeout: CONNECT_TIMEOUT_MS,
      commandTimeout: timeoutMs,
      // Without it a black-holed link is noticed by the kernel only, after a quarter of an hour.
      socketTimeout: timeoutMs + 1000,
      disconnectTimeout: CLOSE_TIMEOUT_MS,
      maxLoadingRetryTime: RECONNECT_MS.most,
      enableOfflineQueue: false,
      // A mark that was set and then sent again looks like somebody else's: resending is redeem's decision.
      autoResendUnfulfilledCommands: false,
      // 0 makes ioredis reject, not drop, the unanswered commands of a lost link.
      maxRetriesPerRequest: 0,
      retryStrategy: (times) => {
        const most = Math.min(RECONNECT_MS.least * 2 ** times, RECONNECT_MS.most);
        return RECONNECT_MS.least + Math.random() * (most - RECONNECT_MS.least);
      },
    };
    if (username !== undefined) options.username = username;
    if (password !== undefined) options.password = password;
    // The connector makes the links; ioredis has to know only that a handshake of TLS comes first.
    if (tls !== undefined) options.tls = {};

    this.#redis = new Redis(options);
    let cause = "connection closed";
    let reason: "unreachable" | "unauthorized" = "unreachable";
    let elsewhere = false;
    this.#redis.on("error", (error: Error & { readonly command?: { readonly name?: string } }) => {
      cause = this.#scrub(error);
      reason = reasonOf(error) === "unauthorized" ? "unauthorized" : "unreachable";
      elsewhere ||= error.command?.name === "select";
    });
    this.#redis.on("close", () => {
      this.#dropping = false;
      this.#shut();
      if (!this.#closed) events.lost(this, reason, cause);
      [cause, reason, elsewhere] = ["connection closed", "unreachable", false];
    });
    this.#redis.on("ready", () => {
      if (this.#closed) return;
      // ioredis goes on in database 0 where it may not, or cannot, select the one that is named.
      if (elsewhere) return this.#redis.disconnect(true);
      this.#open = true;
      events.ready(this);
      this.#gate.resolve(true);
    });
    // ioredis gives up where making the socket throws; a store must not be lost for good by one such moment.
    this.#redis.on("end", () => {
      if (this.#closed) return;
      events.lost(this, reason, cause);
      setTimeout(
        () => this.#closed || this.#redis.connect().catch(() => undefined),
        CONNECT_TIMEOUT_MS,
      ).unref();
    });
  }

  /** True while commands can be sent. */
  get ready(): boolean {
    return this.#open;
  }

  /** Waits until commands can be sent, at most to `deadline` (`performance.now()` clock); tells whether they can. */
  async whenReady(deadline: number): Promise<boolean> {
    if (this.#open) return true;
    if (this.#closed) return false;
    return await before(deadline, this.#gate.promise, () => false);
  }

  /**
   * Runs a script, by name, and by text if the server does not know it yet, until `deadline` (`performance.now()` clock).
   * Answers with its reply. Throws `RedisFailure`: `unreachable` if the link was lost (the script may have
   * run), `timeout` (it may have run, or may yet; not where it is `TooLate`), anything else: it has not run to its end.
   */
  async run(
    script: Script,
    keys: readonly string[],
    args: readonly string[],
    { deadline = Number.POSITIVE_INFINITY, asking = false }: RunOptions = {},
  ): Promise<unknown> {
    try {
      const command = () => this.#redis.evalsha(script.sha, keys.length, ...keys, ...args);
      return await this.#send(command, asking, deadline);
    } catch (error) {
      if (!isUnknownScript(error) || performance.now() >= deadline) throw error;
      return await this.runText(script, keys, args, { deadline, asking });
    }
  }

  /** As `run`, by text: where order among commands counts, for what a server does not know by name is sent twice. */
  async runText(
    script: Script,
    keys: readonly string[],
    args: readonly string[],
    { deadline = Number.POSITIVE_INFINITY, asking = false }: RunOptions = {},
  ): Promise<unknown> {
    const command = () => this.#redis.eval(script.text, keys.length, ...keys, ...args);
    return await this.#send(command, asking, deadline);
  }

  /** Sends a command that needs no key, and answers with its reply. Throws as `run` does. */
  async command(name: string, ...args: string[]): Promise<unknown> {
    return await this.#send(() => this.#redis.call(name, ...args));
  }

  /** Drops the link and makes a new one: the name may lead to another server by now. */
  reconnect(): void {
    this.#shut();
    // In any other status ioredis is on its way already, and to disconnect then could stop it for good. Every command that fails
    // with a link comes here, and ioredis would listen to the same socket for each of them.
    if (this.#redis.status !== "ready" || this.#dropping) return;
    this.#dropping = true;
    this.#redis.disconnect(true);
  }

  /** Ends the connection for good; commands without an answer are rejected. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#shut();
    this.#gate.resolve(false);
    const linked = ["connecting", "connect", "ready"].includes(this.#redis.status);
    const ended = new Promise<void>((resolve) => this.#redis.once("end", () => resolve()));
    this.#redis.disconnect();
    // Between two tries there is no link whose end ioredis could tell.
    if (linked) await before(performance.now() + 2 * CLOSE_TIMEOUT_MS, ended, () => undefined);
  }

  async #send(
    command: () => Promise<unknown>,
    asking = false,
    deadline = Number.POSITIVE_INFINITY,
  ): Promise<unknown> {
    if (!this.#open)
      throw new RedisFailure("unreachable", `Redis ${this.name}: not connected`, "", this.name);
    if (performance.now() >= deadline) throw new TooLate(this.name);
    try {
      // Both are written in this turn, so nothing comes between them; a refusal shows in what follows.
      if (asking) this.#redis.asking().catch(() => undefined);
      const reply = command();
      // Every command has a bound of its own, too.
      if (deadline === Number.POSITIVE_INFINITY) return await reply;
      return await before(deadline, reply, () => {
        throw new RedisFailure("timeout", `Redis ${this.name}: no answer in time`, "", this.name);
      });
    } catch (error) {
      if (error instanceof RedisFailure) throw error;
      // The error itself stays here: ioredis hangs the command's arguments on it.
      const reason = reasonOf(error);
      if (reason === "unreachable") this.reconnect();
      const reply = error instanceof Error && error.name === "ReplyError" ? error.message : "";
      throw new RedisFailure(reason, `Redis ${this.name}: ${this.#scrub(error)}`, reply, this.name);
    }
  }

  #shut(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#gate = Promise.withResolvers<boolean>();
  }

  #scrub(error: unknown): string {
    let text =
      error instanceof Error ? error.message || String((error as { code?: unknown }).code) : "failed";
    for (const secret of this.#secrets) text = text.replaceAll(secret, "***");
    return text.split("\n", 1)[0]?.slice(0, 200) ?? "";
  }
}

/** True if the server does not know the script, and so has not run it. */
function isUnknownScript(error: unknown): boolean {
  return error instanceof RedisFailure && error.reply.startsWith("NOSCRIPT ");
}
