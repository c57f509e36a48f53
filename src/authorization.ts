/**
 * May this principal use this method, this tool, prompt or resource? Pure: (principal, operation) → decision.
 * A deny that matches wins, then any allow that matches, then the default; the order of policies means nothing.
 * Asked for every request, for every retry (a sealed state is not a permission) and for every entry of a list.
 */

import type { Config } from "./config/schema.ts";
import { compileGlob, compileGlobs, type Glob } from "./glob.ts";
import { readPattern, readUri, type UriReading } from "./mcp/resource-uri.ts";
import type { Principal } from "./principal/principal.ts";

/** What a request wants to do. `target.name` is a tool's or prompt's name, or a resource's URI as the caller spelt it. */
export interface Operation {
  readonly method: string;
  readonly target?: { readonly kind: "tool" | "prompt" | "resource"; readonly name: string };
}

/** `policy` names what decided, for audit: a policy id, or one of the words in parentheses below. */
export type Decision =
  | { readonly allowed: true; readonly policy: string }
  | { readonly allowed: false; readonly policy: string };

export interface Authorizer {
  /** Decides one operation. Total, never throws. */
  decide(principal: Principal, operation: Operation): Decision;
  /** True when no policy can deny anything to anyone: lists need no filter. */
  readonly open: boolean;
}

/** `Decision.policy` when no policy matched and `authorization.default` decided. */
export const BY_DEFAULT = "(default)";
/** `Decision.policy` when the method is open to every principal. */
export const BY_OPEN_METHOD = "(open)";
/** `Decision.policy` when patterns of resources cannot judge a uri, since it holds dot segments. */
export const BY_DOT_SEGMENT = "(dot segment)";
/** The same for a uri with control characters, escapes of escapes of escapes, or a heap of combining marks. */
export const BY_UNREADABLE = "(unreadable)";

type Policy = Config["authorization"]["policies"][number];
type PrincipalSelector = NonNullable<Policy["principal"]>;

/**
 * Methods every principal may call: their results are filtered instead, and an SDK client takes a refusal of
 * `server/discover` for a legacy server. Only a deny that names methods and no target closes one.
 */
const OPEN_METHODS: ReadonlySet<string> = new Set([
  "server/discover",
  "subscriptions/listen",
  "initialize",
  "ping",
  "tools/list",
  "prompts/list",
  "resources/list",
  "resources/templates/list",
]);

/** Whether the method is decided by the open rule above and not by allow policies or the default. */
export function isOpenMethod(method: string): boolean {
  return OPEN_METHODS.has(method) || method.startsWith("notifications/");
}

interface CompiledPolicy {
  readonly id: string;
  readonly namesMethods: boolean;
  readonly namesTargets: boolean;
  /** `uri` is how the target reads, where it is a resource and any policy has a pattern for it. */
  matches(principal: Principal, operation: Operation, uri: UriReading | undefined): boolean;
}

/**
 * Compiles the operator's policies (trusted, already checked by the schema) into one authorizer.
 * Throws when a policy has an effect this version does not know: an unknown effect must never count as "no policy".
 */
export function createAuthorizer(authorization: Config["authorization"]): Authorizer {
  for (const { id, effect } of authorization.policies) {
    if (effect !== "deny" && effect !== "allow")
      throw new Error(`policy ${id}: effect must be allow or deny`);
  }
  const denies = authorization.policies.filter((policy) => policy.effect === "deny").map(compile);
  const allows = authorization.policies.filter((policy) => policy.effect === "allow").map(compile);
  const allowedByDefault = authorization.default === "allow";
  const judgesUris = authorization.policies.some(({ resources = [] }) =>
    resources.some((pattern) => !isEverything(pattern)),
  );
  const denyMethods = denies.filter((policy) => policy.namesMethods && !policy.namesTargets);

  return {
    open: allowedByDefault && denies.length === 0,
    decide(principal, operation) {
      const { target } = operation;
      const uri = judgesUris && target?.kind === "resource" ? readUri(target.name) : undefined;
      const matching = (policy: CompiledPolicy) => policy.matches(principal, operation, uri);
      const open = isOpenMethod(operation.method);
      const deny = (open ? denyMethods : denies).find(matching);
      if (deny !== undefined) return { allowed: false, policy: deny.id };
      if (open) return { allowed: true, policy: BY_OPEN_METHOD };
      if (uri?.unjudgeable !== undefined) {
        return {
          allowed: false,
          policy: uri.unjudgeable === "dot segment" ? BY_DOT_SEGMENT : BY_UNREADABLE,
        };
      }
      const allow = allows.find(matching);
      if (allow !== undefined) return { allowed: true, policy: allow.id };
      return { allowed: allowedByDefault, policy: BY_DEFAULT };
    },
  };
}

