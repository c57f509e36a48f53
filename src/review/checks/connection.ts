/**
 * What becomes of a call whose client has lost the reply, and repeats its retry as an honest one would: same state, same answers, a new id.
 * Carried out at most once is what counts, whether the repeat gets the result, a refusal or the question again; without an effect probe
 * only a state that is refused from then on shows it. That what was lost was not carried out at all is fair: nobody was told that it was.
 */
import type { Check, Clause, Finding, Session } from "../check.ts";
import { type Exchange, isAsking, isDone, isRefused, isToolError } from "../exchange.ts";
import { honestRounds, isSameResult, onlyReads, probedAfter, reach, roundsOf } from "./answers-outcome.ts";
import { finding } from "./answers-verdict.ts";
import { measure, runsSince, usesOf } from "./redemption-uses.ts";

const ONCE: Clause = {
  level: "MUST",
  text: "A server for which a state must be consumed at most once enforces that itself, and a closed connection is a cancellation.",
  source: "basic/patterns/mrtr",
};
const ADVICE =
  "Mark a state as spent before you carry anything out, whoever is still there to hear of it; keep the result for a while, for a repeat by its owner.";

/** How often it is tried to be faster than the reply. */
const TRIES = 3;

/** Loses the reply to the last retry and repeats it twice. */
async function lose(session: Session, what: string, cutAfterMs: number): Promise<Finding> {
  if (onlyReads(session))
    return finding("not_applicable", "it only reads, so that a repeat does no harm", []);
  let measured = await measure(session);
  let last = await reach(session, roundsOf(session));
  let lost = await session.retry(last, { cutAfterMs });
  for (let tries = 1; tries < TRIES && lost.received.kind !== "none"; tries += 1) {
    // The reply was faster: that was one more honest run, and as good to measure by.
    measured = { before: measured.after, after: await probedAfter(session, measured.after) };
    last = await reach(session, roundsOf(session));
    lost = await session.retry(last, { cutAfterMs });
  }
  if (lost.received.kind !== "none")
    return finding("not_applicable", "the reply came before the connection could be cut", [
      last.exchange,
      lost,
    ]);
  if (lost.received.why !== "cut")
    return finding("inconclusive", "the connection was not lost as planned", [last.exchange, lost]);
  const repeats = [await session.retry(last), await session.retry(last)] as const;
  const runs = await runsSince(session, measured);
  const exchanges = [last.exchange, lost, ...repeats];
  switch (usesOf(repeats, runs)) {
    case "repeated":
      return finding("fail", `${what}, and it was carried out more than once`, exchanges);
    case "no_answer":
      return finding("inconclusive", `${what}, and a repeat got no answer`, exchanges);
    default:
      return atMostOnce(what, runs, repeats, exchanges);
  }
}

/** Not carried out twice, as far as can be told: how far that is, and whether the answers fit together. */
function atMostOnce(
  what: string,
  runs: number | undefined,
  [first, second]: readonly [Exchange, Exchange],
  exchanges: readonly Exchange[],
): Finding {
  if (isAsking(first) && runs !== 0)
    return finding(
      "warn",
      `${what}, and was asked about anew though it may have been carried out`,
      exchanges,
    );
  if (!isStable(first, second))
    return finding("warn", `${what}, and two repeats of it got answers that do not fit together`, exchanges);
  if (runs !== undefined)
    return finding(
      "pass",
      `${what}, and it was carried out ${runs === 0 ? "not at all" : "once"}`,
      exchanges,
    );
  if (isNo(first) && isNo(second))
    return finding("pass", `${what}, and its state was good for nothing more`, exchanges);
  return finding(
    "warn",
    `${what}, and a repeat was carried out, which does not tell whether what was lost had been (an effect probe can)`,
    exchanges,
  );
}

const isNo = (reply: Exchange): boolean => isRefused(reply) || isToolError(reply);

/**
 * Answers that one run can have given: the same result, a result and from then on refusals, or the other way round, where the first repeat
 * came while the server had not noticed yet that nobody listens. A question may be asked any number of times.
 */
function isStable(first: Exchange, second: Exchange): boolean {
  if (isDone(first)) return isDone(second) ? isSameResult(first, second) : isNo(second);
  if (isNo(first)) return isNo(second) || isDone(second);
  return isAsking(first) && (isAsking(second) || isNo(second));
}

/**
 * How long an honest retry has to take before somebody can give up in the middle of it, in milliseconds. With faster servers it would be
 * chance what they have done by then, and `connection/lost` tries the same.
 */
const SLOW_MS = 200;

/** Gives up after half the time that the server took for an honest retry. */
async function giveUp(session: Session): Promise<Finding> {
  const took = honestRounds(session).done?.ms;
  if (took !== undefined && took < SLOW_MS)
    return finding(
      "not_applicable",
      `the server answers within ${SLOW_MS} ms, too fast for a client to give up in between`,
      [],
    );
  const after = Math.floor((took ?? SLOW_MS) / 2);
  return lose(session, "the client gave up before the reply to the last retry came", after);
}

/** Checks of lost replies. */
export const CONNECTION_CHECKS: readonly Check[] = [
  {
    id: "connection/lost",
    title: "A retry whose reply was lost is carried out at most once",
    clause: ONCE,
    advice: ADVICE,
    completes: true,
    run: (session) => lose(session, "the connection was lost once the last retry was sent", 0),
  },
  {
    id: "connection/timeout",
    title: "A retry whose client gave up waiting is carried out at most once",
    clause: ONCE,
    advice: ADVICE,
    completes: true,
    run: giveUp,
  },
];
