/**
 * The settings in force. A request takes them once, when it arrives, and keeps them to its end; others take their place by one
 * assignment. What has been replaced is closed when the last request that was judged by it is over.
 */
import { isDeepStrictEqual } from "node:util";
import type { LoadedConfig } from "./config/load.ts";
import { changedSections, NotTakenUp } from "./config/reload.ts";
import { startOnlyChanges } from "./config/start-only.ts";
import type { Held } from "./held.ts";
import { logError } from "./log.ts";
import { warnAnonymous } from "./openings.ts";
import { openSettings, type ProcessParts, type Settings, warnUnfiltered } from "./settings.ts";
import { signsUnknown } from "./upstream/assertion-keys.ts";

/** The answers have left by then, and only records are missing. */
const LAST_RECORDS_MS = 1_000;

/** What a request holds. */
export interface Lease {
  readonly settings: Settings;
  /** The request is over, its audit record written. */
  end(): void;
}

/** Told of settings that have just taken the place of others. */
export interface Replaced {
  readonly settings: Settings;
  /** Whether anything changed that an open stream was judged by. */
  readonly judgement: boolean;
}

/** See the file's header. */
export class InForce {
  readonly #shared: ProcessParts;
  readonly #listeners: ((replaced: Replaced) => void)[] = [];
  readonly #retiring = new Set<Promise<void>>();
  #held: Held<Settings>;
  #release: () => Promise<void>;
  #closed = false;
  /** Requests that hold settings, of whatever age. */
  #leases = 0;
  #onIdle: (() => void) | undefined;

  private constructor(held: Held<Settings>, shared: ProcessParts) {
    this.#held = held;
    this.#release = held.hold();
    this.#shared = shared;
  }

  /** @throws Error when something of the configuration cannot be opened; nothing is left open then */
  static async open(loaded: LoadedConfig, shared: ProcessParts): Promise<InForce> {
    const opened = await openSettings(loaded, shared);
    warnAnonymous(loaded.config, shared.log);
    warnUnfiltered(loaded.config, shared.log);
    return new InForce(opened, shared);
  }

  /** What a request that arrives now is judged by. For a look only; who keeps it enters. */
  get settings(): Settings {
    return this.#held.value;
  }

  /** Takes the settings for one request. */
  enter(): Lease {
    const held = this.#held;
    const release = held.hold();
    this.#leases += 1;
    let over = false;
    return {
      settings: held.value,
      end: () => {
        if (over) return;
        over = true;
        this.#leases -= 1;
        this.#retire(release());
        if (this.#leases === 0) this.#onIdle?.();
      },
    };
  }

  /** Calls `listener` right after each replacement. */
  onReplaced(listener: (replaced: Replaced) => void): void {
    this.#listeners.push(listener);
  }

  /**
   * Puts another configuration in force as a whole, keys included. Does nothing if nothing has changed.
   * @returns whether anything has changed
   * @throws NotTakenUp, or Error when something of it cannot be opened; all stays as it was then
   */
  async take(next: LoadedConfig): Promise<boolean> {
    const before = this.#held.value;
    const takesRestart = startOnlyChanges(before.loaded, next);
    if (takesRestart.length > 0) throw new NotTakenUp(takesRestart);
    const { keys, log, metrics } = this.#shared;
    const ring = keys.prepare(next);
    const secrets = !isDeepStrictEqual(before.loaded.secrets, next.secrets);
    if (!secrets && isDeepStrictEqual(before.loaded.config, next.config)) return false;
    const opened = await openSettings(next, this.#shared, before);
    const release = opened.hold();
    if (this.#closed) {
      await release();
      return false;
    }
    // From here on nothing can fail and nothing waits: ring and settings change together.
    ring();
    const retired = this.#release;
    this.#held = opened;
    this.#release = release;
    warnAnonymous(next.config, log);
    log.info({ sections: changedSections(before.loaded, next), secrets }, "configuration taken up");
    warnUnfiltered(next.config, log, before.loaded.config);
    if (before.loaded.config.envelope.audience !== next.config.envelope.audience) {
      log.warn({}, "envelope.audience has changed: open rounds are refused");
    }
    if (signsUnknown(before.signer, opened.value.signer)) {
      log.warn(
        {},
        "assertions are signed by a key that was not published before: servers may not know it yet",
      );
    }
    const judgement = !isDeepStrictEqual(judgedBy(before.loaded), judgedBy(next));
    for (const listener of this.#listeners) listener({ settings: opened.value, judgement });
    this.#retire(retired());
    this.#retire(metrics.keepRoutes(new Set(opened.value.routes.keys())));
    return true;
  }

  /** Gives the last requests a moment to write their records, then closes what is in force and what was before. */
  async close(): Promise<void> {
    this.#closed = true;
    if (this.#leases > 0) {
      await new Promise<void>((resolve) => {
        const late = setTimeout(resolve, LAST_RECORDS_MS);
        this.#onIdle = () => {
          clearTimeout(late);
          resolve();
        };
      });
    }
    await this.#held.end();
    await Promise.all(this.#retiring);
  }

  #retire(closing: Promise<void>): void {
    const done = closing
      .catch((error: unknown) => {
        this.#shared.log.warn({ err: logError(error) }, "what was replaced was not closed in order");
      })
      .finally(() => this.#retiring.delete(done));
    this.#retiring.add(done);
  }
}

/** What decides on a stream that is open, and on its notifications: all but where things are written, and the ring. */
function judgedBy({ config, secrets }: LoadedConfig): unknown {
  const { keys, log, audit, admin, telemetry, ...judging } = config;
  // The keys of the envelope are the exception, see keys.ts; whether the admin's token or a certificate changed decides on no stream.
  const { keys: ring, adminToken, traceHeaders, tls, ...read } = secrets;
  return { judging, read };
}
