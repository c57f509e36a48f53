/**
 * One retry that a server should not take, and what became of it. Each is sent in a round trip of its own, so that no refusal is owed to
 * the one before. Only an error of the protocol says that a state was refused; what else may be meant as a no is `warn`.
 */
import { type Asked, type Change, type Finding, Inconclusive, type Session, type Verdict } from "../check.ts";
import { type Exchange, isAsking, isDone, isRefused, isToolError } from "../exchange.ts";
import { honestRounds, keysOf, likeness, reach, roundsOf } from "./answers-outcome.ts";
import { finding } from "./answers-verdict.ts";

/**
 * `taken`: carried out, or the next question. `asked`: the question again, or the first one. `withheld`: complete, and nothing was carried
 * out. `unclear`: complete, or a task, and nothing tells what it did.
 */
export type Taking =
  | "refused"
  | "broke"
  | "tool_error"
  | "asked"
  | "taken"
  | "withheld"
  | "unclear"
  | "no_answer";

const WORDS: Readonly<Record<Taking, string>> = {
  refused: "was refused",
  broke: "led to an internal error, which does not tell whether it was refused",
  tool_error:
    "led to an error of the tool and not of the protocol, which does not tell whether it was refused",
  asked: "was not refused, and the question was asked again",
  taken: "was taken",
  withheld: "was not refused, and ended in a result, though nothing was carried out",
  unclear: "was not refused, and its result does not tell whether it was carried out (an effect probe can)",
  no_answer: "got no answer that tells anything",
};

/** What each means where the protocol has to refuse. */
export const MUST_REFUSE: Readonly<Record<Taking, Verdict>> = {
  refused: "pass",
  broke: "warn",
  tool_error: "warn",
  asked: "warn",
  taken: "fail",
  withheld: "warn",
  unclear: "warn",
  no_answer: "inconclusive",
};

/** The same where it is enough that nothing is done. */
export const MUST_NOT_TAKE: typeof MUST_REFUSE = {
  ...MUST_REFUSE,
  tool_error: "pass",
  asked: "pass",
  withheld: "pass",
};

/** One attempt. */
export interface Trial {
  /** What was sent, the beginning of a sentence: `a state with a character changed`. */
  readonly name: string;
  readonly taking: Taking;
  readonly exchanges: readonly Exchange[];
}

const GRAVITY: readonly Verdict[] = ["fail", "inconclusive", "warn", "pass"];

/**
 * The gravest of them, and those that led to it.
 * @param absent why there is nothing to try, where there are no trials
 */
export function verdictOf(trials: readonly Trial[], judged: typeof MUST_REFUSE, absent: string): Finding {
  const verdict = GRAVITY.find((one) => trials.some(({ taking }) => judged[taking] === one));
  if (verdict === undefined) return finding("not_applicable", absent, []);
  const shown = trials.filter(({ taking }) => judged[taking] === verdict);
  const words = [...new Set(shown.map(({ taking }) => taking))].map((taking) => {
    const names = [...new Set(shown.filter((one) => one.taking === taking).map(({ name }) => name))];
    return names.length === 1
      ? `${names[0]} ${WORDS[taking]}`
      : `each of these ${WORDS[taking]}: ${names.join(", ")}`;
  });
  return finding(
    verdict,
    words.join("; "),
    shown.flatMap(({ exchanges }) => exchanges),
  );
}

/** The rounds whose question brought a state that is a text, from 1. */
export function roundsWithState(session: Session): readonly number[] {
  const { asking } = honestRounds(session);
  return asking.slice(0, roundsOf(session)).flatMap(({ received }, i) => {
    const hasState = received.kind === "result" && typeof received.result["requestState"] === "string";
    return hasState ? [i + 1] : [];
  });
}

/** The last of them, where most is at stake; undefined where there is none. */
export const roundWithState = (session: Session): number | undefined => roundsWithState(session).at(-1);

/**
 * A refusal only shows something where the honest retry is not refused.
 * @throws Inconclusive
 */
export function requireHonest({ call, mapped }: Session): void {
  const last = mapped.at(-1);
  const worked =
    last !== undefined &&
    (call.complete ? isDone(last) : mapped.length > 1 && last.received.kind === "result");
  if (!worked)
    throw new Inconclusive(
      "the honest retry did not work, so that a refusal shows nothing",
      mapped.slice(-1),
    );
}

/** What is sent in answer: acceptances where the plan allows them, else refusals; nothing where nothing is asked. */
export function replies(session: Session, asked: Asked): unknown {
  if (Object.keys(asked.inputRequests).length === 0) return undefined;
  return session.answers(asked, session.call.complete ? "accept" : "decline");
}

/** The text of the result of an honest run of the same, to know one by; asked for only where it is needed. */
export type Reference = () => Promise<string | undefined>;

/** That of the map. A result after a refusal says nothing of what was taken. */
const mapped =
  (session: Session): Reference =>
  async () => {
    const { done } = honestRounds(session);
    return session.call.complete && done !== undefined ? likeness(done) : undefined;
  };

/**
 * @param before what the probe said before it was sent; undefined without a probe
 */
export async function takingOf(
  session: Session,
  asked: Asked,
  reply: Exchange,
  before: string | undefined,
  reference: Reference = mapped(session),
): Promise<Taking> {
  const after = await session.probe();
  if (before !== undefined && after !== before) return "taken";
  const { received } = reply;
  if (received.kind === "error") return received.code === -32603 ? "broke" : "refused";
  if (received.kind === "none") return isRefused(reply) ? "refused" : "no_answer";
  if (isToolError(reply)) return "tool_error";
  if (isAsking(reply)) {
    const next = honestRounds(session).asking[asked.round];
    const [now, then] = [keysOf(reply).join("\n"), keysOf(asked.exchange).join("\n")];
    return next !== undefined && now === keysOf(next).join("\n") && now !== then ? "taken" : "asked";
  }
  if (!isDone(reply)) return "unclear";
  const [known, got] = [await reference(), likeness(reply)];
  if (known !== undefined && known === got) return "taken";
  return before === undefined ? "unclear" : "withheld";
}

/** Where a trial is not the honest retry. */
export type Spoiled = (asked: Asked) => Change | Promise<Change>;

/** Opens a round trip, spoils its retry, and says what became of it. */
export async function trial(
  session: Session,
  round: number,
  name: string,
  spoil: Spoiled,
  reference?: Reference,
): Promise<Trial> {
  const asked = await reach(session, round);
  const change = { inputResponses: replies(session, asked), ...(await spoil(asked)) };
  const before = await session.probe();
  const reply = await session.retry(asked, change);
  const taking = await takingOf(session, asked, reply, before, reference);
  return { name, taking, exchanges: [asked.exchange, reply] };
}
