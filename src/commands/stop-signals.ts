/**
 * SIGTERM and SIGINT, heard before anything that takes time is loaded: the kernel keeps a signal from the first process of a
 * container that has not asked for it, and whoever sent it would wait for nothing. Imports nothing.
 */
type StopSignal = "SIGTERM" | "SIGINT";

const waiting: StopSignal[] = [];
let heed: ((signal: StopSignal) => void) | undefined;
let hearing = false;

/** Hears them from now on; what comes before somebody heeds it is kept. */
export function hearStopSignals(): void {
  if (hearing) return;
  hearing = true;
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.on(signal, () => (heed === undefined ? void waiting.push(signal) : heed(signal)));
  }
}

/** Calls back for each of them, at once for those that came already; whoever was called before is not any more. */
export function heedStopSignals(listener: (signal: StopSignal) => void): void {
  hearStopSignals();
  heed = listener;
  for (const signal of waiting.splice(0)) listener(signal);
}
