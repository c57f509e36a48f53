/**
 * Opens a gateway from a checked configuration: keys, store, principal, routes, listeners. In this order, and closed in the reverse one.
 */
import type { AddressInfo } from "node:net";
import type { FastifyInstance } from "fastify";
import { type AuditLog, openAuditLog } from "./audit/sinks.ts";
import { createAuthorizer } from "./authorization.ts";
import type { Ask, Route } from "./call.ts";
import type { LoadedConfig } from "./config/load.ts";
import { changedSections, createReloader } from "./config/reload.ts";
import type { Config } from "./config/schema.ts";
import { tokenBytesFor } from "./envelope/format.ts";
import { randomPool } from "./envelope/seal.ts";
import type { Gateway } from "./gateway.ts";
import { compileGlobs } from "./glob.ts";
import { buildAdmin } from "./health.ts";
import type { ClientTimeouts } from "./http/connections.ts";
import { createReach } from "./http/origin.ts";
import { buildServer } from "./http/server.ts";
import { Keys } from "./keys.ts";
import { createLimits } from "./limits.ts";
import type { Log } from "./log.ts";
import { createMetrics } from "./metrics.ts";
import type { Output } from "./output.ts";
import { createAuthenticator } from "./principal/jwt.ts";
import { resourceMetadataUrl, resourceUrl } from "./principal/resource-metadata.ts";
import { createMemoryStore } from "./redemption/memory.ts";
import { createRedisStore } from "./redemption/redis.ts";
import type { RedemptionStore } from "./redemption/store.ts";
import { createUpstream } from "./upstream/dispatch.ts";

/** What a test may put in place of the machine's. */
export interface Surroundings {
  readonly log: Log;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
  readonly random?: (bytes: number) => Buffer;
  readonly audit?: AuditLog;
  /** What `log` is written to, for audit records that go there too. */
  readonly stdout?: Output;
  /** How long a client may take to send a request. */
  readonly timeouts?: ClientTimeouts;
}

/** A running gateway. */
export interface Running {
  /** Where it listens: `http://host:port`, with the port that was given out for port 0. */
  readonly url: string;
  readonly adminUrl: string | undefined;
  /** Reads the configuration again; see `createReloader`. */
  reload(): Promise<boolean>;
  /** Drains within `grace` milliseconds (default `server.shutdownGrace`) and closes everything. */
  close(grace?: number): Promise<void>;
}

/**
 * Opens everything and listens.
 * @throws Error when a listener, an audit file or a key cannot be had; nothing is left open then
 */
