/** A clock in place of the machine's, for timers of `setTimeout`. (Those of `node:test` cannot be refreshed.) */
export interface Clock {
  /** Moves on by so many milliseconds and runs what is due, in order. */
  tick(ms: number): void;
  /** To be called at the end of the test. */
  restore(): void;
}

interface Timer {
  due: number;
  readonly delay: number;
  readonly run: () => void;
}

/**
 * Runs `build`; the timers it sets run by the clock that it gives back. Other timers stay the machine's: the test runner has
 * some of its own.
 */
export function underClock<T>(build: () => T): { readonly built: T; readonly clock: Clock } {
  const { setTimeout: realSet, clearTimeout: realClear } = globalThis;
  const timers = new Set<Timer>();
  let now = 0;
  const set = (run: () => void, delay = 0): object => {
    const timer: Timer = { due: now + delay, delay, run };
    timers.add(timer);
    return Object.assign(timer, {
      refresh: () => {
        timer.due = now + delay;
        timers.add(timer);
      },
    });
  };
  globalThis.setTimeout = set as unknown as typeof setTimeout;
  globalThis.clearTimeout = ((timer: Timer & NodeJS.Timeout) => {
    if (!timers.delete(timer)) realClear(timer);
  }) as unknown as typeof clearTimeout;
  let built: T;
  try {
    built = build();
  } finally {
    globalThis.setTimeout = realSet;
  }
  const clock: Clock = {
    tick(ms) {
      const end = now + ms;
      for (;;) {
        const [next] = [...timers].filter(({ due }) => due <= end).toSorted((a, b) => a.due - b.due);
        if (next === undefined) break;
        now = next.due;
        timers.delete(next);
        next.run();
      }
      now = end;
    },
    restore() {
      globalThis.clearTimeout = realClear;
    },
  };
  return { built, clock };
}
