/**
 * Request step 5: may this principal use this method, this tool, prompt or resource? The decision is `authorization.ts`;
 * here it meets the message, the audit record and the refusals.
 */

import { auditTarget } from "./audit/record.ts";
import type { Authorizer, Decision, Operation } from "./authorization.ts";
import { Refusal } from "./errors.ts";
import type { Journey } from "./journey.ts";
import type { JsonText } from "./json/scan.ts";
import type { NotificationMessage, RequestMessage } from "./mcp/message.ts";
import { isTaskMethod, listenedResources, type Target, targetOf } from "./mcp/methods.ts";
import { unknownTarget } from "./server-error.ts";

/** What was decided of one message. */
export interface Admission {
  readonly target: Target | undefined;
  /** The answer it gets if policy says no: for what is hidden, the one that an unknown name gets. */
  readonly refusal: Refusal | undefined;
}

/** What a message asks of policy: the operation it is, and reading each resource that it wants updates of. */
export interface Wanted {
  readonly target: Target | undefined;
  readonly operations: readonly [Operation, ...Operation[]];
}

/** The methods whose `arguments` policies can test. */
const WITH_ARGUMENTS: ReadonlySet<string> = new Set(["tools/call", "prompts/get"]);

/** @throws Refusal `method_not_found` for tasks, `invalid_params`: whatever policy says */
export function wantedBy(doc: JsonText, message: RequestMessage | NotificationMessage): Wanted {
  const { method, params } = message;
  if (isTaskMethod(method)) throw new Refusal("method_not_found", "tasks");
  const target = targetOf(doc, message);
  const listened = listenedResources(doc, message).map(
    (name): Operation => ({ method: "resources/read", target: { kind: "resource", name } }),
  );
  const first: Operation = {
    method,
    ...(target === undefined ? {} : { target }),
    ...(WITH_ARGUMENTS.has(method) ? { arguments: { doc, node: doc.get(params, "arguments") } } : {}),
  };
  return { target, operations: [first, ...listened] };
}

/**
 * May this principal do this? Asked again on every retry: a sealed state is not a permission. A refusal is returned and not
 * thrown: whoever serves the message first does all else that could refuse it, since of an unknown name that would be
 * seen too.
 * @throws Refusal `method_not_found` for tasks, `invalid_params`: whatever policy says
 */
export function admit(
  authorizer: Authorizer,
  journey: Journey,
  doc: JsonText,
  message: RequestMessage | NotificationMessage,
): Admission {
  const { target, operations } = wantedBy(doc, message);
  if (target !== undefined) journey.draft.target = auditTarget(target);
  for (const [index, operation] of operations.entries()) {
    const decision = authorizer.decide(journey.principal, operation);
    if (index === 0) journey.draft.policy = decision.policy;
    if (!decision.allowed) return { target, refusal: refusalOf(operation, decision) };
  }
  return { target, refusal: undefined };
}

/**
 * `admit`, for what is served without further checks.
 * @throws Refusal also `unknown_tool`, `unknown_prompt`, `unknown_resource`, `arguments_forbidden`, `forbidden`
 */
export function authorize(
  authorizer: Authorizer,
  journey: Journey,
  doc: JsonText,
  message: RequestMessage | NotificationMessage,
): Target | undefined {
  const { target, refusal } = admit(authorizer, journey, doc, message);
  if (refusal !== undefined) throw refusal;
  return target;
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
