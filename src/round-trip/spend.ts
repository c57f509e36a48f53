/** The last step before the server: a state is spent, or the answer of its one run is found for its owner, who asks again. */
import { auditReplay } from "../audit/record.ts";
import type { Call } from "../call.ts";
import type { Claims } from "../envelope/format.ts";
import { Refusal } from "../errors.ts";
import type { Gateway } from "../opened-gateway.ts";
import { rejection } from "./rejection.ts";
import { type KeptAnswer, recallResult } from "./repeat.ts";
import { isRevoked, redeem } from "./retry.ts";

/** A redeemed state, or the answer of the one run for its owner, who lost it and asks again. */
type Spent = { readonly release: () => Promise<void> } | { readonly again: KeptAnswer };

/**
 * Spends the state of a retry; what came of it is in the audit record and counted.
 * @throws Refusal for a state that cannot be spent, unless its owner gets the answer again
 */
export async function spend(gateway: Gateway, call: Call, claims: Claims): Promise<Spent> {
  const { journey } = call;
  if (journey.stopped !== undefined) throw journey.stopped;
  try {
    const release = await redeem(gateway.roundTrip, call, claims);
    gateway.metrics.redemption("redeemed");
    journey.draft.state = "redeemed";
    journey.draft.replay = "first_use";
    return { release };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    gateway.metrics.redemption(error.detail);
    journey.draft.replay = auditReplay(error);
    const again = await recallFor(gateway, call, claims, error);
    if (again === undefined) throw error;
    return { again };
  }
}

async function recallFor(
  { repeats, roundTrip, metrics }: Gateway,
  call: Call,
  claims: Claims,
  { code }: Refusal,
): Promise<KeptAnswer | undefined> {
  if (repeats === undefined || (code !== "already_redeemed" && code !== "outcome_unknown")) return undefined;
  const again = await recallResult(repeats, roundTrip, call, claims);
  // Revoked while the stores were waited for.
  if (again !== undefined && isRevoked(roundTrip, call, claims)) throw rejection(call, "revoked");
  metrics.result(again === undefined ? "not_found" : "returned");
  return again;
}
