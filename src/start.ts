/**
 * Opens a gateway from a checked configuration: keys, store, settings, listeners. In this order, and closed in the reverse one.
 */
import type { AddressInfo } from "node:net";
import type { FastifyInstance } from "fastify";
import { serveVerbs } from "./admin/verbs.ts";
import { openApprovals } from "./approval/open.ts";
import type { AdminRecord } from "./audit/admin-record.ts";
import type { AuditLog } from "./audit/sinks.ts";
import { Needs } from "./capability/needs.ts";
import type { Listen } from "./config/addresses.ts";
import type { LoadedConfig } from "./config/load.ts";
import { createReloader } from "./config/reload.ts";
import type { Config } from "./config/schema.ts";
import { Console } from "./console/console.ts";
import { randomPool } from "./envelope/seal.ts";
import { buildAdmin } from "./health.ts";
import type { ClientTimeouts } from "./http/connections.ts";
import { buildServer } from "./http/server.ts";
import { InForce } from "./in-force.ts";
import { Keys } from "./keys.ts";
import { createLimits } from "./limits.ts";
import { watchLoad } from "./load.ts";
import type { Log } from "./log.ts";
import { createMetrics } from "./metrics.ts";
import { anonymousRoutes } from "./openings.ts";
import { optional } from "./optional.ts";
import type { Output } from "./output.ts";
import { openOverrides } from "./overrides/open.ts";
import { KeySets } from "./principal/key-sets.ts";
import { openAllowances, openRepeats, openReplays, openStore } from "./stores.ts";
import { Exposure } from "./upstream/exposure.ts";

/** What a test may put in place of the machine's. */
export interface Surroundings {
  readonly log: Log;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
  readonly random?: (bytes: number) => Buffer;
  readonly audit?: AuditLog;
  /** What `log` is written to, for audit records that go there too. */
  readonly stdout?: Output;
  /** Called with `log.level` when a changed configuration is taken up. */
  readonly setLogLevel?: (level: Config["log"]["level"]) => void;
  /** How late the event loop is, in milliseconds. */
  readonly eventLoopDelay?: () => number;
  /** How long a client may take to send a request. */
  readonly timeouts?: ClientTimeouts;
}

