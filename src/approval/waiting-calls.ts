/** Calls that wait, as they lie on the shelf: found by whose they are or by what they are about, and changed against what was read. */
import type { Sealing } from "../keyring.ts";
import type { ApprovePolicy } from "./approve-policy.ts";
import { openEntry, sealEntry, type WaitingEntry } from "./entry.ts";
import { type ApprovalCall, matterOf } from "./question.ts";
import type { Opened } from "./remembering.ts";
import { type Lying, type Place, type Shelf, ShelfUnavailable } from "./shelf.ts";
import { underAll, waitingAbout, waitingPlace } from "./tags.ts";

/** Changes of others that one change gives way to. */
const MOST_TRIES = 16;

/** One that was found, with the time by the store's clock in milliseconds. */
export interface Found {
  readonly now: number;
  readonly opened: readonly Opened<WaitingEntry>[];
}

/** See the file's header. Every method throws ShelfUnavailable. */
export class WaitingCalls {
  readonly #shelf: Shelf;
  readonly #sealing: Sealing;

  constructor(shelf: Shelf, sealing: Sealing) {
    this.#shelf = shelf;
    this.#sealing = sealing;
  }

  /** A name that nobody has given yet. */
  newId(): string {
    return this.#sealing.random(16).toString("base64url");
  }

  /** The same call, of whomever. */
  async about(policies: readonly ApprovePolicy[], call: ApprovalCall): Promise<Found> {
    const matter = matterOf(policies, call);
    const about = underAll(this.#ring, this.#seconds, (key) => waitingAbout(key, matter));
    const { now, found } = await this.#shelf.about("waiting", about);
    return { now, opened: this.#open(found) };
  }

  /** That of its own caller, newest first where keys have changed. */
  async own({ principal }: ApprovalCall, matter: string): Promise<Found> {
    const places = underAll(this.#ring, this.#seconds, (key) => waitingPlace(key, principal, matter));
    const { now, found } = await this.#shelf.read("waiting", places);
    return { now, opened: this.#open(found).sort((a, b) => b.entry.askedAt - a.entry.askedAt) };
  }

  async all(): Promise<Found> {
    const { now, found } = await this.#shelf.all("waiting");
    return { now, opened: this.#open(found) };
  }

  /** Where a call of this caller waits from now on. */
  placeOf({ principal }: ApprovalCall, matter: string): Place {
    return waitingPlace(this.#ring.sealer(this.#seconds), principal, matter);
  }

  /** @param found what it takes the place of; with an empty text, nothing */
  async put(
    { place, text }: Omit<Opened<unknown>, "entry">,
    entry: WaitingEntry,
    until: number,
  ): Promise<"done" | "stale" | "full"> {
    const next = sealEntry(this.#sealing, "waiting", place, entry, until);
    if (next === undefined) return "full";
    return await this.#shelf.change("waiting", { place, instead: text, text: next });
  }

  /** Tries until `attempt` gives something. */
  async insist<T extends object | string>(attempt: () => Promise<T | undefined>): Promise<T> {
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const result = await attempt();
      if (result !== undefined) return result;
    }
    throw new ShelfUnavailable("others change the same all the time", "busy", false);
  }

  get #ring(): Sealing["keys"]["ring"] {
    return this.#sealing.keys.ring;
  }

  get #seconds(): number {
    return this.#sealing.now() / 1_000;
  }

  #open(found: readonly Lying[]): Opened<WaitingEntry>[] {
    return found.flatMap(({ place, text }) => {
      const entry = openEntry(this.#sealing, "waiting", place, text);
      return entry === undefined ? [] : [{ place, text, entry }];
    });
  }
}
