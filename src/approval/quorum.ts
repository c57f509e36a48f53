/**
 * Calls that others have to approve. Each waits under its caller and what it is; others say yes or no to it, and its caller's retry
 * runs once there are enough of them, on one state only. Nobody holds a connection open. Changes are made against what was read, so
 * that of two at once none is lost.
 */
import type { Sealing } from "../keyring.ts";
import type { Principal } from "../principal/principal.ts";
import type { ApprovePolicy } from "./approve-policy.ts";
import { isSame, MOST_VOTES, personOf, requesterOf, shownPrincipal, type WaitingEntry } from "./entry.ts";
import type { ApprovalCall, ApprovalQuestion, Waiting } from "./question.ts";
import type { ApprovedIn, Opened } from "./remembering.ts";
import { expiryOf, type Shelf } from "./shelf.ts";
import {
  type Approver,
  endOf,
  type IsRevoked,
  isDead,
  isNeeded,
  isOpen,
  isOver,
  isPerson,
  isSameApprover,
  isVoid,
  missingOf,
  needsOthers,
  quorumsOf,
  takersOf,
  type Word,
} from "./tally.ts";
import { WaitingCalls } from "./waiting-calls.ts";

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

/** How often a caller should look. */
const RETRY_AFTER_MS = 5_000;
/** See the file's header. Every method throws ShelfUnavailable. */
export class Quorum {
  readonly #calls: WaitingCalls;
  readonly #isRevoked: IsRevoked;

  constructor(shelf: Shelf, sealing: Sealing, isRevoked: IsRevoked) {
    this.#calls = new WaitingCalls(shelf, sealing);
    this.#isRevoked = isRevoked;
  }

