/** The suite against a server directly and through the gateway, and where the two differ. */
import { startConformanceServer } from "./server.ts";
import { type Results, runSuite, type Status } from "./suite.ts";
import { proveGateway, startThrough } from "./through.ts";

/** A check that came to something else through the gateway; `absent` where one of the two runs has not made it. */
export interface Difference {
  readonly check: string;
  readonly direct: Status | "absent";
  readonly through: Status | "absent";
}

/** All runs. */
export interface Comparison {
  /** The server alone. */
  readonly direct: Results;
  /** Through a gateway that says no more than it has to. */
  readonly through: Results;
  /** Through one that forwards answers without a state, `roundTrip.answersWithoutState: forward`. */
  readonly forwarding: Results;
  /** What becomes of a changed state with a server that trusts what comes back, alone and through the gateway. */
  readonly careless: { readonly direct: Results; readonly through: Results };
}

/** The scenario that changes a state. */
export const TAMPERED = "input-required-result-tampered-state";

/**
 * What differs by default, and why: these checks send answers that come with no state, which nobody can tell from forged ones.
 * The suite then warns, since servers should ask again.
 */
export const BY_DESIGN: readonly Difference[] = [
  "input-required-result-ignore-extra-params: sep-2322-ignore-unexpected-params",
  "input-required-result-missing-input-response: sep-2322-missing-response-rerequests",
].map((check) => ({ check, direct: "SUCCESS", through: "WARNING" }));

/** The checks that differ, by name. */
export function differences(direct: Results, through: Results): Difference[] {
  const checks = [...new Set([...direct.keys(), ...through.keys()])].sort();
  return checks
    .map((check) => ({
      check,
      direct: direct.get(check) ?? ("absent" as const),
      through: through.get(check) ?? ("absent" as const),
    }))
    .filter((found) => found.direct !== found.through);
}

/**
 * Runs everything, one after the other.
 * @throws Error if the suite cannot be run, or runs past the gateway
 */
export async function compare(): Promise<Comparison> {
  const honest = await startConformanceServer();
  const careless = await startConformanceServer({ careless: true });
  try {
    return {
      direct: await runSuite(honest.url),
      through: await runThrough(honest.url),
      forwarding: await runThrough(honest.url, { answersWithoutState: "forward" }),
      careless: {
        direct: await runSuite(careless.url, TAMPERED),
        through: await runThrough(careless.url, {}, TAMPERED),
      },
    };
  } finally {
    await Promise.all([honest.close(), careless.close()]);
  }
}

async function runThrough(
  upstream: string,
  roundTrip?: Readonly<Record<string, unknown>>,
  scenario?: string,
): Promise<Results> {
  const gateway = await startThrough(upstream, roundTrip);
  try {
    await proveGateway(gateway.url);
    const before = gateway.requests();
    const results = await runSuite(gateway.url, scenario);
    if (gateway.requests() === before) throw new Error("the suite went past the gateway");
    return results;
  } finally {
    await gateway.close();
  }
}
