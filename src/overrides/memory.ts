/** The overrides of one process, gone with it: for `redemption.store: memory`. Set through the admin listener only. */
import { randomBytes } from "node:crypto";
import { type Entry, type Grant, MAX_ENTRIES, type Revocation } from "./entry.ts";
import {
  type Dated,
  type GrantOrder,
  type Lifetimes,
  makeGrant,
  makeRevocation,
  newestBirth,
  type RevocationOrder,
} from "./orders.ts";
import {
  counted,
  type OverridesDesk,
  OverridesFull,
  type OverridesStatus,
  readable,
  type Shown,
  Standing,
  shown,
} from "./overrides.ts";

/** What an owner of the table brings. */
export interface MemoryOverridesOptions {
  /** Those of the configuration in force. */
  readonly lifetimes: () => Lifetimes;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly random?: (bytes: number) => Buffer;
}

/** An empty table. */
export function createMemoryOverrides(options: MemoryOverridesOptions): OverridesDesk {
  return new MemoryOverrides(options);
}

class MemoryOverrides extends Standing implements OverridesDesk {
  readonly #options: MemoryOverridesOptions;
  #entries: readonly (Revocation | Grant)[] = [];
  /** By the text of their target: also those that were taken back, as long as chains may be dated by them. */
  #dated = new Map<string, Dated>();

  constructor(options: MemoryOverridesOptions) {
    super();
    this.#options = options;
  }

  known(): boolean {
    return true;
  }

  protected entries(): readonly Entry[] {
    return this.#entries;
  }

  protected now(): number {
    return this.#options.now();
  }

  protected grantsNow(): number {
    return this.now();
  }

  list(): Shown[] {
    return shown(this.#live().map((entry) => ({ entry, authentic: true })));
  }

  async revoke(order: RevocationOrder): Promise<Revocation> {
    const making = this.#making();
    const seconds = Math.floor(making.now / 1000);
    for (const [target, { bornBefore }] of this.#dated) if (bornBefore <= seconds) this.#dated.delete(target);
    const newest = newestBirth(this.#dated.values(), order.target, making.now);
    const entry = readable(makeRevocation(order, making, newest, this.#options.lifetimes()), making.now);
    this.#put([...this.#room(), entry]);
    this.#dated.set(JSON.stringify(entry.target), entry);
    return entry;
  }

  async grant(order: GrantOrder): Promise<Grant> {
    const entry = makeGrant(order, this.#making());
    this.#put([...this.#room(), entry]);
    return entry;
  }

  async remove(kind: Entry["kind"], id: string): Promise<Revocation | Grant | undefined> {
    const found = this.#live().find((entry) => entry.id === id && entry.kind === kind);
    if (found !== undefined) this.#put(this.#live().filter((entry) => entry !== found));
    return found;
  }

  status(): OverridesStatus {
    return { ...counted(this.list()), ignored: 0, ageSeconds: 0 };
  }

  async close(): Promise<void> {}

  #live(): (Revocation | Grant)[] {
    const now = this.now();
    return this.#entries.filter(({ until }) => now < until);
  }

  #room(): (Revocation | Grant)[] {
    const live = this.#live();
    if (live.length >= MAX_ENTRIES)
      throw new OverridesFull(`there are ${MAX_ENTRIES} entries, and no more can be set`);
    return live;
  }

  #making(): { id: string; now: number } {
    return { id: (this.#options.random ?? randomBytes)(16).toString("base64url"), now: this.now() };
  }

  #put(entries: readonly (Revocation | Grant)[]): void {
    this.#entries = entries;
    this.changed();
  }
}
