/**
 * The gateway: one list of stages that every request runs down once. Each may refuse, none may be skipped.
 *
 *   request    framing → principal → json → protocol → authorization → capability → retry → upstream
 *   response   message → protocol → questions → seal → lists (answer.ts) → outcome → audit
 *
 * Stages throw refusals; `http/server.ts` maps them once. Legacy traffic leaves the list after `protocol` (legacy.ts).
 */
import type { FastifyReply } from "fastify";
import { admit } from "./admission.ts";
import { type AnswerContext, judgeMessage } from "./answer.ts";
import { auditArguments, auditChain, auditMethod } from "./audit/record.ts";
import type { Authorizer } from "./authorization.ts";
import type { Call } from "./call.ts";
import { narrow } from "./capability/narrow.ts";
import type { Config } from "./config/schema.ts";
import { checkHead, type Delivery, deliverJson, deliverStream } from "./deliver.ts";
import type { Claims } from "./envelope/format.ts";
import { Refusal } from "./errors.ts";
import type { Journey, Witnesses } from "./journey.ts";
import { JsonError, type JsonText, type Node, scan } from "./json/scan.ts";
import { type Edit, splice } from "./json/splice.ts";
import { refuseLegacy, serveLegacy } from "./legacy.ts";
import type { Limits } from "./limits.ts";
import { parseDeclared } from "./mcp/capabilities.ts";
import { decideEra } from "./mcp/era.ts";
import { type NotificationMessage, parseClientMessage } from "./mcp/message.ts";
import { mirroredName } from "./mcp/methods.ts";
import { checkMirrored } from "./mcp/mirrored-headers.ts";
import { judgeParams, judgeRequest } from "./request-rules.ts";
import { openRetry, type Retry, type RoundTripContext, redeem } from "./round-trip/retry.ts";
import type { Versions } from "./seen-lists.ts";
import { printEvent } from "./sse.ts";
import { modernHeaders } from "./upstream/credentials.ts";
import type { UpstreamResponse } from "./upstream/dispatch.ts";
import { send } from "./upstream/send.ts";

/** What the stages work with; opened once at start. */
export interface Gateway extends Witnesses {
  readonly config: Config;
  readonly authorizer: Authorizer;
  readonly roundTrip: RoundTripContext;
  readonly limits: Limits;
}

/**
 * Serves one POST, after framing and principal.
 * @param body the bytes as they came, bounded by `server.limits.body`
 * @throws Refusal
 */
export async function serve(
  gateway: Gateway,
  journey: Journey,
  reply: FastifyReply,
  body: Buffer,
): Promise<void> {
  // json
  const doc = scanClient(body, gateway.config.server.limits);
  journey.id = readableId(doc);
  const message = parseClientMessage(doc);
  if ("method" in message) {
    journey.draft.method = auditMethod(message.method);
    if (gateway.config.audit.arguments) Object.assign(journey.draft, auditArguments(doc, message.params));
  }
  // protocol
  const header = journey.headers.get("mcp-protocol-version");
  const era = decideEra({ header, doc, message });
  journey.draft.era = era.era;
  if (era.version !== undefined) journey.draft.version = era.version;
  if (era.era === "legacy") {
    if (journey.route.config.legacy === "refuse") throw refuseLegacy(doc, message, header);
    return serveLegacy(gateway, journey, reply, { doc, message, version: era.version });
  }
  if (message.type === "result" || message.type === "error") throw new Refusal("invalid_request", "response");
  checkMirrored({
    headers: { method: journey.headers.get("mcp-method"), name: journey.headers.get("mcp-name") },
    message,
    name: mirroredName(doc, message),
  });
  // authorization
  const { target, refusal } = admit(gateway.authorizer, journey, doc, message);
  const tool = target?.kind === "tool" ? target.name : undefined;
  journey.modes = journey.route.modes(tool);
  judgeRequest(journey, doc, message);
  if (message.type === "notification") {
    if (refusal !== undefined) throw refusal;
    return notify(gateway, journey, reply, doc, message, era.version);
  }
  // capability
  const allow = journey.route.allowedAsks(tool);
  const declared = parseDeclared(doc, message.meta);
  const narrowed = message.meta === undefined ? [] : narrow(doc, message.meta, allow);
  const call: Call = {
    journey,
    doc,
    message,
    params: message.params,
    version: era.version,
    target,
    declared,
    allow,
  };
  return forward(gateway, call, { narrowed, refusal }, reply);
}

/** Scans a client's body. @throws Refusal `parse_error`, naming the kind of fault but no content */
function scanClient(body: Buffer, limits: Config["server"]["limits"]): JsonText {
  try {
    return scan(body, { bytes: limits.body, depth: limits.depth });
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    throw new Refusal("parse_error", error.fault, { data: { fault: error.fault, offset: error.offset } });
  }
}

/** The id for an error answer, also to a message that is no valid request: a string or an integer, as sent. */
function readableId(doc: JsonText): string | null {
  const id: Node | undefined = doc.get(doc.root, "id");
  if (id === undefined) return null;
  const kind = doc.kind(id);
  if (kind === "string") return doc.wellFormed(id) ? doc.raw(id) : null;
  return kind === "number" && /^-?\d+$/.test(doc.raw(id)) ? doc.raw(id) : null;
}

