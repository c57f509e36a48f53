/** All checks of the reviewer, in the order in which they run. */
import type { Check } from "./check.ts";
import { ANSWER_CHECKS } from "./checks/answers.ts";
import { CONNECTION_CHECKS } from "./checks/connection.ts";
import { EFFECT_CHECKS } from "./checks/effects.ts";
import { REDEMPTION_CHECKS } from "./checks/redemption.ts";

/** One more rule is one more entry of one of these lists, and a line in docs/review.md. */
export const CHECKS: readonly Check[] = [
  ...EFFECT_CHECKS,
  ...ANSWER_CHECKS,
  ...REDEMPTION_CHECKS,
  ...CONNECTION_CHECKS,
];
