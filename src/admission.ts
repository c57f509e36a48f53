/**
 * Request step 5: may this principal use this method, this tool, prompt or resource? The decision is `authorization.ts`;
 * here it meets the message, the audit record and the refusals.
 */

import { auditTarget } from "./audit/record.ts";
import type { Authorizer, Decision } from "./authorization.ts";
import type { Operation } from "./compiled-policy.ts";
import { Refusal } from "./errors.ts";
import type { Headers } from "./headers.ts";
import type { Journey } from "./journey.ts";
import type { JsonText } from "./json/scan.ts";
import type { NotificationMessage, RequestMessage } from "./mcp/message.ts";
import {
  aimOf,
  isTaskMethod,
  listenedResources,
  MRTR_METHODS,
  type Target,
  targetOf,
} from "./mcp/methods.ts";
import { decodeMirrored } from "./mcp/mirrored-headers.ts";
import { refuseMissing, refuseScope } from "./principal/bearer.ts";
import { ownerOf, type Principal } from "./principal/principal.ts";
import { unknownTarget } from "./server-error.ts";
import type { OpenedTask, TaskUse } from "./tasks/task-id.ts";

/** What was decided of one message. */
export interface Admission {
  readonly target: Target | undefined;
  /** The answer it gets if policy says no: for what is hidden, the one that an unknown name gets. */
  readonly refusal: Refusal | undefined;
  /** Ids of the approve policies that match what it does, or that would ask about an unknown name, where it is hidden. */
  readonly approvals: readonly string[];
}

/** What a message asks of policy: the operation it is, and reading each resource that it wants updates of. */
export interface Wanted {
  readonly target: Target | undefined;
  readonly operations: readonly [Operation, ...Operation[]];
}

/** The methods whose `arguments` policies can test. */
const WITH_ARGUMENTS: ReadonlySet<string> = new Set(["tools/call", "prompts/get"]);

/**
 * @param tasks what the message does with tasks; they are used by whoever may call their tools
 * @throws Refusal `method_not_found` for tasks that are not served, `invalid_params`: whatever policy says
 */
export function wantedBy(
  doc: JsonText,
  message: RequestMessage | NotificationMessage,
  tasks?: TaskUse,
): Wanted {
  const { method, params } = message;
  const own = tasks?.own;
  if (own === undefined && isTaskMethod(method)) throw new Refusal("method_not_found", "tasks");
  if (own !== undefined) {
    const target = toolOf(own);
    return { target, operations: [{ method, target }, ...usesOf(target)] };
  }
  const target = targetOf(doc, message);
  const listened = listenedResources(doc, message).map(
    (name): Operation => ({ method: "resources/read", target: { kind: "resource", name } }),
  );
  const first: Operation = {
    method,
    ...(target === undefined ? {} : { target }),
    ...(WITH_ARGUMENTS.has(method) ? { arguments: { doc, node: doc.get(params, "arguments") } } : {}),
  };
  const tools = new Map(
    [...(tasks?.listened.values() ?? [])].map((task) => [task.claims.tool, toolOf(task)]),
  );
  const polled = [...tools.values()].flatMap((tool) => [
    { method: "tasks/get", target: tool },
    ...usesOf(tool),
  ]);
  return { target, operations: [first, ...listened, ...polled] };
}

const toolOf = ({ claims }: OpenedTask): Target => ({ kind: "tool", name: claims.tool });

/** A call goes on in its task. Its arguments are not known any more. */
const usesOf = (target: Target): Operation[] => [{ method: "tools/call", target }];

/**
 * May this principal do this? Asked again on every retry: a sealed state is not a permission. A refusal is returned and not
 * thrown: whoever serves the message first does all else that could refuse it, since of an unknown name that would be
 * seen too. But of a task nothing can be seen: it gets the answer of an id that does not open, at once. A scope that is missing
 * is told at once as well, of a name that policy hides only where a name nobody has would be told the same.
 * @throws Refusal `method_not_found` for tasks that are not served, `invalid_params`: whatever policy says; `unknown_task`;
 *   `insufficient_scope`, or `unauthorized` to a caller without a token
 */
