/** Tests of arguments that are sound and never hold, or hold for what nobody means. Part of `policy-checks.ts`, pure like it. */
import { compileGlob } from "../glob.ts";
import { compareNumbers } from "../mcp/number.ts";
import { callerIssuers } from "./caller-issuers.ts";
import type { Step } from "./json-schema.ts";
import { foreignSign } from "./pattern-signs.ts";
import type { Report, Sound } from "./report.ts";
import type { Policy } from "./schema.ts";

type Test = NonNullable<Policy["arguments"]>[number];

/** The methods that carry arguments. */
const CARRIERS = ["tools/call", "prompts/get"] as const;

/** All checks of `authorization.policies[].arguments`. */
export function checkArguments(
  policy: Policy,
  path: readonly Step[],
  { authentication }: Sound,
  report: Report,
): void {
  if (policy.arguments === undefined) return;
  const at = (...more: Step[]): Step[] => [...path, "arguments", ...more];
  checkCarriers(policy, at(), report);
  for (const [index, test] of policy.arguments.entries()) {
    checkTest(test, policy.effect, (...more) => at(index, ...more), report);
    if (test.claim !== undefined && authentication !== undefined && !report.lost(["authentication"])) {
      checkClaim(test.claim, policy, authentication, at(index, "claim"), report);
    }
  }
}

/** A policy that tests arguments and is about methods or names that carry none. */
function checkCarriers(
  { methods, resources, tools, prompts }: Policy,
  at: readonly Step[],
  report: Report,
): void {
  const carries =
    methods === undefined || CARRIERS.some((method) => methods.some((one) => compileGlob(one)(method)));
  if (!carries && !report.lost([...at.slice(0, -1), "methods"])) {
    report.warning(
      at,
      "never match: no method of this policy carries arguments (tools/call and prompts/get do)",
    );
  } else if (resources !== undefined && tools === undefined && prompts === undefined) {
    report.warning(at, "never match: what reads a resource carries no arguments");
  }
}

function checkTest(
  { path, range, glob, equals, oneOf }: Test,
  effect: Policy["effect"],
  at: (...more: Step[]) => Step[],
  report: Report,
): void {
  if (
    range !== undefined &&
    range.min === undefined &&
    range.max === undefined &&
    !report.lost(at("range"))
  ) {
    report.problem(at("range"), "holds neither min nor max, allowed one of them or both");
  }
  if (range?.min !== undefined && range.max !== undefined && compareNumbers(range.min, range.max) > 0) {
    report.problem(at("range"), "is empty: min is more than max");
  }
  if (path.split("/").some((step) => /^(0|[1-9][0-9]*|-)$/.test(step))) {
    report.warning(
      at("path"),
      "has a step that looks like a place in a list: lists stand for each of their entries",
    );
  }
  for (const [index, pattern] of (glob ?? []).entries()) {
    const sign = foreignSign(pattern, true);
    if (sign === undefined) continue;
    const means = "only * (any run of characters) and ? (one) have a meaning here";
    report.warning(at("glob", index), `holds ${sign}, which stands for itself: ${means}`);
  }
  const values = oneOf ?? (equals === undefined ? [] : [equals]);
  if (effect === "deny" && new Set(values.map(kindOf)).size > 1) {
    const why = "a deny holds for every value that is not of the type asked for";
    report.warning(at("oneOf"), `holds values of several types, so each value is denied: ${why}`);
  }
}

const kindOf = (value: NonNullable<Test["oneOf"]>[number]): string =>
  value === null ? "null" : typeof value === "object" ? "number" : typeof value;

/** A claim that no caller has. */
function checkClaim(
  claim: NonNullable<Test["claim"]>,
  { effect }: Policy,
  authentication: NonNullable<Sound["authentication"]>,
  at: readonly Step[],
  report: Report,
): void {
  const { mode } = authentication;
  const issuers = callerIssuers(authentication);
  const has = issuers.some(
    ({ hasGroups, hasTenant }) => (claim !== "groups" || hasGroups) && (claim !== "tenant" || hasTenant),
  );
  if (has) {
    if (mode === "anonymous" && effect === "deny") {
      report.warning(at, "denies every call of a caller without a token, who has no claims");
    }
    return;
  }
  const why =
    issuers.length === 0 ? "without an issuer all callers are anonymous" : `no issuer has claims.${claim}`;
  const what = effect === "allow" ? "never matches" : "matches whatever the argument is";
  report.warning(at, `${what}: ${why}, so nobody has one`);
}
