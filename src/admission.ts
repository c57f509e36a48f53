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

/**
 * May this principal do this? Asked again on every retry: a sealed state is not a permission.
 * What is hidden is refused with the answer that an unknown name gets.
 * @throws Refusal `method_not_found`, `unknown_tool`, `unknown_prompt`, `unknown_resource`, `forbidden`
 */
export function authorize(
  authorizer: Authorizer,
  journey: Journey,
  doc: JsonText,
  message: RequestMessage | NotificationMessage,
): Target | undefined {
  const { method } = message;
  if (isTaskMethod(method)) throw new Refusal("method_not_found", "tasks");
  const target = targetOf(doc, message);
  if (target !== undefined) journey.draft.target = auditTarget(target);
  const decision = authorizer.decide(journey.principal, {
    method,
    ...(target === undefined ? {} : { target }),
  });
  journey.draft.policy = decision.policy;
  if (!decision.allowed) {
    // SDK clients take any other refusal of server/discover for a legacy server.
    if (method === "server/discover") throw new Refusal("forbidden", "policy");
    throw target === undefined ? new Refusal("method_not_found", "policy") : unknownTarget(target, "policy");
  }
  for (const name of listenedResources(doc, message)) {
    const resource = { kind: "resource", name } as const;
    if (!authorizer.decide(journey.principal, { method: "resources/read", target: resource }).allowed) {
      throw unknownTarget(resource, "policy");
    }
  }
  return target;
}
