/**
 * Latency at 1,000 requests a second, whatever becomes of those before (open loop), counted from the time at which each was due; the
 * part of the proxy is what it adds to the same calls without one, in paired runs.
 */
import { median, minus, openLoop, paired, quantile } from "./load.ts";
import { pinLoad } from "./programs.ts";
import type { Row } from "./record.ts";
import { type Caller, callerAt, firstRound, plainCall, secondRound } from "./requests.ts";
import { Setup, YARDSTICK } from "./setup.ts";

const RATE = 1_000;
const CONNECTIONS = 64;
const DIRECT = "no proxy";
const FULL = { warmUpMs: 7_000, sampleMs: 3_000, pairs: 5 };
const QUICK = { warmUpMs: 200, sampleMs: 200, pairs: 3 };

interface Way {
  readonly name: string;
  readonly caller: Caller;
  readonly work: () => Promise<unknown>;
}
type Quantile = "p50" | "p99";

/** @returns a row for each way to the server, in milliseconds */
export async function benchLatency(quick: boolean): Promise<Row[]> {
  const { warmUpMs, sampleMs, pairs } = quick ? QUICK : FULL;
  pinLoad();
  const setup = await Setup.begin();
  try {
    const ways = await waysOf(setup);
    const samples = ways.map((): Record<Quantile, number>[] => []);
    for (let pair = -1; pair < pairs; pair++) {
      for (const [index, { work }] of ways.entries()) {
        const sorted = await openLoop(work, RATE, pair < 0 ? warmUpMs : sampleMs);
        if (pair >= 0) samples[index]?.push({ p50: quantile(sorted, 0.5), p99: quantile(sorted, 0.99) });
      }
    }
    for (const { caller } of ways) await caller.pool.close();
    const all = (name: string, part: Quantile): number[] =>
      (samples[ways.findIndex((way) => way.name === name)] ?? []).map((sample) => sample[part]);
    return ways.map(({ name }): Row => {
      const own = { way: name, p50: median(all(name, "p50")), p99: median(all(name, "p99")) };
      if (name === DIRECT) return own;
      return {
        ...own,
        addedP50: paired(all(name, "p50"), all(DIRECT, "p50"), minus),
        addedP99: paired(all(name, "p99"), all(DIRECT, "p99"), minus),
        ...(name === YARDSTICK
          ? {}
          : {
              p50OverHttpProxy: paired(all(name, "p50"), all(YARDSTICK, "p50"), minus),
              p99OverHttpProxy: paired(all(name, "p99"), all(YARDSTICK, "p99"), minus),
            }),
      };
    });
  } finally {
    await setup.end();
  }
}

async function waysOf(setup: Setup): Promise<Way[]> {
  const gateway = await setup.gateway("memory");
  const withRedis = await setup.gatewayWithRedis("redis");
  const to = (url: string): Caller => callerAt(url, CONNECTIONS, setup.token);
  const calls = (name: string, url: string): Way => {
    const caller = to(url);
    return { name, caller, work: () => plainCall(caller) };
  };
  const rounds = (name: string, url: string): Way => {
    const caller = to(url);
    return { name, caller, work: roundsInTurn(caller) };
  };
  return [
    calls(DIRECT, setup.upstream.url),
    calls("sealgate, call", gateway.url),
    rounds("sealgate, rounds in turn, memory", gateway.url),
    ...(withRedis === undefined ? [] : [rounds("sealgate, rounds in turn, Redis", withRedis.url)]),
    ...(await setup.others()).map(({ name, proxy }) => calls(name, proxy.url)),
  ];
}

/** First and second rounds in turn: a retry answers a question that was asked before. */
function roundsInTurn(caller: Caller): () => Promise<unknown> {
  const states: string[] = [];
  let turn = 0;
  return async () => {
    const state = turn++ % 2 === 0 ? undefined : states.shift();
    if (state !== undefined) return secondRound(caller, state);
    states.push(await firstRound(caller));
  };
}