/** A notification goes up without a body coming back. Nothing in one can be answered, so state in one is refused. */
async function notify(
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
  const headers = modernHeaders(
    journey.headers,
    { method: message.method, target: undefined, version },
    journey.route.credential,
  );
  const response = await send(journey, {
    method: "POST",
    headers,
    body: doc.bytes,
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

/**
 * The rest of the request half: retry, redeem, send; then the answer.
 * @param judged what policy made of the request. What it hides goes the way of an unknown name up to the server's door: no
 *   check before it may tell the two apart. Nothing of it is redeemed.
 */
async function forward(
  gateway: Gateway,
  call: Call,
  judged: { readonly narrowed: readonly Edit[]; readonly refusal: Refusal | undefined },
  reply: FastifyReply,
): Promise<void> {
  const { journey, message, doc } = call;
  const openEnded = message.method === "subscriptions/listen";
  journey.enter(gateway.limits, openEnded ? "stream" : "request");
  // retry
  const retry = openRetry(gateway.roundTrip, call);
  noteRetry(journey, retry);
  const body = splice(doc.bytes, [...judged.narrowed, ...retry.edits]);
  const mirrored = { method: message.method, target: mirroredName(doc, message), version: call.version };
  const headers = modernHeaders(journey.headers, mirrored, journey.route.credential);
  if (judged.refusal !== undefined) throw judged.refusal;
  judgeParams(journey, doc, call.params, annotationsOf(call));
  const release = retry.kind === "retry" ? await spend(gateway, call, retry.claims) : undefined;
  // upstream
  const response = await send(journey, { method: "POST", headers, body, openEnded, release });
  await answer(gateway, call, retry.kind === "retry" ? retry.claims : undefined, response, reply);
}

/** What is known of the headers of the tool that is called. */
function annotationsOf({ journey, message, target }: Call): Versions | undefined {
  return message.method === "tools/call" && target !== undefined
    ? journey.route.seen.annotationsOf(target.name)
    : undefined;
}

function noteRetry(journey: Journey, retry: Retry): void {
  if (retry.kind === "retry")
    Object.assign(journey.draft, auditChain(retry.claims), { answers: retry.answers });
  if (retry.kind === "reprompt") Object.assign(journey.draft, { state: "reprompted", cause: retry.fault });
}

async function spend(gateway: Gateway, call: Call, claims: Claims): Promise<() => Promise<void>> {
  const { journey } = call;
  if (journey.stopped !== undefined) throw journey.stopped;
  try {
    const release = await redeem(gateway.roundTrip, call, claims);
    gateway.metrics.redemption("redeemed");
    journey.draft.state = "redeemed";
    return release;
  } catch (error) {
    if (error instanceof Refusal) gateway.metrics.redemption(error.detail);
    throw error;
  }
}

async function answer(
  gateway: Gateway,
  call: Call,
  redeemed: Claims | undefined,
  response: UpstreamResponse,
  reply: FastifyReply,
): Promise<void> {
  const { journey } = call;
  const { limits } = gateway.config.server;
  const { httpStatus } = gateway.config.errors;
  const { roundTrip, authorizer } = gateway;
  const context: AnswerContext = { roundTrip, authorizer, limits, call, redeemed };
  const delivery: Delivery = { journey, reply, limits };
  const take = (bytes: Buffer): ReturnType<typeof judgeMessage> => {
    const judged = judgeMessage(context, bytes);
    if (judged.kind === "final") {
      journey.draft.outcome = judged.outcome;
      if (judged.hidden > 0) journey.draft.hidden = judged.hidden;
      if (judged.sealed !== undefined) {
        Object.assign(journey.draft, auditChain(judged.sealed), {
          asked: judged.sealed.asked.map((q) => q.kind),
        });
      }
    } else if (judged.kind === "dropped") {
      gateway.log.warn({ requestId: journey.requestId, cause: judged.detail }, "server notification dropped");
    }
    return judged;
  };
  switch (checkHead(response)) {
    case "json": {
      const judged = take(await response.collect(limits.body));
      if (judged.kind !== "final") throw new Refusal("upstream_fault", "no_answer");
      const status =
        judged.rpcCode === undefined ? 200 : errorStatus(judged.rpcCode, response.status, httpStatus);
      await deliverJson(delivery, { status, bytes: judged.bytes });
      journey.finish({});
      return;
    }
    case "stream": {
      // A stream that stays open for hours is on record when it opens.
      if (call.message.method === "subscriptions/listen") journey.finish({ outcome: "stream" });
      const refusal = await deliverStream(
        delivery,
        response,
        ({ data }) => {
          if (data.length === 0) return { write: undefined, final: false };
          const judged = take(data);
          return judged.kind === "dropped"
            ? { write: undefined, final: false }
            : { write: printEvent(judged.bytes), final: judged.kind === "final" };
        },
        false,
      );
      journey.finish(
        refusal === undefined ? {} : { outcome: "refused", code: refusal.code, cause: refusal.detail },
      );
      return;
    }
    case "empty":
      throw new Refusal("upstream_fault", "no_answer");
  }
}

/** The status that the specification gives an error; otherwise the server's own, where it is one for an error body. */
function errorStatus(code: number, upstream: number, httpStatus: "spec" | "ok"): number {
  if (httpStatus === "ok") return 200;
  if (code === -32601) return 404;
  if (code === -32020 || code === -32021 || code === -32022) return 400;
  return upstream < 300 ? 200 : upstream;
}
