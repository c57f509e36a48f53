/**
 * What a server makes of answers: a no is a no, what is no answer is none, and nothing counts that was not asked. A tool error, a refusal
 * and asking again are all fair ways to say so. A complete result counts as one only if an effect probe, which an honest run changes,
 * shows no change; one that reads as after an acceptance is a failure, and everything else `warn`.
 */
import type { Check, Clause } from "../check.ts";
import { ahead, attemptAll, NONE, ONLY_UNASKED, oneMissing, oneMore, refusal } from "./answers-attempts.ts";
import {
  againstSchema,
  notAnswers,
  otherKinds,
  type Spoiler,
  unknownActions,
  withoutContent,
  wrongTypes,
} from "./answers-malformed.ts";
import { findingOf, NOT_CARRIED_OUT } from "./answers-verdict.ts";

const REFUSAL: Clause = {
  level: "MUST",
  text: "A server handles that the user declines or cancels: what was asked for is not done.",
  source: "client/elicitation",
};
const VALID: Clause = {
  level: "SHOULD",
  text: "A server checks that answers are well-formed and fit the question before it acts on them.",
  source: "basic/patterns/mrtr",
};
const ASK_AGAIN: Clause = {
  level: "SHOULD",
  text: "Where an answer that is needed is missing, the server asks for it again, and does not return an error.",
  source: "basic/patterns/mrtr",
};
const UNASKED: Clause = {
  level: "SHOULD",
  text: "A server ignores answers to what it has not asked.",
  source: "basic/patterns/mrtr",
};

function malformed(id: string, title: string, ways: Spoiler, advice: string): Check {
  return {
    id: `answers/${id}`,
    title,
    clause: VALID,
    advice,
    completes: true,
    run: async (session) =>
      findingOf(
        await attemptAll(session, (asked, honest) => ways(asked, honest())),
        NOT_CARRIED_OUT,
        "nothing is asked that could be answered that wrongly",
      ),
  };
}

/** Checks of what a server makes of answers. */
export const ANSWER_CHECKS: readonly Check[] = [
  {
    id: "answers/declined",
    title: "What was declined is not done",
    clause: REFUSAL,
    advice: "Look at `action` of every answer, and act only if each that you need is `accept`.",
    completes: false,
    run: (session) => refusal(session, "decline"),
  },
  {
    id: "answers/cancelled",
    title: "What was cancelled is not done",
    clause: REFUSAL,
    advice: "Treat `cancel` as no decision: do nothing, or ask again.",
    completes: false,
    run: (session) => refusal(session, "cancel"),
  },
  malformed(
    "unknown-action",
    "An action that is not `accept` accepts nothing",
    unknownActions,
    "Compare `action` with the text `accept`, and take anything that is not one of the three for malformed.",
  ),
  malformed(
    "not-an-answer",
    "What is no answer accepts nothing",
    notAnswers,
    "Parse `inputResponses` as a map of objects before you look into it.",
  ),
  malformed(
    "other-kind",
    "The answer to a question of another kind accepts nothing",
    otherKinds,
    "Remember under each key what was asked, and parse the answer as one to that.",
  ),
  malformed(
    "wrong-types",
    "Values of the wrong type are not taken",
    wrongTypes,
    "Validate `content` against the schema that you asked with, types first.",
  ),
  malformed(
    "against-schema",
    "Values that the form does not allow are not taken",
    againstSchema,
    "Validate `content` against the schema that you asked with: required fields, lengths, ranges, choices.",
  ),
  malformed(
    "without-content",
    "A form accepted without its content is not accepted",
    withoutContent,
    "Require `content` in an accepted form that has required fields.",
  ),
  {
    id: "answers/missing",
    title: "A retry without answers is not carried out",
    clause: { ...VALID, level: "MUST", text: "A server does not assume that its questions are answered." },
    advice: "Take the absence of an answer for no answer, never for a yes.",
    completes: false,
    run: async (session) => findingOf(await attemptAll(session, NONE), NOT_CARRIED_OUT, "nothing is asked"),
  },
  {
    id: "answers/asked-again",
    title: "What was not answered is asked again",
    clause: ASK_AGAIN,
    advice: "Return the same questions once more, with a new state.",
    completes: false,
    run: async (session) =>
      findingOf(await attemptAll(session, NONE), { ...NOT_CARRIED_OUT, refused: "warn" }, "nothing is asked"),
  },
  {
    id: "answers/one-missing",
    title: "A retry that leaves a question open is not carried out",
    clause: ASK_AGAIN,
    advice: "Look for the answer to every question that you asked, and ask again for those that are missing.",
    completes: true,
    run: oneMissing,
  },
  {
    id: "answers/unasked",
    title: "An acceptance of what was not asked accepts nothing",
    clause: UNASKED,
    advice: "Look for answers under the keys that you asked, and under no other.",
    completes: true,
    run: async (session) =>
      findingOf(await attemptAll(session, ONLY_UNASKED), NOT_CARRIED_OUT, "nothing is asked"),
  },
  {
    id: "answers/one-more",
    title: "An answer too many does no harm",
    clause: UNASKED,
    advice: "Ignore keys that you did not ask.",
    completes: true,
    run: oneMore,
  },
  {
    id: "answers/ahead",
    title: "A question is asked before its answer counts",
    clause: UNASKED,
    advice: "Keep in the protected state which questions were asked, and take answers to those only.",
    completes: true,
    run: ahead,
  },
];
