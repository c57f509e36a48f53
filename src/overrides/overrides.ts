/**
 * What operators set at run time, as the rest of the gateway sees it: one contract for both stores.
 * Requests ask from memory, without I/O; operators set, list and remove.
 */
import type { Ask } from "../config/schema.ts";
import type { Principal } from "../principal/principal.ts";
import { type Entry, type Grant, parseEntry, printEntry, type Revocation } from "./entry.ts";
import { AHEAD_SECONDS, dates, type GrantOrder, type RevocationOrder } from "./orders.ts";
import { type Chain, type Place, Table } from "./table.ts";

/** What requests are judged by. Never throws. */
export interface Overrides {
  /** False until the store was read once: until then nobody knows what is revoked, and nothing is redeemed or sealed. */
  known(): boolean;
  /** Whether a chain may go no further. */
  isRevoked(chain: Chain, principal: Principal, route: string): boolean;
  /** The earliest birth (unix seconds) for a new chain that no revocation hits which is known by now. */
  firstBirth(principal: Principal, route: string): number;
  /** What may be asked now: `allowed` by policy and granted, without what is denied. */
  asks(allowed: ReadonlySet<Ask>, place: Place): ReadonlySet<Ask>;
}

/** An entry as it is shown. */
export type Shown<T extends Revocation | Grant = Revocation | Grant> = T & {
  /** False: in force, since it forbids, but not signed by a key of the ring. */
  readonly signed: boolean;
};

/** Counts for metrics. */
export interface OverridesStatus {
  readonly revocations: number;
  readonly allows: number;
  readonly denials: number;
  /** Values in the store that do not count. */
  readonly ignored: number;
  /** Seconds since the store was last read; undefined if it never was. */
  readonly ageSeconds: number | undefined;
}

/** The same, for operators. */
export interface OverridesDesk extends Overrides {
  /** What is in force, oldest first. */
  list(): Shown[];
  /** Revokes. Throws OverridesFull, OverridesUnavailable. */
  revoke(order: RevocationOrder): Promise<Revocation>;
  /** Grants or denies. Throws OverridesFull, OverridesUnavailable. */
  grant(order: GrantOrder): Promise<Grant>;
  /**
   * Takes an entry of this kind back. Answers with it; undefined if there is none. Throws OverridesUnavailable.
   * @param by who does it
   */
  remove(kind: "revocation" | "grant", id: string, by: string): Promise<Revocation | Grant | undefined>;
  /** Answers from memory. */
  status(): OverridesStatus;
  /** Ends connections and timers. */
  close(): Promise<void>;
}

/** No entry more can be taken. */
export class OverridesFull extends Error {
  override readonly name = "OverridesFull";
}

/** The store cannot be used now. The message says so where it is not known whether the order took effect. */
export class OverridesUnavailable extends Error {
  override readonly name = "OverridesUnavailable";
}

/** Others change the same all the time, or have changed it too often just now: nothing was set, and trying again may help. */
export class OverridesBusy extends OverridesUnavailable {}

/**
 * An entry that every reader will take. Nothing is reported as set that is not.
 * @param now milliseconds: what it was made for
 * @throws OverridesBusy, OverridesUnavailable
 */
export function readable<T extends Entry>(entry: T, now: number): T {
  if (entry.kind === "revocation" && !dates(entry.bornBefore, now)) {
    const seconds = entry.bornBefore - Math.floor(now / 1000) - AHEAD_SECONDS.most;
    throw new OverridesBusy(
      `the same was revoked too often just now, and this one was not set; try again in ${seconds} s`,
    );
  }
  if (parseEntry(printEntry(entry)) === undefined)
    throw new OverridesUnavailable("the clock of the store is out of range; nothing was set");
  return entry;
}

/** The half that both stores have in common: a table, made when it is asked after a change, and a clock to ask it by. */
export abstract class Standing implements Overrides {
  #table: Table | undefined;

  abstract known(): boolean;
  /** What counts now. */
  protected abstract entries(): Iterable<Entry>;
  /** Milliseconds, by the clock that entries are set by. */
  protected abstract now(): number;
  /** The time that grants are judged by; infinite while they have lapsed. */
  protected abstract grantsNow(): number;

  isRevoked(chain: Chain, principal: Principal, route: string): boolean {
    return this.#inForce().isRevoked(chain, { principal, route }, this.now());
  }

  firstBirth(principal: Principal, route: string): number {
    return this.#inForce().firstBirth({ principal, route }, this.now());
  }

  asks(allowed: ReadonlySet<Ask>, place: Place): ReadonlySet<Ask> {
    return this.#inForce().asks(allowed, place, this.now(), this.grantsNow());
  }

  /** To be called when `entries` has others to tell. */
  protected changed(): void {
    this.#table = undefined;
  }

  #inForce(): Table {
    this.#table ??= new Table(this.entries());
    return this.#table;
  }
}

/** What is in force, oldest first; removals are not shown. */
export function shown(
  entries: Iterable<{ readonly entry: { readonly kind: string }; readonly authentic: boolean }>,
): Shown[] {
  const list: Shown[] = [];
  for (const { entry, authentic } of entries) {
    if (entry.kind !== "removal") list.push({ ...(entry as Revocation | Grant), signed: authentic });
  }
  return list.sort((a, b) => a.setAt - b.setAt);
}

/** Entries by kind. */
export function counted(list: readonly Shown[]): Pick<OverridesStatus, "revocations" | "allows" | "denials"> {
  const revocations = list.filter(({ kind }) => kind === "revocation").length;
  const allows = list.filter((entry) => entry.kind === "grant" && entry.effect === "allow").length;
  return { revocations, allows, denials: list.length - revocations - allows };
}
