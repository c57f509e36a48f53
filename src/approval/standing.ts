/** What becomes of calls that wait for others, and of what is said of them. Pure. */
import type { WaitingEntry } from "./entry.ts";
import type { Approver } from "./tally.ts";

/** What the others say of a call. */
export type Standing =
  /** All there are: send it on. To be called right before the state is redeemed. */
  | { readonly outcome: "met"; readonly approvers: readonly Approver[] }
  /** Refuse as `approval_pending`, and spend nothing. */
  | {
      readonly outcome: "waiting";
      readonly id: string;
      readonly missing: number;
      readonly retryAfterMs: number;
    }
  | { readonly outcome: "denied"; readonly by: Approver }
  | { readonly outcome: "expired" }
  /** Too many calls of this caller, or of all, wait already. */
  | { readonly outcome: "full" };

/** What became of a vote; `closed`: it was over by then, or never was; `own`: nobody approves for himself. */
export type Vote = "approved" | "denied" | "closed" | "own" | "not_eligible";

/** What an operator's word has done. */
export interface Decided {
  /** The call as it stands now. */
  readonly entry: WaitingEntry;
  /** False: a yes that changes nothing, since an operator has said it before or nobody is missing. */
  readonly counts: boolean;
}

/** How often a caller should look. */
const RETRY_AFTER_MS = 5_000;

/** Enough have approved. */
export const met = ({ votes }: WaitingEntry): Standing => ({
  outcome: "met",
  approvers: votes.map(({ by }) => by),
});

/** It waits. @param missing how many more people are needed */
export const waitingOn = ({ id }: WaitingEntry, missing: number): Standing => ({
  outcome: "waiting",
  id,
  missing,
  retryAfterMs: RETRY_AFTER_MS,
});
