/** The catalogue of all rules, by id. Pure data; `docs/rules.md` is written from it. */
import { AUTH, CACHE } from "./access.ts";
import { ELICITATION } from "./elicitation.ts";
import { HTTP } from "./http.ts";
import { MRTR } from "./mrtr.ts";
import { PROTOCOL, TASKS } from "./protocol.ts";
import type { Mode, Rule } from "./rule.ts";
import { ROOTS, SAMPLING } from "./sampling.ts";

const AREAS = {
  ...MRTR,
  ...ELICITATION,
  ...SAMPLING,
  ...ROOTS,
  ...HTTP,
  ...PROTOCOL,
  ...TASKS,
  ...CACHE,
  ...AUTH,
} as const;

/** The name of a rule, such as `elicitation/secret-field`. */
export type RuleId = keyof typeof AREAS;
/** The name of a rule whose mode can be set. */
export type SwitchableId = {
  [Id in RuleId]: (typeof AREAS)[Id] extends { readonly core: string } ? never : Id;
}[RuleId];

/** Every rule, in the order of the areas. */
export const CATALOGUE: Readonly<Record<RuleId, Rule>> = AREAS;
export const RULE_IDS = Object.keys(AREAS) as readonly RuleId[];

/** Whether a text is the name of a rule. */
export function isRuleId(text: string): text is RuleId {
  return Object.hasOwn(AREAS, text);
}

/** Whether the mode of a rule can be set. */
export function isSwitchable(id: RuleId): id is SwitchableId {
  return !("core" in CATALOGUE[id]);
}

export const SWITCHABLE_IDS: readonly SwitchableId[] = RULE_IDS.filter(isSwitchable);

/** The mode of a rule where nobody set another: what is core is always enforced. */
export function defaultMode(id: RuleId): Mode {
  const rule = CATALOGUE[id];
  return "core" in rule ? "enforce" : rule.mode;
}
