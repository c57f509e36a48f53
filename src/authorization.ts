/**
 * May this principal use this method, this tool, prompt or resource, with these arguments? Pure: (principal, operation) → decision.
 * A deny that matches wins, then any allow or approve that matches, then the default; the order of policies means nothing. What is
 * allowed and matched by an approve needs the user's consent, whatever allowed it (src/approval/, decision 33).
 * Asked for every request, for every retry (a sealed state is not a permission) and for every entry of a list.
 */

import { namesOf } from "./argument-place.ts";
import { ArgumentReading } from "./argument-reading.ts";
import {
  type CompiledPolicy,
  compilePolicy,
  type Operation,
  ofNamesNobodyHas,
  type Readings,
} from "./compiled-policy.ts";
import type { Config } from "./config/schema.ts";
import { isEverything } from "./glob.ts";
import { MRTR_METHODS } from "./mcp/methods.ts";
import { readUri } from "./mcp/resource-uri.ts";
import { fold } from "./mcp/twins.ts";
import { PolicyIndex } from "./policy-index.ts";
import type { Principal } from "./principal/principal.ts";
import { createScopeHierarchy, createScopeRules, type ScopeHierarchy, type ScopeRules } from "./scopes.ts";

/** `policy` names what decided, for audit: a policy id, or one of the words in parentheses below. */
export type Decision =
  | {
      readonly allowed: true;
      readonly policy: string;
      /**
       * Ids of the approve policies that match, in the order of the file; absent where none does. Those with `when` are among
       * them, whatever the annotations of the tool are.
       */
      readonly approvals?: readonly string[];
    }
  | {
      readonly allowed: false;
      readonly policy: string;
      /** Other arguments may be allowed: the target is no secret from this principal. */
      readonly byArguments?: true;
      /**
       * Ids of the approve policies that would ask about a name that nobody has: a question must not tell it from what is hidden. Absent
       * where such a name is not asked about.
       */
      readonly approvals?: readonly string[];
    };

/** What one policy came to, in the order of the file. */
export interface PolicyReading {
  readonly id: string;
  readonly effect: Effect;
  /** False where something else had decided, or the method is open: the policy was read for the explanation only. */
  readonly asked: boolean;
  /** The first selector that does not fit, `principal.groups` or `arguments[0]`; undefined when the policy matches. */
  readonly unfit: string | undefined;
}

/** A decision with its reasons. */
export interface Explanation {
  readonly decision: Decision;
  readonly policies: readonly PolicyReading[];
}

/** The policies of one configuration. */
export interface Authorizer {
  /** Decides one operation. Total, never throws. */
  decide(principal: Principal, operation: Operation): Decision;
  /** `decide`, and what it found of each policy on the way. */
  explain(principal: Principal, operation: Operation): Explanation;
  /** Id of a policy → how sensitive the data is that it is about; for audit. */
  readonly sensitivity: ReadonlyMap<string, string>;
  /** True when no policy can deny anything to anyone, and no list depends on scopes: lists need no filter. */
  readonly open: boolean;
  /** What operations need beside what is decided, and what the scopes of a principal come to. Asked apart, by `admission.ts`. */
  readonly scopes: ScopeRules & ScopeHierarchy;
  /** Whether lists show what this operation would use: not what is denied, and with `scopedLists: held` nothing out of reach. */
  lists(principal: Principal, operation: Operation): boolean;
}

/** `Decision.policy` when no policy matched and `authorization.default` decided. */
export const BY_DEFAULT = "(default)";
/** `Decision.policy` when the method is open to every principal. */
export const BY_OPEN_METHOD = "(open)";
/** `Decision.policy` when patterns of resources cannot judge a uri, since it holds dot segments. */
export const BY_DOT_SEGMENT = "(dot segment)";
/** The same for a uri with control characters, escapes of escapes of escapes, or a heap of combining marks. */
export const BY_UNREADABLE = "(unreadable)";

/** The same for a method that another reader may take for one that users are asked about. */
export const BY_SPELLING = "(method spelling)";

type Effect = Config["authorization"]["policies"][number]["effect"];

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
function isOpenMethod(method: string): boolean {
  return OPEN_METHODS.has(method) || method.startsWith("notifications/");
}

/** `Tools/Call` names no tool, so it could not be asked about. */
const isMisspelt = (method: string): boolean =>
  !MRTR_METHODS.has(method) && MRTR_METHODS.has(fold(method.trim()));

/** Told of each policy that is asked. */
type Note = (policy: CompiledPolicy, unfit: string | undefined) => void;

/**
 * Compiles the operator's policies (trusted, already checked by the schema) into one authorizer.
 * @param about what names nobody has is asked of an authorizer of its own
 * @throws Error for a policy with an effect this version does not know: an unknown effect must never count as "no policy"
 */
