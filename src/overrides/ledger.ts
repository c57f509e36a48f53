/**
 * What one replica knows of the entries in a shared store, and what of it the store has lost. Pure but for the keys. Knowledge
 * only grows: an entry is there, then it is removed, then it expires; so replicas agree whatever order they learn it in, and no
 * clock decides between two of them. Where signatures differ, what is signed wins; but a grant goes by whatever removal.
 */
import { type Entry, MAX_ENTRIES, printEntry, type RevocationTarget } from "./entry.ts";
import { AHEAD_SECONDS, newestBirth, revokedBy, TTL_MS } from "./orders.ts";
import { type Read, readEntry, type Signing, signEntry } from "./signature.ts";

/** A value to be put in the place of another, if that is still there. */
export interface Owed {
  readonly id: string;
  readonly value: string;
  /** What lies there now; empty for nothing. */
  readonly instead: string;
  readonly signed: boolean;
}

interface Known {
  readonly entry: Entry;
  readonly authentic: boolean;
  value: string;
  /** Whom the value says it is signed by: a key id, and the audience if that is true. */
  signedWith: string;
  /** What the store has in its place; empty for nothing. */
  stored: string;
  /** A removal was seen that nobody here can vouch for: under this id nothing is allowed any more. */
  takenBack: boolean;
  /** The store has a grant again that was taken back so. */
  revived: boolean;
  /** Not signed, and taken out of a store that was full of the like: not put back. */
  dropped: boolean;
}

/** See the file's header. */
export class Ledger {
  readonly #known = new Map<string, Known>();
  /** Values that were judged and do not count; until `forgetVerdicts`. */
  #ignored: ReadonlyMap<string, string> = new Map();
  /** Ids under which the store has something that no key of the ring has signed, nor is anything known that one has. */
  #strange: string[] = [];
  #judgedAgain = false;
  #changes = 0;

  /** Grows whenever other entries count. */
  get changes(): number {
    return this.#changes;
  }

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

