/** All checks of the reviewer, in the order in which they run. */
import type { Check } from "./check.ts";
import { ANSWER_CHECKS } from "./checks/answers.ts";
import { BINDING_CHECKS } from "./checks/binding.ts";
import { CONNECTION_CHECKS } from "./checks/connection.ts";
import { EFFECT_CHECKS } from "./checks/effects.ts";
import { PROTOCOL_CHECKS } from "./checks/protocol.ts";
import { QUESTION_CHECKS } from "./checks/question.ts";
import { REDEMPTION_CHECKS } from "./checks/redemption.ts";
import { STATE_CHECKS } from "./checks/state.ts";

/** One more rule is one more entry of one of these lists, and a line in docs/review.md. */
export const CHECKS: readonly Check[] = [
  ...EFFECT_CHECKS,
  ...QUESTION_CHECKS,
  ...ANSWER_CHECKS,
  ...STATE_CHECKS,
  ...BINDING_CHECKS,
  ...REDEMPTION_CHECKS,
  ...CONNECTION_CHECKS,
  ...PROTOCOL_CHECKS,
];