export function admit(
  authorizer: Authorizer,
  journey: Journey,
  doc: JsonText,
  message: RequestMessage | NotificationMessage,
  tasks?: TaskUse,
): Admission {
  const { target, operations } = wantedBy(doc, message, tasks);
  if (target !== undefined) journey.draft.target = auditTarget(target);
  let approvals: readonly string[] = [];
  let refusal: Refusal | undefined;
  const scopes = new Set<string>();
  for (const [index, operation] of operations.entries()) {
    const decision = authorizer.decide(journey.principal, operation);
    if (index === 0) noteDecision(authorizer, journey, decision);
    for (const scope of scopesOf(authorizer, operation, decision)) scopes.add(scope);
    // What a message listens to, and a task that is under way, is not called by it.
    if (index === 0) approvals = decision.approvals ?? [];
    if (decision.allowed) continue;
    const isOfTask = operation.target?.kind === "tool" && message.method !== "tools/call";
    if (isOfTask) throw new Refusal("unknown_task", "policy");
    refusal ??= refusalOf(operation, decision);
  }
  checkScopes(authorizer, journey, [...scopes]);
  return { target, refusal, approvals };
}

/** For audit: what decided, and how sensitive the data is by the policies that match, or else by the route. */
function noteDecision({ sensitivity }: Authorizer, { draft, route }: Journey, decision: Decision): void {
  draft.policy = decision.policy;
  const { sensitivity: ofRoute } = route.config;
  if (sensitivity.size === 0 && ofRoute === undefined) return;
  const matching = [decision.policy, ...(decision.approvals ?? [])];
  const labels = new Set(matching.flatMap((id) => sensitivity.get(id) ?? []));
  if (labels.size === 0 && ofRoute !== undefined) labels.add(ofRoute);
  if (labels.size > 0) draft.sensitivity = [...labels];
}

/** What one operation needs; nothing where its arguments are forbidden, since a scope would not help. */
export function scopesOf(
  { scopes }: Authorizer,
  operation: Operation,
  decision: Decision,
): readonly string[] {
  if (decision.allowed) return scopes.neededFor(operation, false);
  return decision.byArguments === true ? [] : scopes.neededFor(operation, true);
}

/** Characters of a name that is looked at. */
const MAX_NAME = 8_192;

/**
 * What a request will need, as far as its headers tell before its body is read. Only for the challenge to its sender: nothing is
 * let pass by it.
 */
export function scopesByHeaders(
  authorizer: Authorizer,
  principal: Principal,
  headers: Headers,
): readonly string[] {
  const method = headers.get("mcp-method");
  if (method === undefined || !authorizer.scopes.any || method.length > MAX_NAME) return [];
  const kind = MRTR_METHODS.has(method) ? aimOf(method)?.kind : undefined;
  const name = kind === undefined ? undefined : decodeMirrored(headers.get("mcp-name") ?? "");
  const named = kind !== undefined && name !== undefined && name.length <= MAX_NAME;
  const operation: Operation = { method, ...(named ? { target: { kind, name } } : {}) };
  return scopesOf(authorizer, operation, authorizer.decide(principal, operation));
}

/** The challenge names everything at once, also what every token of that issuer needs (RFC 6750 section 3.1). */
function checkScopes({ scopes }: Authorizer, { principal, route, draft }: Journey, needed: string[]): void {
  if (scopes.covers(principal.scopes, needed)) return;
  const required = route.requiredScopes.get(principal.issuer) ?? [];
  const { metadataUrl, proofAlgorithms: algorithms } = route;
  const asked = draft.confirmedBy?.includes("dpop") === true;
  const dpop = algorithms && { algorithms, asked };
  const parts = { metadataUrl, scopes: [...new Set([...required, ...needed])], dpop };
  const { anonymous, issuer, subject, client } = principal;
  throw anonymous ? refuseMissing("scope", parts) : refuseScope(parts, ownerOf(issuer, subject, client));
}

/** What a caller is told whom policy does not let do this. */
export function refusalOf(
  { method, target }: Operation,
  { byArguments }: Extract<Decision, { allowed: false }>,
): Refusal {
  // SDK clients take any other refusal of server/discover for a legacy server.
  if (method === "server/discover") return new Refusal("forbidden", "policy");
  // The target is no secret: lists show it to this caller, and with other arguments it can be used.
  if (byArguments === true) return new Refusal("arguments_forbidden", "policy");
  return target === undefined ? new Refusal("method_not_found", "policy") : unknownTarget(target, "policy");
}
