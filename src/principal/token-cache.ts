/**
 * Tokens that were verified a moment ago, by digest: spares one signature check per request.
 * Only good tokens are kept, never past their `exp`, and never past the key set they were verified with.
 * Holds no token text, so that a memory dump of it is worth nothing to a thief.
 */

import { createHash } from "node:crypto";
import type { Resource } from "./principal.ts";

/** A verification worth remembering. */
interface Remembered {
  /** Unix milliseconds; from then on the entry is not used, whatever leeway the issuer has. */
  readonly expires: number;
}

/**
 * The name of one token presented to one resource: 43 characters. Both the resource's URL and its own audiences count,
 * absent ones told from listed ones, since a token that is good for one resource is nothing for another.
 * JSON holds no raw newline, so the frame is unambiguous.
 */
export function tokenDigest(token: string, resource: Resource): string {
  const frame = JSON.stringify([resource.url, resource.audiences ?? null]);
  return createHash("sha256").update(`${frame}\n${token}`, "utf8").digest("base64url");
}

/** Bounded, least recently used goes first. */
export class TokenCache<Entry extends Remembered> {
  readonly #entries = new Map<string, Entry>();
  readonly #capacity: number;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** The entry, or undefined when there is none or it ended at or before `now` (Unix milliseconds). */
  get(digest: string, now: number): Entry | undefined {
    const entry = this.#entries.get(digest);
    if (entry === undefined) return undefined;
    this.#entries.delete(digest);
    if (entry.expires <= now) return undefined;
    this.#entries.set(digest, entry);
    return entry;
  }

  set(digest: string, entry: Entry): void {
    this.#entries.delete(digest);
    this.#entries.set(digest, entry);
    if (this.#entries.size <= this.#capacity) return;
    for (const oldest of this.#entries.keys()) {
      this.#entries.delete(oldest);
      return;
    }
  }

  delete(digest: string): void {
    this.#entries.delete(digest);
  }

  get size(): number {
    return this.#entries.size;
  }
}
