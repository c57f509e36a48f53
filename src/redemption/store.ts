/**
 * The contract of single use: what a redemption store promises to the gateway, whichever store it is.
 * The promise and its argument are in docs/redemption.md.
 */

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

/** State of a store for readiness and metrics. */
export interface StoreHealth {
  readonly available: boolean;
  /** Set when not available; one of `UnavailableReason`. */
  readonly reason?: string;
}

/** Keeps the marks of redeemed states. */
export interface RedemptionStore {
  /** The epoch to seal under: the last one read; undefined while none was ever read, and then nothing may be sealed. */
  epoch(): string | undefined;
  /**
   * Redeems a state: of all calls with the same `jti`, in all processes that share the store, at most one gets `redeemed`.
   * Call it last, when every other check has passed. Throws `StoreUnavailable` only; waits up to 2 s for a lost store.
   */
  redeem(mark: Mark): Promise<Redemption>;
  /**
   * Gives a redeemed state back, if `attempt` is the one that holds it. Only for rounds the upstream surely never got.
   * Never throws; while the store is away the release is kept and carried out when it is back.
   */
  release(jti: string, attempt: string): Promise<void>;
  /** Answers from memory, without I/O. */
  health(): StoreHealth;
  /** Ends connections and timers. Redemptions after it throw `StoreUnavailable`. */
  close(): Promise<void>;
}
