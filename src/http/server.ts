/**
 * The listener: Fastify, paths, and the first two stages (framing, principal). Everything thrown below is mapped here, once.
 */
import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Server as TlsServer } from "node:https";
import { isDeepStrictEqual } from "node:util";
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import { scopesByHeaders } from "../admission.ts";
import { type AuditRecord, auditAddress, auditPrincipal } from "../audit/record.ts";
import type { Route } from "../call.ts";
import type { LoadedConfig } from "../config/load.ts";
import { Refusal } from "../errors.ts";
import { serve } from "../gateway.ts";
import type { Headers } from "../headers.ts";
import type { InForce } from "../in-force.ts";
import { Journey } from "../journey.ts";
import { serveSession } from "../legacy.ts";
import type { Log } from "../log.ts";
import type { Gateway } from "../opened-gateway.ts";
import { ToolErrorRejection } from "../round-trip/rejection.ts";
import type { Settings } from "../settings.ts";
import type { RequestTrace } from "../telemetry/request-trace.ts";
import { KEY_SET_PATH } from "../upstream/assertion-keys.ts";
import { logAccess } from "./access-log.ts";
import { CLIENT_TIMEOUTS, type ClientTimeouts, Connections } from "./connections.ts";
import { fromFramework, refuseBytes } from "./foreign-errors.ts";
import { acceptsAnswers, checkMediaTypes, readHeaders, waitsForContinue } from "./framing.ts";
import { type ListenerTls, tlsOptions } from "./handshake.ts";
import { isMetadataMethod, sendMetadata } from "./metadata.ts";
import { checkHost, checkOrigin, preflightHeaders } from "./origin.ts";
import { decodePath, pathOf, shapeOf } from "./paths.ts";
import { readOut } from "./read-out.ts";
import { asRefusal, errorAnswer, toolErrorBody } from "./respond.ts";
import { UnderWay } from "./under-way.ts";

declare module "fastify" {
  interface FastifyRequest {
    journey: Journey | null;
    /** What was in force when it arrived: all it is judged by. */
    settings: Settings | null;
  }
}

/** What the listener needs. */
export interface ServerParts {
  readonly inForce: InForce;
  readonly log: Log;
  readonly timeouts?: ClientTimeouts;
}

/** The listener and its shutdown. */
export interface Server {
  readonly app: FastifyInstance;
  readonly draining: () => boolean;
  /**
   * Takes no new work, ends open-ended streams with a readable last event, waits for the rest up to `grace` milliseconds,
   * then ends that too.
   */
  drain(grace: number): Promise<void>;
  /** Takes what is left of the grace from what is being drained. Returns how many requests have to end by that. */
  cut(): number;
}

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
/** What a retry may hold beside its state and still be read from a caller who is over the limits. */
const ROOM_BESIDE_STATE = 64 * 1024;
/** After a doubt about framing nothing more is read from the connection. */
const CLOSE = { connection: "close" };

