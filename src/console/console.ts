/** The console as a whole: what it records, who is signed in, and where it is served. docs/console.md */
import type { FastifyInstance } from "fastify";
import { Attempts } from "../admin/attempts.ts";
import { deedRecorder } from "../admin/deeds.ts";
import { Sessions } from "../admin/sessions.ts";
import type { AdminRecord } from "../audit/admin-record.ts";
import type { Log } from "../log.ts";
import { servePage } from "./page.ts";
import { Recorder } from "./recorder.ts";
import type { StateSources } from "./state.ts";
import { serveConsoleVerbs } from "./verbs.ts";

/** What it works with. */
export interface ConsoleParts {
  /** `admin.console` in force. */
  readonly wanted: () => boolean;
  /** The token in force; without one there is no console. */
  readonly token: () => string | undefined;
  readonly random: (bytes: number) => Buffer;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly log: Log;
}

/** See the file's header. */
export class Console {
  readonly recorder: Recorder;
  readonly #sessions: Sessions;
  readonly #parts: ConsoleParts;

  constructor(parts: ConsoleParts) {
    this.#parts = parts;
    this.recorder = new Recorder(() => this.on, parts.now);
    this.#sessions = new Sessions(parts.random, parts.now);
  }

  get on(): boolean {
    return this.#parts.wanted() && this.#parts.token() !== undefined;
  }

  /** Those that open the admin verbs too; undefined while the console is off. */
  get sessions(): Sessions | undefined {
    return this.on ? this.#sessions : undefined;
  }

  /** To be called when another configuration is in force: what is off forgets everything. */
  follow(): void {
    if (this.on) return;
    this.#sessions.endAll();
    this.recorder.forget();
  }

  /** Adds page and API to the admin app. @throws Error when a file of the page is missing */
  serve(
    app: FastifyInstance,
    {
      state,
      audit,
    }: {
      readonly state: Omit<StateSources, "recorder">;
      readonly audit: { write(record: AdminRecord): void };
    },
  ): void {
    const { token, log, now } = this.#parts;
    const on = (): boolean => this.on;
    servePage(app, on);
    serveConsoleVerbs(app, {
      ...{ on, token, log, sessions: this.#sessions },
      attempts: new Attempts(now),
      state: { ...state, recorder: this.recorder },
      record: deedRecorder(audit, now),
    });
  }
}
