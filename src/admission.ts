/**
 * Request step 5: may this principal use this method, this tool, prompt or resource? The decision is `authorization.ts`;
 * here it meets the message, the audit record and the refusals.
 */
import { unknownTarget } from "./answer.ts";
import { auditTarget } from "./audit/record.ts";
import type { Authorizer } from "./authorization.ts";
import { Refusal } from "./errors.ts";
import type { Journey } from "./journey.ts";
import type { JsonText } from "./json/scan.ts";
import type { NotificationMessage, RequestMessage } from "./mcp/message.ts";
import { isTaskMethod, listenedResources, type Target, targetOf } from "./mcp/methods.ts";

/** What was decided of one message. */
export interface Admission {
  readonly target: Target | undefined;
  /** The answer it gets if policy says no: for what is hidden, the one that an unknown name gets. */
  readonly refusal: Refusal | undefined;
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
  const { method } = message;
  if (isTaskMethod(method)) throw new Refusal("method_not_found", "tasks");
  const target = targetOf(doc, message);
  const listened = listenedResources(doc, message);
  if (target !== undefined) journey.draft.target = auditTarget(target);
  const decision = authorizer.decide(journey.principal, {
    method,
    ...(target === undefined ? {} : { target }),
  });
  journey.draft.policy = decision.policy;
  if (!decision.allowed) return { target, refusal: refuse(method, target) };
  for (const name of listened) {
    const resource = { kind: "resource", name } as const;
    if (!authorizer.decide(journey.principal, { method: "resources/read", target: resource }).allowed) {
      return { target, refusal: unknownTarget(resource, "policy") };
    }
  }
  return { target, refusal: undefined };
}

/**
 * `admit`, for what is served without further checks.
 * @throws Refusal also `unknown_tool`, `unknown_prompt`, `unknown_resource`, `forbidden`
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

function refuse(method: string, target: Target | undefined): Refusal {
  // SDK clients take any other refusal of server/discover for a legacy server.
  if (method === "server/discover") return new Refusal("forbidden", "policy");
  return target === undefined ? new Refusal("method_not_found", "policy") : unknownTarget(target, "policy");
}
