/**
 * Calls that others have to approve. Each waits under its caller and what it is; others say yes or no to it, and its caller's retry
 * runs once there are enough of them, on one state only. Nobody holds a connection open. Changes are made against what was read, so
 * that of two at once none is lost.
 */
import type { Sealing } from "../keyring.ts";
import type { Principal } from "../principal/principal.ts";
import { compilePrincipal } from "../selectors.ts";
import { type ApprovePolicy, settingsOf } from "./approve-policy.ts";
import {
  type ApproverEntry,
  isSame,
  MOST_VOTES,
  openEntry,
  personOf,
  requesterOf,
  sealEntry,
  shownPrincipal,
  type WaitingEntry,
} from "./entry.ts";
import { type ApprovalCall, type ApprovalQuestion, matterOf, type Waiting } from "./question.ts";
import type { ApprovedIn, Opened } from "./remembering.ts";
import { expiryOf, type Lying, type Place, type Shelf, ShelfUnavailable } from "./shelf.ts";
import { underAll, waitingAbout, waitingPlace } from "./tags.ts";

/** Who approved, for audit. */
export type Approver = ApproverEntry;

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
/** Kept beyond its end, so that its caller learns how it ended. */
const REMEMBERED_END_MS = 60_000;
/** Changes of others that one change gives way to. */
const MOST_TRIES = 16;

/** Whether any policy wants more people than the caller. */
export const needsOthers = (policies: readonly ApprovePolicy[]): boolean =>
  policies.some((policy) => settingsOf(policy).quorum !== undefined);

/** Whether somebody's word that was given does not count any more. */
export type IsRevoked = (principal: Principal, route: string, sinceSeconds: number) => boolean;

/** See the file's header. Every method throws ShelfUnavailable. */
export class Quorum {
  readonly #shelf: Shelf;
  readonly #sealing: Sealing;
  readonly #isRevoked: IsRevoked;

  constructor(shelf: Shelf, sealing: Sealing, isRevoked: IsRevoked) {
    this.#shelf = shelf;
    this.#sealing = sealing;
    this.#isRevoked = isRevoked;
  }

