/**
 * The last audit records of this process, in memory, for the console; the oldest go. It is a copy to look at: what is kept is what the
 * sinks have. Arguments are left out, since whose they are decides how long they are.
 */
import type { AdminRecord } from "../audit/admin-record.ts";
import type { AuditRecord } from "../audit/record.ts";
import type { AuditLog } from "../audit/sinks.ts";
import { Tallies } from "./tallies.ts";

/** How much is held. */
export interface RecorderBounds {
  readonly records: number;
  /** Of their JSON texts together. */
  readonly characters: number;
}

export const RECORDER_BOUNDS: RecorderBounds = { records: 2_000, characters: 4 * 1024 * 1024 };
/** Of what came from nobody known and was refused, as a part: who has no credential must not push out what others did. */
const STRANGERS_PART = 0.1;

/** A record by its number in this process, from 1. */
export interface Recorded {
  readonly number: number;
  /** JSON text. */
  readonly text: string;
}

/** What is held, in numbers. */
export interface RecorderReport {
  readonly held: number;
  readonly characters: number;
  /** Records that went to make room. */
  readonly dropped: number;
  /** Unix milliseconds: records that were written before were never seen. */
  readonly since: number;
}

/** See the file's header. */
export class Recorder {
  readonly #wanted: () => boolean;
  readonly #now: () => number;
  readonly #bounds: RecorderBounds;
  readonly #strangersBounds: RecorderBounds;
  #known = new Ring();
  #strangers = new Ring();
  #last = 0;
  #since: number;
  #tallies: Tallies;

  /**
   * @param wanted whether there is a console now; while there is none nothing is held
   * @param now milliseconds since the epoch
   */
  constructor(wanted: () => boolean, now: () => number, bounds = RECORDER_BOUNDS) {
    this.#wanted = wanted;
    this.#now = now;
    this.#bounds = bounds;
    this.#strangersBounds = {
      records: Math.ceil(bounds.records * STRANGERS_PART),
      characters: Math.ceil(bounds.characters * STRANGERS_PART),
    };
    this.#since = now();
    this.#tallies = new Tallies();
  }

  /** Counts since the console is on. */
  get tallies(): Tallies {
    return this.#tallies;
  }

  /** Takes a copy. Never throws for a record that a sink takes. */
  take(record: AuditRecord | AdminRecord): void {
    if (!this.#wanted()) {
      this.forget();
      return;
    }
    const shown = record.type === "audit" ? withoutArguments(record) : record;
    this.#last += 1;
    const one = { number: this.#last, text: JSON.stringify(shown) };
    if (isStrangers(record)) this.#strangers.push(one, this.#strangersBounds);
    else this.#known.push(one, this.#bounds);
    if (record.type === "audit") this.#tallies.count(record, this.#now());
  }

  /** Drops everything, as when the console is turned off. */
  forget(): void {
    this.#since = this.#now();
    if (this.#last === 0) return;
    [this.#known, this.#strangers] = [new Ring(), new Ring()];
    // Numbers go on, so that nobody takes a new record for an old one.
    this.#tallies = new Tallies();
  }

  /**
   * Records with a greater number, oldest first.
   * @param after 0 for all
   * @param most bounds of one answer; the first record always fits
   */
  after(after: number, most: RecorderBounds): readonly Recorded[] {
    const found = [...this.#known.after(after), ...this.#strangers.after(after)];
    found.sort((a, b) => a.number - b.number);
    const page: Recorded[] = [];
    let characters = 0;
    for (const one of found) {
      characters += one.text.length;
      if (page.length >= most.records || (page.length > 0 && characters > most.characters)) break;
      page.push(one);
    }
    return page;
  }

  /** The number of the newest record so far; 0 before the first. */
  get last(): number {
    return this.#last;
  }

  report(): RecorderReport {
    const [a, b] = [this.#known, this.#strangers];
    return {
      held: a.held.length + b.held.length,
      characters: a.characters + b.characters,
      dropped: a.dropped + b.dropped,
      since: this.#since,
    };
  }
}

/** Records in the order of their numbers, the oldest of which go. */
class Ring {
  held: Recorded[] = [];
  characters = 0;
  dropped = 0;

  /** Makes room in larger steps than one, or each record would move all the others. */
  push(one: Recorded, { records, characters }: RecorderBounds): void {
    this.held.push(one);
    this.characters += one.text.length;
    if (this.held.length <= records && this.characters <= characters) return;
    let gone = 0;
    while (
      gone < this.held.length &&
      (this.held.length - gone > records * 0.9 || this.characters > characters * 0.9)
    ) {
      this.characters -= this.held[gone]?.text.length ?? 0;
      gone += 1;
    }
    this.held.splice(0, gone);
    this.dropped += gone;
  }

  /** Those with a greater number. */
  after(number: number): Recorded[] {
    let [low, high] = [0, this.held.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.held[middle]?.number ?? 0) > number) high = middle;
      else low = middle + 1;
    }
    return this.held.slice(low);
  }
}

const isStrangers = (record: AuditRecord | AdminRecord): boolean =>
  record.type === "audit"
    ? record.outcome === "refused" && (record.principal === undefined || record.code === "unauthorized")
    : record.action === "unknown" || (record.action === "signin" && record.outcome === "refused");

function withoutArguments({ arguments: _, ...rest }: AuditRecord): Omit<AuditRecord, "arguments"> {
  return rest;
}

/** An audit log whose records the console sees too. */
export const watched = (audit: AuditLog, recorder: Pick<Recorder, "take">): AuditLog => ({
  ...audit,
  write(record) {
    audit.write(record);
    recorder.take(record);
  },
  losses: () => audit.losses(),
  close: () => audit.close(),
});