export async function start(loaded: LoadedConfig, surroundings: Surroundings): Promise<Running> {
  const { config, secrets } = loaded;
  const { log } = surroundings;
  const now = surroundings.now ?? Date.now;
  const random = surroundings.random ?? randomPool();
  const closers: (() => Promise<unknown>)[] = [];
  const close = async (): Promise<void> => {
    for (const closer of closers.toReversed()) await closer();
  };
  try {
    const keys = new Keys(loaded, { log, now, random });
    const reloader = createReloader(loaded, { take: (next) => takeUp(keys, config, next, log), log, now });
    closers.push(() => reloader.close());
    const audit =
      surroundings.audit ??
      (await openAuditLog(config.audit.sinks, { log, ...optional("stdout", surroundings.stdout) }));
    closers.push(() => audit.close());
    const store = await openStore(loaded, { log, now, random });
    closers.push(() => store.close());
    const authenticator = createAuthenticator(config.authentication, {
      log,
      now,
      jwksFiles: secrets.jwksFiles,
    });
    closers.push(async () => authenticator.close?.());
    const limits = createLimits(config.server.limits);
    const metrics = createMetrics({
      keys,
      store,
      limits,
      reloads: reloader.status,
      auditLosses: () => audit.losses(),
    });
    const routes = config.routes.map((route) => openRoute(loaded, route));
    closers.push(() => Promise.all(routes.map((route) => route.upstream.close())));
    const { envelope } = config;
    // Nobody is asked for an answer that would be too large to bring.
    const largest = tokenBytesFor(envelope.maxStateBytes, envelope.maxSchemaBytes);
    const maxTokenBytes = Math.min(largest, config.server.limits.body);
    const gateway: Gateway = {
      config,
      authorizer: createAuthorizer(config.authorization),
      roundTrip: { ...envelope, keys, maxTokenBytes, store, now, random },
      limits,
      metrics,
      audit,
      log,
      now,
    };
    const server = buildServer({
      gateway,
      routes,
      authenticator,
      reach: createReach(config.server),
      tls: secrets.tls,
      ...optional("timeouts", surroundings.timeouts),
    });
    closers.push(() => server.app.close());
    let adminUrl: string | undefined;
    if (config.admin !== undefined) {
      const admin = buildAdmin({ store, metrics, admin: config.admin, draining: server.draining });
      closers.splice(closers.length - 1, 0, () => admin.close());
      adminUrl = await listen(admin, config.admin.listen, "http");
    }
    const url = await listen(server.app, config.server.listen, secrets.tls === undefined ? "http" : "https");
    reloader.start();
    return {
      url,
      adminUrl,
      reload: reloader.reload,
      async close(grace = config.server.shutdownGrace) {
        await server.drain(grace);
        await close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Of a changed configuration only the keys are taken up; the rest is said to wait for a restart. */
function takeUp(keys: Keys, inForce: Config, next: LoadedConfig, log: Log): void {
  keys.take(next);
  const sections = changedSections(inForce, next.config).filter((name) => name !== "keys");
  if (sections.length > 0) log.warn({ sections }, "changed settings that wait for a restart");
}

async function openStore(
  { config, secrets }: LoadedConfig,
  { log, now, random }: { log: Log; now: () => number; random: (bytes: number) => Buffer },
): Promise<RedemptionStore> {
  const { redis, redemption } = config;
  if (redemption.store === "memory" || redis === undefined) return createMemoryStore({ now, random });
  return createRedisStore({
    url: redis.url,
    keyPrefix: redis.keyPrefix,
    epoch: redemption.epoch === "on",
    eviction: redemption.eviction,
    log,
    ...(redis.username === undefined ? {} : { username: redis.username }),
    ...(secrets.redisPassword === undefined ? {} : { password: secrets.redisPassword }),
    ...(redis.tls === undefined
      ? {}
      : { tls: { ...optional("ca", secrets.redisCa), ...optional("servername", redis.tls.servername) } }),
  });
}

function openRoute({ config, secrets }: LoadedConfig, route: Config["routes"][number]): Route {
  const { publicUrl } = config.server;
  const { url, timeouts, tls } = route.upstream;
  const ca = secrets.upstreamCas.get(route.path);
  const perTool = route.capability.tools.map(({ match, allow }) => ({
    fits: compileGlobs(match),
    allow: new Set(allow),
  }));
  const everywhere: ReadonlySet<Ask> = new Set(route.capability.allow);
  return {
    config: route,
    resource: resourceUrl(publicUrl, route.path),
    metadataUrl: resourceMetadataUrl(publicUrl, route.path),
    upstream: createUpstream({
      url,
      timeouts,
      tls: { ...optional("ca", ca), ...optional("servername", tls?.servername) },
    }),
    credential: secrets.credentials.get(route.path),
    allowedAsks: (tool) =>
      (tool === undefined ? undefined : perTool.find(({ fits }) => fits(tool))?.allow) ?? everywhere,
  };
}

/** `{ [name]: value }`, or nothing where there is no value. */
function optional<Name extends string, Value>(name: Name, value: Value | undefined): { [K in Name]?: Value } {
  return (value === undefined ? {} : { [name]: value }) as { [K in Name]?: Value };
}

async function listen(
  app: FastifyInstance,
  { host, port }: { host: string; port: number },
  scheme: string,
): Promise<string> {
  await app.listen({ host, port });
  const { port: given } = app.server.address() as AddressInfo;
  return `${scheme}://${host.includes(":") ? `[${host}]` : host}:${given}`;
}
