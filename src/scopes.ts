/**
 * Which OAuth scopes an operation needs, and what a caller's scopes come to. Pure. Independent of policies: what a policy
 * denies is hidden, what a scope is missing for can be obtained, and the caller is told how.
 * Source: RFC 6750 section 3.1; MCP 2026-07-28, basic/authorization (scope challenge handling); docs/decisions/0030.
 */
import type { Operation } from "./compiled-policy.ts";
import type { Config } from "./config/schema.ts";
import { compileGlobs, type Glob, hasWildcard } from "./glob.ts";
import { readUri, type UriReading } from "./mcp/resource-uri.ts";
import { compileResources } from "./selectors.ts";

type Authorization = Config["authorization"];
type Requirement = NonNullable<Authorization["scopes"]>[number];

/** What broader scopes include. */
export interface ScopeHierarchy {
  /** The scopes with all that they include, at any depth; the same list where nothing is included. */
  widen(scopes: readonly string[]): readonly string[];
  /** Whether all that is needed is among them. */
  covers(scopes: readonly string[], needed: readonly string[]): boolean;
}

/** What operations need. */
export interface ScopeRules {
  /**
   * Every scope that the operation needs, at once and each once, in the order of the file; also those the caller has.
   * @param hidden policy denies it and its answer must be that of a name nobody has: what names nothing in particular counts,
   *   and what names one thing does not
   */
  neededFor(operation: Operation, hidden: boolean): readonly string[];
  /** False where no operation needs any. */
  readonly any: boolean;
}

/** `authorization.scopeIncludes`, compiled; cycles are harmless here and refused at start. */
export function createScopeHierarchy(includes: Authorization["scopeIncludes"] = {}): ScopeHierarchy {
  const table = new Map(Object.entries(includes));
  // Scopes belong to a principal, which is the same object for the same token.
  const known = new WeakMap<readonly string[], readonly string[]>();
  const widen = (scopes: readonly string[]): readonly string[] => {
    if (table.size === 0) return scopes;
    const before = known.get(scopes);
    if (before !== undefined) return before;
    const found = new Set(scopes);
    // A set that grows while it is walked is walked to its new end.
    for (const scope of found) for (const included of table.get(scope) ?? []) found.add(included);
    const wide = [...found];
    known.set(scopes, wide);
    return wide;
  };
  return {
    widen,
    covers(scopes, needed) {
      if (needed.length === 0) return true;
      const wide = widen(scopes);
      return needed.every((scope) => wide.includes(scope));
    },
  };
}

/** `authorization.scopes`, compiled. Trusted, checked by the schema. */
export function createScopeRules({ scopes = [] }: Pick<Authorization, "scopes">): ScopeRules {
  const entries = scopes.map((entry) => ({
    requires: entry.requires,
    fits: compile(entry, (patterns) => patterns),
    fitsHidden: compile(entry, (patterns) => patterns.filter(hasWildcard)),
  }));
  const judgesUris = scopes.some(({ resources }) => resources !== undefined);
  return {
    any: entries.length > 0,
    neededFor(operation, hidden) {
      const { target } = operation;
      const uri = judgesUris && target?.kind === "resource" ? readUri(target.name) : undefined;
      const needed = entries.filter(({ fits, fitsHidden }) => (hidden ? fitsHidden : fits)(operation, uri));
      return [...new Set(needed.flatMap(({ requires }) => requires))];
    },
  };
}

/** In doubt a scope is needed: resources are read like those of a deny, and one that no pattern can judge fits every pattern. */
function compile(
  { methods, tools, prompts, resources }: Requirement,
  pick: (patterns: readonly string[]) => readonly string[],
): (operation: Operation, uri: UriReading | undefined) => boolean {
  const fitsMethod = methods && compileGlobs(methods);
  const names = new Map<string, Glob>();
  if (tools !== undefined) names.set("tool", compileGlobs(pick(tools)));
  if (prompts !== undefined) names.set("prompt", compileGlobs(pick(prompts)));
  const fitsUri = resources && compileResources("deny", pick(resources));
  const namesTargets = names.size > 0 || fitsUri !== undefined;
  const hiddenMethod = methods && compileGlobs(pick(methods));
  return ({ method, target }, uri) => {
    // Of a message that names nothing its method is what may be hidden.
    if ((target === undefined ? hiddenMethod : fitsMethod)?.(method) === false) return false;
    if (!namesTargets) return true;
    if (target === undefined) return false;
    if (target.kind !== "resource") return names.get(target.kind)?.(target.name) === true;
    if (fitsUri === undefined) return false;
    return uri?.unjudgeable !== undefined || fitsUri(target.name, uri);
  };
}
