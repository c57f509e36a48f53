/** Where Redis is and how to get in. */
import { X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import type { ConnectionOptions } from "node:tls";

/** A server's place. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

/** Given, even if empty: TLS. `ca` in PEM replaces the system's roots. */
export interface TlsTrust {
  readonly ca?: Buffer | string;
  readonly servername?: string;
}

/** How to get in, the same on every server. */
export interface Access {
  /** Wins over that of a URL, as the password does. */
  readonly username?: string;
  readonly password?: string;
  /** Given, even if empty: TLS, also for `redis://`. */
  readonly tls?: TlsTrust;
}

/** What is known of how to get in. */
export function access(
  username: string | undefined,
  password: string | undefined,
  tls: TlsTrust | undefined,
): Access {
  return {
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    ...(tls === undefined ? {} : { tls }),
  };
}

/** One server, or a name that leads to the one that is master. */
export interface Standalone extends Access {
  /** `redis://` or `rediss://`, host, port, `/database`; user and password allowed. */
  readonly url: string;
}

/** The Sentinels of one master; user, password and TLS are theirs. */
export interface SentinelSet extends Access {
  /** Name of the master. */
  readonly name: string;
  readonly nodes: readonly Address[];
}

/** A master that Sentinels watch. */
export interface Watched extends Access {
  readonly sentinels: SentinelSet;
}

/** A Cluster; one node that answers is enough to find the others. */
export interface Clustered extends Access {
  readonly cluster: { readonly nodes: readonly Address[] };
}

/** Any way to set Redis up. */
export type RedisTarget = Standalone | Watched | Clustered;

/** A URL taken apart; the texts are decoded but for `rawPassword`. */
export interface RedisUrl extends Address {
  readonly tls: boolean;
  readonly db: number;
  readonly username: string | undefined;
  readonly password: string | undefined;
  readonly rawPassword: string;
}

/**
 * Not left to ioredis: in its reading, query parameters of the URL overrule the options.
 * @throws Error that does not repeat the URL
 */
export function parseRedisUrl(text: string): RedisUrl {
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

/**
 * Checks a CA before anything is connected: Node takes text that is no certificate for an empty list, and then trusts
 * no server without saying why.
 * @throws Error for a CA that is none
 */
export function checkTrust(tls: TlsTrust | undefined): void {
  if (tls?.ca !== undefined) new X509Certificate(tls.ca);
}

/** Options of Node for a link to `host`. */
export function tlsOptions(host: string, { ca, servername }: TlsTrust): ConnectionOptions {
  const name = servername ?? (isIP(host) === 0 ? host : undefined);
  return {
    rejectUnauthorized: true,
    ...(ca === undefined ? {} : { ca }),
    ...(name === undefined ? {} : { servername: name }),
  };
}
