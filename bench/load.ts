/** Load on proxies, and what is read off them. */
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { cpuMicroseconds, type Started } from "./programs.ts";

/** Connections of a closed loop: as many requests are under way at any time. */
export const CONNECTIONS = 32;

/** One sample. */
export interface Sample {
  /** Requests a second. */
  readonly rps: number;
  /** Microseconds of CPU per request, of the proxies alone. */
  readonly cpu: number;
}

/** What several samples come to: of pairs where it is a ratio or a difference. */
export interface Spread {
  readonly median: number;
  readonly least: number;
  readonly most: number;
}

/**
 * Repeats `work`, which is one request, on all connections for so long, or until it says that there is no more.
 * @param proxies those whose CPU counts
 */
export async function closedLoop(
  proxies: readonly Started[],
  work: () => Promise<unknown> | undefined,
  ms: number,
): Promise<Sample> {
  const cpu = (): number => proxies.reduce((sum, one) => sum + cpuMicroseconds(one.process), 0);
  const before = cpu();
  const started = performance.now();
  let requests = 0;
  const worker = async (): Promise<void> => {
    while (performance.now() - started < ms) {
      const done = work();
      if (done === undefined) return;
      await done;
      requests += 1;
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, worker));
  const seconds = (performance.now() - started) / 1000;
  return { rps: requests / seconds, cpu: (cpu() - before) / requests };
}

/**
 * Sends `rate` requests a second, each at its time, whatever became of those before.
 * @returns sorted latencies in milliseconds, each from the time at which its request was due, so that one that had to wait for its turn
 *   shows it
 */
export async function openLoop(work: () => Promise<unknown>, rate: number, ms: number): Promise<number[]> {
  const count = Math.floor((ms / 1_000) * rate);
  const clock = new Worker(new URL("clock.ts", import.meta.url), {
    workerData: { interval: 1_000 / rate, count },
  });
  const latencies: number[] = [];
  const answers: Promise<void>[] = [];
  clock.on("message", (at: number) => {
    const due = at - performance.timeOrigin;
    answers.push(work().then(() => void latencies.push(performance.now() - due)));
  });
  await once(clock, "exit");
  await Promise.all(answers);
  return latencies.toSorted((a, b) => a - b);
}

/** Of sorted values. */
export const quantile = (sorted: readonly number[], part: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;

/** The middle one of them, with the least and the greatest. */
export function spread(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  return {
    median: quantile(sorted, 0.5),
    least: sorted[0] ?? Number.NaN,
    most: sorted.at(-1) ?? Number.NaN,
  };
}

export const median = (values: readonly number[]): number => spread(values).median;

/** What values come to beside others that were taken in turn with them. */
export const paired = (
  own: readonly number[],
  other: readonly number[],
  compare: (own: number, other: number) => number,
): Spread => spread(own.map((value, at) => compare(value, other[at] ?? Number.NaN)));

export const times = (own: number, other: number): number => own / other;
export const minus = (own: number, other: number): number => own - other;
