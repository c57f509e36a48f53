/**
 * What approvals leave behind, as the gateway sees it: one contract for both stores. An approval may be remembered for more calls;
 * one that needs others waits for them here, without anybody holding a connection. All entries are sealed under the ring, so that
 * whoever can write to the store can make nothing up and read nothing. docs/approval.md
 */
import { Refusal } from "../errors.ts";
import type { Sealing } from "../keyring.ts";
import type { Log } from "../log.ts";
import type { Overrides, OverridesDesk } from "../overrides/overrides.ts";
import type { ApprovePolicy } from "./approve-policy.ts";
import type { WaitingEntry } from "./entry.ts";
import { areRemembering } from "./holding.ts";
import type { ApprovalCall, ApprovalQuestion, Waiting } from "./question.ts";
import { Quorum } from "./quorum.ts";
import { type ApprovedIn, type Held, listHeld, type Recalled, recall, remember } from "./remembering.ts";
import { type Shelf, ShelfUnavailable } from "./shelf.ts";
import type { Decided, Standing, Vote } from "./standing.ts";
import { codeOf } from "./tags.ts";
import { type IsRevoked, needsOthers } from "./tally.ts";

export type { ApprovedIn, Recalled } from "./remembering.ts";
export type { Standing, Vote } from "./standing.ts";
export type { Approver } from "./tally.ts";

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
  /** What others say of a call that its own caller has approved; from the first time on it waits. @throws Refusal `store_unavailable` */
  standing(
    policies: readonly ApprovePolicy[],
    call: ApprovalCall,
    question: ApprovalQuestion,
    approvedIn: ApprovedIn,
  ): Promise<Standing>;
  /**
   * Says yes or no to somebody else's call. To be called once the voter's own state was redeemed. The voter's call is not sent on,
   * whatever comes of it. @throws Refusal `store_unavailable`
   * @param saidIn the voter's own chain
   */
  vote(
    id: string,
    policies: readonly ApprovePolicy[],
    call: ApprovalCall,
    approves: boolean,
    saidIn: Pick<ApprovedIn, "chain" | "chainIat">,
  ): Promise<Vote>;
  /** Its own caller says no to a call that may wait for others already. @throws Refusal `store_unavailable` */
  withdraw(call: ApprovalCall, question: ApprovalQuestion): Promise<void>;
}

/** The same, for operators. */
export interface ApprovalsDesk extends Approvals {
  /** Calls that wait for others, oldest first, with the words that still count. @throws ShelfUnavailable */
  listWaiting(): Promise<readonly WaitingEntry[]>;
  /** Approvals that are remembered, oldest first. @throws ShelfUnavailable */
  listRemembered(): Promise<readonly Held[]>;
  /**
   * Says yes or no to a call that waits. Answers with it; undefined where none waits by this id. @throws ShelfUnavailable
   * @param by who does it, in the words of whoever does
   */
  decide(id: string, approves: boolean, by: string): Promise<Decided | undefined>;
  /**
   * Ends an approval that is remembered: the chain it was given in is revoked, so that no copy of it comes back. Answers with it;
   * undefined where there is none. @throws ShelfUnavailable, OverridesFull, OverridesUnavailable
   */
  forget(id: string, by: string): Promise<Held | undefined>;
  close(): Promise<void>;
}

/** What they work with. */
export interface ApprovalsParts {
  readonly shelf: Shelf;
  readonly sealing: Sealing;
  readonly overrides: Pick<OverridesDesk, "known" | "isRevoked" | "revoke">;
  readonly log: Log;
}

/** Approvals on a shelf, which closes with them. */
export function createApprovals({ shelf, sealing, overrides, log }: ApprovalsParts): ApprovalsDesk {
  const quorum = new Quorum(shelf, sealing, revokedBy(overrides));
  let away = false;
  /** Said once, and once more when it is over. */
  const orAsk = async <T>(work: Promise<T | undefined>): Promise<T | undefined> => {
    try {
      const result = await work;
      if (away) log.info({}, "approvals are remembered again");
      away = false;
      return result;
    } catch (error) {
      if (!(error instanceof ShelfUnavailable)) throw error;
      const fields = { reason: error.reason, cause: error.message };
      if (!away) log.warn(fields, "approvals are not remembered now: every call is asked about");
      away = true;
      return undefined;
    }
  };
  const orRefuse = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      if (error instanceof ShelfUnavailable)
        throw new Refusal("store_unavailable", `approvals_${error.reason}`, { cause: error });
      throw error;
    }
  };
  return {
    code: (matter) => codeOf(sealing.keys.ring, sealing.now() / 1_000, matter),
    recall: async (policies, call) =>
      areRemembering(policies, call) ? await orAsk(recall(shelf, sealing, policies, call)) : undefined,
    remember: async (policies, call, approvedIn) =>
      areRemembering(policies, call)
        ? await orAsk(remember(shelf, sealing, policies, call, approvedIn))
        : undefined,
    needsOthers,
    waitingFor: (policies, call) => orRefuse(quorum.waitingFor(policies, call)),
    waiting: (id, policies, call) => orRefuse(quorum.waiting(id, policies, call)),
    standing: (policies, call, question, approvedIn) =>
      orRefuse(quorum.standing(policies, call, question, approvedIn)),
    vote: (id, policies, call, approves, saidIn) =>
      orRefuse(quorum.vote(id, policies, call, approves, saidIn)),
    withdraw: (call, { matter }) => orRefuse(quorum.withdraw(call, matter)),
    listWaiting: () => quorum.list(),
    listRemembered: () => listHeld(shelf, sealing),
    decide: (id, approves, by) => quorum.decide(id, approves, by),
    async forget(id, by) {
      const held = (await listHeld(shelf, sealing)).find((one) => one.entry.id === id);
      if (held === undefined) return undefined;
      const { place, text, entry } = held;
      await overrides.revoke({ target: { chain: entry.chain }, by, reason: "forgotten approval" });
      await shelf.change("remembered", { place, instead: text, text: "" });
      return held;
    },
    close: () => shelf.close(),
  };
}

/** Until the store of overrides was read nobody knows who is revoked, and nobody's word counts. */
export const revokedBy =
  (overrides: Pick<Overrides, "known" | "isRevoked">): IsRevoked =>
  (principal, route, chainIat, chain = "") =>
    !overrides.known() || overrides.isRevoked({ chain, chainIat }, principal, route);
