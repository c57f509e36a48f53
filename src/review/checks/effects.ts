/** What a server may do before anybody has agreed: nothing. Seen with the effect probe of the plan. */
import { isObject, type Json } from "../../mcp/parsed.ts";
import { type Asked, type Check, type Finding, Inconclusive, type Session } from "../check.ts";
import { type Exchange, isAsking } from "../exchange.ts";

/** Answers that are none, for every question of a round. */
const MALFORMED: readonly (readonly [name: string, answer: unknown])[] = [
  ["an empty answer", {}],
  ["an unknown action", { action: "sealgate-review" }],
  ["an acceptance without content", { action: "accept" }],
  ["an acceptance whose content is no object", { action: "accept", content: "yes" }],
  ["an answer that is no object", "accept"],
];

const noEffects: Check = {
  id: "effects/before-accept",
  title: "Nothing is done before an acceptance",
  clause: {
    level: "MUST",
    text: "A server acts on what a person allowed only after the person has allowed it; a refusal, a cancelled question and an answer that is none allow nothing.",
    source: "client/elicitation",
  },
  advice: "Carry the call out only in the retry that brings a valid acceptance, and check the answer first.",
  completes: false,
  run: watch,
};

/** Checks that need the effect probe. */
export const EFFECT_CHECKS: readonly Check[] = [noEffects];

async function watch(session: Session): Promise<Finding> {
  const before = await session.probe();
  if (before === undefined)
    return { verdict: "not_applicable", words: "no effect probe was given", exchanges: [] };
  if ((await session.probe()) !== before)
    return {
      verdict: "inconclusive",
      words: "the effect probe gives other results by itself, so it shows nothing",
      exchanges: [],
    };

  const seen: Exchange[] = [];
  /** What was tried, if anything changed by it. */
  const changedBy = async (what: string, exchange: Exchange): Promise<Finding | undefined> => {
    seen.push(exchange);
    if ((await session.probe()) === before) return undefined;
    return {
      verdict: "fail",
      words: `What the effect probe shows changed after ${what}.`,
      exchanges: [exchange],
    };
  };
  /** Goes honestly to a round. */
  const reach = async (round: number): Promise<Asked> => {
    let asked = await session.begin();
    seen.push(asked.exchange);
    while (asked.round < round) {
      const reply = await session.retry(asked);
      const next = session.next(asked, reply);
      if (next === undefined) throw new Inconclusive("the call asked less often than before", [reply]);
      asked = next;
    }
    return asked;
  };

  const last = session.call.complete ? session.mapped.filter(isAsking).length : 1;
  for (const round of new Set([1, last])) {
    const opened = await reach(round);
    const atOnce = await changedBy(`round ${round} was opened, before it was answered`, opened.exchange);
    if (atOnce !== undefined) return atOnce;
    for (const { name, answersOf } of refusals(session, opened)) {
      const asked = await reach(round);
      const reply = await session.retry(asked, { inputResponses: answersOf(asked) });
      const effect = await changedBy(`${name} in round ${round}`, reply);
      if (effect !== undefined) return effect;
    }
  }
  return atTheEnd(session, before, seen);
}

/** Every way to not accept that the questions and the plan leave. */
function refusals(
  session: Session,
  asked: Asked,
): { readonly name: string; readonly answersOf: (asked: Asked) => Json }[] {
  const params = Object.values(asked.inputRequests).map((request) => {
    const elicits = isObject(request) && request["method"] === "elicitation/create";
    return elicits && isObject(request["params"]) ? request["params"] : undefined;
  });
  const plain = params.some((one) => one !== undefined) ? (["decline", "cancel"] as const) : [];
  // An address needs no content to be accepted, and a form without required fields none either.
  const needsContent = params.every((one) => one?.["mode"] !== "url") && params.some(hasRequired);
  return [
    ...plain.map((action) => ({
      name: action === "decline" ? "the question was declined" : "the question was cancelled",
      answersOf: (round: Asked): Json => session.answers(round, action),
    })),
    // Any of these could be an acceptance to a broken server, so the plan has to allow that.
    ...(session.call.complete ? MALFORMED : [])
      .filter(([, answer]) => needsContent || !(isObject(answer) && answer["action"] === "accept"))
      .map(([name, answer]) => ({
        name,
        answersOf: (round: Asked): Json =>
          Object.fromEntries(Object.keys(round.inputRequests).map((key) => [key, answer])),
      })),
  ];
}

function hasRequired(params: Json | undefined): boolean {
  const schema = params?.["requestedSchema"];
  const required = isObject(schema) ? schema["required"] : undefined;
  return Array.isArray(required) && required.length > 0;
}

/** Whether anything came late; and whether the probe shows an accepted call at all, without which it has shown nothing before. */
async function atTheEnd(session: Session, before: string, seen: readonly Exchange[]): Promise<Finding> {
  const held = "What the effect probe shows did not change before an acceptance";
  if ((await session.probe()) !== before)
    return {
      verdict: "fail",
      words: "What the effect probe shows changed after refusals, late.",
      exchanges: seen,
    };
  if (!session.call.complete)
    return {
      verdict: "warn",
      words: `${held}; the plan does not allow to see whether an acceptance changes it.`,
      exchanges: seen,
    };
  const done = await session.complete(await session.begin());
  if ((await session.probe()) === before)
    return {
      verdict: "inconclusive",
      words: "The effect probe shows no change after an accepted call either, so it shows nothing.",
      exchanges: [...seen, done],
    };
  return { verdict: "pass", words: `${held}, and did with one.`, exchanges: [...seen, done] };
}
