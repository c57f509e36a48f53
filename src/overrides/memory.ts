/** The overrides of one process, gone with it: for `redemption.store: memory`. Set through the admin listener only. */
import { randomBytes } from "node:crypto";
import { type Entry, type Grant, MAX_ENTRIES, type Revocation } from "./entry.ts";
import {
  type GrantOrder,
  type Lifetimes,
  makeGrant,
  makeRevocation,
  type RevocationOrder,
} from "./orders.ts";
import {
  counted,
  type OverridesDesk,
  OverridesFull,
  type OverridesStatus,
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
  #newest = 0;

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

  protected grantsHold(): boolean {
    return true;
  }

  list(): Shown[] {
    return shown(this.#live().map((entry) => ({ entry, authentic: true })));
  }

  async revoke(order: RevocationOrder): Promise<Revocation> {
    const entry = makeRevocation(order, this.#making(), this.#newest, this.#options.lifetimes());
    this.#put([...this.#room(), entry]);
    this.#newest = entry.bornBefore;
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
