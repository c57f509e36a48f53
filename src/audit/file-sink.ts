/**
 * A file that records are appended to, and that others rotate: when another file, or none, stands at its path, records go on in a new
 * one. Until then they go to the file that was moved away, so that none is lost. docs/audit.md, rotation.
 */
import { closeSync, constants, fstatSync, open, openSync, type Stats, stat } from "node:fs";
import { promisify } from "node:util";
import { type Log, logError } from "../log.ts";
import { Output } from "../output.ts";
import type { Sink } from "./sinks.ts";

/** Without waiting, or a pipe that nobody reads would hold up the start. */
const APPEND = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NONBLOCK;
const MODE = 0o640;
const LOOK_MS = 1_000;

/** A descriptor for a path, ready to be appended to. @throws Error of the system */
export const openForRecords = (path: string): number => openSync(path, APPEND, MODE);

/** See the file's header. */
export class FileSink implements Sink {
  readonly name: string;
  readonly #output: Output;
  readonly #log: Log;
  readonly #timer: NodeJS.Timeout;
  #identity: string;
  /** Nothing stood at the path at the last look. */
  #missing = false;
  /** It was told that it cannot be opened anew. */
  #told = false;
  #looking: Promise<void> = Promise.resolve();
  #looks = 0;
  #closed = false;

  /** @param file of `openForRecords`; closed with the sink */
  constructor(path: string, file: number, log: Log) {
    this.name = path;
    this.#log = log;
    this.#output = new Output(file);
    this.#identity = identityOf(fstatSync(file));
    this.#output.onChange((change) => {
      if (change.taken) log.warn({ sink: path, lost: change.lost }, "audit records are written again");
      else log.error({ sink: path, reason: change.reason }, "audit records are lost, requests go on");
    });
    this.#timer = setInterval(() => void this.look(), LOOK_MS).unref();
  }

  write(line: string, onLost: () => void): void {
    this.#output.write(line, onLost);
  }

  /** Looks whether another file stands at the path, or none a second time: whoever moves a file away may be about to make the next. */
  look(): Promise<void> {
    return this.#follow(false);
  }

  /** The same at once, on an operator's word. */
  reopen(): Promise<void> {
    return this.#follow(true);
  }

  #follow(atOnce: boolean): Promise<void> {
    // One look at a time, and of those that wait one is enough: a disk that stands still must not pile them up.
    if (!atOnce && this.#looks > 0) return this.#looking;
    this.#looks += 1;
    this.#looking = this.#looking
      .then(() => this.#lookOnce(atOnce))
      .finally(() => {
        this.#looks -= 1;
      });
    return this.#looking;
  }

  async #lookOnce(atOnce: boolean): Promise<void> {
    try {
      const found = await statOf(this.name);
      if (found !== undefined && identityOf(found) === this.#identity) {
        this.#missing = this.#told = false;
        return;
      }
      if (found === undefined && !this.#missing && !atOnce) {
        this.#missing = true;
        return;
      }
      this.#take(await openAnew(this.name, APPEND, MODE));
    } catch (error) {
      if (this.#told || this.#closed) return;
      this.#told = true;
      this.#log.error(
        { sink: this.name, err: logError(error) },
        "the audit file cannot be opened anew, records go on to the one before",
      );
    }
  }

  #take(file: number): void {
    if (this.#closed) {
      closeSync(file);
      return;
    }
    this.#identity = identityOf(fstatSync(file));
    this.#missing = this.#told = false;
    this.#output.redirect(file);
    this.#log.info({ sink: this.name }, "audit file opened anew");
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#closed = true;
    await this.#output.close();
  }
}

const openAnew = promisify(open);
const look = promisify(stat);

async function statOf(path: string): Promise<Stats | undefined> {
  try {
    return await look(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

const identityOf = ({ dev, ino }: Stats): string => `${dev}:${ino}`;
