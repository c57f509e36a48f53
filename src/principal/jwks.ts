/**
 * The public keys of an issuer (RFC 7517), from a file or from its server.
 * A remote set is fetched when first needed, kept, refreshed before it is old, and asked again for an unknown key id,
 * but never more often than the cool-down allows: a storm of made-up key ids is not passed on as a storm of requests.
 */

import { createLocalJWKSet, errors, type JWTVerifyGetKey } from "jose";
import { type Log, withoutQuery } from "../log.ts";
import { IssuerUnavailable } from "./credential.ts";
import { DiscoveryError, discoverKeySet, type KeySetLocation } from "./discovery.ts";
import { DocumentError, type DocumentReader } from "./document.ts";

/** One issuer's keys. */
export interface IssuerKeys {
  /** Picks the key for a token's header. Throws jose's `JWKSNoMatchingKey` and kin, or `IssuerUnavailable`. */
  readonly find: JWTVerifyGetKey;
  /** Names the key set in use; changes when the set does. */
  readonly generation: number;
  /** Whether what was verified under `generation` still stands; starts a refresh when one is due. */
  vouches(generation: number): boolean;
  /** False while no keys are at hand and the last attempt to get them failed; starts another when one is due. */
  available(): boolean;
}

/** A set from the operator's file, already parsed. Throws when it is no key set: a mistake to show at start. */
export function fileKeys(document: unknown): IssuerKeys {
  const find = createKeySet(document);
  return { find, generation: 0, vouches: () => true, available: () => true };
}

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

interface KeySet {
  readonly find: JWTVerifyGetKey;
  readonly text: string;
  readonly loadedAt: number;
}

/** The keys of an issuer's server. */
export class RemoteKeys implements IssuerKeys {
  readonly #options: RemoteKeysOptions;
  #set: KeySet | undefined;
  #generation = 0;
  #location: KeySetLocation | undefined;
  #loading: Promise<void> | undefined;
  #failed = false;
  #pause = 0;
  #notBefore = 0;

  constructor(options: RemoteKeysOptions) {
    this.#options = options;
  }

  get generation(): number {
    return this.#generation;
  }

  readonly find: JWTVerifyGetKey = async (header, token) => {
    const held = this.#set;
    const set = await this.#current();
    try {
      return await set.find(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      // A set fetched for this very request cannot be bettered by fetching it again.
      if (set === held && !(await this.#attempt("unknown_key"))) throw this.#failed ? unavailable() : error;
      if (this.#failed || this.#set === undefined) throw unavailable();
      const key = await this.#set.find(header, token);
      this.#rest(0);
      return key;
    }
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

  /** A set that may be used now. Throws `IssuerUnavailable`. */
  async #current(): Promise<KeySet> {
    if (this.#age() >= KEY_TIMES.fresh) await this.#attempt("due");
    else if (this.#age() >= KEY_TIMES.refresh) void this.#attempt("due");
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
   * Joins the load under way, or starts one unless the cool-down forbids. Never rejects; the outcome is in the fields.
   * Returns whether a load happened. The pause grows when a load starts and is lifted when it proves useful, so that
   * many requests that wait for one load lengthen it once.
   */
  async #attempt(reason: "due" | "unknown_key"): Promise<boolean> {
    if (this.#loading === undefined) {
      if (this.#options.now() < this.#notBefore) return false;
      this.#rest(Math.min(KEY_TIMES.coolDownMax, this.#pause * 2 || KEY_TIMES.coolDownMin));
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

  async #load(reason: "due" | "unknown_key"): Promise<void> {
    const { issuer, log, now } = this.#options;
    try {
      const document = await this.#read();
      const find = createKeySet(document);
      const text = JSON.stringify(document);
      if (text !== this.#set?.text) {
        this.#generation += 1;
        log.info({ issuer, generation: this.#generation }, "issuer keys loaded");
      }
      this.#set = { find, text, loadedAt: now() };
      this.#failed = false;
      if (reason === "due") this.#rest(0);
    } catch (error) {
      this.#failed = true;
      this.#rest(this.#pause);
      const details = { issuer, ...this.#detailsOf(error), retryInMs: this.#pause };
      this.#location = undefined;
      log.warn(details, "issuer keys cannot be loaded");
    }
  }

  /** For the log: what is wrong, and with which document. */
  #detailsOf(error: unknown): object {
    const url = this.#location === undefined ? {} : { url: withoutQuery(this.#location.url) };
    if (error instanceof DocumentError || error instanceof DiscoveryError)
      return { ...url, ...error.details, fault: error.fault };
    return { ...url, fault: error instanceof errors.JOSEError ? "jwks" : "internal" };
  }

  async #read(): Promise<unknown> {
    const { issuer, url, reader } = this.#options;
    this.#location ??= url === undefined ? await discoverKeySet(issuer, reader) : { url, trusted: true };
    return await reader.read(this.#location.url, this.#location.trusted);
  }
}

/** jose's set, whose members must all be objects; a private or symmetric member is never picked for a token. */
function createKeySet(document: unknown): JWTVerifyGetKey {
  // jose checks the shape itself and throws JWKSInvalid.
  return createLocalJWKSet(document as Parameters<typeof createLocalJWKSet>[0]);
}

function unavailable(): IssuerUnavailable {
  return new IssuerUnavailable();
}
