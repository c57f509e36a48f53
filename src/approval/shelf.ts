/**
 * Where approvals are kept: small sealed texts under names, each with its expiry, and changed only by who has seen what is changed.
 * One contract for both stores. Knows nothing of what the texts say.
 */

/** Two shelves: approvals that are remembered, and calls that wait. */
export type ShelfName = "remembered" | "waiting";

/** How much there may be; the oldest are not pushed out, since whoever fills it must not end what others rely on. */
export const BOUNDS: Readonly<Record<ShelfName, { readonly all: number; readonly ofOne: number }>> = {
  remembered: { all: 10_000, ofOne: 256 },
  waiting: { all: 1_000, ofOne: 20 },
};
/** Bytes of a text, with its expiry. */
export const MAX_TEXT_BYTES = 24 * 1024;
/** How long anything may be kept, in milliseconds. */
export const MAX_LIFE_MS = 26 * 60 * 60_000;

/**
 * A name in two halves, each 22 characters of base64url: whose it is, and what it is about. A text begins with its expiry
 * (milliseconds, digits) and a space; what has expired is as good as gone.
 */
export interface Place {
  readonly owner: string;
  readonly about: string;
}

/** A text and where it lies. */
export interface Lying {
  readonly place: Place;
  readonly text: string;
}

/** What a look found, and the time by the store's clock in milliseconds. */
export interface Look {
  readonly now: number;
  readonly found: readonly Lying[];
}

/** A change of one place. */
export interface Change {
  readonly place: Place;
  /** What was found there; empty for nothing. */
  readonly instead: string;
  /** What is to lie there; empty for nothing. */
  readonly text: string;
}

/** See the file's header. Every method throws ShelfUnavailable. */
export interface Shelf {
  /** What lies at these places. */
  read(name: ShelfName, places: readonly Place[]): Promise<Look>;
  /** What is about any of these, whosever it is. */
  about(name: ShelfName, about: readonly string[]): Promise<Look>;
  /** All there is. */
  all(name: ShelfName): Promise<Look>;
  /** @returns `stale` where something else lies there by now; `full` where there is no room for one more, of this owner or at all */
  change(name: ShelfName, change: Change): Promise<"done" | "stale" | "full">;
  close(): Promise<void>;
}

/** The store cannot be used now. */
export class ShelfUnavailable extends Error {
  override readonly name = "ShelfUnavailable";
  /** A bounded word, for audit. */
  readonly reason: string;
  /** The change may have taken effect although no answer came. */
  readonly unsure: boolean;

  constructor(message: string, reason: string, unsure: boolean, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
    this.unsure = unsure;
  }
}

/** The name of a place, as stores have it. */
export const nameOf = ({ owner, about }: Place): string => `${owner}.${about}`;

/** The expiry that a text begins with; 0 for what has none. */
export function expiryOf(text: string): number {
  const [, digits] = /^(\d{1,16}) /.exec(text) ?? [];
  return digits === undefined ? 0 : Number(digits);
}
