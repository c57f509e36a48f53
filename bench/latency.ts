/**
 * Latency at 1,000 requests a second, whatever becomes of those before (open loop), counted from the time at which each was due; the
 * part of the proxy is what it adds to the same calls without one, in paired runs.
 */
import { median, openLoop, quantile } from "./load.ts";
import { pinLoad } from "./programs.ts";
import type { Row } from "./record.ts";
import { type Caller, callerAt, firstRound, plainCall, secondRound } from "./requests.ts";
import { Setup } from "./setup.ts";

const RATE = 1_000;
const CONNECTIONS = 64;

/** @returns a row for each way to the server: medians of paired differences, in milliseconds */
export async function benchLatency(quick: boolean): Promise<Row[]> {
  const [warmUpMs, sampleMs, pairs] = quick ? [200, 200, 2] : [10_000, 4_000, 7];
  pinLoad();
  const setup = await Setup.begin();
  try {
    const memory = await setup.gateway("memory");
    const redis = await setup.gatewayWithRedis();
    const others = await setup.others();
    const httpProxy = others.find(({ name }) => name === "@fastify/http-proxy")?.proxy ?? setup.upstream;
    const caller = (url: string): Caller => callerAt(url, CONNECTIONS, setup.token);
    const direct = caller(setup.upstream.url);
    const front = caller(memory.url);
    const ways: { readonly name: string; readonly work: () => Promise<void>; readonly caller: Caller }[] = [
      { name: "no proxy", caller: direct, work: () => plainCall(direct) },
      { name: "sealgate, call", caller: front, work: () => plainCall(front) },
      { name: "sealgate, rounds in turn, memory", caller: front, work: rounds(front) },
      ...other("@fastify/http-proxy", caller(httpProxy.url)),
      ...others
        .filter(({ name }) => name !== "@fastify/http-proxy")
        .flatMap(({ name, proxy }) => other(name, caller(proxy.url))),
    ];
    if (redis !== undefined) {
      const spent = caller(redis.url);
      ways.push({ name: "sealgate, rounds in turn, Redis", caller: spent, work: rounds(spent) });
    }
    const samples = ways.map((): { p50: number; p99: number }[] => []);
    for (let pair = -1; pair < pairs; pair++) {
      for (const [index, { work }] of ways.entries()) {
        const sorted = await openLoop(work, RATE, pair < 0 ? warmUpMs : sampleMs);
        if (pair >= 0) samples[index]?.push({ p50: quantile(sorted, 0.5), p99: quantile(sorted, 0.99) });
      }
    }
    for (const { caller: one } of ways) await one.pool.close().catch(() => undefined);
    return ways.map(({ name }, index) => {
      const own = samples[index] ?? [];
      const added = (part: "p50" | "p99"): number =>
        median(own.map((sample, at) => sample[part] - (samples[0]?.[at]?.[part] ?? Number.NaN)));
      return {
        way: name,
        p50: median(own.map(({ p50 }) => p50)),
        p99: median(own.map(({ p99 }) => p99)),
        ...{ addedP50: added("p50"), addedP99: added("p99") },
      };
    });
  } finally {
    await setup.end();
  }
}

const other = (name: string, caller: Caller) => [{ name, caller, work: () => plainCall(caller) }];

/** First and second rounds in turn: a retry answers a question that was asked before. */
function rounds(caller: Caller): () => Promise<void> {
  const states: string[] = [];
  let turn = 0;
  return async () => {
    const state = turn++ % 2 === 0 ? undefined : states.shift();
    if (state !== undefined) return secondRound(caller, state);
    states.push(await firstRound(caller));
  };
}
