/**
 * The admin listener: liveness, readiness, metrics. It never depends on the upstream. docs/operations.md.
 */
import { randomUUID } from "node:crypto";
import type { Socket } from "node:net";
import Fastify, { type FastifyInstance } from "fastify";
import { isLoopback } from "./config/addresses.ts";
import type { Config } from "./config/schema.ts";
import type { ClientTimeouts } from "./http/connections.ts";
import type { Load } from "./load.ts";
import type { Metrics } from "./metrics.ts";
import type { KeySets } from "./principal/key-sets.ts";
import type { RedemptionStore } from "./redemption/store.ts";

/** What readiness is judged by. */
export interface HealthSources {
  readonly store: RedemptionStore;
  readonly metrics: Metrics;
  readonly load: Pick<Load, "shedding">;
  /** Whoever knows the issuers' keys; `ready` is false while no caller at all can be told. */
  readonly issuers?: Pick<KeySets, "look" | "reports"> & { readonly ready: () => boolean };
  /** Where it listens. */
  readonly host: string;
  /** The `admin` section in force. */
  readonly admin: () => Config["admin"];
  /** True once the gateway takes no new work. */
  readonly draining: () => boolean;
  /** How long whoever asks may take. Default: `ADMIN_TIMEOUTS`. */
  readonly timeouts?: ClientTimeouts | undefined;
}

/** Probes, scrapers and operators are near, and send little. */
const ADMIN_TIMEOUTS: ClientTimeouts = { request: 10_000, check: 1_000, keepAlive: 72_000 };
const MAX_BODY_BYTES = 16 * 1024;
/** One more ends the oldest: who holds connections open must not keep probes out. */
const MAX_CONNECTIONS = 256;

/** Builds the admin app; the caller listens. */
export function buildAdmin(sources: HealthSources): FastifyInstance {
  const { store, metrics, load, issuers, host, admin, draining, timeouts = ADMIN_TIMEOUTS } = sources;
  const app = Fastify({
    logger: false,
    forceCloseConnections: true,
    genReqId: () => randomUUID(),
    bodyLimit: MAX_BODY_BYTES,
    requestTimeout: timeouts.request,
    keepAliveTimeout: timeouts.keepAlive,
    http: { headersTimeout: timeouts.request, connectionsCheckingInterval: timeouts.check },
  });
  const open = new Set<Socket>();
  app.server.on("connection", (socket: Socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
    const [oldest] = open;
    if (open.size > MAX_CONNECTIONS) oldest?.destroy();
  });
  app.addHook("onRequest", async (request, reply) => {
    // A web page that makes its own name mean this machine would send that name.
    if (isLoopback(host) && !isLoopback(request.hostname)) {
      return reply.code(421).send({ error: "this Host is not served here" });
    }
    // Before a body is read that nobody would look at.
    if (request.is404) return reply.code(404).send({ error: "not found" });
  });
  app.addHook("onSend", async (_request, reply) => {
    reply.header("cache-control", "no-store");
  });
  app.get("/healthz", async () => ({ status: "ok" }));
  app.get("/readyz", async (_request, reply) => {
    const health = store.health();
    // In a Cluster one part can be away while the rest works: that is degraded, and ready.
    const storeState = health.reason === undefined ? "ok" : "degraded";
    // A probe looks, so that an issuer that is down shows before a caller meets it.
    issuers?.look();
    const keys = new Set(issuers?.reports().map(({ state }) => state));
    const issuerState = keys.has("none") ? "unavailable" : keys.has("old") ? "degraded" : "ok";
    const readiness = admin()?.readiness;
    const ready =
      !draining() &&
      (health.available || readiness?.store === "optional") &&
      (issuers?.ready() !== false || readiness?.issuers !== "required");
    return reply.code(ready ? 200 : 503).send({
      status: draining() ? "draining" : ready ? "ready" : "not ready",
      store: storeState,
      ...(issuers === undefined || keys.size === 0 ? {} : { issuers: issuerState }),
      // No reason to be taken out: the others would have all the more to do.
      ...(load.shedding ? { load: "shedding" } : {}),
      ...(health.reason === undefined ? {} : { reason: health.reason }),
    });
  });
  app.get("/metrics", async (_request, reply) => {
    const { type, text } = await metrics.expose();
    return reply.type(type).send(text);
  });
  app.setNotFoundHandler((_request, reply) => reply.code(404).send({ error: "not found" }));
  return app;
}
