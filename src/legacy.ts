/**
 * Traffic of the revisions before 2026-07-28, on routes with `legacy: pass`: scanned, authorized, lists filtered, otherwise
 * byte-true. Its questions travel as requests of the server and are not filtered; there is no state to seal.
 * What mixes the eras never comes here (mcp/era.ts).
 */
import type { FastifyReply } from "fastify";
import { admit } from "./admission.ts";
import { scanServer } from "./answer.ts";
import { noteHints } from "./approval/hints.ts";
import { unofferedEdits } from "./approval/offers.ts";
import { checkHead, type Delivery, deliverJson, deliverStream } from "./deliver.ts";
import { Refusal } from "./errors.ts";
import { mediaType } from "./http/framing.ts";
import type { Journey } from "./journey.ts";
import type { JsonText } from "./json/scan.ts";
import { splice } from "./json/splice.ts";
import { filterList, isHiddenUpdate } from "./lists.ts";
import { LEGACY_VERSIONS, servedVersions } from "./mcp/era.ts";
import { type parseClientMessage, parseServerMessage } from "./mcp/message.ts";
import { misplacedMember } from "./mcp/misplaced.ts";
import type { Gateway } from "./opened-gateway.ts";
import { printLegacyEvent, type SseEvent } from "./sse.ts";
import { legacyHeaders } from "./upstream/credentials.ts";
import type { UpstreamResponse } from "./upstream/dispatch.ts";
import { obtain } from "./upstream/obtain.ts";
import { send } from "./upstream/send.ts";

/** One legacy POST, parsed. */
export interface LegacyPost {
  readonly doc: JsonText;
  readonly message: ReturnType<typeof parseClientMessage>;
  readonly version: string | undefined;
}

/** The refusal of a legacy request on a route that serves none; its text names the setting. */
export function refuseLegacy(
  doc: JsonText,
  message: LegacyPost["message"],
  header: string | undefined,
): Refusal {
  const asked = "params" in message ? doc.get(message.params, "protocolVersion") : undefined;
  const requested = doc.text(asked) ?? header;
  return new Refusal("legacy_refused", "legacy", {
    data: { supported: servedVersions("refuse"), requested: (requested ?? "").slice(0, 32) },
  });
}

/** Serves one legacy POST. @throws Refusal */
export async function serveLegacy(
  gateway: Gateway,
  journey: Journey,
  reply: FastifyReply,
  post: LegacyPost,
): Promise<void> {
  const { doc, message, version } = post;
  if ("method" in message) {
    const { target, refusal, approvals } = admit(gateway.authorizer, journey, doc, message);
    const known = target !== undefined && refusal === undefined;
    const hints = known ? journey.route.seen.hintsOf(target.name) : undefined;
    const [demand] = gateway.consents.policies.demanded(approvals, hints);
    if (demand !== undefined) throw new Refusal("approval_required", "legacy");
    if (refusal !== undefined) throw refusal;
  }
  const method = "method" in message ? message.method : undefined;
  const headers = legacyHeaders(journey.headers, "POST", version);
  const meta = "params" in message ? message.meta : undefined;
  journey.enter(gateway.limits, "request");
  await journey.share();
  const response = await send(journey, {
    method: "POST",
    headers,
    credential: await obtain(journey),
    body: splice(doc.bytes, [
      ...unofferedEdits(gateway.consents, doc, meta),
      ...(journey.trace?.editsUp(doc, meta) ?? []),
    ]),
    openEnded: true,
    release: undefined,
  });
  await deliverLegacy(gateway, journey, reply, response, message.type === "request" ? method : undefined);
}

/** Serves the GET stream and the DELETE of a legacy session. @throws Refusal */
export async function serveSession(
  gateway: Gateway,
  journey: Journey,
  reply: FastifyReply,
  method: "GET" | "DELETE",
): Promise<void> {
  const version = journey.headers.get("mcp-protocol-version");
  if (version !== undefined && !LEGACY_VERSIONS.includes(version)) {
    throw new Refusal("method_not_allowed", "modern_get", { headers: { allow: "POST" } });
  }
  journey.draft.era = "legacy";
  await journey.admit("request", false);
  const headers = legacyHeaders(journey.headers, method, version);
  const response = await send(journey, {
    method,
    headers,
    credential: await obtain(journey),
    body: null,
    openEnded: true,
    release: undefined,
  });
  if (response.status === 405) {
    response.abort();
    throw new Refusal("method_not_allowed", "upstream", { headers: { allow: "POST" } });
  }
  // Of the end of a session only the status says something; servers send it with no body, of no media type.
  if (method === "DELETE" && response.status < 300) {
    response.abort();
    await reply.code(response.status).send();
    journey.finish({ outcome: "accepted" });
    return;
  }
  await deliverLegacy(gateway, journey, reply, response, undefined);
}

