/**
 * The public keys of an issuer (RFC 7517) from its server. A set is fetched when first needed, kept, refreshed before it is old, and asked again for an unknown key id,
 * but never more often than the cool-down allows: a storm of made-up key ids is not passed on as a storm of requests.
 */

import { errors, type JWTVerifyGetKey } from "jose";
import { type Log, withoutQuery } from "../log.ts";
import { IssuerUnavailable } from "./credential.ts";
import { DiscoveryError, discoverKeySet, type KeySetLocation } from "./discovery.ts";
import { DocumentError, type DocumentReader } from "./document.ts";
import type { IssuerKeys, KeysReport } from "./issuer-keys.ts";
import { type KeySet, KeySetError, readKeySet } from "./key-set.ts";
import { MissingKeys } from "./missing-keys.ts";

/** Times in milliseconds. */
export const KEY_TIMES = {
  /** From this age on a set is refreshed in the background. */
  refresh: 5 * 60_000,
  /** From this age on a request waits for the refresh. */
  fresh: 10 * 60_000,
  /** A set may be used up to this age while its server is down, and not longer: a withdrawn key must die. */
  stale: 60 * 60_000,
  /** First and longest pause after an attempt that failed or brought nothing; it doubles from one to the other. */
  coolDownMin: 1_000,
  coolDownMax: 30_000,
  /**
   * How long the place of a set that discovery found is gone by. For a key id that is not known it is `refresh`, since the new
   * key may stand at a new place.
   */
  place: 60 * 60_000,
} as const;

export interface RemoteKeysOptions {
  readonly issuer: string;
  /** The operator's URL (trusted); when absent the set is found by discovery. */
  readonly url?: string;
  readonly reader: DocumentReader;
  readonly log: Log;
  /** Unix milliseconds. */
  readonly now: () => number;
}

/** `again`: for a key id that was missing at an earlier look. */
type Reason = "due" | "unknown_key" | "again";

/** The keys of an issuer's server. */
export class RemoteKeys implements IssuerKeys {
  readonly #options: RemoteKeysOptions;
  readonly #loads = { loaded: 0, failed: 0 };
  #set: (KeySet & { readonly loadedAt: number }) | undefined;
  #generation = 0;
  #place: (KeySetLocation & { readonly foundAt: number }) | undefined;
  #loading: Promise<void> | undefined;
  #failed = false;
  #pause = 0;
  #notBefore = 0;
  readonly #missing = new MissingKeys();
  #againNotBefore = 0;

  constructor(options: RemoteKeysOptions) {
    this.#options = options;
  }

  get generation(): number {
    return this.#generation;
  }