  /** The oldest same call of somebody else that waits for this caller. */
  async waitingFor(policies: readonly ApprovePolicy[], call: ApprovalCall): Promise<Waiting | undefined> {
    const { principal } = call;
    if (principal.anonymous || !needsOthers(policies)) return undefined;
    const { now, opened } = await this.#about(policies, call);
    const [oldest] = opened
      .map(({ entry }) => entry)
      .filter((entry) => isOpen(entry, now) && !isSame(entry.requester, principal))
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
    const { opened } = await this.#about(policies, call);
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
    const { chain, jti } = approvedIn;
    return await this.#insist(async () => {
      const { now, own } = await this.#own(call, question.matter);
      if (own === undefined || isOver(own.entry, chain, jti, now))
        return await this.#begin(policies, call, question, approvedIn, own, now);
      const { entry } = own;
      if (entry.denied !== undefined) return { outcome: "denied", by: entry.denied.by };
      if (entry.spentBy === jti) return met(entry);
      if (now >= entry.deadline) return { outcome: "expired" };
      const votes = this.#votes(entry);
      const missing = missingOf(policies, votes);
      // The votes are for one state: whichever comes first, and nothing else runs on them.
      const next = { ...entry, chain, ...(missing === 0 ? { spentBy: jti } : {}) };
      if (missing === 0 || chain !== entry.chain) {
        const reply = await this.#put(own, next, endOf(next, approvedIn.exp));
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
    return await this.#insist(async () => {
      const { now, opened } = await this.#about(policies, call);
      const found = opened.find(({ entry }) => entry.id === id);
      if (found === undefined || !isOpen(found.entry, now)) return "closed";
      if (principal.anonymous) return "not_eligible";
      if (isSame(found.entry.requester, principal)) return "own";
      const takers = takersOf(policies, found.entry, principal);
      if (takers.length === 0) return "not_eligible";
      return await this.#say(found, { by: personOf(principal), at: now, for: takers }, approves);
    });
  }

  /** All that wait, oldest first. */
  async list(): Promise<WaitingEntry[]> {
    const { now, found } = await this.#shelf.all("waiting");
    return this.#open(found)
      .map(({ entry }) => entry)
      .filter((entry) => isOpen(entry, now))
      .sort((a, b) => a.askedAt - b.askedAt);
  }

  /** Says yes or no as an operator: one word, whoever of them says it. @returns the call; undefined where none waits by that id */
  async decide(id: string, approves: boolean, operator: string): Promise<WaitingEntry | undefined> {
    return await this.#insist(async () => {
      const { now, found } = await this.#shelf.all("waiting");
      const own = this.#open(found).find(({ entry }) => entry.id === id);
      if (own === undefined || !isOpen(own.entry, now)) return { none: undefined };
      const said = await this.#say(own, { by: { operator }, at: now, for: own.entry.policies }, approves);
      return said === undefined ? undefined : { none: own.entry };
    }).then(({ none }) => none);
  }

  async #begin(
    policies: readonly ApprovePolicy[],
    call: ApprovalCall,
    question: ApprovalQuestion,
    { chain, exp }: ApprovedIn,
    over: Opened<WaitingEntry> | undefined,
    now: number,
  ): Promise<Standing | undefined> {
    const quorums = policies.flatMap((policy) => {
      const { quorum } = settingsOf(policy);
      return quorum === undefined ? [] : [{ id: policy.id, ...quorum }];
    });
    const within = Math.min(...quorums.map((quorum) => quorum.within ?? Number.POSITIVE_INFINITY));
    const { route, target, principal } = call;
    const entry: WaitingEntry = {
      id: this.#sealing.random(16).toString("base64url"),
      route,
      kind: target.kind,
      target: target.name,
      requester: requesterOf(principal),
      code: question.code,
      message: question.message,
      policies: [...question.policies],
      needs: Object.fromEntries(quorums.map(({ id, principals }) => [id, principals])),
      chain,
      askedAt: now,
      deadline: Math.min(now + within, exp * 1_000),
      votes: [],
    };
    const { ring } = this.#sealing.keys;
    const place =
      over?.place ?? waitingPlace(ring.sealer(this.#sealing.now() / 1_000), principal, question.matter);
    const reply = await this.#put({ place, text: over?.text ?? "" }, entry, endOf(entry, exp));
    if (reply === "full") return { outcome: "full" };
    return reply === "done" ? waitingOn(entry, missingOf(policies, [])) : undefined;
  }

  /** Those whose word still counts. */
  #votes({ votes, route }: WaitingEntry): WaitingEntry["votes"] {
    return votes.filter((vote) => !this.#isVoid(vote, route));
  }

  /** Policies that take this one's word, and lack one. */
  #wordOf(policies: readonly ApprovePolicy[], entry: WaitingEntry, principal: Principal): string[] {
    const votes = this.#votes(entry);
    const lacking = policies.filter((policy) => missingOf([policy], votes) > 0);
    return takersOf(lacking, entry, principal);
  }

  /** Nobody says the same twice: a second word of one person changes nothing, but that a no always counts. */
  async #say(
    found: Opened<WaitingEntry>,
    word: WaitingEntry["votes"][number],
    approves: boolean,
  ): Promise<Vote | undefined> {
    const { entry, text } = found;
    const votes = this.#votes(entry);
    if (approves && votes.some(({ by }) => isSameApprover(by, word.by))) return "approved";
    // Where there are enough for all that take this word, one more must not take the place of one that is needed.
    const lacks = ([id, principals]: readonly [string, number]): boolean =>
      word.for.includes(id) && votes.filter((vote) => vote.for.includes(id)).length < principals - 1;
    if (approves && !Object.entries(entry.needs).some(lacks)) return "approved";
    if (approves && votes.length >= MOST_VOTES) return "closed";
    const next: WaitingEntry = approves
      ? { ...entry, votes: [...votes, word] }
      : { ...entry, denied: { by: word.by, at: word.at } };
    const reply = await this.#put(found, next, expiryOf(text));
    if (reply !== "done") return undefined;
    return approves ? "approved" : "denied";
  }

  #isVoid({ by, at }: WaitingEntry["votes"][number], route: string): boolean {
    if (!isPerson(by)) return false;
    const { issuer, subject, client, tenant } = by;
    const optional = {
      ...(client === undefined ? {} : { client }),
      ...(tenant === undefined ? {} : { tenant }),
    };
    const principal = { anonymous: false, issuer, subject, ...optional, groups: [], scopes: [] };
    return this.#isRevoked(principal, route, Math.floor(at / 1_000));
  }

  async #about(
    policies: readonly ApprovePolicy[],
    call: ApprovalCall,
  ): Promise<{ readonly now: number; readonly opened: readonly Opened<WaitingEntry>[] }> {
    const matter = matterOf(policies, call);
    const { keys, now: clock } = this.#sealing;
    const about = underAll(keys.ring, clock() / 1_000, (key) => waitingAbout(key, matter));
    const { now, found } = await this.#shelf.about("waiting", about);
    return { now, opened: this.#open(found) };
  }

  async #own(
    { principal }: ApprovalCall,
    matter: string,
  ): Promise<{ readonly now: number; readonly own: Opened<WaitingEntry> | undefined }> {
    const { keys, now: clock } = this.#sealing;
    const places = underAll(keys.ring, clock() / 1_000, (key) => waitingPlace(key, principal, matter));
    const { now, found } = await this.#shelf.read("waiting", places);
    const [newest] = this.#open(found).sort((a, b) => b.entry.askedAt - a.entry.askedAt);
    return { now, own: newest };
  }

  #open(found: readonly Lying[]): Opened<WaitingEntry>[] {
    return found.flatMap(({ place, text }) => {
      const entry = openEntry(this.#sealing, "waiting", place, text);
      return entry === undefined ? [] : [{ place, text, entry }];
    });
  }

  async #put(
    { place, text }: { readonly place: Place; readonly text: string },
    entry: WaitingEntry,
    until: number,
  ): Promise<"done" | "stale" | "full"> {
    const next = sealEntry(this.#sealing, "waiting", place, entry, until);
    if (next === undefined) return "full";
    return await this.#shelf.change("waiting", { place, instead: text, text: next });
  }

  async #insist<T extends object | string>(attempt: () => Promise<T | undefined>): Promise<T> {
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const result = await attempt();
      if (result !== undefined) return result;
    }
    throw new ShelfUnavailable("others change the same all the time", "busy", false);
  }
}