  /** See `newestBirth`. What was taken back counts, as do those without a signature: chains were dated by them too. */
  newest(target: RevocationTarget, now: number): number {
    const dated = [...this.#known.values()].flatMap(({ entry }) => revokedBy(entry) ?? []);
    return newestBirth(dated, target, now);
  }

  /** Whether something is known, and none of it says that it is signed with the key that seals now. */
  sealsAlone({ ring }: Signing, now: number): boolean {
    const keyId = ring.sealer(now / 1000).keyId.toString("hex");
    const all = [...this.#known.values()];
    return all.length > 0 && !all.some(({ signedWith }) => signedWith.startsWith(keyId));
  }

  /** To be called when keys have changed, and now and then, since time passes: every value is judged again. */
  forgetVerdicts(): void {
    this.#judgedAgain = true;
  }

  /**
   * Takes in all that the store holds.
   * @returns how many of the values do not count: malformed, or unsigned and nothing that forbids. They are in `stored` all the
   *   same, so that what was overwritten by them is put back.
   */
  take(pairs: Iterable<readonly [string, string]>, signing: Signing, now: number): number {
    const ignored = new Map<string, string>();
    this.#strange = [];
    for (const known of this.#known.values()) Object.assign(known, { stored: "", revived: false });
    for (const [id, value] of pairs) {
      const known = this.#known.get(id);
      if (known !== undefined) known.stored = value;
      if (!this.#accept(id, value, known, signing, now)) ignored.set(id, value);
      if (this.#known.get(id)?.authentic !== true) this.#strange.push(id);
    }
    this.#ignored = ignored;
    this.#judgedAgain = false;
    return ignored.size;
  }

  /** Of the store as it was taken in, what nobody has signed: to be taken out. None of it is put back from here. */
  dropStrange(): readonly string[] {
    return this.#dropped(this.#strange);
  }

  /** The same of a part of the store, which is not taken in. */
  dropStrangers(pairs: readonly (readonly [string, string])[], signing: Signing): readonly string[] {
    const strange = pairs.filter(([id, value]) => {
      const known = this.#known.get(id)?.authentic === true;
      return !known && readEntry(signing, id, value)?.authentic !== true;
    });
    return this.#dropped(strange.map(([id]) => id));
  }

  /**
   * What the store has lost, or has something worse in the place of.
   * @param signsAgain also what is not signed with the key that seals now
   */
  owed(signing: Signing, now: number, signsAgain: boolean): Owed[] {
    const wanted = signatureOf(signing.ring.sealer(now / 1000).keyId.toString("hex"), signing);
    return [...this.#known].flatMap(([id, known]) => {
      const { entry, authentic, stored, revived, dropped } = known;
      if (!(now < entry.until)) return [];
      if (authentic && signsAgain && known.signedWith !== wanted) {
        known.value = signEntry(signing, entry, now);
        known.signedWith = wanted;
      }
      // Nobody can tell which of two unsigned ones is right.
      const lost = authentic ? stored !== known.value : revived || (stored === "" && !dropped);
      return lost ? [{ id, value: known.value, instead: stored, signed: authentic }] : [];
    });
  }

  /** Forgets what has expired. @returns whether there was anything */
  sweep(now: number): boolean {
    const before = this.#known.size;
    for (const [id, { entry }] of this.#known) if (!(now < entry.until)) this.#known.delete(id);
    return this.#known.size < before;
  }

  /** @returns false where the value does not count */
  #accept(id: string, value: string, known: Known | undefined, signing: Signing, now: number): boolean {
    // Nearly all of them, whenever one has changed.
    if (known?.value === value && (known.authentic || !this.#judgedAgain)) return true;
    if (!this.#judgedAgain && this.#ignored.get(id) === value) return false;
    const read = readEntry(signing, id, value);
    if (read === undefined || !counts(read, known, now)) return false;
    if (!(now < read.entry.until)) return true;
    if (known === undefined) {
      // Signed ones were bounded when they were set; what somebody plants must not keep them out.
      if (!read.authentic && this.#known.size >= MAX_ENTRIES) return false;
      this.#know(id, knownBy(read, value, signing));
    } else if (known.takenBack && allows(read.entry)) {
      known.revived = true;
    } else if (isNewer(read, known)) {
      const next = knownBy(read, value, signing);
      this.#know(id, { ...next, takenBack: next.takenBack || known.takenBack });
    } else if (printEntry(read.entry) === printEntry(known.entry)) {
      // Signed by another replica, with another key perhaps: no reason to write over each other.
      Object.assign(known, { value, signedWith: knownBy(read, value, signing).signedWith });
    }
    return true;
  }

  #dropped(ids: readonly string[]): readonly string[] {
    for (const id of ids) Object.assign(this.#known.get(id) ?? {}, { dropped: true });
    return ids;
  }

  #know(id: string, known: Known): void {
    this.#known.set(id, known);
    this.#changes += 1;
  }
}

const allows = (entry: Entry): boolean => entry.kind === "grant" && entry.effect === "allow";

/**
 * A revocation or a denial counts unsigned too: a key that has left the ring must not turn it off, and whoever could plant one
 * could stop everything anyway. So does the removal of a grant. Grants, and removals of what forbids, count only if they are
 * signed. None of what is not signed lasts longer, or dates chains further ahead, than anything that operators set.
 */
function counts({ entry, authentic }: Read, known: Known | undefined, now: number): boolean {
  if (authentic) return true;
  if (entry.until - now > TTL_MS.most || allows(entry)) return false;
  if (entry.kind === "revocation") return entry.bornBefore <= Math.floor(now / 1000) + AHEAD_SECONDS.unsigned;
  if (entry.kind === "grant") return true;
  const mayGo = known === undefined || known.entry.kind === "removal" || allows(known.entry);
  return entry.revoked === undefined && mayGo;
}

const signatureOf = (keyId: string, { audience }: Signing): string => `${keyId} ${audience}`;

function knownBy({ entry, authentic, keyId }: Read, value: string, signing: Signing): Known {
  return {
    entry,
    authentic,
    value,
    stored: value,
    signedWith: authentic ? signatureOf(keyId, signing) : keyId,
    takenBack: !authentic && entry.kind === "removal",
    revived: false,
    dropped: false,
  };
}

function isNewer(read: Read, known: Known): boolean {
  const [removes, removed] = [read.entry.kind === "removal", known.entry.kind === "removal"];
  // A removal that nobody vouches for goes before a grant, and behind all else.
  if (removes && !read.authentic) return allows(known.entry);
  if (removed && !known.authentic) return true;
  if (read.authentic !== known.authentic) return read.authentic;
  return removes && !removed;
}
