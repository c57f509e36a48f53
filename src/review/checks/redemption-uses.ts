/**
 * How often a state was good for something. A refusal, a tool error or asking again says: not this time. Of two complete results that
 * differ each was made by a run of its own. Two that are the same may come from one run whose result is kept, which is fair, or from two
 * runs of the same words, which only the effect probe can tell apart. What only reads may be read again.
 */
import type { Session } from "../check.ts";
import { type Exchange, isAsking, isDone, isRefused, isToolError } from "../exchange.ts";
import { finish, isSameResult, likeness, probedAfter } from "./answers-outcome.ts";
import { timesChanged } from "./redemption-effects.ts";

/** `taken`: the state was, more than once, whatever was done. `unclear`: nothing tells. `no_answer`: too little came back to count. */
export type Uses = "never" | "once" | "repeated" | "taken" | "unclear" | "no_answer";

/** An open round that is the last, and what one honest run of the same call changed before it. */
export interface Measured {
  /** What the probe said before and after one honest run; undefined without a probe. */
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** Runs the call once, honestly, so that it is known what one run changes. @throws Inconclusive */
export async function measure(session: Session): Promise<Measured> {
  const before = await session.probe();
  // Without a probe there is nothing to measure, and nothing is done for it.
  if (before === undefined) return { before, after: undefined };
  await finish(session);
  return { before, after: await probedAfter(session, before) };
}

/** By the probe alone. @returns undefined where it does not tell */
export async function runsSince(session: Session, { before, after }: Measured): Promise<number | undefined> {
  if (before === undefined || after === undefined || before === after) return undefined;
  const last = await probedAfter(session, after);
  if (last === undefined) return undefined;
  return last === after ? 0 : timesChanged(before, after, last);
}

/**
 * @param replies everything that was sent with one state and could have carried it out
 * @param runs by the probe; undefined where it does not tell
 */
export function usesOf(replies: readonly Exchange[], runs: number | undefined): Uses {
  if (runs !== undefined) return runs === 0 ? "never" : runs === 1 ? "once" : "repeated";
  const done = replies.filter(isDone);
  const [first] = done;
  if (first !== undefined && done.some((other) => !isSameResult(first, other))) return "repeated";
  if (done.length > 1) return "unclear";
  const said = (reply: Exchange): boolean =>
    isDone(reply) || isRefused(reply) || isToolError(reply) || isAsking(reply);
  if (!replies.every(said)) return "no_answer";
  return done.length === 1 ? "once" : "never";
}

/**
 * The same of two replies to one state with different answers. A result that is not the kept one of the first says that the state was
 * taken again, even if nothing was done; that it was carried out again is only said where the probe or the words of the result say it.
 */
export function otherUsesOf(first: Exchange, second: Exchange, runs: number | undefined): Uses {
  const uses = usesOf([first, second], runs);
  if (!isDone(second) || isSameResult(first, second) || (runs ?? 0) > 1) return uses;
  const isAlike = likeness(first) !== undefined && likeness(first) === likeness(second);
  return runs === undefined && isAlike ? "repeated" : "taken";
}
