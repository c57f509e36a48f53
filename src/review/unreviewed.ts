/** What was named for a review and could not be reviewed: one inconclusive result in place of all the checks. Pure. */
import type { Check } from "./check.ts";
import type { Exchange } from "./exchange.ts";

/** A name that was allowed, and why nothing could be tried on it. */
export interface Unreviewed {
  /** As the operator wrote it. */
  readonly name: string;
  /** See `Finding.words`. */
  readonly words: string;
  readonly exchanges: readonly Exchange[];
}

/** Stands in results like a check, and runs nothing. */
export const REVIEWABLE: Omit<Check, "run" | "completes"> = {
  id: "review/reviewable",
  title: "What is allowed can be called, and so reviewed",
  clause: {
    level: "advice",
    text: "What a review was to try and could not is no part of what passed.",
    source: "basic/patterns/mrtr",
  },
  advice:
    "Look for the name in the server's lists, and give the arguments or the rights that it wants in a plan.",
};

/** The same of a call whose planned answers do not fit what is asked. */
export const FITTING: typeof REVIEWABLE = {
  ...REVIEWABLE,
  title: "The plan's answers fit what is asked",
  advice:
    "Look at the questions of this call in the report, and give answers in the plan by their keys and fields.",
};
