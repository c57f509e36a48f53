/**
 * When the next request may go. Requests that are asked for at the same moment go together, since some checks are about just that;
 * what comes after waits the longer.
 */

/** The clock of a review: injected in tests. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** @throws the reason of `signal` once it is aborted */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

/** The clock of the machine. */
export const CLOCK: Clock = {
  now: Date.now,
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const stop = (): void => {
        clearTimeout(timer);
        reject(signal.reason);
      };
      const timer = setTimeout(() => {
        signal.removeEventListener("abort", stop);
        resolve();
      }, ms);
      signal.addEventListener("abort", stop, { once: true });
    }),
};

/** Resolves when the caller may send one request. @throws the reason of the signal */
export type Pace = () => Promise<void>;

/**
 * @param perSecond requests, above 0
 * @param signal ends all waiting
 */
export function createPace(perSecond: number, clock: Clock, signal: AbortSignal): Pace {
  let free = 0;
  let group: { size: number; readonly go: Promise<void> } | undefined;
  return () => {
    if (group !== undefined) {
      group.size += 1;
      return group.go;
    }
    const wait = async (): Promise<void> => {
      signal.throwIfAborted();
      const ms = free - clock.now();
      // Also without a wait the group stays open until those that ask right now have asked.
      await (ms > 0 ? clock.sleep(ms, signal) : undefined);
      signal.throwIfAborted();
      free = Math.max(free, clock.now()) + (own.size * 1000) / perSecond;
      group = undefined;
    };
    const own = { size: 1, go: Promise.resolve().then(wait) };
    // A wait that nobody gets to the end of leaves no group behind that cannot go.
    own.go.catch(() => {
      group = undefined;
    });
    group = own;
    return own.go;
  };
}
