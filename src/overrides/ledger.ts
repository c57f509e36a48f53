/**
 * What one replica knows of the entries in a shared store, and what of it the store has lost. Pure but for the keys. Knowledge
 * only grows: an entry is there, then it is removed, then it expires; so replicas agree whatever order they learn it in, and no
 * clock decides between two of them. Where signatures differ, what is signed wins.
 */
import { type Entry, MAX_ENTRIES, printEntry } from "./entry.ts";
import { TTL_MS } from "./orders.ts";
import { type Read, readEntry, type Signing, signEntry } from "./signature.ts";

/** A value to be put in the place of another, if that is still there. */
export interface Owed {
  readonly id: string;
  readonly value: string;
  /** What lies there now; empty for nothing. */
  readonly instead: string;
}

interface Known {
  readonly entry: Entry;
  readonly authentic: boolean;
  value: string;
  /** What the value is signed with, as far as this ring can tell: key id and audience; empty for not. */
  signedWith: string;
  /** What the store has in its place; empty for nothing. */
  stored: string;
}

/** See the file's header. */
export class Ledger {
  readonly #known = new Map<string, Known>();

  /** Entries that count at a time (milliseconds), removals among them. */
  live(now: number): Pick<Read, "entry" | "authentic">[] {
    return [...this.#known.values()].filter(({ entry }) => now < entry.until);
  }

  /** The entry with this id, as far as it counts. */
  find(id: string): Entry | undefined {
    return this.#known.get(id)?.entry;
  }

  /** What the store has under this id; empty for nothing. */
  stored(id: string): string {
    return this.#known.get(id)?.stored ?? "";
  }

  /** The largest `bornBefore` of all revocations. */
  newest(): number {
    let newest = 0;
    for (const { entry } of this.#known.values())
      if (entry.kind === "revocation") newest = Math.max(newest, entry.bornBefore);
    return newest;
  }

  /**
   * Takes in all that the store holds.
   * @returns how many of the values do not count: malformed, or unsigned and no denial. They are in `stored` all the same, so
   *   that what was overwritten by them is put back.
   */
  take(pairs: Iterable<readonly [string, string]>, signing: Signing, now: number): number {
    let ignored = 0;
    for (const known of this.#known.values()) known.stored = "";
    for (const [id, value] of pairs) {
      const known = this.#known.get(id);
      if (known !== undefined) known.stored = value;
      // Nearly all of them, whenever one has changed.
      if (known?.authentic === true && known.value === value) continue;
      const read = readEntry(signing, id, value);
      if (read === undefined || !counts(read, now)) {
        ignored += 1;
        continue;
      }
      if (!(now < read.entry.until)) continue;
      if (known === undefined) {
        // Signed ones were bounded when they were set; what somebody plants must not keep them out.
        if (read.authentic || this.#known.size < MAX_ENTRIES)
          this.#known.set(id, knownBy(read, value, signing));
        else ignored += 1;
      } else if (isNewer(read, known)) {
        this.#known.set(id, knownBy(read, value, signing));
      } else if (printEntry(read.entry) === printEntry(known.entry)) {
        // Signed by another replica, with another key perhaps: no reason to write over each other.
        Object.assign(known, { value, signedWith: knownBy(read, value, signing).signedWith });
      }
    }
    return ignored;
  }

  /**
   * What the store has lost, or has something worse in the place of.
   * @param signsAgain also what is not signed with the key that seals now
   */
  owed(signing: Signing, now: number, signsAgain: boolean): Owed[] {
    const wanted = signatureOf(signing.ring.sealer(now / 1000).keyId.toString("hex"), signing);
    return [...this.#known].flatMap(([id, known]) => {
      const { entry, authentic, stored } = known;
      if (!(now < entry.until)) return [];
      if (authentic && signsAgain && known.signedWith !== wanted) {
        known.value = signEntry(signing, entry, now);
        known.signedWith = wanted;
      }
      // Nobody can tell which of two unsigned ones is right.
      const lost = authentic ? stored !== known.value : stored === "";
      return lost ? [{ id, value: known.value, instead: stored }] : [];
    });
  }

  /** Forgets what has expired. @returns whether there was anything */
  sweep(now: number): boolean {
    const before = this.#known.size;
    for (const [id, { entry }] of this.#known) if (!(now < entry.until)) this.#known.delete(id);
    return this.#known.size < before;
  }
}

/**
 * A revocation or a denial counts unsigned too: a key that has left the ring must not turn it off, and whoever could plant one
 * could stop everything anyway. Grants and removals count only if they are signed.
 */
function counts({ entry, authentic }: Read, now: number): boolean {
  if (authentic) return true;
  const forbids = entry.kind === "revocation" || (entry.kind === "grant" && entry.effect === "deny");
  return forbids && entry.until - now <= TTL_MS.most;
}

const signatureOf = (keyId: string, { audience }: Signing): string => `${keyId} ${audience}`;

function knownBy({ entry, authentic, keyId }: Read, value: string, signing: Signing): Known {
  return { entry, authentic, value, stored: value, signedWith: authentic ? signatureOf(keyId, signing) : "" };
}

function isNewer(read: Read, known: Known): boolean {
  if (read.authentic !== known.authentic) return read.authentic;
  return read.entry.kind === "removal" && known.entry.kind !== "removal";
}
