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
  #held: Recorded[] = [];
  #characters = 0;
  #last = 0;
  #dropped = 0;
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
    const text = JSON.stringify(shown);
    this.#last += 1;
    this.#held.push({ number: this.#last, text });
    this.#characters += text.length;
    if (record.type === "audit") this.#tallies.count(record, this.#now());
    this.#makeRoom();
  }

  /** Drops everything, as when the console is turned off. */
  forget(): void {
    this.#since = this.#now();
    if (this.#last === 0) return;
    [this.#held, this.#characters, this.#dropped] = [[], 0, 0];
    // Numbers go on, so that nobody takes a new record for an old one.
    this.#tallies = new Tallies();
  }

  /**
   * Records with a greater number, oldest first.
   * @param after 0 for all
   * @param most bounds of one answer; the first record always fits
   */
  after(after: number, most: RecorderBounds): readonly Recorded[] {
    const first = this.#held[0]?.number ?? 0;
    const from = Math.max(0, after + 1 - first);
    const page: Recorded[] = [];
    let characters = 0;
    for (let at = from; at < this.#held.length && page.length < most.records; at++) {
      const one = this.#held[at];
      if (one === undefined) break;
      characters += one.text.length;
      if (page.length > 0 && characters > most.characters) break;
      page.push(one);
    }
    return page;
  }

  /** The number of the newest record so far; 0 before the first. */
  get last(): number {
    return this.#last;
  }

  report(): RecorderReport {
    const [held, characters, dropped, since] = [
      this.#held.length,
      this.#characters,
      this.#dropped,
      this.#since,
    ];
    return { held, characters, dropped, since };
  }

  /** In larger steps than one, or each record would move all the others. */
  #makeRoom(): void {
    const { records, characters } = this.#bounds;
    if (this.#held.length <= records && this.#characters <= characters) return;
    let gone = 0;
    while (
      gone < this.#held.length &&
      (this.#held.length - gone > records * 0.9 || this.#characters > characters * 0.9)
    ) {
      this.#characters -= this.#held[gone]?.text.length ?? 0;
      gone += 1;
    }
    this.#held.splice(0, gone);
    this.#dropped += gone;
  }
}

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
