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
import { type Decided, met, type Standing, type Vote, waitingOn } from "./standing.ts";
import {
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

/** What came of a word. */
interface Said extends Decided {
  readonly vote: Vote;
}

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

  /**
   * Says yes or no to somebody else's call, in a call of one's own. The word is as old as the chain it was said in, so that one counts at
   * once that is said after a revocation, and none that was begun before it.
   */
  async vote(
    id: string,
    policies: readonly ApprovePolicy[],
    call: ApprovalCall,
    approves: boolean,
    { chain, chainIat }: Pick<ApprovedIn, "chain" | "chainIat">,
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
      const word = { by: personOf(principal), at: now, for: takers, chain, chainIat };
      return (await this.#say(found, word, approves))?.vote;
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

  /** All that wait, oldest first; each with the words that still count. */
  async list(): Promise<WaitingEntry[]> {
    const { now, opened } = await this.#calls.all();
    return opened
      .map(({ entry }) => entry)
      .filter((entry) => this.#isOpen(entry, now))
      .map((entry) => ({ ...entry, votes: this.#votes(entry) }))
      .sort((a, b) => a.askedAt - b.askedAt);
  }

  /** Says yes or no as an operator: one word, whoever of them says it. @returns undefined where none waits by that id */
  async decide(id: string, approves: boolean, operator: string): Promise<Decided | undefined> {
    return await this.#calls
      .insist(async () => {
        const { now, opened } = await this.#calls.all();
        const own = opened.find(({ entry }) => entry.id === id);
        if (own === undefined || !this.#isOpen(own.entry, now)) return { none: undefined };
        const said = await this.#say(own, { by: { operator }, at: now, for: own.entry.policies }, approves);
        if (said === undefined) return undefined;
        const { entry, vote, counts } = said;
        return { none: vote === "closed" ? undefined : { entry, counts } };
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
  async #say(found: Opened<WaitingEntry>, word: Word, approves: boolean): Promise<Said | undefined> {
    const { entry, text } = found;
    const votes = this.#votes(entry);
    const before = { entry: { ...entry, votes }, counts: false };
    if (approves && votes.some(({ by }) => isSameApprover(by, word.by)))
      return { vote: "approved", ...before };
    if (approves && !isNeeded(entry, votes, word)) return { vote: "approved", ...before };
    // What they said before does not count any more.
    const others = entry.votes.filter(({ by }) => !isSameApprover(by, word.by));
    if (approves && others.length >= MOST_VOTES) return { vote: "closed", ...before };
    const next: WaitingEntry = approves
      ? { ...entry, votes: [...others, word] }
      : { ...entry, denied: { by: word.by, at: word.at } };
    const reply = await this.#calls.put(found, next, expiryOf(text));
    if (reply !== "done") return undefined;
    const after = { ...next, votes: this.#votes(next) };
    return { vote: approves ? "approved" : "denied", entry: after, counts: true };
  }

  /** Whether others can still say something of a call that its caller can still make. */
  #isOpen(entry: WaitingEntry, now: number): boolean {
    return isOpen(entry, now) && !this.#isDead(entry);
  }

  #isDead(entry: WaitingEntry): boolean {
    return isDead(entry, this.#isRevoked);
  }
}
