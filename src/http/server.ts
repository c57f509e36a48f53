/**
 * The listener: Fastify, paths, and the list of what happens to a request: arrival.ts (framing, principal), then gateway.ts or
 * legacy.ts. Everything thrown below is mapped here, once.
 */
import { randomUUID } from "node:crypto";
import type { Server as TlsServer } from "node:https";
import { isDeepStrictEqual } from "node:util";
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import type { AuditRecord } from "../audit/record.ts";
import type { LoadedConfig } from "../config/load.ts";
import { Refusal } from "../errors.ts";
import { serve } from "../gateway.ts";
import type { InForce } from "../in-force.ts";
import type { Journey } from "../journey.ts";
import { serveSession } from "../legacy.ts";
import type { Log } from "../log.ts";
import { ToolErrorRejection } from "../round-trip/rejection.ts";
import type { Settings } from "../settings.ts";
import { KEY_SET_PATH } from "../upstream/assertion-keys.ts";
import { logAccess } from "./access-log.ts";
import { arrive, readHead } from "./arrival.ts";
import { CLIENT_TIMEOUTS, type ClientTimeouts, Connections } from "./connections.ts";
import { fromFramework, refuseBytes } from "./foreign-errors.ts";
import { waitsForContinue } from "./framing.ts";
import { type ListenerTls, tlsOptions } from "./handshake.ts";
import { isMetadataMethod, sendMetadata } from "./metadata.ts";
import { checkHost } from "./origin.ts";
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
    if (route !== undefined) return arrive({ inForce, underWay, connections }, route, request, reply);
    const headers = readHead(connections, raw);
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

/** What the listener speaks TLS with, if it does. */
function listenerTls({ tls, clientCa }: LoadedConfig["secrets"]): ListenerTls | undefined {
  return tls === undefined ? undefined : { ...tls, clientCa };
}

/** What a refusal says of the state that was brought; other refusals leave what stages noted. */
function stateOf({ code }: Refusal): Pick<AuditRecord, "state"> {
  if (code === "invalid_request_state") return { state: "rejected" };
  return code === "already_redeemed" || code === "outcome_unknown" ? { state: code } : {};
}
