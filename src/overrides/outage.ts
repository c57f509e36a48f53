/** Whether the store can be read, told in the log when that begins and when it ends. */
import type { Log } from "../log.ts";

/** See the file's header. */
export class Outage {
  readonly #log: Log;
  readonly #store: string;
  #cause: string | undefined;

  /** @param store its name, for logs */
  constructor(log: Log, store: string) {
    this.#log = log;
    this.#store = store;
  }

  /** Why it could not be read last; undefined if it could. */
  get cause(): string | undefined {
    return this.#cause;
  }

  /** It was read. */
  end(): void {
    if (this.#cause !== undefined) this.#log.info({ store: this.#store }, "overrides can be read");
    this.#cause = undefined;
  }

  /** It could not be read. @param tell false where that is no news to anybody */
  begin(reason: string, cause: string, tell: boolean): void {
    const before = this.#cause;
    this.#cause = cause;
    if (before !== undefined || !tell) return;
    const fields = { store: this.#store, reason, cause };
    this.#log.warn(fields, "overrides cannot be read: revocations and denials stay, grants lapse");
  }
}