async function deliverLegacy(
  gateway: Gateway,
  journey: Journey,
  reply: FastifyReply,
  response: UpstreamResponse,
  method: string | undefined,
): Promise<void> {
  const { limits } = gateway.config.server;
  const delivery: Delivery = { journey, reply, limits };
  const session = response.headers["mcp-session-id"];
  if (typeof session === "string") reply.header("mcp-session-id", session);
  const { type } = mediaType(String(response.headers["content-type"] ?? ""));
  if (response.status === 404 && type !== "application/json") {
    // A session that is gone: at 404 clients start a new one, and servers put any body beside it.
    response.abort();
    throw new Refusal("not_found", "upstream");
  }
  switch (checkHead(response)) {
    case "empty":
      await acknowledge(journey, reply, response);
      return;
    case "json": {
      const bytes = filter(gateway, journey, await response.collect(limits.body), method);
      if (bytes === undefined) throw new Refusal("upstream_fault", "no_answer");
      await deliverJson(delivery, { status: response.status, bytes });
      journey.finish({ outcome: "complete" });
      return;
    }
    case "stream": {
      if (method === undefined) journey.finish({ outcome: "stream" });
      const refusal = await deliverStream(
        delivery,
        response,
        (event) => {
          const write = relayed(gateway, journey, event, method);
          return { write, final: journey.answered && journey.superseded };
        },
        true,
      );
      journey.finish(
        refusal === undefined
          ? { outcome: "complete" }
          : { outcome: "refused", code: refusal.code, cause: refusal.detail },
      );
      return;
    }
  }
}

/** One event as it leaves. Of a message that is dropped its id stays, by which clients resume. */
function relayed(
  gateway: Gateway,
  journey: Journey,
  event: SseEvent,
  method: string | undefined,
): Buffer | undefined {
  if (event.data.length === 0) return printLegacyEvent(event);
  const data = filter(gateway, journey, event.data, method);
  if (data === undefined && event.id === undefined) return undefined;
  return printLegacyEvent({ ...event, data: data ?? Buffer.alloc(0) });
}

/** Passes on a status without a body. */
async function acknowledge(journey: Journey, reply: FastifyReply, response: UpstreamResponse): Promise<void> {
  response.abort();
  await reply.code(response.status).send();
  journey.finish({ outcome: "accepted" });
}

/**
 * The bytes of one message of a legacy server, lists filtered; undefined for an update of a resource that the principal may
 * not read. Replayed streams can carry any result, so the members
 * of the result decide and not the method that is being answered.
 * @param method of the request that is answered, if it is one; what a list says of tools is learnt from their list alone
 * @throws Refusal for arrays, and for a state or an `input_required`, which no legacy message has
 */
function filter(
  { authorizer, config }: Gateway,
  journey: Journey,
  bytes: Buffer,
  method: string | undefined,
): Buffer | undefined {
  const doc = scanServer(bytes, config.server.limits);
  const message = parseServerMessage(doc);
  if (message.type === "notification" && isHiddenUpdate(authorizer, journey.principal, doc, message))
    return undefined;
  if (message.type === "result" || message.type === "error") journey.answered = true;
  if (message.type !== "result") return bytes;
  if (misplacedMember(doc, [message.result]) !== undefined)
    throw new Refusal("upstream_fault", "state_in_legacy");
  if (journey.route.readsHints && method === "tools/list")
    noteHints(doc, doc.get(message.result, "tools"), journey.route.seen);
  const { edits, hidden } = filterList(authorizer, journey.principal, doc, message.result, undefined);
  if (hidden > 0) journey.draft.hidden = hidden;
  return splice(bytes, edits);
}
