/** How answers are tried: each way in a round trip of its own, and what became of it. */
import type { Json } from "../../mcp/parsed.ts";
import { kindOf } from "../answering.ts";
import { type Asked, type Finding, INVENTED, Inconclusive, type Session } from "../check.ts";
import { isAsking, isDone } from "../exchange.ts";
import type { Malformed } from "./answers-malformed.ts";
import { honestRounds, isProbeAwake, keysOf, outcomeOf, reach, roundsOf } from "./answers-outcome.ts";
import { type Attempt, finding, findingOf, type Judgement, NOT_CARRIED_OUT } from "./answers-verdict.ts";

type Answers = Readonly<Record<string, Json>>;
/** The wrong answers that a round leaves, made from it and, where they are needed, from honest ones. */
export type Maker = (asked: Asked, honest: () => Answers) => readonly Malformed[];

/** One answer to an open round, and what became of it. */
async function attempt(
  session: Session,
  asked: Asked,
  { name, inputResponses }: Malformed,
): Promise<Attempt> {
  const before = await session.probe();
  const reply = await session.retry(asked, { inputResponses });
  const outcome = await outcomeOf(session, asked, reply, before);
  return { name, outcome, exchanges: [asked.exchange, reply] };
}

/**
 * Tries each way once, each in a round trip of its own: in the last round that it can be tried in, since that is where things are done,
 * and never in a state that an earlier attempt has touched.
 */
export async function attemptAll(session: Session, ways: Maker): Promise<Attempt[]> {
  const attempts = new Map<string, Attempt>();
  for (let round = roundsOf(session); round >= 1; round -= 1) {
    let asked: Asked | undefined = await reach(session, round);
    const waysOf = (round: Asked): readonly Malformed[] => ways(round, () => session.answers(round));
    const names = waysOf(asked).map(({ name }) => name);
    for (const name of names.filter((one) => !attempts.has(one))) {
      asked ??= await reach(session, round);
      const way = waysOf(asked).find((one) => one.name === name);
      if (way !== undefined) attempts.set(name, await attempt(session, asked, way));
      asked = undefined;
    }
  }
  const all = [...attempts.values()];
  const isWithheld = all.some(({ outcome }) => outcome === "withheld");
  if (!isWithheld || (await isProbeAwake(session))) return all;
  return all.map((one) => (one.outcome === "withheld" ? { ...one, outcome: "unclear" } : one));
}

/** Answers of which at least one says no, the others as they would be. */
function refusing(session: Session, action: "decline" | "cancel"): Maker {
  const past = action === "decline" ? "declined" : "cancelled";
  return (asked, honest) => {
    const isRefusable = Object.values(asked.inputRequests).some((one) => /form|url/.test(kindOf(one)));
    if (!isRefusable) return [];
    const others = session.call.complete ? orNone(honest) : {};
    const inputResponses = { ...others, ...session.answers(asked, action) };
    return [{ name: `${past} in round ${asked.round}`, inputResponses }];
  };
}

/** A no needs no honest answers beside it. */
function orNone(honest: () => Answers): Answers {
  try {
    return honest();
  } catch (error) {
    if (error instanceof Inconclusive) return {};
    throw error;
  }
}

/** Declines, or cancels, what can be. */
export async function refusal(session: Session, action: "decline" | "cancel"): Promise<Finding> {
  const attempts = await attemptAll(session, refusing(session, action));
  // Another offer after a no is fair, whatever it is.
  const judgement: Judgement = { ...NOT_CARRIED_OUT, moved_on: "pass" };
  return findingOf(attempts, judgement, `nothing is asked that can be answered with ${action}`);
}

/** No answers at all, in both spellings. */
export const NONE: Maker = ({ inputRequests }) =>
  Object.keys(inputRequests).length === 0
    ? []
    : [
        { name: "a retry without inputResponses", inputResponses: undefined },
        { name: "a retry with empty inputResponses", inputResponses: {} },
      ];

