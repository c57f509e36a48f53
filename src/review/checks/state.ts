/**
 * What a server makes of a state that it has not written like that. It has to say no by an error of the protocol; asking again leaves open
 * whether the state was read, so that it is `warn`. A server that sends no state has nothing that these could be tried on.
 */
import { type Asked, type Check, type Clause, type Finding, Inconclusive, type Session } from "../check.ts";
import { isDone, isRefused } from "../exchange.ts";
import { honestRounds, onlyReads, reach, roundsOf } from "./answers-outcome.ts";
import { finding } from "./answers-verdict.ts";
import { expiry } from "./state-expiry.ts";
import { type Form, INVENTED_STATES, otherTypes, spellings, swapped, tamperings } from "./state-forms.ts";
import { readableIn } from "./state-readable.ts";
import {
  MUST_NOT_TAKE,
  MUST_REFUSE,
  replies,
  requireHonest,
  roundsWithState,
  roundWithState,
  type Trial,
  takingOf,
  trial,
  verdictOf,
} from "./state-trial.ts";

const SOURCE = "basic/patterns/mrtr";
const NO_STATE = "the server sends no state";
const INTEGRITY: Clause = {
  level: "MUST",
  text: "A server treats a state that comes back as controlled by an attacker: it protects its integrity, and refuses one that fails verification.",
  source: SOURCE,
};
const SEAL =
  "Seal the state with authenticated encryption, or sign it, verify all of it before you read any of it, and answer -32602 where that fails.";

const stateOf = (asked: Asked): string => String(asked.requestState);

type Forms = (state: string) => readonly Form[];

/**
 * Tries forms of the state, each in a round trip of its own. `forms` is asked again each time: every round trip has another state.
 * @param rounds the last one with a state where nothing else is said
 */
async function tryForms(
  session: Session,
  forms: Forms,
  rounds: readonly number[] = roundsWithState(session).slice(-1),
): Promise<Finding> {
  requireHonest(session);
  if (rounds.length === 0) return finding("not_applicable", NO_STATE, []);
  const trials: Trial[] = [];
  for (const round of rounds) {
    const sample = forms(stateOf(await reach(session, round)));
    for (const name of new Set(sample.map((form) => form.name))) {
      let isMade = true;
      const done = await trial(session, round, name, (asked) => {
        const form = forms(stateOf(asked)).find((one) => one.name === name);
        isMade = form !== undefined;
        // Nothing of this name can be made of this state: what is sent instead is certainly wrong, and not looked at.
        return { requestState: form === undefined ? "" : form.state };
      });
      if (isMade) trials.push(done);
    }
  }
  return verdictOf(trials, MUST_REFUSE, "the states leave nothing to try");
}

/** Answers to a question, without the state that came with it. A request without state is a first call, so asking is as good as refusing. */
async function missing(session: Session): Promise<Finding> {
  requireHonest(session);
  const trials: Trial[] = [];
  for (const round of roundsWithState(session)) {
    trials.push(
      await trial(session, round, "a retry without its state", () => ({ requestState: undefined })),
      await trial(session, round, "a retry whose state is null", () => ({ requestState: null })),
    );
  }
  if (trials.length > 0) return verdictOf(trials, MUST_NOT_TAKE, NO_STATE);
  if (onlyReads(session)) return finding("not_applicable", NO_STATE, []);
  const { asking } = honestRounds(session);
  return finding(
    "warn",
    "the server sends no state, so that answers count whether or not the question was asked",
    asking.slice(0, 1),
  );
}

/** Pieces of the states of two round trips. */
async function pieces(session: Session): Promise<Finding> {
  requireHonest(session);
  const round = roundWithState(session);
  if (round === undefined) return finding("not_applicable", NO_STATE, []);
  const other = stateOf(await reach(session, round));
  return tryForms(session, (state) => swapped(state, other));
}

/**
 * Other spellings. Taken in place of the state, one is harmless as long as both count as one (`warn`); taken after the state was spent, where
 * the state itself is refused, it is a way around single use (`fail`).
 */
