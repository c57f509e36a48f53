/** The hash in Redis that holds all entries, as its scripts answer for it. Knows nothing of what the values say. */
import { RedisFailure } from "../redis/failure.ts";
import type { RedisServers } from "../redis/open.ts";
import type { Owed } from "./ledger.ts";
import { ADD, PUT, READ } from "./overrides.lua.ts";

/** Entries in one command. */
const BATCH = 500;

/** What a reading found. */
export interface Reading {
  /** Milliseconds, by the clock of Redis, when it was read. */
  readonly now: number;
  /** Absent where nothing has changed. */
  readonly all?: { readonly version: string; readonly pairs: readonly (readonly [string, string])[] };
}

/** See the file's header. Every method throws RedisFailure. */
export class SharedHash {
  readonly key: string;
  readonly #servers: RedisServers;
  readonly #newVersion: () => string;

  /** @param newVersion a name that nobody has given yet */
  constructor(servers: RedisServers, keyPrefix: string, newVersion: () => string) {
    this.key = `${keyPrefix}{overrides}`;
    this.#servers = servers;
    this.#newVersion = newVersion;
  }

  /** Reads all that is there, unless the version is still the one that is known (empty for none). */
  async read(known: string): Promise<Reading> {
    const reply = await this.#servers.run(READ, [this.key], [known]);
    const [kind, stamp, version, fields] = Array.isArray(reply) ? (reply as unknown[]) : [];
    const now = Number(stamp);
    if (Number.isSafeInteger(now)) {
      if (kind === "same") return { now };
      if (kind === "all" && typeof version === "string" && Array.isArray(fields))
        return { now, all: { version, pairs: pairsOf(fields as unknown[]) } };
    }
    throw new RedisFailure("error", "unknown reply");
  }

  /**
   * Adds an entry to what was read as `version`, at `latest` (milliseconds, clock of Redis) if at all.
   * @returns `stale` where it was not added, since that has changed or it is too late
   */
  async add(version: string, id: string, value: string, latest: number): Promise<"added" | "stale" | "full"> {
    const args = [version, this.#newVersion(), id, value, String(latest)];
    const reply = await this.#servers.run(ADD, [this.key], args);
    if (reply === "added" || reply === "stale" || reply === "full") return reply;
    throw new RedisFailure("error", "unknown reply");
  }

  /** Puts values in their places, and drops what has expired. @returns how many were put */
  async put(entries: readonly Owed[]): Promise<number> {
    let put = 0;
    for (let at = 0; at < Math.max(entries.length, 1); at += BATCH) {
      const args = entries.slice(at, at + BATCH).flatMap(({ id, value, instead }) => [id, value, instead]);
      put += Number(await this.#servers.run(PUT, [this.key], [this.#newVersion(), ...args]));
    }
    return put;
  }
}

function pairsOf(fields: readonly unknown[]): [string, string][] {
  const pairs: [string, string][] = [];
  for (let at = 0; at + 1 < fields.length; at += 2) {
    if (fields[at] !== "version") pairs.push([String(fields[at]), String(fields[at + 1])]);
  }
  return pairs;
}
