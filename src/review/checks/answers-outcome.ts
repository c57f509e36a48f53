/**
 * What became of a retry, as far as that can be told from outside. A tool error, an error of the protocol and a question asked again
 * say that nothing was carried out; a complete result says so only by what the effect probe, or the result itself, shows.
 */
import { isObject, own } from "../../mcp/parsed.ts";
import { type Asked, Inconclusive, type Session } from "../check.ts";
import { type Exchange, isAsking, isDone, isRefused, isToolError } from "../exchange.ts";

/**
 * `moved_on`: asks what comes after an acceptance. `withheld`: complete, and nothing was carried out. `unclear`: complete, or a task, and
 * nothing tells what it did. `no_answer`: neither an answer nor a change that the probe shows.
 */
export type Outcome =
  | "refused"
  | "asked_again"
  | "moved_on"
  | "carried_out"
  | "withheld"
  | "unclear"
  | "no_answer";

/** Outcomes in words that end a sentence. */
export const OUTCOME_WORDS: Readonly<Record<Outcome, string>> = {
  refused: "was refused",
  asked_again: "led to the question again",
  moved_on: "led to the next question, as if it had been accepted",
  carried_out: "was carried out",
  withheld: "ended without being carried out",
  unclear: "ended in a result that does not tell whether it was carried out",
  no_answer: "got no answer",
};

/**
 * Whether a call only reads: then its result is all that there is of it, and reading again does no harm. What a server says of its
 * tools counts, unless the plan names side effects.
 */
export function onlyReads({ call, listed }: Session): boolean {
  if (call.sideEffects !== undefined && !/^\s*(none|nothing|no side effects)\W*$/i.test(call.sideEffects))
    return false;
  if (call.method !== "tools/call") return true;
  const annotations = listed === undefined ? undefined : own(listed, "annotations");
  return isObject(annotations) && own(annotations, "readOnlyHint") === true;
}

/**
 * The honest rounds of the map: the exchanges that asked, and the result of the last acceptance if it came to that. Where the plan does
 * not allow to accept, the map has declined, and its result shows nothing of what an acceptance does.
 */
export function honestRounds({ call, mapped }: Session): {
  readonly asking: readonly Exchange[];
  readonly done: Exchange | undefined;
} {
  return { asking: mapped.filter(isAsking), done: call.complete ? mapped.findLast(isDone) : undefined };
}

/** Keys of the questions of a round. */
export const keysOf = (exchange: Exchange): readonly string[] => {
  if (exchange.received.kind !== "result") return [];
  const requests = own(exchange.received.result, "inputRequests");
  return isObject(requests) ? Object.keys(requests).toSorted() : [];
};

/** Letters of a result below which it says nothing of what was done: `ok`, `done`, `success`. */
const FEW = 8;

/** The result without what differs from one execution to the next, such as numbers of receipts; undefined of one that says nothing. */
export function likeness({ received }: Exchange): string | undefined {
  if (received.kind !== "result") return undefined;
  const shown = Object.fromEntries(
    Object.entries(received.result).filter(
      ([name, value]) => /^(content|structuredContent|messages|contents)$/.test(name) && !isEmpty(value),
    ),
  );
  if (lettersIn(shown) < FEW) return undefined;
  return JSON.stringify(shown)
    .replaceAll(/[0-9a-f]{8,}(?:-[0-9a-f]{4,})*/gi, "#")
    .replaceAll(/\d+/g, "#");
}

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || (typeof value === "object" && Object.keys(value).length === 0);

/** Letters in the texts of a result, without those that say what kind of text it is. */
function lettersIn(value: unknown): number {
  if (typeof value === "string") return value.match(/\p{L}/gu)?.length ?? 0;
  if (typeof value !== "object" || value === null) return 0;
  const members = Object.entries(value).filter(([name]) => !/^(type|role|uri|mimeType)$/.test(name));
  return members.reduce((sum, [, one]) => sum + lettersIn(one), 0);
}

/** Whether two results are the same to the letter, but for `_meta`. */
export function isSameResult(one: Exchange, other: Exchange): boolean {
  return resultText(one) === resultText(other);
}

function resultText({ received }: Exchange): string | undefined {
  if (received.kind !== "result") return undefined;
  const { _meta, ...result } = received.result;
  return JSON.stringify(result);
}

/**
 * What became of one retry that was not to be carried out.
 * @param before what the probe said before it; undefined without a probe
 */
export async function outcomeOf(
  session: Session,
  asked: Asked,
  reply: Exchange,
  before: string | undefined,
): Promise<Outcome> {
  if (before !== undefined && (await probedAfter(session, before)) !== before) return "carried_out";
  if (isRefused(reply) || isToolError(reply)) return "refused";
  if (isAsking(reply)) {
    const next = honestRounds(session).asking[asked.round];
    const [now, then] = [keysOf(reply), keysOf(asked.exchange)];
    const isNext = next !== undefined && same(keysOf(next), now) && !same(now, then);
    return isNext ? "moved_on" : "asked_again";
  }
  if (reply.received.kind === "none") return "no_answer";
  if (!isDone(reply)) return "unclear";
  // Whatever it reads like, the probe shows that nothing was done; whether it shows anything at all, `isProbeAwake` tells.
  // What only reads has no effect that a probe could miss: it may still have shown what it should not.
  if (before !== undefined && !onlyReads(session)) return "withheld";
  const { done } = honestRounds(session);
  const accepted = done && likeness(done);
  return accepted !== undefined && accepted === likeness(reply) ? "carried_out" : "unclear";
}

/**
 * What the probe says after something was tried.
 * @throws Inconclusive if it has changed and goes on changing while nothing is sent
 */
export async function probedAfter(session: Session, before: string | undefined): Promise<string | undefined> {
  const after = await session.probe();
  if (after !== before && (await session.probe()) !== after)
    throw new Inconclusive("the effect probe changes by itself, so it shows nothing");
  return after;
}

/** Whether an honest run changes what the probe says, so that no change means something. Carries the call out, if the plan allows it. */
export async function isProbeAwake(session: Session): Promise<boolean> {
  if (!session.call.complete) return false;
  const before = await session.probe();
  await finish(session);
  return (await probedAfter(session, before)) !== before;
}

const same = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((key, index) => key === other[index]);

/** The rounds of the call that ask something, from 1; at least the first. */
export function roundsOf(session: Session): number {
  return session.call.complete ? Math.max(1, honestRounds(session).asking.length) : 1;
}

/**
 * An open round, after honest answers to those before it.
 * @throws Inconclusive where the call does not get there
 */
export async function reach(session: Session, round: number): Promise<Asked> {
  let asked = await session.begin();
  while (asked.round < round) {
    const reply = await session.retry(asked);
    const next = session.next(asked, reply);
    if (next === undefined)
      throw new Inconclusive(`the call did not come to round ${round}`, [asked.exchange, reply]);
    asked = next;
  }
  return asked;
}

/** A round trip that was answered honestly to its end, with the round that was the last. */
export interface Finished {
  readonly last: Asked;
  readonly reply: Exchange;
}

/** Answers honestly until it is over. @throws Inconclusive where that does not come about */
export async function finish(session: Session): Promise<Finished> {
  const last = await reach(session, roundsOf(session));
  const reply = await session.retry(last);
  if (isDone(reply)) return { last, reply };
  throw new Inconclusive("honest answers did not complete the call", [last.exchange, reply]);
}
