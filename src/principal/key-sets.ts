/**
 * The key sets of issuers' servers that a process has open: each once, whatever configurations come and go, so that a reload
 * neither forgets the keys of an issuer that is down nor lets anybody ask it more often.
 */
import type { Log } from "../log.ts";
import { createDocumentReader } from "./document.ts";
import type { IssuerKeys, KeysReport } from "./issuer-keys.ts";
import { RemoteKeys } from "./jwks.ts";

/** Milliseconds for one document. */
const FETCH_TIMEOUT_MS = 5_000;

/** What key sets are read with. */
export interface KeySetsOptions {
  readonly log: Log;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Milliseconds for one document of an issuer; 5000 when absent. */
  readonly fetchTimeout?: number | undefined;
}

/** Keys in use by somebody. */
export interface OpenKeys {
  readonly keys: IssuerKeys;
  /** Gives them back. What nobody uses any more is forgotten. */
  release(): void;
}

/** See the file's header. */
export class KeySets {
  readonly #options: KeySetsOptions;
  readonly #reader: ReturnType<typeof createDocumentReader>;
  readonly #open = new Map<string, { readonly keys: RemoteKeys; users: number }>();

  constructor(options: KeySetsOptions) {
    this.#options = options;
    this.#reader = createDocumentReader(options.fetchTimeout ?? FETCH_TIMEOUT_MS);
  }

  /** @param url where the operator says the set is; found by discovery when absent */
  open(issuer: string, url?: string): OpenKeys {
    const name = JSON.stringify([issuer, url ?? null]);
    let entry = this.#open.get(name);
    if (entry === undefined) {
      const { log, now } = this.#options;
      const place = url === undefined ? {} : { url };
      entry = { keys: new RemoteKeys({ issuer, ...place, reader: this.#reader, log, now }), users: 0 };
      this.#open.set(name, entry);
    }
    const taken = entry;
    taken.users += 1;
    let released = false;
    return {
      keys: taken.keys,
      release: () => {
        if (released) return;
        released = true;
        taken.users -= 1;
        if (taken.users === 0 && this.#open.get(name) === taken) this.#open.delete(name);
      },
    };
  }

  reports(): KeysReport[] {
    return [...this.#open.values()].map(({ keys }) => keys.report());
  }

  /** Starts the loads that are due. */
  look(): void {
    for (const { keys } of this.#open.values()) keys.look();
  }

  /** Ends open connections and aborts what is under way. */
  close(): void {
    this.#reader.close();
  }
}