const isEverything = (pattern: string): boolean => /^\*+$/.test(pattern);

/** An omitted selector means any. Target selectors want a target of a kind they name, so they never match without one. */
function compile(policy: Policy): CompiledPolicy {
  const fitsPrincipal = compilePrincipal(policy.principal);
  const fitsMethod = policy.methods === undefined ? undefined : compileGlobs(policy.methods);
  const targets = new Map<string, Glob>();
  if (policy.tools !== undefined) targets.set("tool", compileGlobs(policy.tools));
  if (policy.prompts !== undefined) targets.set("prompt", compileGlobs(policy.prompts));
  const fitsUri = policy.resources && compileResources(policy.effect, policy.resources);
  const namesTargets = targets.size > 0 || fitsUri !== undefined;
  return {
    id: policy.id,
    namesMethods: fitsMethod !== undefined,
    namesTargets,
    matches(principal, { method, target }, uri) {
      if (fitsMethod !== undefined && !fitsMethod(method)) return false;
      if (namesTargets) {
        if (target === undefined) return false;
        const { kind, name } = target;
        const fits = kind === "resource" ? fitsUri?.(name, uri) : targets.get(kind)?.(name);
        if (fits !== true) return false;
      }
      return fitsPrincipal(principal);
    },
  };
}

/**
 * A deny holds for every spelling of what it names; an allow only for the one that the operator wrote, and only where no
 * reader takes it for another. A pattern for everything asks nothing of the spelling.
 */
function compileResources(
  effect: Policy["effect"],
  patterns: readonly string[],
): (name: string, uri: UriReading | undefined) => boolean {
  if (patterns.some(isEverything)) return () => true;
  const fits = compileGlobs(effect === "deny" ? patterns.flatMap(readPattern) : patterns);
  return (name, uri) => {
    if (effect === "deny") return (uri?.texts ?? [name]).some(fits);
    return uri?.canonical === true && fits(name);
  };
}

/** All given kinds must match, within a kind any. What a principal does not have matches no pattern, not even `*`. */
function compilePrincipal(selector: PrincipalSelector | undefined): (principal: Principal) => boolean {
  if (selector === undefined) return () => true;
  const one = (patterns: readonly string[], read: (principal: Principal) => string | undefined) => {
    const fits = compileGlobs(patterns);
    return (principal: Principal) => {
      const value = read(principal);
      return value !== undefined && fits(value);
    };
  };
  const some = (patterns: readonly string[], read: (principal: Principal) => readonly string[]) => {
    const globs = patterns.map(compileGlob);
    return (principal: Principal) => read(principal).some((value) => globs.some((glob) => glob(value)));
  };
  const tests: ((principal: Principal) => boolean)[] = [];
  const { issuers, subjects, clients, groups, scopes, anonymous } = selector;
  if (issuers !== undefined) tests.push(one(issuers, (p) => (p.anonymous ? undefined : p.issuer)));
  if (subjects !== undefined) tests.push(one(subjects, (p) => (p.anonymous ? undefined : p.subject)));
  if (clients !== undefined) tests.push(one(clients, (p) => p.client));
  if (groups !== undefined) tests.push(some(groups, (p) => p.groups));
  if (scopes !== undefined) tests.push(some(scopes, (p) => p.scopes));
  if (anonymous !== undefined) tests.push((p) => p.anonymous === anonymous);
  return (principal) => tests.every((test) => test(principal));
}
