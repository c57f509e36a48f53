/**
 * Scripts on the servers that hold the keys, whichever way Redis is set up. What runs here is sent once: nothing is
 * queued while there is no link, and nothing is sent again after a link was lost.
 */
import { Cluster } from "./cluster.ts";
import { Connection, type ConnectionEvents, type ConnectionOptions } from "./connection.ts";
import type { Script } from "./script.ts";
import { askSentinels } from "./sentinels.ts";
import { access, parseRedisUrl, type RedisTarget, type Standalone, type Watched } from "./target.ts";

/** The keys of one script: at least one, and in a Cluster all of one hash slot. */
export type Keys = readonly [string, ...string[]];

/** An open way to Redis. It connects, and connects again, by itself until it is closed. */
export interface RedisServers {
  /** For logs; no credential in it. */
  readonly name: string;
  /** The link to the server that holds `key`; undefined while none is known. */
  linkTo(key: string): Connection | undefined;
  /** Waits for a link to the server that holds `key`, at most to `deadline` (`performance.now()` clock); tells whether there is one. */
  whenReady(key: string, deadline: number): Promise<boolean>;
  /**
   * Runs a script on the server that holds `keys`. Answers with its reply. Nothing is sent, and nothing waited for, after `deadline`.
   * Throws `RedisFailure` only; see `FailureReason` for what may have run.
   */
  run(script: Script, keys: Keys, args: readonly string[], deadline?: number): Promise<unknown>;
  /** As `run`, and in the order of the calls: by text, for what a server does not know by name is sent twice. */
  runInOrder(script: Script, keys: Keys, args: readonly string[]): Promise<unknown>;
  /** Ends all links for good; commands without an answer are rejected. */
  close(): Promise<void>;
}

/**
 * Starts to connect; each single command is bounded by `timeoutMs`.
 * @throws Error without credentials for a URL or a CA that cannot be used
 */
export function openRedis(target: RedisTarget, timeoutMs: number, events: ConnectionEvents): RedisServers {
  if ("cluster" in target) return new Cluster(target, timeoutMs, events);
  return new OneServer(new Connection({ ...whereabouts(target), timeoutMs }, events));
}

/** How to get to the one server there is. */
function whereabouts(target: Standalone | Watched): Omit<ConnectionOptions, "timeoutMs"> {
  if ("sentinels" in target) {
    const { name, password } = target.sentinels;
    return {
      ...access(target.username, target.password, target.tls),
      name: `master ${name}`,
      locate: askSentinels(target.sentinels),
      secrets: [password ?? ""],
    };
  }
  const url = parseRedisUrl(target.url);
  return {
    ...access(
      target.username ?? url.username,
      target.password ?? url.password,
      target.tls ?? (url.tls ? {} : undefined),
    ),
    name: `${url.host}:${url.port}/${url.db}`,
    locate: () => url,
    db: url.db,
    secrets: [target.url, url.rawPassword],
  };
}

class OneServer implements RedisServers {
  readonly name: string;
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.name = connection.name;
    this.#connection = connection;
  }

  linkTo(): Connection {
    return this.#connection;
  }

  async whenReady(_key: string, deadline: number): Promise<boolean> {
    return await this.#connection.whenReady(deadline);
  }

  async run(script: Script, keys: Keys, args: readonly string[], deadline?: number): Promise<unknown> {
    return await this.#connection.run(script, keys, args, deadline === undefined ? {} : { deadline });
  }

  async runInOrder(script: Script, keys: Keys, args: readonly string[]): Promise<unknown> {
    return await this.#connection.runText(script, keys, args);
  }

  async close(): Promise<void> {
    await this.#connection.close();
  }
}
