/** What the states of servers and records come to, for readiness and metrics. Pure. */
import type { Finding } from "../redis/description.ts";
import type { ServerState } from "./server-state.ts";
import type { StoreHealth, StoreReport, UnavailableReason } from "./store.ts";

/** An equal share of all states. */
export interface Share {
  readonly server: ServerState;
  /** Why it cannot be redeemed though its server can be used. */
  readonly failure: UnavailableReason | undefined;
}

const failureOf = ({ server, failure }: Share): UnavailableReason | undefined => server.failure ?? failure;

/** Available while some share is. */
export function healthOf(shares: readonly Share[]): StoreHealth {
  const failures = shares.map(failureOf);
  const reason = failures.find((failure) => failure !== undefined);
  if (reason === undefined) return { available: true };
  return { available: failures.includes(undefined), reason };
}

/** How much is available, and what servers there are. */
export function reportOf(shares: readonly Share[]): StoreReport {
  const findings = new Map<Finding, number>();
  for (const server of new Set(shares.map(({ server }) => server)))
    for (const finding of server.findings) findings.set(finding, (findings.get(finding) ?? 0) + 1);
  const share = (is: (share: Share) => boolean) => shares.filter(is).length / shares.length;
  return {
    available: share((one) => failureOf(one) === undefined),
    refusing: share(({ server }) => server.refusing),
    findings,
  };
}
