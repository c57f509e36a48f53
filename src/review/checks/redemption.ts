/**
 * What a state is good for: one use, however often and however fast it is sent, and not for ever. Who counts uses how: `redemption-uses.ts`.
 * A state that is good again for what only reads harms nobody, so that it is `not_applicable`.
 */
import type { Asked, Check, Clause, Finding, Session, Verdict } from "../check.ts";
import { type Exchange, isAsking, isDone, isRefused, isToolError } from "../exchange.ts";
import { otherAnswers } from "./answers-malformed.ts";
import { finish, onlyReads, probedAfter, reach, roundsOf } from "./answers-outcome.ts";
import { finding } from "./answers-verdict.ts";
import { measure, otherUsesOf, runsSince, type Uses, usesOf } from "./redemption-uses.ts";

const ONCE: Clause = {
  level: "MUST",
  text: "A server for which a state must be consumed at most once enforces that itself; protecting the state is not enough.",
  source: "basic/patterns/mrtr",
};
const ENDS: Clause = {
  level: "advice",
  text: "A round trip comes to an end, whatever the client does.",
  source: "basic/patterns/mrtr",
};
const MARK = "Mark a state as spent, in one step with looking whether it is, before you carry anything out.";

/** How many retries at once, and how many rounds before a server without a declared limit counts as one without an end. */
const AT_ONCE = 6;
const MANY_ROUNDS = 40;

const JUDGED: Readonly<Record<Uses, Verdict>> = {
  never: "inconclusive",
  once: "pass",
  repeated: "fail",
  taken: "fail",
  unclear: "warn",
  no_answer: "inconclusive",
};

function judge(session: Session, uses: Uses, what: string, exchanges: readonly Exchange[]): Finding {
  const words: Readonly<Record<Uses, string>> = {
    never: `${what}, and it was never carried out`,
    once: `${what}, and it was carried out once`,
    repeated: `${what}, and it was carried out more than once`,
    taken: `${what}, and the spent state was taken again: another result came, and no refusal`,
    unclear: `${what}, and the same result came each time: it may have been kept, or carried out again, which only an effect probe can tell`,
    no_answer: `${what}, and too little of it was answered to tell how often it was carried out`,
  };
  if (["repeated", "taken", "unclear"].includes(uses) && onlyReads(session))
    return finding("not_applicable", `${what}, and it was read each time, which does no harm`, exchanges);
  return finding(JUDGED[uses], words[uses], exchanges);
}

/** A retry in a state that is spent: the probe is looked at right before it and right after. */
async function repeated(
  session: Session,
  what: string,
  answersOf: (last: Asked) => unknown,
  count: (first: Exchange, second: Exchange, runs: number | undefined) => Uses,
): Promise<Finding> {
  const before = await session.probe();
  const { last, reply } = await finish(session);
  const after = await probedAfter(session, before);
  const inputResponses = answersOf(last);
  if (inputResponses === undefined)
    return finding("not_applicable", "the questions leave no other answer", [last.exchange]);
  const repeat = await session.retry(last, { inputResponses });
  const end = await probedAfter(session, after);
  // A probe that the first run did not change shows nothing of a second one.
  const runs = before === after ? undefined : end === after ? 1 : 2;
  return judge(session, count(reply, repeat, runs), what, [last.exchange, reply, repeat]);
}

/** The same retry after the call is over. */
const replay = (session: Session): Promise<Finding> =>
  repeated(
    session,
    "the last retry was sent again when the call was over",
    (last) => session.answers(last),
    (first, second, runs) => usesOf([first, second], runs),
  );

/** Other answers in a state that is spent. */
const replayOtherwise = (session: Session): Promise<Finding> =>
  repeated(
    session,
    "the last retry was sent again with other answers when the call was over",
    (last) => otherAnswers(last, session.answers(last)),
    otherUsesOf,
  );

/** Several of the same retry at once. */
async function atOnce(session: Session): Promise<Finding> {
  const measured = await measure(session);
  const last = await reach(session, roundsOf(session));
  const replies = await Promise.all(Array.from({ length: AT_ONCE }, () => session.retry(last)));
  const uses = usesOf(replies, await runsSince(session, measured));
  return judge(session, uses, `${AT_ONCE} of the last retry were sent at once`, [last.exchange, ...replies]);
}

