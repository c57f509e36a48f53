/** How the cost of a request grows: with the policies, with the keys of the ring, and with a second process. */
import { CONNECTIONS, closedLoop, median, ratio, type Sample } from "./load.ts";
import { pinLoad, type Started } from "./programs.ts";
import type { Row } from "./record.ts";
import { type Caller, callerAt, firstRound, plainCall, secondRound } from "./requests.ts";
import { Setup } from "./setup.ts";

interface Variant {
  readonly name: string;
  readonly gateway: Started;
  readonly caller: Caller;
}

/** @returns CPU of a request for each size, and its ratio to that of the smallest */
export async function benchScale(quick: boolean): Promise<Row[]> {
  pinLoad();
  const setup = await Setup.begin();
  try {
    const variant = async (name: string, sections: Readonly<Record<string, unknown>>): Promise<Variant> => {
      const gateway = await setup.gateway(name.replaceAll(" ", "-"), sections);
      return { name, gateway, caller: callerAt(gateway.url, CONNECTIONS, setup.token) };
    };
    const ofPolicies = await Promise.all(
      [1, 10, 100, 1_000].map((n) => variant(`${n} policies`, policies(n))),
    );
    const ofKeys = await Promise.all([1, 10, 100].map((n) => variant(`${n} keys`, keys(n))));
    return [
      ...(await grow(ofPolicies, plainCall, quick)),
      ...(await grow(ofKeys, async (caller) => secondRound(caller, await firstRound(caller)), quick)),
      ...(await processes(ofKeys.slice(0, 1), await variant("second process", keys(1)), quick)),
    ];
  } finally {
    await setup.end();
  }
}

const sizes = (quick: boolean): readonly [number, number, number] =>
  quick ? [200, 100, 2] : [8_000, 2_000, 5];

async function grow(
  variants: readonly Variant[],
  work: (caller: Caller) => Promise<void>,
  quick: boolean,
): Promise<Row[]> {
  const [warmUpMs, sampleMs, pairs] = sizes(quick);
  const samples = variants.map((): Sample[] => []);
  for (let pair = -1; pair < pairs; pair++) {
    for (const [index, { gateway, caller }] of variants.entries()) {
      const sample = await closedLoop(gateway, caller, work, pair < 0 ? warmUpMs : sampleMs);
      if (pair >= 0) samples[index]?.push(sample);
    }
  }
  const cpuOf = (index: number): number[] => (samples[index] ?? []).map(({ cpu }) => cpu);
  return variants.map(({ name }, index) => {
    const { median: times, least, most } = ratio(cpuOf(index), cpuOf(0));
    return { with: name, cpuMicroseconds: median(cpuOf(index)), ...{ times, least, most } };
  });
}

/**
 * The same load on one process and on two, with one Redis or none between them. On as few cores as load, server and gateway share here
 * a second process serves no more; what is seen is whether a request costs more beside another process.
 */
async function processes(one: readonly Variant[], second: Variant, quick: boolean): Promise<Row[]> {
  const [warmUpMs, sampleMs, pairs] = sizes(quick);
  const samples: Record<"one" | "two", Sample[]> = { one: [], two: [] };
  const together = async (variants: readonly Variant[], ms: number): Promise<Sample> => {
    const loops = variants.map(({ gateway, caller }) => closedLoop(gateway, caller, plainCall, ms));
    const all = await Promise.all(loops);
    const rps = all.reduce((sum, sample) => sum + sample.rps, 0);
    return { rps, cpu: all.reduce((sum, sample) => sum + sample.cpu * (sample.rps / rps), 0) };
  };
  for (let pair = -1; pair < pairs; pair++) {
    const ms = pair < 0 ? warmUpMs : sampleMs;
    const single = await together(one, ms);
    const both = await together([...one, second], ms);
    if (pair < 0) continue;
    samples.one.push(single);
    samples.two.push(both);
  }
  const cpuOf = (name: "one" | "two"): number[] => samples[name].map(({ cpu }) => cpu);
  const { median: times, least, most } = ratio(cpuOf("two"), cpuOf("one"));
  return [
    { with: "1 process", cpuMicroseconds: median(cpuOf("one")), times: 1, least: 1, most: 1 },
    { with: "2 processes", cpuMicroseconds: median(cpuOf("two")), ...{ times, least, most } },
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

/** A ring of so many keys, the first of which seals. */
const keys = (count: number) => {
  for (let n = 0; n < count; n++)
    process.env[`SG_BENCH_KEY_${n}`] = `secret number ${n} of more than 32 bytes`;
  return {
    keys: {
      primary: "k0",
      ring: Array.from({ length: count }, (_, n) => ({ id: `k${n}`, secret: { env: `SG_BENCH_KEY_${n}` } })),
    },
  };
};
