/** Who counts for what, of those who have said something of a call that waits. Pure. */
import type { Principal } from "../principal/principal.ts";
import { compilePrincipal } from "../selectors.ts";
import { type ApprovePolicy, settingsOf } from "./approve-policy.ts";
import { type ApproverEntry, isSame, shownPrincipal, type WaitingEntry } from "./entry.ts";

/** Who approved, for audit. */
export type Approver = ApproverEntry;

/** What somebody has said. */
export type Word = WaitingEntry["votes"][number];

/** Whether what somebody said does not count any more. @param chain in which it was said, if in one of their own */
export type IsRevoked = (
  principal: Principal,
  route: string,
  sinceSeconds: number,
  chain?: string,
) => boolean;

/** Kept beyond its end, so that its caller learns how it ended. */
const REMEMBERED_END_MS = 60_000;

/** Whether any policy wants more people than the caller. */
export const needsOthers = (policies: readonly ApprovePolicy[]): boolean =>
  policies.some((policy) => settingsOf(policy).quorum !== undefined);

/** What policies want of others: how many people, and until when at most (milliseconds from now on). */
export function quorumsOf(policies: readonly ApprovePolicy[]): {
  readonly needs: Readonly<Record<string, number>>;
  readonly within: number;
} {
  const quorums = policies.flatMap((policy) => {
    const { quorum } = settingsOf(policy);
    return quorum === undefined ? [] : [{ id: policy.id, ...quorum }];
  });
  return {
    needs: Object.fromEntries(quorums.map(({ id, principals }) => [id, principals])),
    within: Math.min(...quorums.map((quorum) => quorum.within ?? Number.POSITIVE_INFINITY)),
  };
}

/** A person has one voice, whatever the client; all operators together have one. */
export const isPerson = (by: Approver): by is Exclude<Approver, { readonly operator: string }> =>
  !("operator" in by);

/** Whether two words come from one and the same; all operators are one. */
export const isSameApprover = (a: Approver, b: Approver): boolean =>
  isPerson(a) && isPerson(b) ? isSame(a, b) : isPerson(a) === isPerson(b);

/** Whether others can still say something. */
export const isOpen = ({ denied, spentBy, deadline }: WaitingEntry, now: number): boolean =>
  denied === undefined && spentBy === undefined && now < deadline;

/** Whether the call itself was revoked: then what others have said of it is not for the next one. */
export const isDead = (entry: WaitingEntry, isRevoked: IsRevoked): boolean =>
  isRevoked(shownPrincipal(entry.requester), entry.route, entry.chainIat, entry.chain);

/** Whether the word of somebody who was revoked since does not count. */
export const isVoid = (
  { by, at, chain, chainIat = Math.floor(at / 1_000) }: Word,
  route: string,
  isRevoked: IsRevoked,
): boolean => isPerson(by) && isRevoked(shownPrincipal({ ...by, groups: [] }), route, chainIat, chain);

/** Whether another of the caller's chains finds nothing more here: it has run, was denied, or its time was over. */
export function isOver(entry: WaitingEntry, chain: string, jti: string, now: number): boolean {
  if (entry.spentBy !== undefined) return entry.spentBy !== jti;
  return entry.chain !== chain && !isOpen(entry, now);
}

/** Policies that want others and take this one's word. */
export function takersOf(
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
export function missingOf(policies: readonly ApprovePolicy[], votes: readonly Word[]): number {
  return policies.reduce((most, policy) => {
    const { quorum } = settingsOf(policy);
    if (quorum === undefined) return most;
    const given = votes.filter((vote) => vote.for.includes(policy.id)).length;
    return Math.max(most, quorum.principals - 1 - given);
  }, 0);
}

/** The same for whoever does not know the policies, out of what they wanted when it was asked. @param votes those that count */
export const lackOf = ({ needs }: WaitingEntry, votes: readonly Word[]): number =>
  Object.entries(needs).reduce((most, [id, principals]) => {
    const given = votes.filter((vote) => vote.for.includes(id)).length;
    return Math.max(most, principals - 1 - given);
  }, 0);

/** Whether one more word of a kind is needed by any policy that takes it: it must not take the place of one that is. */
export const isNeeded = ({ needs }: WaitingEntry, votes: readonly Word[], word: Word): boolean =>
  Object.entries(needs).some(
    ([id, principals]) =>
      word.for.includes(id) && votes.filter((vote) => vote.for.includes(id)).length < principals - 1,
  );

/** Until when an entry is kept, in milliseconds. @param exp unix seconds: when the state of its caller expires */
export const endOf = ({ deadline }: WaitingEntry, exp: number): number =>
  Math.max(deadline, exp * 1_000) + REMEMBERED_END_MS;
