/** The hash in Redis that holds all entries, as its scripts answer for it. Knows nothing of what the values say. */
import { RedisFailure } from "../redis/failure.ts";
import type { RedisServers } from "../redis/open.ts";
import type { Owed } from "./ledger.ts";
import { ADD, DROP, PUT, READ } from "./overrides.lua.ts";

/** Entries in one command. */
const BATCH = 500;

/** Ids, each with its value. */
export type Pairs = readonly (readonly [string, string])[];

/** What a reading found. */
export interface Reading {
  /** Milliseconds, by the clock of Redis, when it was read. */
  readonly now: number;
  /** Absent where nothing has changed. */
  readonly found?: {
    readonly version: string;
    readonly pairs: Pairs;
    /** False where there was more, which only somebody else can have written. */
    readonly whole: boolean;
    /** Values that were no entries, and are gone. */
    readonly dropped: number;
  };
}

/** An entry to be added. */
export interface Addition {
  /** What was read; undefined where that does not matter. */
  readonly version: string | undefined;
  readonly id: string;
  readonly value: string;
  /** Milliseconds, by the clock of Redis: not any later. */
  readonly latest: number;
}

/** See the file's header. Every method throws RedisFailure. `spare` (milliseconds): what has expired by then may be dropped. */
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
    const reply = await this.#servers.run(READ, [this.key], ["0", known]);
    const [kind, stamp, version, fields, dropped] = Array.isArray(reply) ? (reply as unknown[]) : [];
    const now = Number(stamp);
    if (Number.isSafeInteger(now)) {
      if (kind === "same") return { now };
      if ((kind === "all" || kind === "part") && typeof version === "string" && Array.isArray(fields)) {
        const pairs = pairsOf(fields as unknown[]);
        return { now, found: { version, pairs, whole: kind === "all", dropped: Number(dropped) } };
      }
    }
    throw new RedisFailure("error", "unknown reply");
  }

  /** Adds an entry. @returns `stale` where it was not added, since what was read has changed or it is too late */
  async add(
    { version = "*", id, value, latest }: Addition,
    spare: number,
  ): Promise<"added" | "stale" | "full"> {
    const args = [String(spare), version, this.#newVersion(), id, value, String(latest)];
    const reply = await this.#servers.run(ADD, [this.key], args);
    if (reply === "added" || reply === "stale" || reply === "full") return reply;
    throw new RedisFailure("error", "unknown reply");
  }

  /** Puts values in their places, and drops what has expired. @returns how many were put */
  async put(entries: readonly Owed[], spare: number): Promise<number> {
    let put = 0;
    for (let at = 0; at < Math.max(entries.length, 1); at += BATCH) {
      const args = entries
        .slice(at, at + BATCH)
        .flatMap(({ id, value, instead, signed }) => [id, value, instead, signed ? "signed" : ""]);
      put += Number(await this.#servers.run(PUT, [this.key], [String(spare), this.#newVersion(), ...args]));
    }
    return put;
  }

  /** Takes out what lies under these ids. @returns how many there were */
  async drop(ids: readonly string[]): Promise<number> {
    let dropped = 0;
    for (let at = 0; at < ids.length; at += BATCH) {
      const args = [this.#newVersion(), ...ids.slice(at, at + BATCH)];
      dropped += Number(await this.#servers.run(DROP, [this.key], args));
    }
    return dropped;
  }
}

function pairsOf(fields: readonly unknown[]): [string, string][] {
  const pairs: [string, string][] = [];
  for (let at = 0; at + 1 < fields.length; at += 2) pairs.push([String(fields[at]), String(fields[at + 1])]);
  return pairs;
}
