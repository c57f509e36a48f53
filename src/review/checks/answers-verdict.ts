/** Several attempts at one rule → one finding. Pure. */
import type { Finding, Verdict } from "../check.ts";
import type { Exchange } from "../exchange.ts";
import { OUTCOME_WORDS, type Outcome } from "./answers-outcome.ts";

/** One attempt and what became of it. */
export interface Attempt {
  /** What was sent, the beginning of a sentence: `an unknown action`. */
  readonly name: string;
  readonly outcome: Outcome;
  readonly exchanges: readonly Exchange[];
}

/** What each outcome means for one rule. */
export type Judgement = Readonly<Record<Outcome, Verdict>>;

/** Where an attempt must lead to nothing, however the server says so. */
export const NOT_CARRIED_OUT: Judgement = {
  refused: "pass",
  asked_again: "pass",
  withheld: "pass",
  moved_on: "fail",
  carried_out: "fail",
  unclear: "warn",
  no_answer: "inconclusive",
};

/** What is worth most of the reader's attention first. */
const GRAVITY: readonly Verdict[] = ["fail", "inconclusive", "warn", "pass", "not_applicable"];

/**
 * The gravest of them, and those that led to it.
 * @param absent why there is nothing to try, where there are no attempts
 */
export function findingOf(attempts: readonly Attempt[], judgement: Judgement, absent: string): Finding {
  const [verdict] = GRAVITY.filter((one) => attempts.some(({ outcome }) => judgement[outcome] === one));
  if (verdict === undefined) return { verdict: "not_applicable", words: sentence(absent), exchanges: [] };
  const shown = attempts.filter(({ outcome }) => judgement[outcome] === verdict);
  return {
    verdict,
    words: sentence(shown.map(({ name, outcome }) => `${name} ${OUTCOME_WORDS[outcome]}`).join("; ")),
    exchanges: shown.flatMap(({ exchanges }) => exchanges),
  };
}

/** A plain finding. */
export function finding(verdict: Verdict, words: string, exchanges: readonly Exchange[]): Finding {
  return { verdict, words: sentence(words), exchanges };
}

/** The words with a capital and a full stop. */
export function sentence(words: string): string {
  const text = words.charAt(0).toUpperCase() + words.slice(1);
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
