/** All checks of the reviewer, in the order in which they run. */
import type { Check } from "./check.ts";
import { EFFECT_CHECKS } from "./checks/effects.ts";

/** One more rule is one more entry of one of these lists, and a line in docs/review.md. */
export const CHECKS: readonly Check[] = [...EFFECT_CHECKS];
