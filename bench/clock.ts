/**
 * A thread that says each time that a request is due. Timers of the event loop are a millisecond apart at best, and a loop that asked
 * for the time without a pause would take the core from the server behind.
 */
import { parentPort, workerData } from "node:worker_threads";

/** Milliseconds between requests, and how many there are. */
const { interval, count } = workerData as { readonly interval: number; readonly count: number };
const nothing = new Int32Array(new SharedArrayBuffer(4));
const started = performance.now();
for (let n = 1; n <= count; n++) {
  const due = started + n * interval;
  const wait = due - performance.now();
  if (wait > 0) Atomics.wait(nothing, 0, 0, wait);
  // Threads count from origins of their own.
  parentPort?.postMessage(performance.timeOrigin + due);
}
