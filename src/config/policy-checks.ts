/**
 * Policies that are sound and do nothing, or more than anybody means: a method that MCP does not have, a name that its
 * methods never carry, a selector that no caller fits, a regular expression among patterns. Warnings, since a server may
 * have methods of its own; only a deny that denies nothing is a problem. Part of `cross-checks.ts`, pure like it.
 */
import { compileGlob, isEverything } from "../glob.ts";
import { isTaskMethod, TASK_METHODS } from "../mcp/methods.ts";
import { checkApproval, checkForms } from "./approval-checks.ts";
import { checkArguments } from "./argument-checks.ts";
import { callerIssuers } from "./caller-issuers.ts";
import { checkConsent, checkUnaskable } from "./consent-checks.ts";
import type { Step } from "./json-schema.ts";
import { METHOD_TARGETS } from "./known-methods.ts";
import { nearest } from "./nearest.ts";
import { foreignSign } from "./pattern-signs.ts";
import type { Report, Sound } from "./report.ts";
import type { Policy } from "./schema.ts";

const TARGETS = [
  ["tools", "tool"],
  ["prompts", "prompt"],
  ["resources", "resource"],
] as const;
const SELECTORS = ["issuers", "subjects", "groups", "scopes", "clients"] as const;

/** All checks of `authorization.policies`, and of patterns elsewhere. */
export function checkPolicies(sections: Sound, report: Report): void {
  const servesTasks = sections.routes?.some(({ tasks }) => tasks === "pass") ?? true;
  for (const [index, policy] of (sections.authorization?.policies ?? []).entries()) {
    const path = ["authorization", "policies", index];
    checkMethods(policy, servesTasks, path, report);
    checkTargets(policy, path, report);
    checkPrincipal(policy, path, sections, report);
    checkReach(policy, path, sections, report);
    checkArguments(policy, path, sections, report);
    checkConsent(policy, path, sections, report);
    checkApproval(policy, path, sections, report);
    for (const [name] of TARGETS) warnOfSigns(policy[name], [...path, name], name === "resources", report);
    warnOfSigns(policy.methods, [...path, "methods"], false, report);
    for (const name of SELECTORS) {
      warnOfSigns(policy.principal?.[name], [...path, "principal", name], true, report);
    }
  }
  checkUnaskable(sections, report);
  checkForms(sections, report);
  if (sections.capability !== undefined) checkTools(sections.capability.tools, ["capability"], report);
  if (sections.rules !== undefined) checkTools(sections.rules.tools, ["rules"], report);
  for (const [index, route] of (sections.routes ?? []).entries()) {
    checkTools(route.capability.tools ?? [], ["routes", index, "capability"], report);
    checkTools(route.rules.tools ?? [], ["routes", index, "rules"], report);
  }
}

/**
 * Names of methods that nothing has. A deny of what is most likely a mistyped name is refused, since it denies nothing; a method
 * that only one server has is nobody's mistake.
 */
function checkMethods(
  { effect, methods = [] }: Policy,
  servesTasks: boolean,
  path: readonly Step[],
  report: Report,
): void {
  for (const [index, pattern] of methods.entries()) {
    const at = [...path, "methods", index];
    const fits = compileGlob(pattern);
    if (isTaskMethod(pattern)) {
      if (!servesTasks) report.warning(at, "never matches: no route has tasks: pass");
      else if (![...TASK_METHODS].some(fits))
        report.warning(at, `never matches, allowed ${[...TASK_METHODS].join(", ")}`);
      continue;
    }
    if ([...METHOD_TARGETS.keys()].some(fits) || foreignSign(pattern, false) !== undefined) continue;
    const near = nearestMethod(pattern);
    if (near === undefined) {
      report.warning(at, "fits no method of MCP, it matters only if the server has one of its own");
    } else if (effect === "deny") {
      report.problem(at, `fits no method of MCP, so it denies nothing, did you mean ${near}?`);
    } else report.warning(at, `fits no method of MCP, did you mean ${near}?`);
  }
}

/** A method, or all of a family for a pattern such as `tool/*`. */
export function nearestMethod(pattern: string): string | undefined {
  const methods = [...METHOD_TARGETS.keys()];
  const [family = "", ...rest] = pattern.split("/");
  const families = [...new Set(methods.flatMap((method) => method.split("/").slice(0, -1).slice(0, 1)))];
  const near = rest.length === 1 && isEverything(rest[0] ?? "") ? nearest(family, families) : undefined;
  return near === undefined ? nearest(pattern, methods) : `${near}/*`;
}

