/**
 * The gateway beside other proxies and none, in one run on one machine, interleaved. The load makes it hard to compare requests per
 * second on few cores, so each proxy is weighed by the CPU it takes for a request, and what a core can do follows from that.
 */
import { CONNECTIONS, closedLoop, median, paired, type Sample, times } from "./load.ts";
import { pinLoad, type Started } from "./programs.ts";
import type { Row } from "./record.ts";
import {
  type Caller,
  callerAt,
  firstRound,
  largeCall,
  plainCall,
  secondRound,
  streamedCall,
} from "./requests.ts";
import { Setup, YARDSTICK } from "./setup.ts";

/** How long a run takes. */
interface Size {
  readonly warmUpMs: number;
  readonly sampleMs: number;
  readonly pairs: number;
  /** Round trips whose states are made ahead for one sample of retries. */
  readonly states: number;
}
const FULL: Size = { warmUpMs: 7_000, sampleMs: 2_000, pairs: 5, states: 4_000 };
const QUICK: Size = { warmUpMs: 150, sampleMs: 150, pairs: 3, states: 100 };

const WITH_REDIS = "sealgate, Redis";
const RETRY = "retry, opened and redeemed";
/** As long as a sealed one. */
const STATE = "s".repeat(1_000);
/** What is measured. Where a proxy knows no states, a retry is a request of the same size. */
const CASES: readonly { readonly name: string; readonly work: (caller: Caller) => Promise<unknown> }[] = [
  { name: "call", work: plainCall },
  { name: "first round, sealed", work: firstRound },
  { name: RETRY, work: (caller) => secondRound(caller, STATE) },
  { name: "stream of 10 events", work: streamedCall },
  { name: "result of 64 KB", work: largeCall(64_000) },
  { name: "result of 1 MB", work: largeCall(1_000_000) },
];

interface Contender {
  readonly name: string;
  readonly proxy: Started;
  readonly caller: Caller;
}

/** Measures all of it. @returns a row for each case and proxy */
export async function benchGateway(quick: boolean): Promise<Row[]> {
  pinLoad();
  const setup = await Setup.begin();
  try {
    const withRedis = await setup.gatewayWithRedis("redis");
    const all = [
      { name: "sealgate, memory", proxy: await setup.gateway("memory") },
      ...(withRedis === undefined ? [] : [{ name: WITH_REDIS, proxy: withRedis }]),
      ...(await setup.others()),
      { name: "no proxy", proxy: setup.upstream },
    ];
    const contenders = all.map(({ name, proxy }) => ({
      ...{ name, proxy },
      caller: callerAt(proxy.url, CONNECTIONS, setup.token),
    }));
    const rows: Row[] = [];
    for (const { name, work } of CASES) {
      // The store makes a difference only where a state is spent.
      const taking = contenders.filter((one) => one.name !== WITH_REDIS || name === RETRY);
      rows.push(...(await compare(name, taking, work, quick ? QUICK : FULL)));
    }
    for (const { caller } of contenders) await caller.pool.close();
    return rows;
  } finally {
    await setup.end();
  }
}

async function compare(
  name: string,
  contenders: readonly Contender[],
  work: (caller: Caller) => Promise<unknown>,
  size: Size,
): Promise<Row[]> {
  const samples = contenders.map((): Sample[] => []);
  for (let pair = -1; pair < size.pairs; pair++) {
    for (const [index, contender] of contenders.entries()) {
      const sample = await take(name, contender, work, size, pair < 0 ? size.warmUpMs : size.sampleMs);
      if (pair >= 0) samples[index]?.push(sample);
    }
  }
  const cpuOf = (index: number): number[] => (samples[index] ?? []).map(({ cpu }) => cpu);
  const yardstick = cpuOf(contenders.findIndex((one) => one.name === YARDSTICK));
  return contenders.map(({ name: proxy }, index): Row => {
    const row = { case: name, proxy };
    const rps = median((samples[index] ?? []).map((sample) => sample.rps));
    // What the server takes is no cost of a proxy.
    if (proxy === "no proxy") return { ...row, rps };
    const cpuMicroseconds = median(cpuOf(index));
    // How many times as many requests a core does as with the yardstick.
    const ratio = paired(yardstick, cpuOf(index), times);
    return { ...row, cpuMicroseconds, perCore: 1_000_000 / cpuMicroseconds, times: ratio, rps };
  });
}

/** One sample. Of retries only these are timed: their states were made before. */
async function take(
  name: string,
  { name: proxy, proxy: started, caller }: Contender,
  work: (caller: Caller) => Promise<unknown>,
  { states: count }: Size,
  ms: number,
): Promise<Sample> {
  if (name !== RETRY || !proxy.startsWith("sealgate")) return closedLoop([started], () => work(caller), ms);
  const end = performance.now() + ms;
  const taken: Sample[] = [];
  do {
    const states: string[] = [];
    let asked = 0;
    const ask = (): Promise<unknown> | undefined =>
      asked++ < count ? firstRound(caller).then((state) => states.push(state)) : undefined;
    await closedLoop([started], ask, Number.POSITIVE_INFINITY);
    const retry = (): Promise<void> | undefined => {
      const state = states.pop();
      return state === undefined ? undefined : secondRound(caller, state);
    };
    taken.push(await closedLoop([started], retry, Number.POSITIVE_INFINITY));
  } while (performance.now() < end);
  return { rps: median(taken.map(({ rps }) => rps)), cpu: median(taken.map(({ cpu }) => cpu)) };
}
