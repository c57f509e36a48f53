/** How the cost of a request grows: with the policies, with the keys of the ring, and with a second process. */
import { CONNECTIONS, closedLoop, median, paired, type Sample, times } from "./load.ts";
import { pinLoad, type Started } from "./programs.ts";
import type { Row } from "./record.ts";
import { type Caller, callerAt, firstRound, plainCall, secondRound } from "./requests.ts";
import { Setup } from "./setup.ts";

const FULL = { warmUpMs: 7_000, sampleMs: 2_000, pairs: 5 };
const QUICK = { warmUpMs: 200, sampleMs: 100, pairs: 3 };
type Size = typeof FULL;

/** One size of what grows: the processes that serve, and one request to them. */
interface Variant {
  readonly name: string;
  readonly gateways: readonly Started[];
  readonly work: () => Promise<unknown>;
}

/** @returns CPU of a request for each size, and its ratio to that of the smallest */
export async function benchScale(quick: boolean): Promise<Row[]> {
  const size = quick ? QUICK : FULL;
  pinLoad();
  const setup = await Setup.begin();
  try {
    const at = async (
      name: string,
      sections: Readonly<Record<string, unknown>>,
      work: (caller: Caller) => Promise<unknown>,
    ): Promise<Variant> => {
      const gateway = await setup.gateway(name.replaceAll(" ", "-"), sections);
      const caller = callerAt(gateway.url, CONNECTIONS, setup.token);
      return { name, gateways: [gateway], work: () => work(caller) };
    };
    const ofPolicies: Variant[] = [];
    for (const n of [1, 10, 100, 1_000]) ofPolicies.push(await at(`${n} policies`, policies(n), plainCall));
    const ofKeys: Variant[] = [];
    for (const n of [1, 10, 100]) ofKeys.push(await at(`${n} keys`, keys(n), roundTrip));
    return [
      ...(await grow(ofPolicies, size)),
      ...(await grow(ofKeys, size)),
      ...(await grow(await processes(setup), size)),
    ];
  } finally {
    await setup.end();
  }
}

async function grow(variants: readonly Variant[], { warmUpMs, sampleMs, pairs }: Size): Promise<Row[]> {
  const samples = variants.map((): Sample[] => []);
  for (let pair = -1; pair < pairs; pair++) {
    for (const [index, { gateways, work }] of variants.entries()) {
      const sample = await closedLoop(gateways, work, pair < 0 ? warmUpMs : sampleMs);
      if (pair >= 0) samples[index]?.push(sample);
    }
  }
  const cpuOf = (index: number): number[] => (samples[index] ?? []).map(({ cpu }) => cpu);
  return variants.map(({ name }, index) => ({
    with: name,
    cpuMicroseconds: median(cpuOf(index)),
    cpuTimes: paired(cpuOf(index), cpuOf(0), times),
    rps: median((samples[index] ?? []).map(({ rps }) => rps)),
  }));
}

const roundTrip = async (caller: Caller): Promise<void> => secondRound(caller, await firstRound(caller));

/**
 * Round trips at one process and at two that share a Redis, the second on a core of the load: what a second core adds, less what load
 * and server take of it. Each second round goes to the other process than its first. None where there is no Redis.
 */
async function processes(setup: Setup): Promise<Variant[]> {
  const first = await setup.gatewayWithRedis("first");
  const second = await setup.gatewayWithRedis("second", "others");
  if (first === undefined || second === undefined) return [];
  const [here, there] = [first, second].map(({ url }) => callerAt(url, CONNECTIONS, setup.token)) as [
    Caller,
    Caller,
  ];
  let turn = 0;
  const across = async (): Promise<void> => {
    const [asking, answering] = turn++ % 2 === 0 ? [here, there] : [there, here];
    return secondRound(answering, await firstRound(asking));
  };
  return [
    { name: "1 process, Redis", gateways: [first], work: () => roundTrip(here) },
    { name: "2 processes, Redis", gateways: [first, second], work: across },
  ];
}

/** So many policies, none of which is about the call but the last. */
const policies = (count: number) => ({
  authorization: {
    default: "deny",
    policies: Array.from({ length: count }, (_, n) => ({
      id: `p${n}`,
      effect: "allow",
      ...(n === count - 1 ? {} : { principal: { subjects: [`somebody-${n}`] } }),
      methods: ["tools/call"],
      tools: n === count - 1 ? ["*"] : [`tool-${n}-*`],
    })),
  },
});

/** A ring of so many keys, the last of which seals. */
function keys(count: number): Readonly<Record<string, unknown>> {
  const ring = Array.from({ length: count }, (_, n) => ({
    id: `k${n}`,
    secret: { env: `SG_BENCH_KEY_${n}` },
  }));
  for (const { secret } of ring) process.env[secret.env] = `${secret.env} is more than thirty-two bytes long`;
  return { keys: { primary: `k${count - 1}`, ring } };
}