/** A running gateway. */
export interface Running {
  /** Where it listens: `http://host:port`, with the port that was given out for port 0. */
  readonly url: string;
  readonly adminUrl: string | undefined;
  /** Reads the configuration again, and opens audit files anew where others stand at their paths; see `createReloader`. */
  reload(): Promise<boolean>;
  /** Drains within `grace` milliseconds (default `server.shutdownGrace`) and closes everything. */
  close(grace?: number): Promise<void>;
  /** Takes what is left of the grace from `close`. Returns how many requests end by that. */
  cut(): number;
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
    const store = await openStore(loaded, { log, now, random });
    closers.push(() => store.close());
    let opened: InForce | undefined;
    const overrides = await openOverrides(loaded, {
      ...{ log, now, random, keys },
      config: () => opened?.settings.loaded.config ?? config,
    });
    closers.push(() => overrides.close());
    const approvals = openApprovals(loaded, {
      ...{ log, now, random, keys, overrides },
      config: () => opened?.settings.loaded.config ?? config,
    });
    closers.push(() => approvals.close());
    const needs = new Needs(log);
    const replays = openReplays(loaded, now);
    closers.push(() => replays.close());
    const repeats = openRepeats(loaded, now);
    closers.push(async () => repeats?.store.close());
    const keySets = new KeySets({ log, now });
    closers.push(async () => keySets.close());
    let exposure: Exposure | undefined;
    const limits = createLimits({
      get inFlight() {
        return inForce.settings.loaded.config.server.limits.inFlight;
      },
      get streams() {
        return inForce.settings.loaded.config.server.limits.streams;
      },
    });
    const allowances = openAllowances(loaded, { log, now });
    closers.push(() => allowances.close());
    const load = watchLoad(() => {
      const { eventLoopDelay } = inForce.settings.loaded.config.server.limits;
      return eventLoopDelay === "off" ? undefined : eventLoopDelay;
    }, surroundings.eventLoopDelay);
    closers.push(async () => load.close());
    const reloader = createReloader(loaded, { take: (next) => inForce.take(next), log, now });
    const metrics = createMetrics({
      keys,
      store,
      overrides,
      needs,
      limits,
      allowances,
      load,
      anonymous: () => anonymousRoutes(inForce.settings.loaded.config),
      issuerKeys: () => keySets.reports(),
      reloads: reloader.status,
      exposed: () => exposure?.exposed() ?? new Map(),
      auditLosses: () => inForce.settings.gateway.audit.losses(),
    });
    const { audit, stdout } = surroundings;
    const operatorConsole = new Console({
      wanted: () => (opened?.settings.loaded.config ?? config).admin?.console === true,
      token: () => (opened?.settings.loaded ?? loaded).secrets.adminToken,
      ...{ random, now, log },
    });
    const shared = {
      log,
      now,
      random,
      keys,
      store,
      overrides,
      needs,
      approvals,
      replays,
      repeats,
      limits,
      allowances,
      load,
      metrics,
      keySets,
      audit,
      stdout,
      recorder: operatorConsole.recorder,
    };
    const inForce = await InForce.open(loaded, shared);
    opened = inForce;
    closers.push(() => inForce.close());
    closers.push(() => reloader.close());
    inForce.onReplaced(({ settings }) => surroundings.setLogLevel?.(settings.loaded.config.log.level));
    const server = buildServer({ inForce, log, ...optional("timeouts", surroundings.timeouts) });
    closers.push(() => server.app.close());
    const own: Listen[] = [];
    let adminUrl: string | undefined;
    if (config.admin !== undefined) {
      const { listen: place } = config.admin;
      const section = (): Config["admin"] => inForce.settings.loaded.config.admin;
      const { host } = place;
      const admin = buildAdmin({
        ...{ store, metrics, load, host, admin: section, draining: server.draining },
        issuers: {
          look: () => keySets.look(),
          reports: () => keySets.reports(),
          ready: () => inForce.settings.authenticator.ready(),
        },
        timeouts: surroundings.timeouts,
      });
      const deeds = { write: (record: AdminRecord) => inForce.settings.gateway.audit.write(record) };
      serveVerbs(admin, {
        desk: overrides,
        approvals,
        needs,
        routes: () => inForce.settings.loaded.config.routes.map((route) => route.path),
        token: () => inForce.settings.loaded.secrets.adminToken,
        sessions: () => operatorConsole.sessions,
        audit: deeds,
        log,
        now,
      });
      operatorConsole.serve(admin, {
        audit: deeds,
        state: {
          config: () => inForce.settings.loaded.config,
          ...{ keys, store, overrides, now, draining: server.draining },
          issuers: () => keySets.reports(),
          auditLosses: () => inForce.settings.gateway.audit.losses(),
          shedding: () => load.shedding,
        },
      });
      inForce.onReplaced(() => operatorConsole.follow());
      closers.splice(closers.length - 1, 0, () => admin.close());
      adminUrl = await listen(admin, place, "http");
      own.push(placeOf(admin));
    }
    const url = await listen(server.app, config.server.listen, secrets.tls === undefined ? "http" : "https");
    own.push(placeOf(server.app));
    exposure = new Exposure({ routes: () => inForce.settings.loaded.config.routes, own, log });
    inForce.onReplaced(() => void exposure?.look());
    closers.push(async () => exposure?.close());
    exposure.start();
    reloader.start();
    return {
      url,
      adminUrl,
      reload() {
        void inForce.settings.gateway.audit.reopen?.();
        return reloader.reload();
      },
      async close(grace = config.server.shutdownGrace) {
        // What drains takes nothing up any more.
        const stopped = reloader.close();
        await server.drain(grace);
        await stopped;
        await close();
      },
      cut: server.cut,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Where an app listens, as the system says. */
function placeOf(app: FastifyInstance): Listen {
  const { address, port } = app.server.address() as AddressInfo;
  return { host: address, port };
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