/** Builds the listener; the caller listens. */
export function buildServer(parts: ServerParts): Server {
  const { inForce, log } = parts;
  const { config, secrets } = inForce.settings.loaded;
  const underWay = new UnderWay();
  const connections = new Connections(parts.timeouts ?? CLIENT_TIMEOUTS);
  const app = Fastify({
    logger: false,
    bodyLimit: config.server.limits.body,
    exposeHeadRoutes: false,
    trustProxy: config.server.trustedProxies.length === 0 ? false : [...config.server.trustedProxies],
    forceCloseConnections: true,
    return503OnClosing: false,
    serverFactory: (onRequest) =>
      connections.createServer(onRequest, listenerTls(secrets), (error, socket, maySpeak) =>
        refuseBytes(error, maySpeak ? socket : socket.destroy(), log),
      ),
    // The connections' own listener has answered.
    clientErrorHandler: () => undefined,
    frameworkErrors: (error, request, reply) => fail(error, request, reply),
  }) as unknown as FastifyInstance;
  app.decorateRequest("journey", null);
  app.decorateRequest("settings", null);
  // Not as a promise: every answer would wait for one.
  app.addHook("onSend", (_request, reply, payload, done) => {
    if (underWay.draining) reply.headers(CLOSE);
    done(null, payload);
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => done(null, body));

  // One route for all paths: which are served changes with the settings, and the router's own list cannot.
  app.route({ method: METHODS, url: "*", handler: (request, reply) => handle(request, reply) });
  // Before the body, which nobody may read.
  app.addHook("onRequest", async (request, reply) => {
    const { settings } = inForce;
    request.settings = settings;
    if (settings.loaded.config.log.access === "on") logAccess(request, reply, log);
    const { raw } = request;
    const path = pathOf(raw.url ?? "");
    const route = request.is404
      ? undefined
      : (settings.routes.get(path) ?? settings.routes.get(decodePath(path)));
    if (route !== undefined) return arrive(route, request, reply);
    const headers = readHead(raw);
    const { signer } = settings;
    // Public keys, which servers ask for under whatever name they know the gateway by.
    if (path === KEY_SET_PATH && signer !== undefined && isMetadataMethod(request.method))
      return sendMetadata(signer.keySet, request.method, reply);
    checkHost(headers, settings.reach, raw.url);
    const document = settings.documents.get(path);
    if (document === undefined || !isMetadataMethod(request.method))
      throw new Refusal("not_found", "path", { headers: CLOSE });
    await sendMetadata(document, request.method, reply);
  });
  app.setErrorHandler(async (error, request, reply) => {
    if (maySendOn(error, request)) await readOut(request.raw);
    return fail(error, request, reply);
  });
  let presented = listenerTls(secrets);
  inForce.onReplaced(({ settings, judgement }) => {
    const tls = listenerTls(settings.loaded.secrets);
    if (tls !== undefined && !isDeepStrictEqual(tls, presented)) {
      presented = tls;
      (app.server as unknown as TlsServer).setSecureContext(tlsOptions(tls));
    }
    if (judgement) underWay.supersede();
  });

  /** Stages 1 and 2: framing and principal. */
  async function arrive(route: Route, request: FastifyRequest, reply: FastifyReply): Promise<void> {
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
    const headers = readHead(request.raw);
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
    const session =
      route.config.legacy === "pass" && (request.method === "GET" || request.method === "DELETE");
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

  /**
   * The header list, of a connection on which all was in order so far. Synchronous: what is pipelined behind a request is
   * parsed before that request is answered.
   */
  function readHead(request: IncomingMessage): Headers {
    const { socket } = request;
    if (connections.isSpoiled(socket)) throw new Refusal("malformed_http", "chunk_line", { headers: CLOSE });
    try {
      return readHeaders(request);
    } catch (error) {
      if (error instanceof Refusal && error.headers["connection"] === "close") connections.spoil(socket);
      throw error;
    }
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

  /** The other stages, in gateway.ts and legacy.ts. */
  async function handle(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { journey, body, settings } = request;
    if (journey === null || settings === null) throw new Refusal("internal", "no_journey");
    if (connections.isSpoiled(request.raw.socket)) {
      throw new Refusal("malformed_http", "chunk_line", { headers: CLOSE });
    }
    const { gateway } = settings;
    if (request.method === "GET" || request.method === "DELETE") {
      await serveSession(gateway, journey, reply, request.method);
    } else {
      await serve(gateway, journey, reply, Buffer.isBuffer(body) ? body : Buffer.alloc(0));
    }
    return reply;
  }

  /** Whether a client whose connection is closed after the answer may be sending still. In doubt about framing nothing is read. */
  function maySendOn(thrown: unknown, { raw }: FastifyRequest): boolean {
    const { code, headers } = asRefusal(fromFramework(thrown));
    const closes = headers["connection"] === "close" || code === "body_too_large";
    return (
      closes &&
      code !== "malformed_http" &&
      !waitsForContinue(raw, new Map([["expect", raw.headers.expect ?? ""]]))
    );
  }

  /** The mapper's one caller. */
  function fail(thrown: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const journey = request.journey ?? undefined;
    const settings = request.settings ?? inForce.settings;
    const refusal = asRefusal(fromFramework(thrown));
    const requestId = journey?.requestId ?? randomUUID();
    const id = journey?.id ?? null;
    const { code, detail, cause } = refusal;
    const { principal } = refusal.context;
    if (journey !== undefined && principal !== undefined) journey.draft.principal ??= principal;
    // What was spent stays spent, whatever the answer was refused for.
    const state = journey?.draft.state === "redeemed" ? {} : stateOf(refusal);
    journey?.finish({ outcome: "refused", code, cause: detail, ...state }, cause);
    // What belongs to no route has no audit record; its request id must be found all the same.
    if (journey === undefined) {
      const asked = { method: request.method, path: shapeOf(request.url, settings.routes.keys()) };
      log.warn(
        { requestId, code, cause: detail, ...asked, ...(cause === undefined ? {} : { err: cause }) },
        "request refused",
      );
    }
    if (refusal instanceof ToolErrorRejection && id !== null) {
      return reply.code(200).header("content-type", "application/json").send(toolErrorBody(id, code));
    }
    const { httpStatus } = settings.loaded.config.errors;
    const answer = errorAnswer(refusal, { id, requestId, httpStatus });
    return reply
      .code(answer.status)
      .header("x-request-id", requestId)
      .headers(answer.headers)
      .send(answer.body);
  }

  return {
    app,
    draining: () => underWay.draining,
    async drain(grace) {
      await underWay.drain(grace);
      await app.close();
    },
    cut: () => underWay.cut(),
  };
}

/** Exports what is recorded of a request that is over. */
function endTrace(journey: Journey, trace: RequestTrace, raw: IncomingMessage, status: number): void {
  const { record, id, route } = journey;
  if (record === undefined) return;
  const http = { method: raw.method ?? "", status, version: raw.httpVersion };
  trace.end({ record, id, upstream: new URL(route.config.upstream.url), http });
}

/** What the listener speaks TLS with, if it does. */
function listenerTls({ tls, clientCa }: LoadedConfig["secrets"]): ListenerTls | undefined {
  return tls === undefined ? undefined : { ...tls, clientCa };
}

/** What a refusal says of the state that was brought; other refusals leave what stages noted. */
function stateOf({ code }: Refusal): Pick<AuditRecord, "state"> {
  if (code === "invalid_request_state") return { state: "rejected" };
  return code === "already_redeemed" || code === "outcome_unknown" ? { state: code } : {};
}
