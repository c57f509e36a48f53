/** A request that has come, as far as its head tells: whose it is, and whether its body is read. */
import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { FastifyReply, FastifyRequest } from "fastify";
import { scopesByHeaders } from "../admission.ts";
import { auditAddress, auditPrincipal } from "../audit/record.ts";
import type { Route } from "../call.ts";
import { Refusal } from "../errors.ts";
import type { Headers } from "../headers.ts";
import type { InForce } from "../in-force.ts";
import { Journey } from "../journey.ts";
import type { Gateway } from "../opened-gateway.ts";
import type { RequestTrace } from "../telemetry/request-trace.ts";
import type { Connections } from "./connections.ts";
import { acceptsAnswers, checkMediaTypes, readHeaders, waitsForContinue } from "./framing.ts";
import { checkHost, checkOrigin, preflightHeaders } from "./origin.ts";
import { pathOf } from "./paths.ts";
import type { UnderWay } from "./under-way.ts";

/** What a retry may hold beside its state and still be read from a caller who is over the limits. */
const ROOM_BESIDE_STATE = 64 * 1024;
/** After a doubt about framing nothing more is read from the connection. */
const CLOSE = { connection: "close" };

/** What the listener keeps of its requests and connections. */
export interface ArrivalParts {
  readonly inForce: InForce;
  readonly underWay: UnderWay;
  readonly connections: Connections;
}

/**
 * Stages 1 and 2: framing and principal, before a byte of the body is read. What it finds is in the request's journey.
 * @throws Refusal
 */
export async function arrive(
  { inForce, underWay, connections }: ArrivalParts,
  route: Route,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const lease = inForce.enter();
  const { gateway, reach, peers, authenticator } = lease.settings;
  const onClose = (): void => underWay.leave(journey);
  const onOver = (): void => {
    if (journey.trace !== undefined) endTrace(journey, journey.trace, request.raw, reply.raw.statusCode);
    lease.end();
  };
  const journey = new Journey(randomUUID(), route, reply.raw, gateway, onClose, onOver);
  underWay.enter(journey);
  request.journey = journey;
  Object.assign(journey.draft, auditAddress(request.ip));
  reply.headers(journey.replyHeaders);
  const headers = readHead(connections, request.raw);
  journey.headers = headers;
  journey.trace?.readHeaders(headers);
  checkHost(headers, reach, request.raw.url);
  // Whoever stands in front may have judged the path as it was sent.
  if (pathOf(request.raw.url ?? "") !== route.config.path) throw new Refusal("not_found", "path_spelling");
  reply.headers(checkOrigin(headers, reach));
  if (underWay.draining) throw new Refusal("shutting_down", "draining", { headers: CLOSE });
  if (request.method === "OPTIONS" && headers.has("access-control-request-method")) {
    await reply.code(204).headers(preflightHeaders(headers)).send();
    journey.finish({ outcome: "preflight" });
    return;
  }
  const session = route.config.legacy === "pass" && (request.method === "GET" || request.method === "DELETE");
  if (request.method !== "POST" && !session) {
    throw new Refusal("method_not_allowed", "http_method", { headers: { allow: "POST" } });
  }
  // Before any work that a flood could make expensive.
  if (gateway.load.shedding) throw new Refusal("overloaded", "event_loop");
  if (request.method === "POST") {
    checkMediaTypes(headers);
    if (!acceptsAnswers(headers)) {
      const refuse = (): Refusal => new Refusal("not_acceptable", "accept");
      journey.judge([{ rule: "http/accept", detail: "accept" }], refuse);
    }
  }
  const { rawHeaders, socket } = request.raw;
  const { metadataUrl } = route;
  const address = socket.remoteAddress ?? "";
  const handshake = connections.handshakeOf(socket);
  const peer = peers.of({ rawHeaders, headers, address, handshake, metadataUrl });
  const { principal, kind, confirmedBy } = await authenticator.authenticate(
    { headers, method: request.method, peer },
    {
      ...{ url: route.resource, audiences: route.config.audiences, metadataUrl: route.metadataUrl },
      ...route.config.authentication,
      startScopes: route.startScopes,
      furtherScopes: (principal) => scopesByHeaders(gateway.authorizer, principal, headers),
    },
  );
  journey.principal = principal;
  journey.draft.principal = auditPrincipal(principal);
  journey.allowance = gateway.allowances.of(route.limits, route.config.path, principal, request.ip);
  if (kind !== undefined) journey.draft.authenticatedBy = kind;
  if (confirmedBy !== undefined) journey.draft.confirmedBy = confirmedBy;
  // Before the body: what waits in memory is bounded by the places, not by what clients care to send.
  journey.enter(gateway.limits, request.method === "GET" ? "stream" : "body");
  if (request.method !== "POST") return;
  checkAllowedBody(journey, gateway);
  inviteBody(headers, reply, gateway.config.server.limits.body);
}

/** Of a caller who is over the limits, only what can be a retry is still read. @throws Refusal `rate_limited` */
function checkAllowedBody(journey: Journey, { roundTrip }: Gateway): void {
  const announced = journey.headers.get("content-length");
  const bytes = announced === undefined ? undefined : Number(announced);
  journey.checkBody(bytes, roundTrip.maxTokenBytes + ROOM_BESIDE_STATE);
}

/** Asks for the body of a request that has passed all that can be judged without it (RFC 9110 section 10.1.1). */
function inviteBody(headers: Headers, reply: FastifyReply, most: number): void {
  if (Number(headers.get("content-length") ?? 0) > most) {
    throw new Refusal("body_too_large", "body", { headers: CLOSE });
  }
  // Where it is not asked for, Node closes the connection: what comes next may be the body or not.
  if (waitsForContinue(reply.request.raw, headers)) reply.raw.writeContinue();
}

/**
 * The header list, of a connection on which all was in order so far. Synchronous: what is pipelined behind a request is
 * parsed before that request is answered.
 * @throws Refusal
 */
export function readHead(connections: Connections, request: IncomingMessage): Headers {
  const { socket } = request;
  if (connections.isSpoiled(socket)) throw new Refusal("malformed_http", "chunk_line", { headers: CLOSE });
  try {
    return readHeaders(request);
  } catch (error) {
    if (error instanceof Refusal && error.headers["connection"] === "close") connections.spoil(socket);
    throw error;
  }
}

/** Exports what is recorded of a request that is over. */
function endTrace(journey: Journey, trace: RequestTrace, raw: IncomingMessage, status: number): void {
  const { record, id, route } = journey;
  if (record === undefined) return;
  const http = { method: raw.method ?? "", status, version: raw.httpVersion };
  trace.end({ record, id, upstream: new URL(route.config.upstream.url), http });
}
