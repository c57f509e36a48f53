/** Load on one proxy, and what is read off it. */

import { cpuMicroseconds, type Started } from "./programs.ts";
import type { Caller } from "./requests.ts";

/** Connections of a closed loop: as many requests are under way at any time. */
export const CONNECTIONS = 32;

/** One sample. */
export interface Sample {
  readonly rps: number;
  /** Microseconds of CPU per request, of the proxy alone. */
  readonly cpu: number;
}

/** Repeats `work` on all connections for so long, or until it says that there is no more. */
export async function closedLoop(
  proxy: Started,
  caller: Caller,
  work: (caller: Caller) => Promise<void> | undefined,
  ms: number,
): Promise<Sample> {
  const before = cpuMicroseconds(proxy.process);
  const started = performance.now();
  let requests = 0;
  const worker = async (): Promise<void> => {
    while (performance.now() - started < ms) {
      const done = work(caller);
      if (done === undefined) return;
      await done;
      requests += 1;
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, worker));
  const seconds = (performance.now() - started) / 1000;
  return { rps: requests / seconds, cpu: (cpuMicroseconds(proxy.process) - before) / requests };
}

/**
 * Sends `rate` requests a second, each at its time, whatever became of those before. Latencies in milliseconds count from the time at
 * which a request was due, so that one that had to wait for its turn shows it.
 */
export async function openLoop(work: () => Promise<void>, rate: number, ms: number): Promise<number[]> {
  const latencies: number[] = [];
  const pending = new Set<Promise<void>>();
  const started = performance.now();
  let sent = 0;
  while (performance.now() - started < ms) {
    const due = Math.floor(((performance.now() - started) / 1000) * rate);
    for (; sent < due; sent++) {
      const at = started + (sent / rate) * 1000;
      const one: Promise<void> = work().then(() => {
        latencies.push(performance.now() - at);
        pending.delete(one);
      });
      pending.add(one);
    }
    // Timers are too coarse for this.
    await new Promise((resolve) => setImmediate(resolve));
  }
  await Promise.all(pending);
  return latencies.toSorted((a, b) => a - b);
}

/** Of sorted values. */
export const quantile = (sorted: readonly number[], part: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;

export const median = (values: readonly number[]): number =>
  quantile(
    values.toSorted((a, b) => a - b),
    0.5,
  );

/** The median of pairs, with the least and the greatest. */
export function ratio(
  own: readonly number[],
  other: readonly number[],
): { median: number; least: number; most: number } {
  const pairs = own.map((value, at) => value / (other[at] ?? Number.NaN)).toSorted((a, b) => a - b);
  return { median: median(pairs), least: pairs[0] ?? Number.NaN, most: pairs.at(-1) ?? Number.NaN };
}
