/**
 * A Redis stream that records go to, with those of all replicas, and that is cut to a length. Nobody waits for it: records wait in memory,
 * as many as fit, while Redis is away. A batch that got no answer is sent again a few times, so a record may stand there twice, by the
 * same `requestId`. docs/audit.md, a stream in Redis.
 */
import { setTimeout as setTimer } from "node:timers/promises";
import type { Log } from "../log.ts";
import { RedisFailure, TooLate } from "../redis/failure.ts";
import { openRedis, type RedisServers } from "../redis/open.ts";
import type { RedisTarget } from "../redis/target.ts";
import type { Sink } from "./sinks.ts";
import { ADD, keyOf } from "./stream.ts";

/** Characters that may wait; what comes on top is lost. */
const MAX_WAITING = 8 * 1024 * 1024;
const MAX_BATCH_RECORDS = 128;
const MAX_BATCH = 256 * 1024;
const TIMEOUT_MS = 2_000;
/** Of a batch whose fate is not known. */
const MAX_TRIES = 3;
const PAUSE_MS = { least: 100, most: 5_000 };
const FLUSH_MS = 1_000;
/** After this long without a loss the stream counts as whole again. */
const RECOVERY_MS = 10_000;

interface Waiting {
  readonly text: string;
  readonly onLost: () => void;
}

/** What it works with. */
export interface StreamSinkParts {
  readonly target: RedisTarget;
  readonly keyPrefix: string;
  /** Records that the stream is cut to, about. */
  readonly maxRecords: number;
  readonly log: Log;
}

/** See the file's header. */
export class StreamSink implements Sink {
  readonly name = "redis";
  readonly #servers: RedisServers;
  readonly #key: string;
  readonly #maxRecords: string;
  readonly #log: Log;
  #waiting: Waiting[] = [];
  #waitingSize = 0;
  #batch: readonly Waiting[] = [];
  #closed = false;
  #running: Promise<void> | undefined;
  /** Ends a pause. */
  readonly #wake = new AbortController();
  #failing = false;
  #lost = 0;
  #lastLoss: number | undefined;

  constructor({ target, keyPrefix, maxRecords, log }: StreamSinkParts) {
    this.#key = keyOf(keyPrefix);
    this.#maxRecords = String(maxRecords);
    this.#log = log;
    this.#servers = openRedis(target, TIMEOUT_MS, { ready: () => undefined, lost: () => undefined });
  }

  write(line: string, onLost: () => void): void {
    const text = line.trimEnd();
    if (this.#closed || this.#waitingSize + text.length > MAX_WAITING) {
      this.#lose([{ text, onLost }], this.#closed ? "closed" : "backlog");
      return;
    }
    this.#waiting.push({ text, onLost });
    this.#waitingSize += text.length;
    this.#running ??= this.#run();
  }

  /** Waits a moment for what waits; the rest is lost. */
  async close(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, FLUSH_MS);
    });
    await Promise.race([this.#running, late]);
    clearTimeout(timer);
    this.#closed = true;
    this.#wake.abort();
    await this.#servers.close();
    await this.#running;
    const left = [...this.#batch, ...this.#waiting];
    this.#batch = this.#waiting = [];
    if (left.length > 0) this.#lose(left, "closed");
  }

  /** Sends until nothing waits. Never rejects. */
  async #run(): Promise<void> {
    // What is written in one turn goes together.
    await Promise.resolve();
    let pause = PAUSE_MS.least;
    let tries = 0;
    while (!this.#closed && this.#take()) {
      const failure = await this.#send();
      if (failure === undefined) {
        this.#batch = [];
        [pause, tries] = [PAUSE_MS.least, 0];
        this.#succeed();
        continue;
      }
      if (this.#closed) break;
      this.#fail(failure);
      tries += failure.mayHaveRun ? 1 : 0;
      if (tries >= MAX_TRIES) {
        const batch = this.#batch;
        [this.#batch, tries] = [[], 0];
        this.#lose(batch, failure.reason);
      }
      await setTimer(pause, undefined, { ref: false, signal: this.#wake.signal }).catch(() => undefined);
      pause = Math.min(2 * pause, PAUSE_MS.most);
    }
    this.#running = undefined;
  }

  /** Makes a batch of what waits, unless there is one. @returns whether there is one */
  #take(): boolean {
    if (this.#batch.length > 0) return true;
    let size = 0;
    let count = 0;
    for (const { text } of this.#waiting) {
      if (count === MAX_BATCH_RECORDS || (count > 0 && size + text.length > MAX_BATCH)) break;
      size += text.length;
      count += 1;
    }
    this.#batch = this.#waiting.splice(0, count);
    this.#waitingSize -= size;
    return count > 0;
  }

  async #send(): Promise<{ readonly reason: string; readonly mayHaveRun: boolean } | undefined> {
    const deadline = performance.now() + TIMEOUT_MS;
    if (!(await this.#servers.whenReady(this.#key, deadline)))
      return { reason: "unreachable", mayHaveRun: false };
    try {
      const texts = this.#batch.map(({ text }) => text);
      await this.#servers.run(ADD, [this.#key], [this.#maxRecords, ...texts], deadline);
      return undefined;
    } catch (error) {
      if (!(error instanceof RedisFailure)) return { reason: "error", mayHaveRun: true };
      if (error.reason === "not_master") this.#servers.linkTo(this.#key)?.reconnect();
      const unsure = error.reason === "timeout" || error.reason === "unreachable";
      return { reason: error.reason, mayHaveRun: unsure && !(error instanceof TooLate) };
    }
  }

  #succeed(): void {
    if (this.#failing) this.#log.info({ sink: this.name }, "audit records go to Redis again");
    this.#failing = false;
    if (this.#lastLoss === undefined || performance.now() - this.#lastLoss < RECOVERY_MS) return;
    this.#log.warn({ sink: this.name, lost: this.#lost }, "audit records are written again");
    this.#lastLoss = undefined;
    this.#lost = 0;
  }

  #fail({ reason }: { readonly reason: string }): void {
    if (this.#failing) return;
    this.#failing = true;
    this.#log.warn({ sink: this.name, reason }, "audit records wait for Redis");
  }

  #lose(records: readonly Waiting[], reason: string): void {
    const before = this.#lastLoss;
    this.#lastLoss = performance.now();
    this.#lost += records.length;
    for (const { onLost } of records) onLost();
    if (before === undefined)
      this.#log.error({ sink: this.name, reason }, "audit records are lost, requests go on");
  }
}
