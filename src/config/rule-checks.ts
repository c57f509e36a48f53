/** Modes of rules that take protection away without a word. Part of `cross-checks.ts`, pure like it. */
import { defaultMode, SWITCHABLE_IDS } from "../rules/catalogue.ts";
import type { SetModes } from "../rules/modes.ts";
import type { Step } from "./json-schema.ts";
import type { Report, Sound } from "./report.ts";

/** Warns of rules that are switched off although they are enforced by default: what breaks them is not even counted. */
export function checkRules({ rules, routes }: Sound, report: Report): void {
  if (rules !== undefined) checkModes(rules, ["rules"], report);
  for (const [index, route] of (routes ?? []).entries()) {
    checkModes(route.rules, ["routes", index, "rules"], report);
  }
}

function checkModes(
  { tools = [], ...modes }: SetModes & { readonly tools?: readonly SetModes[] | undefined },
  path: readonly Step[],
  report: Report,
): void {
  for (const id of SWITCHABLE_IDS) {
    if (modes[id] !== "off" || defaultMode(id) !== "enforce") continue;
    report.warning(
      [...path, id],
      "is off: what breaks this rule passes and is not counted; report counts it",
    );
  }
  for (const [index, entry] of tools.entries()) checkModes(entry, [...path, "tools", index], report);
}
