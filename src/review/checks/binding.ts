/**
 * Whose state it is, and of what: a state that is good is tried where it does not belong. Each try has its counterpart, the same request
 * without the state: what is done, or refused, even so is not owed to the state. Where nothing but the result of a call tells what was
 * done, an honest run of the other call tells what it says.
 */
import {
  type Asked,
  type Change,
  type Check,
  type Clause,
  type Finding,
  Inconclusive,
  type Session,
} from "../check.ts";
import { isAsking, isDone, isRefused } from "../exchange.ts";
import type { PlannedCall } from "../plan.ts";
import { likeness, reach } from "./answers-outcome.ts";
import { finding } from "./answers-verdict.ts";
import {
  MUST_REFUSE,
  type Reference,
  replies,
  requireHonest,
  roundWithState,
  type Trial,
  takingOf,
  trial,
  verdictOf,
} from "./state-trial.ts";

const SOURCE = "basic/patterns/mrtr";
const NO_STATE = "the server sends no state that could be bound";
const ORIGIN: Clause = {
  level: "SHOULD",
  text: "A state is bound to the request that it was sent in answer to: method, target and arguments.",
  source: SOURCE,
};
const PRINCIPAL: Clause = {
  level: "SHOULD",
  text: "A state is bound to the principal that was asked, as authenticated and not as it names itself.",
  source: SOURCE,
};
const BIND =
  "Put method, target and a digest of the arguments into the protected state, and compare them with the request that brings it back.";
const METHODS: readonly PlannedCall["method"][] = ["tools/call", "prompts/get", "resources/read"];

/** The round whose state is tried, or the finding that there is none. @throws Inconclusive where honest retries do not work */
function roundOf(session: Session): number | Finding {
  requireHonest(session);
  return roundWithState(session) ?? finding("not_applicable", NO_STATE, []);
}

async function otherPrincipal(session: Session): Promise<Finding> {
  const round = roundOf(session);
  if (typeof round !== "number") return round;
  if (!session.hasSecond) return finding("not_applicable", "the plan has no second principal", []);
  const own = await session.first({ caller: "second" });
  if (!isAsking(own))
    throw new Inconclusive(
      "the second principal is not asked by a call of its own, so that a refusal shows nothing",
      [own],
    );
  const done = await trial(
    session,
    round,
    "the state of the first principal, brought by the second,",
    () => ({
      caller: "second",
    }),
  );
  return verdictOf([done], MUST_REFUSE, "");
}

async function nobody(session: Session): Promise<Finding> {
  const round = roundOf(session);
  if (typeof round !== "number") return round;
  if (session.mapped[0]?.sent.headers["authorization"] === undefined)
    return finding("not_applicable", "the server is reviewed without a credential", []);
  const done = await trial(
    session,
    round,
    "the state of the first principal, brought without a credential,",
    () => ({
      caller: "nobody",
    }),
  );
  return verdictOf([done], MUST_REFUSE, "");
}

/** The state of this call, on another one. */
async function elsewhere(session: Session, name: string, change: Change): Promise<Finding> {
  const round = roundOf(session);
  if (typeof round !== "number") return round;
  const own = await session.first(change);
  if (!isAsking(own))
    return finding(
      "inconclusive",
      "the other call, as a first one, asks for nothing, so that a state on it shows nothing",
      [own],
    );
  const asked: Asked = await reach(session, round);
  const opened = session.next({ ...asked, round: 0 }, own);
  // Keys of both, so that a state is not left aside for want of an answer.
  const both = {
    ...asRecord(opened && replies(session, opened)),
    ...asRecord(replies(session, asked)),
  };
  const inputResponses = Object.keys(both).length === 0 ? undefined : both;
  const reference: Reference = async () => {
    if (!session.call.complete || opened === undefined) return undefined;
    return likeness(await session.complete(opened));
  };
  const before = await session.probe();
  const reply = await session.retry(asked, { ...change, inputResponses });
  const taking = await takingOf(session, asked, reply, before, reference);
  return verdictOf([{ name, taking, exchanges: [asked.exchange, reply] }], MUST_REFUSE, "");
}

