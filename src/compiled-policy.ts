/**
 * One policy of `authorization`, compiled: what an operation is, and which selector of a policy does not fit it. What matching
 * policies come to is decided in authorization.ts. Pure.
 */
import type { ArgumentReading, Arguments } from "./argument-reading.ts";
import { compileArguments } from "./arguments.ts";
import type { Config } from "./config/schema.ts";
import { compileGlobs, type Glob, hasWildcard } from "./glob.ts";
import { MRTR_METHODS, TASK_METHODS } from "./mcp/methods.ts";
import { readPattern, type UriReading } from "./mcp/resource-uri.ts";
import type { Principal } from "./principal/principal.ts";
import { compilePrincipal, compileResources, type Trait, targetText } from "./selectors.ts";

type Policy = Config["authorization"]["policies"][number];

const TARGET_SELECTORS = ["tools", "prompts", "resources"] as const;

/** What a request wants to do. `target.name` is a tool's or prompt's name, or a resource's URI as the caller spelt it. */
export interface Operation {
  readonly method: string;
  readonly target?: { readonly kind: "tool" | "prompt" | "resource"; readonly name: string };
  /**
   * Those of a call. Without them the question is whether the target may be used at all, with some arguments: what lists and
   * completions ask. An allow that tests arguments says yes to that, a deny that tests them does not say no.
   */
  readonly arguments?: Arguments;
}

/** One policy of `authorization`, ready to be asked. */
export interface CompiledPolicy {
  readonly id: string;
  readonly namesMethods: boolean;
  /** Also where it tests arguments, which only targets have. */
  readonly namesTargets: boolean;
  /** The patterns by which it can be found (policy-index.ts): of each trait here one must fit, or the policy does not match. */
  readonly patterns: ReadonlyMap<Trait, readonly string[]>;
  /** The first selector that does not fit; undefined when the policy matches. */
  unfit(principal: Principal, operation: Operation, readings: Readings): string | undefined;
}

/** What is read once for all policies. */
export interface Readings {
  /** How the target reads, where it is a resource and any policy has a pattern for it. */
  readonly uri: UriReading | undefined;
  /** Where the operation has arguments and any policy tests some. */
  readonly given: ArgumentReading | undefined;
}

/**
 * An omitted selector means any. Target selectors want a target of a kind they name, so they never match without one.
 * @param as how doubt is read: an allow needs certainty, a deny does not. An approve is compiled as both: it allows what surely
 *   matches and demands consent for what may match.
 */
export function compilePolicy(policy: Policy, as: "allow" | "deny"): CompiledPolicy {
  const unfitPrincipal = compilePrincipal(policy.principal);
  const fitsMethod = policy.methods === undefined ? undefined : compileGlobs(policy.methods);
  const targets = new Map<string, Glob>();
  if (policy.tools !== undefined) targets.set("tool", compileGlobs(policy.tools));
  if (policy.prompts !== undefined) targets.set("prompt", compileGlobs(policy.prompts));
  const fitsUri = policy.resources && compileResources(as, policy.resources);
  const namesTargets = targets.size > 0 || fitsUri !== undefined;
  const named = TARGET_SELECTORS.filter((name) => policy[name] !== undefined).join(", ");
  const tests = policy.arguments && compileArguments(as, policy.arguments);
  // Consent can be asked for these alone; the others of a task go by the call that became it.
  const isAskable = policy.effect !== "approve" ? undefined : as === "deny" ? isAsked : isGranted;
  return {
    id: policy.id,
    namesMethods: fitsMethod !== undefined,
    namesTargets: namesTargets || tests !== undefined,
    patterns: patternsOf(policy, as),
    unfit(principal, operation, { uri, given }) {
      const { method, target } = operation;
      if (isAskable?.(method) === false) return "methods";
      if (policy.when !== undefined && target?.kind !== "tool") return "when";
      if (fitsMethod !== undefined && !fitsMethod(method)) return "methods";
      if (namesTargets) {
        if (target === undefined) return named;
        const { kind, name } = target;
        const fits = kind === "resource" ? fitsUri?.(name, uri) : targets.get(kind)?.(name);
        if (fits !== true) return named;
      }
      const unfit = unfitPrincipal(principal);
      if (unfit !== undefined || tests === undefined) return unfit;
      return given === undefined ? unfitUnknown(as, operation) : tests(given);
    },
  };
}

function patternsOf(policy: Policy, as: "allow" | "deny"): ReadonlyMap<Trait, readonly string[]> {
  const { tools = [], prompts = [], resources = [], principal = {} } = policy;
  const patterns = new Map<Trait, readonly string[]>();
  if (TARGET_SELECTORS.some((name) => policy[name] !== undefined)) {
    const uris = as === "deny" ? [...resources, ...resources.flatMap(readPattern)] : resources;
    const named = { tool: tools, prompt: prompts, resource: uris };
    const texts = ([kind, list]: [string, readonly string[]]) => list.map((one) => targetText(kind, one));
    patterns.set("target", Object.entries(named).flatMap(texts));
  }
  for (const trait of ["issuers", "subjects", "clients", "groups", "scopes"] as const) {
    if (principal[trait] !== undefined) patterns.set(trait, principal[trait]);
  }
  return patterns;
}

const isAsked = (method: string): boolean => MRTR_METHODS.has(method);
const isGranted = (method: string): boolean => MRTR_METHODS.has(method) || TASK_METHODS.has(method);

/** Only calls of tools and prompts have arguments. Of what has none, a policy that tests them says nothing. */
function unfitUnknown(effect: "allow" | "deny", { target }: Operation): string | undefined {
  const mayBeAllowed = effect === "allow" && target !== undefined && target.kind !== "resource";
  return mayBeAllowed ? undefined : "arguments";
}

/** The policies as they are for a name that nobody has: no deny means it, and of the others what patterns say. */
export function ofNamesNobodyHas(authorization: Config["authorization"]): Config["authorization"] {
  const policies = authorization.policies.flatMap((policy): Policy[] => {
    const named = TARGET_SELECTORS.filter((name) => policy[name] !== undefined);
    if (named.length === 0) return [policy];
    if (policy.effect === "deny") return [];
    const kept = { ...policy };
    for (const name of named) {
      const patterns = policy[name]?.filter(hasWildcard) ?? [];
      if (patterns.length > 0) kept[name] = patterns;
      else delete kept[name];
    }
    return TARGET_SELECTORS.some((name) => kept[name] !== undefined) ? [kept] : [];
  });
  return { ...authorization, policies };
}
