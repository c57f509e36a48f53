/**
 * Whether this process has more to do than it can: how late its timers are is how long every request waits. While they are later than
 * `server.limits.eventLoopDelay`, new requests are refused at once, which costs next to nothing; those under way get done.
 */
const TICK_MS = 100;

/** See the file's header. */
export interface Load {
  /** New requests are refused now. */
  readonly shedding: boolean;
  /** How late the event loop is, in milliseconds, over the last few ticks. */
  readonly delay: number;
  close(): void;
}

/**
 * Begins to watch.
 * @param most the longest delay (ms) that is borne; undefined where any is. Read at each look
 * @param late how late the event loop is (ms), in place of what is measured, for tests
 */
export function watchLoad(most: () => number | undefined, late?: () => number): Load {
  let smooth = 0;
  let due = performance.now() + TICK_MS;
  const timer = setInterval(() => {
    const now = performance.now();
    // One late tick in an idle process, such as a long collection of garbage, counts half.
    smooth = (smooth + Math.max(0, now - due)) / 2;
    due = now + TICK_MS;
  }, TICK_MS).unref();
  const delay = late ?? (() => smooth);
  return {
    get shedding() {
      return delay() > (most() ?? Number.POSITIVE_INFINITY);
    },
    get delay() {
      return delay();
    },
    close: () => clearInterval(timer),
  };
}
