/** A notification of a client on its way up; nothing comes back but that it was taken. */
import type { FastifyReply } from "fastify";
import { unofferedEdits } from "./approval/offers.ts";
import { Refusal } from "./errors.ts";
import type { Journey } from "./journey.ts";
import type { JsonText } from "./json/scan.ts";
import { splice } from "./json/splice.ts";
import type { NotificationMessage } from "./mcp/message.ts";
import type { Gateway } from "./opened-gateway.ts";
import { modernHeaders } from "./upstream/credentials.ts";
import { obtain } from "./upstream/obtain.ts";
import { send } from "./upstream/send.ts";

/**
 * Serves a modern notification that policy allows. Nothing in one can be answered, so state in one is refused.
 * @throws Refusal
 */
export async function notify(
  gateway: Gateway,
  journey: Journey,
  reply: FastifyReply,
  doc: JsonText,
  message: NotificationMessage,
  version: string,
): Promise<void> {
  for (const name of ["requestState", "inputResponses"]) {
    if (doc.get(message.params, name) !== undefined)
      throw new Refusal("invalid_request_state", "unsupported_method");
  }
  // Over HTTP a request is cancelled by closing its stream. An id in a message says nothing about whose request it is, and
  // the server knows all callers by one credential.
  if (message.method === "notifications/cancelled") {
    await reply.code(202).send();
    journey.finish({ outcome: "accepted" });
    return;
  }
  journey.enter(gateway.limits, "request");
  await journey.share();
  const headers = modernHeaders(journey.headers, { method: message.method, target: undefined, version });
  const response = await send(journey, {
    method: "POST",
    headers,
    credential: await obtain(journey),
    body: splice(doc.bytes, [
      ...unofferedEdits(gateway.consents, doc, message.meta),
      ...(journey.trace?.editsUp(doc, message.meta) ?? []),
    ]),
    openEnded: false,
    release: undefined,
  });
  const { status } = response;
  response.abort();
  if (status === 401 || status === 403) throw new Refusal("upstream_unauthorized", `status_${status}`);
  if (status >= 300) throw new Refusal("upstream_fault", `status_${status}`);
  await reply.code(202).send();
  journey.finish({ outcome: "accepted" });
}
