/**
 * Sends spans to a collector: OTLP over HTTP as JSON, in batches, behind the requests' backs. Nobody waits for it, it never throws, and
 * what is not taken is counted. Source: OpenTelemetry Protocol 1, OTLP/HTTP.
 */
import { setTimeout as setTimer } from "node:timers/promises";
import { Agent, request } from "undici";
import { type Log, withoutQuery } from "../log.ts";
import { type Attributes, printSpans, type Span } from "./span.ts";

/** What became of a span. */
export type SpanOutcome = "exported" | "dropped" | "rejected" | "lost";

/** Where spans go, and by what rules. Trusted: an operator wrote it. */
export interface ExporterOptions {
  /** The whole URL. */
  readonly endpoint: string;
  /** May hold secrets. */
  readonly headers: Readonly<Record<string, string>>;
  readonly resource: Attributes;
  readonly version: string;
  readonly log: Log;
  readonly count: (outcome: SpanOutcome, spans: number) => void;
  /** Milliseconds for one whole exchange, and for the last ones at the end. */
  readonly timeout?: number;
  readonly closeWithin?: number;
}

const MAX_WAITING = 2_048;
const BATCH = 512;
const INTERVAL_MS = 5_000;
const TIMEOUT_MS = 10_000;
const CLOSE_MS = 1_000;
const MAX_ANSWER_BYTES = 64 * 1_024;
const MAX_TRIES = 5;
const PAUSE_MS = { least: 1_000, most: 30_000 };
/** The collector may take the same batch later; nothing else is sent again. */
const AGAIN: ReadonlySet<number> = new Set([429, 502, 503, 504]);

type Sent = "taken" | "again" | "refused";

/** See the file's header. */
export class SpanExporter {
  readonly #options: ExporterOptions;
  readonly #agent: Agent;
  readonly #closing = new AbortController();
  #waiting: Span[] = [];
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  /** Ends a pause. */
  readonly #wake = new AbortController();
  #ending = false;
  #failing = false;

  constructor(options: ExporterOptions) {
    this.#options = options;
    const timeout = options.timeout ?? TIMEOUT_MS;
    this.#agent = new Agent({
      connections: 1,
      maxResponseSize: MAX_ANSWER_BYTES,
      headersTimeout: timeout,
      bodyTimeout: timeout,
      connect: { timeout },
    });
  }

  /** Takes spans, or drops what does not fit. */
  add(spans: readonly Span[]): void {
    const room = this.#ending ? 0 : Math.max(0, MAX_WAITING - this.#waiting.length);
    const taken = spans.length <= room ? spans : [];
    if (taken.length < spans.length) this.#options.count("dropped", spans.length - taken.length);
    this.#waiting.push(...taken);
    if (this.#waiting.length >= BATCH) this.#start();
    else if (this.#waiting.length > 0) this.#timer ??= setTimeout(() => this.#start(), INTERVAL_MS).unref();
  }

  /** Sends what waits, for a moment; the rest is lost. */
  async close(): Promise<void> {
    this.#ending = true;
    const late = setTimeout(() => this.#closing.abort(), this.#options.closeWithin ?? CLOSE_MS);
    this.#wake.abort();
    this.#start();
    await this.#running;
    clearTimeout(late);
    await this.#agent.destroy();
  }

  #start(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
      // What came while the last batch was on its way.
      if (!this.#ending && this.#waiting.length > 0) this.add([]);
    });
  }

  /** Sends until nothing waits. Never rejects. */
  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, BATCH);
      let pause = PAUSE_MS.least;
      for (let tries = 1; ; tries += 1) {
        const sent = await this.#send(batch);
        if (sent === "taken") break;
        if (sent === "refused" || tries === MAX_TRIES || this.#ending) {
          this.#options.count("lost", batch.length);
          break;
        }
        await setTimer(pause, undefined, { ref: false, signal: this.#wake.signal }).catch(() => undefined);
        pause = Math.min(2 * pause, PAUSE_MS.most);
      }
    }
  }

  async #send(batch: readonly Span[]): Promise<Sent> {
    const { endpoint, headers, resource, version } = this.#options;
    const signal = AbortSignal.any([
      AbortSignal.timeout(this.#options.timeout ?? TIMEOUT_MS),
      this.#closing.signal,
    ]);
    try {
      const body = printSpans(resource, { name: "sealgate", version }, batch);
      const { statusCode, body: answer } = await request(endpoint, {
        method: "POST",
        dispatcher: this.#agent,
        signal,
        headers: { ...headers, "content-type": "application/json", "user-agent": `sealgate/${version}` },
        body,
      });
      const text = await answer.text();
      if (statusCode === 200) {
        const rejected = rejectedSpans(text, batch.length);
        if (rejected > 0) this.#options.count("rejected", rejected);
        this.#options.count("exported", batch.length - rejected);
        this.#tell(undefined);
        return "taken";
      }
      this.#tell(`status_${statusCode}`);
      return AGAIN.has(statusCode) ? "again" : "refused";
    } catch (error) {
      this.#tell(error instanceof Error && "code" in error ? String(error.code) : "unreachable");
      return "again";
    }
  }

  /** Once when it begins to fail, and once when it is over. */
  #tell(reason: string | undefined): void {
    const { log, endpoint } = this.#options;
    const failing = reason !== undefined;
    if (failing === this.#failing) return;
    this.#failing = failing;
    const line = { endpoint: withoutQuery(endpoint), ...(failing ? { reason } : {}) };
    if (failing) log.warn(line, "traces are not taken, requests go on");
    else log.info(line, "traces are taken again");
  }
}

/** How many spans the collector says it did not take. Untrusted. */
function rejectedSpans(text: string, most: number): number {
  try {
    const answer: unknown = JSON.parse(text);
    if (typeof answer !== "object" || answer === null || !("partialSuccess" in answer)) return 0;
    const { partialSuccess } = answer;
    if (typeof partialSuccess !== "object" || partialSuccess === null) return 0;
    const rejected = "rejectedSpans" in partialSuccess ? Number(partialSuccess.rejectedSpans) : 0;
    return Number.isSafeInteger(rejected) && rejected > 0 ? Math.min(rejected, most) : 0;
  } catch {
    return 0;
  }
}
