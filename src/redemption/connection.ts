/**
 * One connection to Redis that never hides what happened to a command: no offline queue, no resending, bounded waits.
 * It knows scripts and reachability, and nothing of marks or epochs. No credential leaves it in a message.
 */
import { X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import { Redis, type RedisOptions } from "ioredis";
import { LinkConnector } from "./connector.ts";
import type { Script } from "./redeem.lua.ts";
import { StoreUnavailable, type UnavailableReason } from "./store.ts";

const CONNECT_TIMEOUT_MS = 2000;
const RECONNECT_MS = { least: 25, most: 400 };
const CLOSE_TIMEOUT_MS = 500;

/** Where Redis is and how to get in. */
export interface RedisTarget {
  /** `redis://` or `rediss://`, host, port, `/database`; user and password allowed. */
  readonly url: string;
  /** Wins over the URL's. */
  readonly username?: string;
  /** Wins over the URL's. */
  readonly password?: string;
  /** Given, even if empty: TLS, also for `redis://`. `ca` in PEM replaces the system's roots. */
  readonly tls?: { readonly ca?: Buffer | string; readonly servername?: string };
}

/** What the owner of a connection is told. */
export interface ConnectionEvents {
  /** Commands can be sent; what the listener sends goes out before anybody else's. */
  ready(): void;
  /** The link is gone or could not be made, or Redis does not let us in; called for every try. */
  lost(reason: "unreachable" | "unauthorized", cause: string): void;
}

/** A connection that reconnects by itself until it is closed. */
export class Connection {
  /** `host:port/database`, for logs. */
  readonly name: string;
  readonly #redis: Redis;
  readonly #secrets: readonly string[];
  #gate = Promise.withResolvers<boolean>();
  #open = false;
  #closed = false;

  /**
   * Starts to connect. `timeoutMs` bounds every single command, those of the handshake included.
   * Throws an Error without credentials if the URL or the CA cannot be used.
   */
  constructor(target: RedisTarget, timeoutMs: number, events: ConnectionEvents) {
    const url = parseUrl(target.url);
    const password = target.password ?? url.password;
    const username = target.username ?? url.username;
    this.name = `${url.host}:${url.port}/${url.db}`;
    this.#secrets = [password, target.url, url.rawPassword].filter(
      (s) => s !== undefined && s !== "",
    ) as string[];
    const options: RedisOptions & { replyMapping: "legacy" } = {
      host: url.host,
      port: url.port,
      db: url.db,
      // RESP2: no HELLO, so the same handshake on every server and proxy.
      Connector: LinkConnector,
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
    if (target.tls !== undefined || url.tls) options.tls = tlsOptions(url.host, target.tls ?? {});

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
      this.#shut();
      if (!this.#closed) events.lost(reason, cause);
      [cause, reason, elsewhere] = ["connection closed", "unreachable", false];
    });
    this.#redis.on("ready", () => {
      if (this.#closed) return;
      // ioredis goes on in database 0 where it may not, or cannot, select the one that is named.
      if (elsewhere) return this.#redis.disconnect(true);
      this.#open = true;
      events.ready();
      this.#gate.resolve(true);
    });
    // ioredis gives up where making the socket throws; a store must not be lost for good by one such moment.
    this.#redis.on("end", () => {
      if (this.#closed) return;
      events.lost(reason, cause);
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
   * Runs a script and answers with its reply. Throws `StoreUnavailable`: `unreachable` if the link was lost (the script
   * may have run), `timeout` (it may have run, or may yet), anything else: it has not run to its end.
   */
  async run(script: Script, keys: readonly string[], args: readonly string[]): Promise<unknown> {
    return await this.#send(() => this.#redis.evalsha(script.sha, keys.length, ...keys, ...args));
  }

  /** As `run`, with the script's text: for a server that does not know it yet, and where order among commands counts. */
  async runText(script: Script, keys: readonly string[], args: readonly string[]): Promise<unknown> {
    return await this.#send(() => this.#redis.eval(script.text, keys.length, ...keys, ...args));
  }

  /** Drops the link and makes a new one: the name may lead to another server by now. */
  reconnect(): void {
    this.#shut();
    // In any other status ioredis is on its way already, and to disconnect then could stop it for good.
    if (this.#redis.status === "ready") this.#redis.disconnect(true);
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

  async #send(command: () => Promise<unknown>): Promise<unknown> {
    if (!this.#open) throw new StoreUnavailable("unreachable", `Redis ${this.name}: not connected`);
    try {
      return await command();
    } catch (error) {
      // The error itself stays here: ioredis hangs the command's arguments on it.
      const reason = reasonOf(error);
      if (reason === "unreachable") this.reconnect();
      throw new StoreUnavailable(reason, `Redis ${this.name}: ${this.#scrub(error)}`);
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

/** Settles as `promise` does, or with `late()` once `performance.now()` passes `deadline`. */
export async function before<T>(deadline: number, promise: Promise<T>, late: () => T): Promise<T> {
  const alarm = Promise.withResolvers<T>();
  const timer = setTimeout(
    () => {
      try {
        alarm.resolve(late());
      } catch (error) {
        alarm.reject(error);
      }
    },
    Math.max(0, deadline - performance.now()),
  );
  try {
    return await Promise.race([promise, alarm.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** True if the server does not know the script, and so has not run it. */
export function isUnknownScript(error: unknown): boolean {
  return error instanceof StoreUnavailable && error.message.includes(": NOSCRIPT ");
}

/** A user, password or right that Redis does not accept; the last two are what it says inside scripts, 6.2 and later. */
const REFUSED =
  /^(WRONGPASS|NOAUTH|NOPERM)\b|^ERR The user executing the script can't |\bACL failure in script\b/;

/** No memory for another mark, under `noeviction`; the second is what it says inside scripts before 7.0. */
const FULL = /^OOM\b|\bOOM command not allowed\b/;

function reasonOf(error: unknown): UnavailableReason {
  if (!(error instanceof Error)) return "error";
  if (error.name === "ReplyError") {
    if (REFUSED.test(error.message)) return "unauthorized";
    if (FULL.test(error.message)) return "full";
    return /^(NOTMASTER|READONLY|MASTERDOWN)\b/.test(error.message) ? "not_master" : "error";
  }
  return error.message === "Command timed out" ? "timeout" : "unreachable";
}

function tlsOptions(host: string, tls: NonNullable<RedisTarget["tls"]>): NonNullable<RedisOptions["tls"]> {
  // Node takes text that is no certificate for an empty list, and then trusts no server without saying why.
  if (tls.ca !== undefined) new X509Certificate(tls.ca);
  const servername = tls.servername ?? (isIP(host) === 0 ? host : undefined);
  return {
    rejectUnauthorized: true,
    ...(tls.ca === undefined ? {} : { ca: tls.ca }),
    ...(servername === undefined ? {} : { servername }),
  };
}

/** Not left to ioredis: in its reading, query parameters of the URL overrule the options. */
function parseUrl(text: string) {
  const url = URL.parse(text);
  const db = url === null ? null : /^\/?(\d{0,5})$/.exec(url.pathname);
  const known =
    url !== null && (url.protocol === "redis:" || url.protocol === "rediss:") && url.hostname !== "";
  if (!known || db === null || url.search !== "" || url.hash !== "") {
    throw new Error(
      "The Redis URL must have the form redis://host:port/database or rediss://host:port/database",
    );
  }
  return {
    tls: url.protocol === "rediss:",
    host: decodeURIComponent(url.hostname).replace(/^\[(.*)\]$/, "$1"),
    port: url.port === "" ? 6379 : Number(url.port),
    db: Number(db[1] ?? 0),
    username: url.username === "" ? undefined : decodeURIComponent(url.username),
    password: url.password === "" ? undefined : decodeURIComponent(url.password),
    rawPassword: url.password,
  };
}