const asRecord = (value: unknown): Record<string, unknown> =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};

async function otherTarget(session: Session): Promise<Finding> {
  const { otherTarget: other } = session.call;
  if (other === undefined) return finding("not_applicable", "the plan names no other target", []);
  return elsewhere(session, "the state of one target, brought to another,", other);
}

async function otherArguments(session: Session): Promise<Finding> {
  const { otherArguments: other } = session.call;
  if (other === undefined) return finding("not_applicable", "the plan names no other arguments", []);
  return elsewhere(session, "the state of a call, brought with other arguments,", { arguments: other });
}

/** The same name by the two other methods. Most servers know nothing of it there, and what they do without a state is not counted. */
async function otherMethod(session: Session): Promise<Finding> {
  const round = roundOf(session);
  if (typeof round !== "number") return round;
  const trials: Trial[] = [];
  for (const method of METHODS) {
    // Calling a tool by the name of what only reads may do something.
    if (method === session.call.method || method === "tools/call") continue;
    const own = await session.first({ method });
    if (isDone(own)) continue;
    const done = await trial(
      session,
      round,
      `the state of ${session.call.method}, brought to ${method},`,
      () => ({ method }),
    );
    const last = done.exchanges.at(-1);
    // Without the state it was not done.
    const isTaken = session.call.complete && last !== undefined && isDone(last) && done.taking !== "withheld";
    trials.push(isTaken ? { ...done, taking: "taken" } : done);
  }
  return verdictOf(trials, MUST_REFUSE, "the other methods need no state, or the plan does not allow them");
}

/** The id is the client's to choose anew, so that taking the old one is no more than lenient. */
async function sameId(session: Session): Promise<Finding> {
  const round = roundOf(session);
  if (typeof round !== "number") return round;
  const asked = await reach(session, round);
  const reply = await session.retry(asked, { id: asked.id, inputResponses: replies(session, asked) });
  const exchanges = [asked.exchange, reply];
  const what = "a retry with the JSON-RPC id of the request before it";
  if (isRefused(reply)) return finding("pass", `${what} was refused`, exchanges);
  if (reply.received.kind === "none") return finding("inconclusive", `${what} got no answer`, exchanges);
  return finding("warn", `${what} was not refused`, exchanges);
}

/** Checks of what a state is bound to. */
export const BINDING_CHECKS: readonly Check[] = [
  {
    id: "binding/principal",
    title: "The state of one principal is no good to another",
    clause: PRINCIPAL,
    advice:
      "Put the issuer and subject of the access token into the protected state, and compare them with the caller of the retry.",
    completes: false,
    run: otherPrincipal,
  },
  {
    id: "binding/no-credential",
    title: "A state is no credential",
    clause: {
      level: "MUST",
      text: "Every request is authorized by itself; who holds a state is not thereby authenticated.",
      source: "basic/authorization",
    },
    advice: "Authenticate every request before you look at its state, and answer 401 without a credential.",
    completes: false,
    run: nobody,
  },
  {
    id: "binding/target",
    title: "The state of one target is no good for another",
    clause: ORIGIN,
    advice: BIND,
    completes: false,
    run: otherTarget,
  },
  {
    id: "binding/arguments",
    title: "A state is good for the arguments that were asked about",
    clause: ORIGIN,
    advice: BIND,
    completes: false,
    run: otherArguments,
  },
  {
    id: "binding/method",
    title: "The state of one method is no good for another",
    clause: ORIGIN,
    advice: BIND,
    completes: false,
    run: otherMethod,
  },
  {
    id: "binding/id",
    title: "A retry is a request of its own",
    clause: {
      level: "MUST",
      text: "A client sends a retry with another JSON-RPC id than the request before it.",
      source: SOURCE,
    },
    advice: "Note the id of the request in the protected state, and refuse a retry that has the same one.",
    completes: false,
    run: sameId,
  },
];