async function otherSpellings(session: Session): Promise<Finding> {
  const fresh = await tryForms(session, spellings);
  const round = roundWithState(session);
  if (fresh.verdict !== "fail" || round === undefined) return fresh;
  const warned: Finding = { ...fresh, verdict: "warn" };
  if (!session.call.complete || round !== roundsOf(session)) return warned;
  const asked = await reach(session, round);
  const inputResponses = replies(session, asked);
  const done = await session.retry(asked, { inputResponses });
  const again = await session.retry(asked, { inputResponses });
  if (!isDone(done) || !isRefused(again)) return warned;
  for (const { name, state } of spellings(stateOf(asked))) {
    const before = await session.probe();
    const reply = await session.retry(asked, { inputResponses, requestState: state });
    if ((await takingOf(session, asked, reply, before)) === "taken")
      return finding("fail", `${name} was taken after the state itself was spent and refused`, [
        asked.exchange,
        done,
        again,
        reply,
      ]);
  }
  return warned;
}

function readable(session: Session): Finding {
  const { asking } = honestRounds(session);
  if (asking.length === 0) throw new Inconclusive("the server asked nothing");
  const shown = asking.flatMap((exchange) => {
    const state = exchange.received.kind === "result" ? exchange.received.result["requestState"] : undefined;
    return typeof state === "string" ? [{ exchange, kinds: readableIn(state, session.call.arguments) }] : [];
  });
  if (shown.length === 0) return finding("not_applicable", NO_STATE, []);
  const telling = shown.filter(({ kinds }) => kinds.length > 0);
  if (telling.length === 0) return finding("pass", "nothing that can be read was found in the state", []);
  const kinds = new Set(telling.flatMap((one) => one.kinds));
  return finding(
    "warn",
    `the state shows ${[...kinds].join("; ")}`,
    telling.map(({ exchange }) => exchange),
  );
}

/** Checks of what a server makes of its states. */
export const STATE_CHECKS: readonly Check[] = [
  {
    id: "state/missing",
    title: "Answers without their state are not taken",
    clause: {
      ...INTEGRITY,
      text: "Answers count for the question that a state was sent with; a request without the state is a first call.",
    },
    advice: "Send a protected state with every question, and ask anew where answers come without one.",
    completes: false,
    run: missing,
  },
  {
    id: "state/invented",
    title: "A state that the server has not made is refused",
    clause: INTEGRITY,
    advice: SEAL,
    completes: false,
    run: (session) => tryForms(session, () => INVENTED_STATES, roundsWithState(session)),
  },
  {
    id: "state/tampered",
    title: "A state that was changed is refused",
    clause: INTEGRITY,
    advice: SEAL,
    completes: false,
    run: (session) => tryForms(session, tamperings),
  },
  {
    id: "state/other-type",
    title: "A state that is no text is refused",
    clause: { level: "MUST", text: "`requestState` is a text.", source: "schema" },
    advice: "Parse `requestState` as a text before anything looks at it, and answer -32602 to anything else.",
    completes: false,
    run: (session) => tryForms(session, otherTypes),
  },
  {
    id: "state/swapped",
    title: "Pieces of two states are no state",
    clause: INTEGRITY,
    advice: "Protect the whole state with one tag, and not its parts one by one.",
    completes: false,
    run: pieces,
  },
  {
    id: "state/spelling",
    title: "A state is taken in the spelling that it was sent in",
    clause: {
      level: "advice",
      text: "A state comes back exactly as it was sent; another spelling of the same bytes is another text, and may be a way around single use.",
      source: SOURCE,
    },
    advice:
      "Decode strictly (encode again and compare), and mark what is inside the state as spent rather than its text.",
    completes: false,
    run: otherSpellings,
  },
  {
    id: "state/readable",
    title: "A state shows nothing to the client",
    clause: {
      level: "advice",
      text: "A state is opaque to the client; what it must not read or guess does not stand in it in the open.",
      source: SOURCE,
    },
    advice: "Encrypt the state, or send a random name of what the server keeps itself.",
    completes: false,
    run: async (session) => readable(session),
  },
  {
    id: "state/expiry",
    title: "A state is not good for ever",
    clause: { level: "SHOULD", text: "A state expires soon after it was sent.", source: SOURCE },
    advice: "Put the time of expiry into the protected state, and refuse it afterwards.",
    completes: false,
    run: expiry,
  },
];