/** Retries that answer nothing, one after the other. Asking again and again is allowed, so without a declared limit it is no failure. */
async function rounds(session: Session): Promise<Finding> {
  const declared = session.call.maxRounds;
  const most = declared ?? MANY_ROUNDS;
  let asked = await session.begin();
  const exchanges = [asked.exchange];
  while (asked.round <= most) {
    const isQuestion = Object.keys(asked.inputRequests).length > 0;
    // A round that asks nothing is carried out by a retry without answers.
    if (!isQuestion && !session.call.complete)
      return finding("not_applicable", "nothing is asked, and the plan does not allow to go on", exchanges);
    const reply = await session.retry(asked, { inputResponses: undefined });
    exchanges.push(reply);
    const ends = ended(reply, asked.round);
    if (ends !== undefined) return finding(ends[0], ends[1], exchanges);
    const next = session.next(asked, reply);
    if (next === undefined)
      return finding(
        "inconclusive",
        `round ${asked.round} was answered by nothing that can be counted`,
        exchanges,
      );
    asked = next;
  }
  if (declared === undefined)
    return finding("warn", `it asked ${asked.round} times without an answer, and did not end`, exchanges);
  return finding(
    "fail",
    `it asked ${asked.round} times, and should ask ${declared} times at most`,
    exchanges,
  );
}

function ended(reply: Exchange, round: number): [Verdict, string] | undefined {
  if (isAsking(reply)) return undefined;
  const after = `after ${round} ${round === 1 ? "retry" : "retries"} without an answer`;
  if (isRefused(reply) || isToolError(reply)) return ["pass", `it refused ${after}`];
  if (isDone(reply)) return ["pass", `it ended ${after}`];
  return undefined;
}

/** An answer that is none. Nothing could take it for a yes that takes the honest one for one. */
const NO_ANSWER = { action: "decline", content: null };

/** A state after as many refused retries as the server is said to bear. */
async function retries(session: Session): Promise<Finding> {
  const limit = session.call.retryLimit;
  if (limit === undefined) return finding("not_applicable", "the plan names no limit of refused retries", []);
  const asked = await reach(session, roundsOf(session));
  const exchanges = [asked.exchange];
  const keys = Object.keys(asked.inputRequests);
  if (keys.length === 0) return finding("not_applicable", "nothing is asked", exchanges);
  for (let count = 0; count < limit; count += 1) {
    const inputResponses = Object.fromEntries(keys.map((key) => [key, [NO_ANSWER]]));
    const reply = await session.retry(asked, { inputResponses });
    exchanges.push(reply);
    if (!isRefused(reply) && !isToolError(reply))
      return finding(
        "inconclusive",
        "a malformed answer was not refused, so that refusals cannot be counted",
        exchanges,
      );
  }
  const honest = await session.retry(asked);
  exchanges.push(honest);
  const after = `after ${limit} refused retries`;
  if (isRefused(honest) || isToolError(honest))
    return finding("pass", `${after} the state was good for nothing`, exchanges);
  if (isDone(honest)) return finding("fail", `${after} the state was still good`, exchanges);
  if (isAsking(honest)) return finding("pass", `${after} the questions were asked anew`, exchanges);
  return finding("inconclusive", `the retry ${after} got no answer`, exchanges);
}

/** Checks of how often, and how long, a state is good for something. */
export const REDEMPTION_CHECKS: readonly Check[] = [
  {
    id: "redemption/replay",
    title: "A retry that is sent again is not carried out again",
    clause: ONCE,
    advice: `${MARK} Where the same result comes again, review with an effect probe: it tells a kept result from a second run.`,
    completes: true,
    run: replay,
  },
  {
    id: "redemption/replay-other-answers",
    title: "A state that is spent is not good for other answers",
    clause: ONCE,
    advice: `${MARK} Keep a result, if at all, for the same answers only.`,
    completes: true,
    run: replayOtherwise,
  },
  {
    id: "redemption/at-once",
    title: "Of several retries at once one is carried out",
    clause: ONCE,
    advice: `${MARK} A store that all replicas share can do it with a single command.`,
    completes: true,
    run: atOnce,
  },
  {
    id: "redemption/rounds",
    title: "A server does not ask for ever",
    clause: ENDS,
    advice: "Count the rounds in the protected state, and refuse after a number of them.",
    completes: false,
    run: rounds,
  },
  {
    id: "redemption/retries",
    title: "A state does not bear refused retries for ever",
    clause: ENDS,
    advice:
      "Count the retries of a state that you refuse to its owner, and refuse all after a number of them.",
    completes: true,
    run: retries,
  },
];
