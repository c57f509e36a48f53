/**
 * What approvals leave behind, as the gateway sees it: one contract for both stores. An approval may be remembered for more calls;
 * one that needs others waits for them here, without anybody holding a connection. All entries are sealed under the ring, so that
 * whoever can write to the store can make nothing up and read nothing.
 */
import type { ApprovePolicy } from "./approve-policy.ts";
import type { ApprovalCall, ApprovalQuestion, Waiting } from "./question.ts";

/** The chain of rounds in which somebody approved: revocations go by it. */
export interface ApprovedIn {
  readonly chain: string;
  /** Unix seconds. */
  readonly chainIat: number;
  /** Of the state that brought the answer. */
  readonly jti: string;
  /** Unix seconds: when that state expires. */
  readonly exp: number;
}

/** An approval that still holds. */
export interface Recalled {
  readonly id: string;
  /** The chain it was given in. */
  readonly chain: string;
  /** Milliseconds, by the store's clock. */
  readonly approvedAt: number;
  readonly until: number;
  readonly policies: readonly string[];
}

/** Who approved, for audit. */
export type Approver =
  | { readonly issuer: string; readonly subject: string; readonly client?: string }
  | { readonly operator: string };

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
  | { readonly outcome: "expired" };

/** What became of a vote; `closed`: it was over by then, or never was; `own`: nobody approves for himself. */
export type Vote = "approved" | "denied" | "closed" | "own" | "not_eligible";

/** See the file's header. */
export interface Approvals {
  /** What people tell calls apart by; see `approvalQuestion`. */
  code(matter: string): string;
  /**
   * Whether consent to this call was given before and still holds, for every policy that asks. Undefined: ask. Never throws; while
   * the store is away nothing is remembered.
   */
  recall(policies: readonly ApprovePolicy[], call: ApprovalCall): Promise<Recalled | undefined>;
  /**
   * Remembers an approval, where the policies say so. To be called once the call was sent on. Never throws.
   * @returns until when (milliseconds); undefined where it is not
   */
  remember(
    policies: readonly ApprovePolicy[],
    call: ApprovalCall,
    approvedIn: ApprovedIn,
  ): Promise<number | undefined>;
  /** Whether any policy wants more people than the caller. */
  needsOthers(policies: readonly ApprovePolicy[]): boolean;
  /**
   * The same call by somebody else that waits, and that this caller may approve; the oldest. Undefined: none, so that the caller is
   * asked for consent to a call of their own. @throws Refusal `store_unavailable`
   */
  waitingFor(policies: readonly ApprovePolicy[], call: ApprovalCall): Promise<Waiting | undefined>;
  /** The same by its id, for the retry of who was asked to approve it. @throws Refusal `store_unavailable` */
  waiting(id: string, policies: readonly ApprovePolicy[], call: ApprovalCall): Promise<Waiting | undefined>;
  /**
   * What others say of a call that its own caller has approved; from the first time on it waits. @throws Refusal `store_unavailable`,
   * `too_many_requests` where too many of this caller wait
   */
  standing(
    policies: readonly ApprovePolicy[],
    call: ApprovalCall,
    question: ApprovalQuestion,
    approvedIn: ApprovedIn,
  ): Promise<Standing>;
  /**
   * Says yes or no to somebody else's call. To be called once the voter's own state was redeemed. The voter's call is not sent on,
   * whatever comes of it. @throws Refusal `store_unavailable`
   */
  vote(id: string, policies: readonly ApprovePolicy[], call: ApprovalCall, approves: boolean): Promise<Vote>;
}
