/**
 * The contract of single use: what a redemption store promises to the gateway, whichever store it is.
 * The promise and its argument are in docs/redemption.md.
 */

import type { Finding } from "../redis/description.ts";

/**
 * Largest clock tolerance the configuration schema allows, in seconds. A mark outlives its state by this much,
 * so that no gateway that still accepts the state can meet a store that has forgotten its mark.
 */
export const MAX_LEEWAY_SECONDS = 300;

/** The part of an opened envelope that single use needs. All of it is trusted: it came out of the AEAD. */
export interface Mark {
  /** Identity of the state. */
  readonly jti: string;
  /** The epoch it was sealed under. */
  readonly epoch: string;
  /** Unix seconds; an integer. From this second on the state is expired. */
  readonly exp: number;
}

/**
 * What became of a redemption.
 * `redeemed`: this call, and no other, may run the round; `attempt` is needed to release it.
 * `already_redeemed`: another call had it. `epoch_mismatch`: sealed under an epoch that is over, so nobody can know.
 * `expired`: the store's clock is past `exp`. None of the last three leaves a mark.
 */
export type Redemption =
  | { readonly outcome: "redeemed"; readonly attempt: string }
  | { readonly outcome: "already_redeemed" | "epoch_mismatch" | "expired" };

/** Why a store cannot be used now. A bounded set: it goes to audit and metrics. */
export type UnavailableReason =
  | "unreachable"
  | "unauthorized"
  | "timeout"
  | "not_master"
  | "not_served"
  | "eviction"
  | "full"
  | "error";

/** The store cannot answer, so the round must not run. Nothing was spent, or what was spent is being given back. */
export class StoreUnavailable extends Error {
  override readonly name = "StoreUnavailable";
  readonly reason: UnavailableReason;

  constructor(reason: UnavailableReason, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.reason = reason;
  }
}

/** State of a store for readiness. */
export interface StoreHealth {
  /** False when nothing can be redeemed; in a Cluster some states can be while others cannot. */
  readonly available: boolean;
  /** Set when something cannot be redeemed. */
  readonly reason?: UnavailableReason;
}

/** State of a store for metrics. Shares are of all states: 0 to 1, and more than two values in a Cluster only. */
export interface StoreReport {
  /** The share that can be redeemed. */
  readonly available: number;
  /** The share that is refused without waiting for a server. */
  readonly refusing: number;
  /** How many servers have what an operator should know of. */
  readonly findings: ReadonlyMap<Finding, number>;
}

/** Keeps the marks of redeemed states. */
export interface RedemptionStore {
  /**
   * The epoch to seal the state `jti` under: the last one read; undefined while none was ever read, and then nothing may be
   * sealed. In a Cluster the servers have epochs of their own, and the `jti` decides on the server.
   */
  epoch(jti: string): string | undefined;
  /**
   * Redeems a state: of all calls with the same `jti`, in all processes that share the store, at most one gets `redeemed`.
   * Call it last, when every other check has passed. Throws `StoreUnavailable` only; waits up to 2 s for a
   * store that was lost just now, and not at all for one that is known to be away.
   */
  redeem(mark: Mark): Promise<Redemption>;
  /**
   * Gives a redeemed state back, if `attempt` is the one that holds it. Only for rounds the upstream surely never got.
   * Never throws; while the store is away the release is kept and carried out when it is back.
   */
  release(mark: Pick<Mark, "jti" | "exp">, attempt: string): Promise<void>;
  /** Answers from memory, without I/O; so does `report`. */
  health(): StoreHealth;
  report(): StoreReport;
  /** Ends connections and timers. Redemptions after it throw `StoreUnavailable`. */
  close(): Promise<void>;
}
