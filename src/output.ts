/**
 * A place that takes lines: standard output, standard error, or a file. Writing never waits and never throws; what a full
 * disk, a broken pipe or a reader that stands still does not let through is dropped and counted, and nobody waits for it
 * longer than a moment. Why no stream of a library: theirs end the process at the first error, or wait for ever at the last.
 */
import { close, constants, openSync, write, writeSync } from "node:fs";
import { isatty } from "node:tty";

/** Characters that may wait for a slow place; what comes on top is lost. */
const MAX_WAITING = 8 * 1024 * 1024;
const MAX_BATCH = 64 * 1024;
/** After this long without a loss a place counts as whole again. Less would report a nearly full disk line by line. */
const RECOVERY_MS = 10_000;
const RETRY_MS = 50;
/** Between two writes: thousands of lines a second cost a hundred writes. A line that comes alone is written at once. */
const PAUSE_MS = 10;
const FLUSH_MS = 1_000;
const NEWLINE = 10;

/** A change in what a place lets through: it loses lines from now on, or it has lost that many and takes them again. */
export type Change =
  | { readonly taken: false; readonly reason: string }
  | { readonly taken: true; readonly lost: number };

/** What a test may put in place of the system's. */
export interface OutputSystem {
  write(
    file: number,
    bytes: Buffer,
    from: number,
    done: (error: NodeJS.ErrnoException | null, written: number) => void,
  ): void;
  /** Milliseconds, of a clock that is not set. */
  now(): number;
  /** Calls back after so many milliseconds; must not keep the process alive. */
  later(ms: number, run: () => void): void;
}

const SYSTEM: OutputSystem = {
  write: (file, bytes, from, done) => write(file, bytes, from, bytes.length - from, null, done),
  now: () => performance.now(),
  later: (ms, run) => void setTimeout(run, ms).unref(),
};

interface Line {
  readonly text: string;
  readonly onLost: (() => void) | undefined;
}

/** See the file's header. */
export class Output {
  #file: number;
  /** Takes its place with the next batch. */
  #nextFile: number | undefined;
  readonly #system: OutputSystem;
  readonly #listeners: ((change: Change) => void)[] = [];
  #waiting: Line[] = [];
  #waitingSize = 0;
  /** On its way to the system. */
  #batch: readonly Line[] = [];
  /** When the last batch set out, and whether the next waits for its time. */
  #lastBatch = Number.NEGATIVE_INFINITY;
  #pausing = false;
  #closed = false;
  /** The last line that was written is half a line. */
  #torn = false;
  #lastLoss: number | undefined;
  #lost = 0;
  #idle = Promise.withResolvers<void>();

  /** @param file a descriptor, open for writing and not blocking */
  constructor(file: number, system: OutputSystem = SYSTEM) {
    this.#file = file;
    this.#system = system;
    this.#idle.resolve();
  }

  /** Tells of every change. The listener may write here. */
  onChange(listener: (change: Change) => void): void {
    this.#listeners.push(listener);
  }