  /** The oldest same call of somebody else that waits for this caller. */
  async waitingFor(policies: readonly ApprovePolicy[], call: ApprovalCall): Promise<Waiting | undefined> {
    const { principal } = call;
    if (principal.anonymous || !needsOthers(policies)) return undefined;
    const { now, opened } = await this.#calls.about(policies, call);
    const [oldest] = opened
      .map(({ entry }) => entry)
      .filter((entry) => this.#isOpen(entry, now) && !isSame(entry.requester, principal))
      .filter((entry) => !this.#votes(entry).some(({ by }) => isPerson(by) && isSame(by, principal)))
      .filter((entry) => this.#wordOf(policies, entry, principal).length > 0)
      .sort((a, b) => a.askedAt - b.askedAt);
    return oldest === undefined ? undefined : { id: oldest.id, requester: shownPrincipal(oldest.requester) };
  }

  /** The same by its id, whatever has become of it. */
  async waiting(
    id: string,
    policies: readonly ApprovePolicy[],
    call: ApprovalCall,
  ): Promise<Waiting | undefined> {
    const { opened } = await this.#calls.about(policies, call);
    const entry = opened.find((one) => one.entry.id === id)?.entry;
    return entry === undefined ? undefined : { id, requester: shownPrincipal(entry.requester) };
  }

  /** What others say of a call that its own caller has approved; from the first time on it waits. */
  async standing(
    policies: readonly ApprovePolicy[],
    call: ApprovalCall,
    question: ApprovalQuestion,
    approvedIn: ApprovedIn,
  ): Promise<Standing> {
    const { chain, chainIat, jti } = approvedIn;
    return await this.#calls.insist(async () => {
      const { now, opened } = await this.#calls.own(call, question.matter);
      const [own] = opened;
      // What others have said of a call that was revoked is not for the next one.
      if (own === undefined || isOver(own.entry, chain, jti, now) || this.#isDead(own.entry))
        return await this.#begin(policies, call, question, approvedIn, own, now);
      const { entry } = own;
      if (entry.denied !== undefined) return { outcome: "denied", by: entry.denied.by };
      if (entry.spentBy === jti) return met(entry);
      if (now >= entry.deadline) return { outcome: "expired" };
      const votes = this.#votes(entry);
      const missing = missingOf(policies, votes);
      // The votes are for one state: whichever comes first, and nothing else runs on them.
      const next = { ...entry, chain, chainIat, ...(missing === 0 ? { spentBy: jti } : {}) };
      if (missing === 0 || chain !== entry.chain) {
        const reply = await this.#calls.put(own, next, endOf(next, approvedIn.exp));
        if (reply !== "done") return undefined;
      }
      return missing === 0 ? met({ ...next, votes }) : waitingOn(entry, missing);
    });
  }

  /** Says yes or no to somebody else's call, in a call of one's own. */
  async vote(
    id: string,
    policies: readonly ApprovePolicy[],
    call: ApprovalCall,
    approves: boolean,
  ): Promise<Vote> {
    const { principal } = call;
    return await this.#calls.insist(async () => {
      const { now, opened } = await this.#calls.about(policies, call);
      const found = opened.find(({ entry }) => entry.id === id);
      if (found === undefined || !this.#isOpen(found.entry, now)) return "closed";
      if (principal.anonymous) return "not_eligible";
      if (isSame(found.entry.requester, principal)) return "own";
      const takers = takersOf(policies, found.entry, principal);
      if (takers.length === 0) return "not_eligible";
      return await this.#say(found, { by: personOf(principal), at: now, for: takers }, approves);
    });
  }

  /** Its own caller says no after a yes: what the others have said is for nothing. */
  async withdraw(call: ApprovalCall, matter: string): Promise<void> {
    await this.#calls.insist(async () => {
      const { now, opened } = await this.#calls.own(call, matter);
      const [own] = opened;
      if (own === undefined || !isOpen(own.entry, now)) return "none";
      const denied = { by: personOf(call.principal), at: now };
      const reply = await this.#calls.put(own, { ...own.entry, denied }, expiryOf(own.text));
      return reply === "done" ? "done" : undefined;
    });
  }

  /** All that wait, oldest first. */
  async list(): Promise<WaitingEntry[]> {
    const { now, opened } = await this.#calls.all();
    return opened
      .map(({ entry }) => entry)
      .filter((entry) => this.#isOpen(entry, now))
      .sort((a, b) => a.askedAt - b.askedAt);
  }

  /** Says yes or no as an operator: one word, whoever of them says it. @returns the call; undefined where none waits by that id */
  async decide(id: string, approves: boolean, operator: string): Promise<WaitingEntry | undefined> {
    return await this.#calls
      .insist(async () => {
        const { now, opened } = await this.#calls.all();
        const own = opened.find(({ entry }) => entry.id === id);
        if (own === undefined || !this.#isOpen(own.entry, now)) return { none: undefined };
        const said = await this.#say(own, { by: { operator }, at: now, for: own.entry.policies }, approves);
        return said === undefined ? undefined : { none: own.entry };
      })
      .then(({ none }) => none);
  }

  async #begin(
    policies: readonly ApprovePolicy[],
    call: ApprovalCall,
    question: ApprovalQuestion,
    { chain, chainIat, exp }: ApprovedIn,
    over: Opened<WaitingEntry> | undefined,
    now: number,
  ): Promise<Standing | undefined> {
    const { needs, within } = quorumsOf(policies);
    const { route, target, principal } = call;
    const entry: WaitingEntry = {
      id: this.#calls.newId(),
      route,
      kind: target.kind,
      target: target.name,
      requester: requesterOf(principal),
      code: question.code,
      message: question.message,
      policies: [...question.policies],
      needs,
      chain,
      chainIat,
      askedAt: now,
      deadline: Math.min(now + within, exp * 1_000),
      votes: [],
    };
    const place = over?.place ?? this.#calls.placeOf(call, question.matter);
    const reply = await this.#calls.put({ place, text: over?.text ?? "" }, entry, endOf(entry, exp));
    if (reply === "full") return { outcome: "full" };
    return reply === "done" ? waitingOn(entry, missingOf(policies, [])) : undefined;
  }

  /** Those whose word still counts. */
  #votes({ votes, route }: WaitingEntry): Word[] {
    return votes.filter((vote) => !isVoid(vote, route, this.#isRevoked));
  }

  /** Policies that take this one's word, and lack one. */
  #wordOf(policies: readonly ApprovePolicy[], entry: WaitingEntry, principal: Principal): string[] {
    const votes = this.#votes(entry);
    const lacking = policies.filter((policy) => missingOf([policy], votes) > 0);
    return takersOf(lacking, entry, principal);
  }

  /** Nobody says the same twice: a second word of one person changes nothing, but that a no always counts. */
  async #say(found: Opened<WaitingEntry>, word: Word, approves: boolean): Promise<Vote | undefined> {
    const { entry, text } = found;
    const votes = this.#votes(entry);
    if (approves && votes.some(({ by }) => isSameApprover(by, word.by))) return "approved";
    if (approves && !isNeeded(entry, votes, word)) return "approved";
    // What they said before does not count any more.
    const others = entry.votes.filter(({ by }) => !isSameApprover(by, word.by));
    if (approves && others.length >= MOST_VOTES) return "closed";
    const next: WaitingEntry = approves
      ? { ...entry, votes: [...others, word] }
      : { ...entry, denied: { by: word.by, at: word.at } };
    const reply = await this.#calls.put(found, next, expiryOf(text));
    if (reply !== "done") return undefined;
    return approves ? "approved" : "denied";
  }

  /** Whether others can still say something of a call that its caller can still make. */
  #isOpen(entry: WaitingEntry, now: number): boolean {
    return isOpen(entry, now) && !this.#isDead(entry);
  }

  #isDead(entry: WaitingEntry): boolean {
    return isDead(entry, this.#isRevoked);
  }
}

const met = ({ votes }: WaitingEntry): Standing => ({ outcome: "met", approvers: votes.map(({ by }) => by) });

const waitingOn = ({ id }: WaitingEntry, missing: number): Standing => ({
  outcome: "waiting",
  id,
  missing,
  retryAfterMs: RETRY_AFTER_MS,
});