/** Names that the methods of the policy never carry, and methods of it that carry none of its names. */
export function checkTargets(
  policy: Pick<Policy, "methods" | (typeof TARGETS)[number][0]>,
  path: readonly Step[],
  report: Report,
): void {
  const named = TARGETS.filter(([name]) => policy[name] !== undefined);
  const { methods } = policy;
  if (named.length === 0 || methods === undefined || report.lost([...path, "methods"])) return;
  const carried = methods.map((pattern) => {
    const fits = compileGlob(pattern);
    return new Set([...METHOD_TARGETS].flatMap(([method, kinds]) => (fits(method) ? kinds : [])));
  });
  const unmet = named.filter(([, kind]) => !carried.some((kinds) => kinds.has(kind)));
  for (const [name, kind] of unmet) {
    report.warning([...path, name], `never matches: no method of this policy names a ${kind}`);
  }
  // Where nothing is met at all, that was said of the names.
  if (unmet.length === named.length || report.lost(path)) return;
  for (const [index, kinds] of carried.entries()) {
    if (named.some(([, kind]) => kinds.has(kind)) || !METHOD_TARGETS.has(methods[index] ?? "")) continue;
    const lists = named.map(([name]) => name).join(" or ");
    report.warning([...path, "methods", index], `never matches: it names nothing that ${lists} could fit`);
  }
}

/** Selectors that no caller can fit. */
function checkPrincipal(
  { principal }: Policy,
  path: readonly Step[],
  { authentication }: Sound,
  report: Report,
): void {
  if (principal === undefined || authentication === undefined) return;
  if (report.lost(["authentication"])) return;
  const at = (name: string, ...more: Step[]): Step[] => [...path, "principal", name, ...more];
  const { mode } = authentication;
  const issuers = callerIssuers(authentication);
  const asked = SELECTORS.filter((name) => principal[name] !== undefined);
  if (principal.anonymous === true && mode === "required") {
    report.warning(at("anonymous"), "never matches, while authentication.mode is required");
  } else if (principal.anonymous === true) {
    for (const name of asked) report.warning(at(name), "never matches: who is anonymous has none");
  } else if (issuers.length === 0) {
    for (const name of asked)
      report.warning(at(name), "never matches: without an issuer all callers are anonymous");
    if (principal.anonymous === false) report.warning(at("anonymous"), "never matches, without an issuer");
  } else {
    if (principal.groups !== undefined && !issuers.some((entry) => entry.hasGroups)) {
      report.warning(at("groups"), "never matches: no issuer has claims.groups, so nobody has groups");
    }
    for (const [index, pattern] of (principal.issuers ?? []).entries()) {
      if (issuers.some((entry) => compileGlob(pattern)(entry.issuer))) continue;
      report.warning(at("issuers", index), "fits no issuer of authentication.issuers");
    }
  }
}

/** A deny that leaves nothing, and an allow that decides nothing. */
function checkReach(policy: Policy, path: readonly Step[], sections: Sound, report: Report): void {
  if (report.lost(path)) return;
  const { effect, methods, arguments: tests } = policy;
  const lists = TARGETS.map(([name]) => policy[name]);
  const every = (patterns: readonly string[] | undefined): boolean => patterns?.some(isEverything) === true;
  const whole =
    (methods === undefined || every(methods)) &&
    (lists.every((list) => list === undefined) || lists.every(every));
  if (effect === "deny" && whole && tests === undefined && isAnybody(policy.principal, sections, report)) {
    const why = "it selects nothing in particular, and a deny wins over every allow";
    report.warning(path, `denies everything to everybody: ${why}`);
  }
  const open = sections.authorization?.default === "allow" && !report.lost(["authorization", "default"]);
  if (effect === "allow" && open) {
    report.warning(path, "decides nothing, while authorization.default is allow");
  }
}

/** Whether every caller fits. */
function isAnybody(principal: Policy["principal"], { authentication }: Sound, report: Report): boolean {
  const { anonymous, ...selectors } = principal ?? {};
  const required = authentication?.mode === "required" && !report.lost(["authentication", "mode"]);
  if (anonymous === true || (anonymous === false && !required)) return false;
  // Every token has these two.
  const wide = ([name, patterns]: [string, readonly string[]]): boolean =>
    required && (name === "issuers" || name === "subjects") && patterns.some(isEverything);
  return Object.entries(selectors).every(wide);
}

/** Entries behind one that fits every tool: the first that fits decides. */
function checkTools(
  tools: readonly { readonly match: readonly string[] }[],
  path: readonly Step[],
  report: Report,
): void {
  const all = tools.findIndex(({ match }) => match.some(isEverything));
  for (const [index, { match }] of tools.entries()) {
    const at = [...path, "tools", index];
    warnOfSigns(match, [...at, "match"], false, report);
    if (all >= 0 && index > all) report.warning(at, "is never reached: an entry above it fits every tool");
  }
}

function warnOfSigns(
  patterns: readonly string[] | undefined,
  path: readonly Step[],
  free: boolean,
  report: Report,
): void {
  for (const [index, pattern] of (patterns ?? []).entries()) {
    const sign = foreignSign(pattern, free);
    if (sign === undefined) continue;
    report.warning(
      [...path, index],
      `holds ${sign}, which stands for itself: only * (any run of characters) and ? (one) have a meaning here`,
    );
  }
}
