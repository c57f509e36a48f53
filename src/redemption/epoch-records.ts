/** The epoch records as last read: one, or in a Cluster one for each bucket. Without I/O. */
import type { Connection } from "../redis/connection.ts";
import { LOOK_SECONDS } from "./server-clock.ts";
import type { UnavailableReason } from "./store.ts";

/** What is known of one epoch record. */
export interface EpochRecord {
  readonly key: string;
  /** The epoch to seal under. */
  value: string | undefined;
  /** This epoch is over, whatever Redis says: the clock of its server was set back under it. */
  over: string | undefined;
  /** The server that told the epoch; undefined where it should be read again soon. */
  teller: Connection | undefined;
  /** Why this record cannot be used though its server answers. */
  failure: UnavailableReason | undefined;
}

/** See the file's header. */
export class EpochRecords {
  readonly all: readonly EpochRecord[];
  readonly #records: ReadonlyMap<string, EpochRecord>;
  readonly #linkTo: (key: string) => Connection | undefined;

  /** `linkTo` tells the server that has a key now. */
  constructor(keys: readonly string[], linkTo: (key: string) => Connection | undefined) {
    this.#linkTo = linkTo;
    const unread = { value: undefined, over: undefined, teller: undefined, failure: undefined };
    this.all = keys.map((key) => ({ key, ...unread }));
    this.#records = new Map(this.all.map((record) => [record.key, record]));
  }

  /** True if every epoch has been read. */
  get known(): boolean {
    return this.all.every(({ value }) => value !== undefined);
  }

  at(key: string): EpochRecord | undefined {
    return this.#records.get(key);
  }

  /** The records by the server that has them. */
  groups(): Map<Connection | undefined, EpochRecord[]> {
    return Map.groupBy(this.all, ({ key }) => this.#linkTo(key));
  }

  of(link: Connection | undefined): EpochRecord[] {
    return this.all.filter(({ key }) => this.#linkTo(key) === link);
  }

  isServed(link: Connection): boolean {
    return this.all.some(({ key }) => this.#linkTo(key) === link);
  }

  /** What a server has not told yet, or not well. */
  untold(link: Connection): EpochRecord[] {
    return this.of(link).filter(({ teller, failure }) => teller !== link || failure !== undefined);
  }

  /**
   * What to read of a server in this second, if the last look at it began `since` seconds ago: what it has not told, and of the rest
   * a share for each of those seconds. What takes one epoch away takes all.
   */
  due(link: Connection, second: number, since: number): EpochRecord[] {
    const records = this.of(link);
    return records.filter(
      ({ teller, failure }, index) =>
        teller !== link ||
        failure !== undefined ||
        records.length < LOOK_SECONDS ||
        (((second - index) % LOOK_SECONDS) + LOOK_SECONDS) % LOOK_SECONDS < since,
    );
  }
}