export function createAuthorizer(
  authorization: Config["authorization"],
  about: "names" | "nobody's names" = "names",
): Authorizer {
  for (const { id, effect } of authorization.policies) {
    if (!["deny", "allow", "approve"].includes(effect))
      throw new Error(`policy ${id}: effect must be allow, deny or approve`);
  }
  const { policies } = authorization;
  const of = (effect: Effect) => policies.filter((one) => one.effect === effect);
  const denies = new PolicyIndex(of("deny").map((policy) => compilePolicy(policy, "deny")));
  // What a policy with `when` matches depends on what a server says, and that must never allow anything.
  const allows = new PolicyIndex(
    policies
      .filter(({ effect, when }) => effect === "allow" || (effect === "approve" && when === undefined))
      .map((policy) => compilePolicy(policy, "allow")),
  );
  // In doubt it is asked: what matches is read as widely as a deny.
  const demands = new PolicyIndex(of("approve").map((policy) => compilePolicy(policy, "deny")));
  const allowedByDefault = authorization.default === "allow";
  const testsArguments = policies.some((policy) => policy.arguments !== undefined);
  const tested = policies.flatMap(({ arguments: tests = [] }) => tests.map(({ path }) => path));
  const names = namesOf(tested);
  const judgesUris = policies.some(({ resources = [] }) =>
    resources.some((pattern) => !isEverything(pattern)),
  );
  /** Decides about names that nobody has; made when the first of them is asked about. */
  let nobody: Authorizer | undefined;
  const denyMethods = new PolicyIndex(
    denies.all.filter((policy) => policy.namesMethods && !policy.namesTargets),
  );
  const read = (principal: Principal, { target, arguments: given }: Operation): Readings => ({
    uri: judgesUris && target?.kind === "resource" ? readUri(target.name) : undefined,
    given: testsArguments && given !== undefined ? new ArgumentReading(principal, given, names) : undefined,
  });

  function judge(principal: Principal, operation: Operation, readings: Readings, note?: Note): Decision {
    const { uri } = readings;
    const first = (asked: PolicyIndex): CompiledPolicy | undefined => {
      // An explanation is about all of them.
      for (const policy of note === undefined ? asked.candidates(principal, operation, uri) : asked.all) {
        const unfit = policy.unfit(principal, operation, readings);
        note?.(policy, unfit);
        if (unfit === undefined) return policy;
      }
      return undefined;
    };
    const open = isOpenMethod(operation.method);
    const deny = first(open ? denyMethods : denies);
    if (deny !== undefined) return { allowed: false, policy: deny.id };
    if (demands.all.length > 0 && isMisspelt(operation.method))
      return { allowed: false, policy: BY_SPELLING };
    if (open) return { allowed: true, policy: BY_OPEN_METHOD };
    if (uri?.unjudgeable !== undefined) {
      return {
        allowed: false,
        policy: uri.unjudgeable === "dot segment" ? BY_DOT_SEGMENT : BY_UNREADABLE,
      };
    }
    const allow = first(allows);
    if (allow !== undefined) return { allowed: true, policy: allow.id };
    return { allowed: allowedByDefault, policy: BY_DEFAULT };
  }

  function decide(principal: Principal, operation: Operation, readings: Readings, note?: Note): Decision {
    const decision = judge(principal, operation, readings, note);
    if (decision.allowed) {
      if (demands.all.length === 0 || !MRTR_METHODS.has(operation.method)) return decision;
      const asked = demands.candidates(principal, operation, readings.uri);
      const matching = asked.filter((policy) => policy.unfit(principal, operation, readings) === undefined);
      return matching.length === 0 ? decision : { ...decision, approvals: matching.map(({ id }) => id) };
    }
    if (testsArguments && operation.arguments !== undefined) {
      const { arguments: _, ...withSome } = operation;
      if (judge(principal, withSome, { ...readings, given: undefined }).allowed)
        return { ...decision, byArguments: true };
    }
    const asks = demands.all.length > 0 && MRTR_METHODS.has(operation.method);
    if (!asks || about !== "names") return decision;
    nobody ??= createAuthorizer(ofNamesNobodyHas(authorization), "nobody's names");
    const { allowed, approvals } = nobody.decide(principal, operation);
    return allowed && approvals !== undefined ? { ...decision, approvals } : decision;
  }

  const rules = createScopeRules(authorization);
  const hierarchy = createScopeHierarchy(authorization.scopeIncludes);
  const scopes = { ...rules, ...hierarchy };
  const onlyHeld = rules.any && authorization.scopedLists === "held";
  /** Whom policies see: somebody with all that the scopes of the token include. */
  const holder = (principal: Principal): Principal => {
    const wide = scopes.widen(principal.scopes);
    return wide === principal.scopes ? principal : { ...principal, scopes: wide };
  };
  const decideFor = (given: Principal, operation: Operation): Decision => {
    const principal = holder(given);
    return decide(principal, operation, read(principal, operation));
  };

  return {
    open: allowedByDefault && denies.all.length === 0 && !onlyHeld,
    scopes,
    sensitivity: new Map(
      policies.flatMap(({ id, sensitivity }) => (sensitivity === undefined ? [] : [[id, sensitivity]])),
    ),
    decide: decideFor,
    lists: (principal, operation) =>
      decideFor(principal, operation).allowed &&
      (!onlyHeld || scopes.covers(principal.scopes, scopes.neededFor(operation, false))),
    explain(given, operation) {
      const principal = holder(given);
      const asked = new Map<string, string | undefined>();
      const readings = read(principal, operation);
      const decision = decide(principal, operation, readings, ({ id }, unfit) => asked.set(id, unfit));
      const found = policies.map((policy): PolicyReading => {
        const { id, effect } = policy;
        if (effect === "approve") {
          const demand = demands.all.find((one) => one.id === id);
          return {
            id,
            effect,
            asked: decision.allowed,
            unfit: demand?.unfit(principal, operation, readings),
          };
        }
        const compiled = [...denies.all, ...allows.all].find((one) => one.id === id);
        return asked.has(id)
          ? { id, effect, asked: true, unfit: asked.get(id) }
          : { id, effect, asked: false, unfit: compiled?.unfit(principal, operation, readings) };
      });
      return { decision, policies: found };
    },
  };
}