  readonly find: JWTVerifyGetKey = async (header, token) => {
    const [held, place] = [this.#set, this.#place];
    const set = await this.#current();
    const match = async (from: KeySet): Promise<Awaited<ReturnType<JWTVerifyGetKey>> | undefined> => {
      try {
        return await from.find(header, token);
      } catch (error) {
        if (error instanceof errors.JWKSNoMatchingKey) return undefined;
        throw error;
      }
    };
    const known = await match(set);
    if (known !== undefined) return known;
    // A set fetched for this very request cannot be bettered by fetching it again, unless discovery may find it elsewhere.
    let looks = set === held || (this.#options.url === undefined && place !== undefined);
    const { kid = "" } = header;
    for (let look = 1; looks && look <= 2; look++) {
      // A load that is under way may have begun before the key was published.
      looks = this.#loading !== undefined;
      const looked = look === 1 ? this.#lookFor(kid) : this.#attempt("unknown_key");
      if (!(await looked)) {
        if (this.#failed) throw unavailable();
        break;
      }
      if (this.#failed || this.#set === undefined) throw unavailable();
      const key = await match(this.#set);
      if (key === undefined) continue;
      this.#missing.delete(kid);
      this.#rest(0);
      return key;
    }
    this.#missing.add(kid);
    throw new errors.JWKSNoMatchingKey();
  };

  vouches(generation: number): boolean {
    if (this.#age() >= KEY_TIMES.refresh) void this.#attempt("due");
    return generation === this.#generation && this.#age() < KEY_TIMES.fresh;
  }

  available(): boolean {
    if (!this.#failed || this.#age() < KEY_TIMES.stale) return true;
    void this.#attempt("due");
    return false;
  }

  report(): KeysReport {
    const { issuer, now } = this.#options;
    const known = this.#set !== undefined;
    const age = this.#age();
    const usable = known && age < KEY_TIMES.stale;
    const state = usable
      ? this.#failed || age >= KEY_TIMES.fresh
        ? "old"
        : "fresh"
      : this.#failed || known
        ? "none"
        : "unread";
    const ageSeconds = this.#set === undefined ? undefined : Math.max(0, now() - this.#set.loadedAt) / 1_000;
    return { issuer, state, ageSeconds, loads: { ...this.#loads } };
  }

  /** Starts a load where one is due, so that an outage shows before a caller meets it. */
  look(): void {
    if (this.#age() >= KEY_TIMES.refresh) void this.#attempt("due");
  }

  /** A set that may be used now. Throws `IssuerUnavailable`. */
  async #current(): Promise<KeySet> {
    const age = this.#age();
    // While its server fails nobody waits for it who can be served by what is kept.
    const serves = this.#failed && age < KEY_TIMES.stale;
    if (age >= KEY_TIMES.fresh && !serves) await this.#attempt("due");
    else if (age >= KEY_TIMES.refresh) void this.#attempt("due");
    if (this.#set === undefined || this.#age() >= KEY_TIMES.stale) throw unavailable();
    return this.#set;
  }

  /** Milliseconds since the set was loaded; a clock that went backwards makes it old, not eternally young. */
  #age(): number {
    if (this.#set === undefined) return Number.POSITIVE_INFINITY;
    const age = this.#options.now() - this.#set.loadedAt;
    return age < 0 ? KEY_TIMES.fresh : age;
  }

  /**
   * Loads the set for a key id that is not in it. One that was missing before has a pace of its own: a client with a wrong token
   * must not use up the looks that a new key needs, and a key that is published late must still be found.
   */
  async #lookFor(kid: string): Promise<boolean> {
    if (!this.#missing.has(kid) || this.#failed) return await this.#attempt("unknown_key");
    if (this.#loading === undefined) {
      if (this.#isBefore(this.#againNotBefore)) return false;
      this.#againNotBefore = this.#options.now() + KEY_TIMES.coolDownMax;
    }
    return await this.#attempt("again");
  }

  /** Whether a pause lasts. One that ends too far ahead was set by a clock that has gone back since. */
  #isBefore(end: number): boolean {
    const left = end - this.#options.now();
    return left > 0 && left <= KEY_TIMES.coolDownMax;
  }

  /**
   * Joins the load under way, or starts one unless the cool-down forbids. Never rejects; the outcome is in the fields.
   * Returns whether a load happened. The pause grows when a load starts and is lifted when it proves useful, so that
   * many requests that wait for one load lengthen it once.
   */
  async #attempt(reason: Reason): Promise<boolean> {
    if (this.#loading === undefined) {
      if (reason !== "again") {
        if (this.#isBefore(this.#notBefore)) return false;
        this.#rest(Math.min(KEY_TIMES.coolDownMax, this.#pause * 2 || KEY_TIMES.coolDownMin));
      }
      this.#loading = this.#load(reason).finally(() => {
        this.#loading = undefined;
      });
    }
    await this.#loading;
    return true;
  }

  #rest(pause: number): void {
    this.#pause = pause;
    this.#notBefore = pause === 0 ? 0 : this.#options.now() + pause;
  }

  async #load(reason: Reason): Promise<void> {
    const { issuer, log, now } = this.#options;
    try {
      const set = readKeySet(await this.#read(reason));
      if (set.text !== this.#set?.text) {
        this.#generation += 1;
        log.info({ issuer, generation: this.#generation }, "issuer keys loaded");
        const flaws = Object.fromEntries(set.flaws);
        if (set.flaws.size > 0) log.warn({ issuer, keys: flaws }, "issuer publishes keys that are not used");
      }
      this.#set = { ...set, loadedAt: now() };
      this.#failed = false;
      this.#loads.loaded += 1;
      if (reason === "due") this.#rest(0);
    } catch (error) {
      this.#failed = true;
      this.#loads.failed += 1;
      this.#rest(this.#pause || KEY_TIMES.coolDownMin);
      const details = { issuer, ...this.#detailsOf(error), retryInMs: this.#pause };
      this.#place = undefined;
      log.warn(details, "issuer keys cannot be loaded");
    }
  }

  /** For the log: what is wrong, and with which document. */
  #detailsOf(error: unknown): object {
    const url = this.#place === undefined ? {} : { url: withoutQuery(this.#place.url) };
    if (error instanceof DocumentError || error instanceof DiscoveryError)
      return { ...url, ...error.details, fault: error.fault };
    return { ...url, fault: error instanceof KeySetError ? "jwks" : "internal" };
  }

  async #read(reason: Reason): Promise<unknown> {
    const { reader } = this.#options;
    this.#place = await this.#locate(reason);
    return await reader.read(this.#place.url, this.#place.trusted);
  }

  /** Where the set is. What was found goes on being used when it cannot be looked for again, but not against the issuer's word. */
  async #locate(reason: Reason): Promise<KeySetLocation & { readonly foundAt: number }> {
    const { issuer, url, reader, now } = this.#options;
    const known = this.#place;
    if (url !== undefined) return { url, trusted: true, foundAt: now() };
    const age = known === undefined ? Number.POSITIVE_INFINITY : now() - known.foundAt;
    const lasts = reason === "due" ? KEY_TIMES.place : KEY_TIMES.refresh;
    if (known !== undefined && age >= 0 && age < lasts) return known;
    try {
      return { ...(await discoverKeySet(issuer, reader)), foundAt: now() };
    } catch (error) {
      const gone =
        error instanceof DocumentError || (error instanceof DiscoveryError && error.fault === "no_document");
      if (known === undefined || !gone) throw error;
      return { ...known, foundAt: now() };
    }
  }
}

function unavailable(): IssuerUnavailable {
  return new IssuerUnavailable();
}