  /**
   * Takes one line.
   * @param text with its line end
   * @param onLost called if the line does not arrive whole
   */
  write(text: string, onLost?: () => void): void {
    const line = { text, onLost };
    if (this.#closed || this.#waitingSize + text.length > MAX_WAITING) {
      this.#lose([line], this.#closed ? "closed" : "backlog");
      return;
    }
    this.#waiting.push(line);
    this.#waitingSize += text.length;
    if (this.#batch.length > 0) return;
    if (this.#waiting.length === 1) this.#idle = Promise.withResolvers();
    this.#goOn();
  }

  /**
   * Goes on in another file, from the next whole line on; the one before is closed when it has what is on its way to it.
   * @param file a descriptor, as of the constructor
   */
  redirect(file: number): void {
    if (this.#closed) return void close(file, () => undefined);
    // What only waits for company was written before.
    if (this.#batch.length === 0 && this.#waiting.length > 0) this.#next();
    if (this.#nextFile !== undefined) close(this.#nextFile, () => undefined);
    this.#nextFile = file;
    if (this.#batch.length === 0) this.#move();
  }

  #move(): void {
    if (this.#nextFile === undefined) return;
    close(this.#file, () => undefined);
    this.#file = this.#nextFile;
    this.#nextFile = undefined;
    this.#torn = false;
  }

  /** Resolves when everything is written or lost, or when a moment is over. */
  async flush(ms = FLUSH_MS): Promise<void> {
    if (this.#batch.length === 0 && this.#waiting.length > 0) this.#next();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, ms);
    });
    await Promise.race([this.#idle.promise, late]);
    clearTimeout(timer);
  }

  /** One last try at the moment the process ends, when nothing can be waited for any more. */
  flushAtExit(): void {
    try {
      if (this.#batch.length === 0 && this.#waiting.length > 0) {
        writeSync(this.#file, this.#waiting.map(({ text }) => text).join(""));
      }
    } catch {
      // Nobody is left to be told.
    }
  }

  /** As `flush`; then nothing is taken any more, what has not been written is lost, and the file is closed. */
  async close(): Promise<void> {
    if (this.#closed) return;
    await this.flush();
    this.#closed = true;
    const left = [...this.#batch, ...this.#waiting];
    this.#waiting = [];
    if (this.#nextFile !== undefined) close(this.#nextFile, () => undefined);
    if (left.length > 0) this.#lose(left, "backlog");
    // A write that the system still has keeps its descriptor until the process ends.
    if (this.#batch.length === 0) close(this.#file, () => undefined);
  }

  /** Writes what waits, now or when it is time. */
  #goOn(): void {
    const left = this.#lastBatch + PAUSE_MS - this.#system.now();
    if (left <= 0 || this.#waiting.length === 0 || this.#waitingSize >= MAX_BATCH) {
      this.#next();
      return;
    }
    this.#batch = [];
    if (this.#pausing) return;
    this.#pausing = true;
    this.#system.later(left, () => {
      this.#pausing = false;
      if (this.#batch.length === 0 && this.#waiting.length > 0) this.#next();
    });
  }

  #next(): void {
    let size = 0;
    let count = 0;
    for (const { text } of this.#waiting) {
      if (count > 0 && size + text.length > MAX_BATCH) break;
      size += text.length;
      count += 1;
    }
    this.#batch = this.#waiting.splice(0, count);
    this.#waitingSize -= size;
    this.#move();
    if (count === 0) {
      this.#idle.resolve();
      return;
    }
    this.#lastBatch = this.#system.now();
    // A line begins on a line of its own also after one that was cut.
    const text = this.#batch.map((line) => line.text).join("");
    this.#put(Buffer.from(this.#torn ? `\n${text}` : text), 0);
  }

  #put(bytes: Buffer, from: number): void {
    this.#system.write(this.#file, bytes, from, (error, written) => {
      if (this.#closed) return;
      const stalled = error === null ? written === 0 : error.code === "EAGAIN" || error.code === "EBUSY";
      if (stalled) this.#system.later(RETRY_MS, () => this.#closed || this.#put(bytes, from));
      else if (error !== null) this.#fail(error, bytes, from);
      else if (from + written < bytes.length) this.#put(bytes, from + written);
      else this.#succeed();
    });
  }

  #succeed(): void {
    this.#torn = false;
    if (this.#lastLoss !== undefined && this.#system.now() - this.#lastLoss >= RECOVERY_MS) {
      const lost = this.#lost;
      this.#lastLoss = undefined;
      this.#lost = 0;
      this.#tell({ taken: true, lost });
    }
    this.#goOn();
  }

  /** @param written how many of the bytes are there all the same */
  #fail(error: NodeJS.ErrnoException, bytes: Buffer, written: number): void {
    let end = this.#torn ? 1 : 0;
    const lost = this.#batch.filter(({ text }) => {
      end += Buffer.byteLength(text);
      return end > written;
    });
    if (written > 0) this.#torn = bytes[written - 1] !== NEWLINE;
    this.#lose(lost, error.code ?? "failed");
    this.#goOn();
  }

  #lose(lines: readonly Line[], reason: string): void {
    const before = this.#lastLoss;
    this.#lastLoss = this.#system.now();
    this.#lost += lines.length;
    for (const { onLost } of lines) onLost?.();
    if (before === undefined) this.#tell({ taken: false, reason });
  }

  #tell(change: Change): void {
    for (const listener of this.#listeners) listener(change);
  }
}

/**
 * Standard output or standard error. The descriptor is shared with others and never closed.
 * @param number 1 or 2
 */
export function openStandard(number: 1 | 2): Output {
  const output = new Output(withoutWaiting(number));
  process.once("exit", () => output.flushAtExit());
  return output;
}

/** A thread that waits in a write can be ended by nothing, not even by the end of the process. */
function withoutWaiting(number: 1 | 2): number {
  // Node makes pipes and sockets non-blocking when it first looks at them, and terminals blocking.
  void (number === 1 ? process.stdout : process.stderr);
  if (!isatty(number)) return number;
  const { O_WRONLY, O_NONBLOCK, O_NOCTTY } = constants;
  try {
    // Opened anew, since the setting is shared by all who got the same descriptor.
    return openSync(`/proc/self/fd/${number}`, O_WRONLY | O_NONBLOCK | O_NOCTTY);
  } catch {
    return number;
  }
}
