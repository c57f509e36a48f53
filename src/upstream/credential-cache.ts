/**
 * Credentials that were made a moment ago, by whom they are for: bounded, least recently used goes first; one is made at a time for
 * each name, however many requests wait for it. Names are digests, so that no token of a caller is held here.
 */
import { Refusal, type RefusalCode } from "../errors.ts";
import type { Credential } from "./credentials.ts";

/** A credential, and how long it may be handed out. */
export interface Made {
  readonly credential: Credential;
  /** Unix milliseconds; what is past already is given to those who wait for it and not kept. */
  readonly until: number;
}

interface Refused {
  readonly refusal: Refusal;
  readonly at: number;
  readonly until: number;
}

interface Kept extends Made {
  readonly madeAt: number;
}

/**
 * Who was refused, or met an outage, is not asked about again for so long: a client that repeats itself must not become a load on
 * the issuer. Milliseconds.
 */
const REMEMBERED: Readonly<Partial<Record<RefusalCode, number>>> = {
  credential_refused: 5_000,
  credential_unavailable: 1_000,
};

/**
 * The credential that took the place of a refused one is not dropped for so long: it cannot be had any fresher, and a caller who knows
 * how to make a server say 401 must not make every request of everybody a grant. Milliseconds.
 */
const KEPT_AFTER_DROP = 5_000;

/** See the file's header. */
export class CredentialCache {
  readonly #capacity: number;
  readonly #now: () => number;
  readonly #kept = new Map<string, Kept>();
  readonly #refused = new Map<string, Refused>();
  readonly #making = new Map<string, Promise<Credential>>();
  /** When one was dropped last under a name. */
  readonly #dropped = new Map<string, number>();
  /** Under which name a credential was handed out; goes with it. */
  readonly #names = new WeakMap<Credential, string>();

  /**
   * @param capacity credentials that are kept; as many refusals
   * @param now milliseconds since the epoch
   */
  constructor(capacity: number, now: () => number) {
    this.#capacity = capacity;
    this.#now = now;
  }

  /** The one that is kept and still good. @throws Refusal where one was refused under this name just now */
  get(name: string): Credential | undefined {
    const now = this.#now();
    const kept = this.#kept.get(name);
    // A clock that went backwards makes it old, not eternally young.
    if (kept !== undefined && now < kept.until && now >= kept.madeAt) {
      this.#kept.delete(name);
      this.#kept.set(name, kept);
      return kept.credential;
    }
    this.#kept.delete(name);
    const refused = this.#refused.get(name);
    if (refused === undefined) return undefined;
    if (now >= refused.at && now < refused.until) throw refused.refusal;
    this.#refused.delete(name);
    return undefined;
  }

  /** Makes one, or waits for the one that is being made. Rejects with what `make` rejects with; a refusal is remembered for a moment. */
  make(name: string, make: () => Promise<Made>): Promise<Credential> {
    const under = this.#making.get(name);
    if (under !== undefined) return under;
    const making = this.#make(name, make).finally(() => this.#making.delete(name));
    this.#making.set(name, making);
    return making;
  }

  /** Forgets a credential, unless another has taken its place already. */
  drop(credential: Credential): boolean {
    const name = this.#names.get(credential);
    if (name === undefined || this.#kept.get(name)?.credential !== credential) return false;
    const now = this.#now();
    const since = now - (this.#dropped.get(name) ?? Number.NEGATIVE_INFINITY);
    if (since >= 0 && since < KEPT_AFTER_DROP) return false;
    this.#keep(this.#dropped, name, now);
    return this.#kept.delete(name);
  }

  /** Credentials that are kept. */
  get size(): number {
    return this.#kept.size;
  }

  async #make(name: string, make: () => Promise<Made>): Promise<Credential> {
    try {
      const made = await make();
      const madeAt = this.#now();
      if (made.until > madeAt) {
        this.#names.set(made.credential, name);
        this.#keep(this.#kept, name, { ...made, madeAt });
      }
      return made.credential;
    } catch (error) {
      const ms = error instanceof Refusal ? REMEMBERED[error.code] : undefined;
      const at = this.#now();
      if (error instanceof Refusal && ms !== undefined)
        this.#keep(this.#refused, name, { refusal: error, at, until: at + ms });
      throw error;
    }
  }

  #keep<T>(map: Map<string, T>, name: string, value: T): void {
    map.delete(name);
    map.set(name, value);
    if (map.size <= this.#capacity) return;
    for (const oldest of map.keys()) {
      map.delete(oldest);
      return;
    }
  }
}