/** Of how many questions each is left open, at most. */
const MOST_KEYS = 8;

/** All answers but one, for each question; a question for a person is left open last, so that it is not the one not tried. */
const ONE_MISSING: Maker = ({ inputRequests }, honest) => {
  const keys = Object.keys(inputRequests);
  if (keys.length < 2) return [];
  return keys.slice(0, MOST_KEYS).map((key) => {
    const others = Object.entries(honest()).filter(([name]) => name !== key);
    const kind = kindOf(inputRequests[key]);
    return {
      name: `a retry without the answer to ${JSON.stringify(key.slice(0, 64))} (${kind})`,
      inputResponses: Object.fromEntries(others),
    };
  });
};

/**
 * A person who was asked and has not answered has not agreed: `fail`. What a program is asked for, a sample or roots, may be of use
 * only: `warn`.
 */
export async function oneMissing(session: Session): Promise<Finding> {
  const attempts = await attemptAll(session, ONE_MISSING);
  const ofPeople = attempts.filter(({ name }) => /\((form|url)\)$/.test(name));
  const absent = "no round asks more than one question";
  const people = findingOf(ofPeople, NOT_CARRIED_OUT, absent);
  if (people.verdict === "fail" || ofPeople.length === attempts.length) return people;
  return findingOf(attempts, { ...NOT_CARRIED_OUT, carried_out: "warn", moved_on: "warn" }, absent);
}

const UNASKED_KEY = `${INVENTED}-unasked`;
const UNASKED_ANSWER: Json = { action: "accept", content: { confirm: true } };

/** An acceptance under a key of nobody, and nothing else. */
export const ONLY_UNASKED: Maker = ({ inputRequests }) =>
  Object.keys(inputRequests).length === 0
    ? []
    : [
        {
          name: "an acceptance of what was not asked, and of nothing else",
          inputResponses: { [UNASKED_KEY]: UNASKED_ANSWER },
        },
      ];

/** Honest answers with one more. @throws Inconclusive where the call does not come to its last round */
export async function oneMore(session: Session): Promise<Finding> {
  const asked = await reach(session, roundsOf(session));
  if (Object.keys(asked.inputRequests).length === 0)
    return finding("not_applicable", "nothing is asked", [asked.exchange]);
  const inputResponses = { ...session.answers(asked), [UNASKED_KEY]: UNASKED_ANSWER };
  const reply = await session.retry(asked, { inputResponses });
  const exchanges = [asked.exchange, reply];
  if (isDone(reply)) return finding("pass", "one answer more than was asked changed nothing", exchanges);
  if (reply.received.kind === "none")
    return finding("inconclusive", "a retry with one answer more than was asked got no answer", exchanges);
  return finding("warn", "a retry with one answer more than was asked was not taken", exchanges);
}

/** Answers to the second round, given in the first: what nobody was asked, nobody has agreed to. */
export async function ahead(session: Session): Promise<Finding> {
  const { asking } = honestRounds(session);
  const [now, later] = asking.map(keysOf);
  const isOther = now !== undefined && later?.some((key) => !now.includes(key)) === true;
  if (!isOther || !session.call.complete)
    return finding("not_applicable", "no later round asks anything else", []);
  const second = await reach(session, 2);
  const first = await session.begin();
  const inputResponses = { ...session.answers(second), ...session.answers(first) };
  const reply = await session.retry(first, { inputResponses });
  const exchanges = [second.exchange, first.exchange, reply];
  if (isAsking(reply))
    return finding("pass", "what was answered before it was asked was asked all the same", exchanges);
  if (isDone(reply))
    return finding(
      "fail",
      "what was answered before it was asked was never asked, and the call was carried out",
      exchanges,
    );
  const verdict = reply.received.kind === "none" ? "inconclusive" : "pass";
  return finding(verdict, "a retry with answers to a later round was not taken", exchanges);
}