/** A person has one voice, whatever the client; all operators together have one. */
const isPerson = (by: Approver): by is Exclude<Approver, { readonly operator: string }> =>
  !("operator" in by);

const isSameApprover = (a: Approver, b: Approver): boolean =>
  isPerson(a) && isPerson(b) ? isSame(a, b) : isPerson(a) === isPerson(b);

const isOpen = ({ denied, spentBy, deadline }: WaitingEntry, now: number): boolean =>
  denied === undefined && spentBy === undefined && now < deadline;

/** Whether another of the caller's chains finds nothing more here: it has run, was denied, or its time was over. */
function isOver(entry: WaitingEntry, chain: string, jti: string, now: number): boolean {
  if (entry.spentBy !== undefined) return entry.spentBy !== jti;
  return entry.chain !== chain && !isOpen(entry, now);
}

/** Policies that want others and take this one's word. */
function takersOf(
  policies: readonly ApprovePolicy[],
  { needs }: WaitingEntry,
  principal: Principal,
): string[] {
  return policies.flatMap((policy) => {
    const { quorum } = settingsOf(policy);
    if (quorum === undefined || !Object.hasOwn(needs, policy.id)) return [];
    return compilePrincipal(quorum.from)(principal) === undefined ? [policy.id] : [];
  });
}

/** How many more people are needed: for the policy that lacks the most. The caller is one of them. */
function missingOf(policies: readonly ApprovePolicy[], votes: WaitingEntry["votes"]): number {
  return policies.reduce((most, policy) => {
    const { quorum } = settingsOf(policy);
    if (quorum === undefined) return most;
    const given = votes.filter((vote) => vote.for.includes(policy.id)).length;
    return Math.max(most, quorum.principals - 1 - given);
  }, 0);
}

const met = ({ votes }: WaitingEntry): Standing => ({ outcome: "met", approvers: votes.map(({ by }) => by) });

const waitingOn = ({ id }: WaitingEntry, missing: number): Standing => ({
  outcome: "waiting",
  id,
  missing,
  retryAfterMs: RETRY_AFTER_MS,
});

/** @param exp unix seconds: when the state of its caller expires */
const endOf = ({ deadline }: WaitingEntry, exp: number): number =>
  Math.max(deadline, exp * 1_000) + REMEMBERED_END_MS;
