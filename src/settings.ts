/**
 * One whole configuration, opened: everything a request is judged and served by. It never changes; another configuration is
 * opened beside it and takes its place as a whole (in-force.ts). What both configurations have in common is kept open and
 * shared, so that a changed policy costs neither connections nor the keys of issuers.
 */
import { isDeepStrictEqual } from "node:util";
import type { Allowances } from "./allowance/allowance.ts";
import { callerLimits } from "./allowance/settings.ts";
import type { Approvals } from "./approval/approvals.ts";
import { ApprovePolicies } from "./approval/approve-policies.ts";
import { type AuditLog, openAuditLog } from "./audit/sinks.ts";
import { createAuthorizer } from "./authorization.ts";
import type { Route } from "./call.ts";
import type { Needs } from "./capability/needs.ts";
import type { LoadedConfig } from "./config/load.ts";
import type { Config } from "./config/schema.ts";
import { type Recorder, watched } from "./console/recorder.ts";
import { tokenBytesFor } from "./envelope/format.ts";
import { Held } from "./held.ts";
import { metadataDocuments } from "./http/metadata.ts";
import { createReach, type Reach } from "./http/origin.ts";
import { Peers } from "./http/peers.ts";
import type { Keys } from "./keys.ts";
import type { Limits } from "./limits.ts";
import type { Load } from "./load.ts";
import type { Log } from "./log.ts";
import type { Metrics } from "./metrics.ts";
import { openClient } from "./oauth/client-authentication.ts";
import type { Gateway } from "./opened-gateway.ts";
import { openRoutes, type RouteParts } from "./opened-routes.ts";
import { optional } from "./optional.ts";
import type { Output } from "./output.ts";
import type { Overrides } from "./overrides/overrides.ts";
import { type AuthenticatorDeps, createAuthenticator } from "./principal/authenticators.ts";
import type { Authenticator } from "./principal/credential.ts";
import type { KeySets } from "./principal/key-sets.ts";
import type { ReplayStore } from "./principal/replays.ts";
import type { ResourceMetadata } from "./principal/resource-metadata.ts";
import type { RedemptionStore } from "./redemption/store.ts";
import { redisTarget } from "./redis/target-of.ts";
import type { Repeats } from "./round-trip/repeat.ts";
import { createScopeHierarchy } from "./scopes.ts";
import { openTracer, type Tracer } from "./telemetry/tracer.ts";
import { type AssertionSigner, openAssertionSigner } from "./upstream/assertion-keys.ts";

/** See the file's header. */
export interface Settings {
  readonly loaded: LoadedConfig;
  readonly gateway: Gateway;
  /** By path, exactly as a request must spell it. */
  readonly routes: ReadonlyMap<string, Route>;
  /** Protected resource metadata, by path. */
  readonly documents: ReadonlyMap<string, ResourceMetadata>;
  /** Signs identity assertions, and has their public keys. */
  readonly signer: AssertionSigner | undefined;
  readonly authenticator: Authenticator;
  readonly reach: Reach;
  readonly peers: Peers;
  readonly parts: Parts;
}

/** What settings hold open. */
interface Parts {
  readonly audit: Held<AuditLog>;
  readonly authenticator: Held<Authenticator>;
  readonly tracer: Held<Tracer | undefined>;
  readonly routes: RouteParts;
}

/** What there is one of in a process, whatever configuration is in force. */
export interface ProcessParts {
  readonly log: Log;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly random: (bytes: number) => Buffer;
  /** The ring changes in place: a request that runs on when a key is removed must not seal with it. */
  readonly keys: Keys;
  readonly store: RedemptionStore;
  /** Proofs that were used stay used through a change of settings. */
  readonly replays: ReplayStore;
  readonly repeats: Repeats | undefined;
  /** Set by operators, and so the same for every configuration. */
  readonly overrides: Overrides;
  readonly needs: Needs;
  readonly approvals: Approvals;
  readonly limits: Limits;
  /** Callers are counted on through a change of limits. */
  readonly allowances: Allowances;
  readonly load: Load;
  readonly metrics: Metrics;
  /** Of issuers' servers: a changed configuration does not forget them. */
  readonly keySets: KeySets;
  /** Instead of the configured sinks. */
  readonly audit: AuditLog | undefined;
  /** Sees all audit records as well. */
  readonly recorder?: Pick<Recorder, "take">;
  readonly stdout: Output | undefined;
}

/**
 * Opens a configuration.
 * @param before settings to share parts with where these are the same
 * @returns closes its parts, but for those that other settings share, when it is closed
 * @throws Error when an audit file cannot be opened, or a key set is none; nothing is left open then
 */
export async function openSettings(
  loaded: LoadedConfig,
  shared: ProcessParts,
  before?: Settings,
): Promise<Held<Settings>> {
  const { config, secrets } = loaded;
  const { log, now } = shared;
  const same = (pick: (from: LoadedConfig) => unknown): boolean =>
    before !== undefined && isDeepStrictEqual(pick(before.loaded), pick(loaded));
  const releases: (() => Promise<void>)[] = [];
  const close = async (): Promise<void> => {
    for (const release of releases.toReversed()) await release();
  };
  const take = <T>(held: Held<T>): Held<T> => {
    releases.push(held.hold());
    return held;
  };
  try {
    shared.allowances.prepare(config.routes.map(callerLimits));
    const audit = take(
      before !== undefined && same((from) => from.config.audit.sinks)
        ? before.parts.audit
        : new Held(await openAudit(loaded, shared), (sinks) => sinks.close()),
    );
    const tracer = take(
      before !== undefined &&
        same((from) => [from.config.telemetry, from.secrets.traceHeaders, from.config.server.publicUrl])
        ? before.parts.tracer
        : new Held(openTracer(loaded, { log, count: shared.metrics.spans }), async (made) => made?.close()),
    );
    const authenticator = take(
      before !== undefined &&
        same((from) => [
          ...[from.config.authentication, from.secrets.jwksFiles, from.secrets.introspectionSecrets],
          ...[from.config.envelope.audience],
          from.config.authorization.scopeIncludes,
        ])
        ? before.parts.authenticator
        : new Held(
            createAuthenticator(config.authentication, {
              ...{
                log,
                now,
                keySets: shared.keySets,
                jwksFiles: secrets.jwksFiles,
                clients: introspectionClients(loaded, now),
              },
              ...{ proofs: proofParts(config, shared), count: shared.metrics.introspection },
              covers: createScopeHierarchy(config.authorization.scopeIncludes).covers,
            }),
            async (made) => made.close?.(),
          ),
    );
    const { assertions } = config;
    const signer = assertions && (await openAssertionSigner(secrets.assertionKeys, assertions.primary));
    const around = { signer, log, now, count: shared.metrics.credential };
    const { routes, parts } = openRoutes(loaded, around, before?.parts.routes, take);
    const settings: Settings = {
      loaded,
      gateway: openGateway(config, audit.value, shared, tracer.value),
      routes,
      documents: metadataDocuments(config),
      signer,
      authenticator: authenticator.value,
      reach: createReach(config.server),
      peers: new Peers(loaded, now),
      parts: { audit, authenticator, tracer, routes: parts },
    };
    return new Held(settings, close);
  } catch (error) {
    await close();
    throw error;
  }
}

/** Says which routes let questions pass unseen, but for those that did so `before`. */
export function warnUnfiltered(config: Config, log: Log, before?: Config): void {
  const unfiltered = ({ authentication, routes }: Config): string[] =>
    authentication.mode === "anonymous"
      ? routes.filter(({ legacy }) => legacy === "pass").map(({ path }) => path)
      : [];
  const known = before === undefined ? [] : unfiltered(before);
  for (const path of unfiltered(config)) {
    if (known.includes(path)) continue;
    log.warn({ path }, "legacy traffic passes on this route and its questions are not filtered");
  }
}

function openAudit(loaded: LoadedConfig, { audit, log, stdout }: ProcessParts): Promise<AuditLog> {
  if (audit !== undefined) return Promise.resolve(audit);
  const { sinks } = loaded.config.audit;
  const { redis } = loaded.config;
  const shared = redis && { target: redisTarget(loaded), keyPrefix: redis.keyPrefix };
  return openAuditLog(sinks, { log, ...optional("stdout", stdout), ...optional("redis", shared) });
}

function openGateway(
  config: Config,
  sinks: AuditLog,
  shared: ProcessParts,
  tracer: Tracer | undefined,
): Gateway {
  const { envelope } = config;
  const { keys, store, overrides, needs, repeats, now, random, limits, metrics, log } = shared;
  const { allowances, load, recorder } = shared;
  const audit = recorder === undefined ? sinks : watched(sinks, recorder);
  // Nobody is asked for an answer that would be too large to bring.
  const largest = tokenBytesFor(envelope.maxStateBytes, envelope.maxSchemaBytes);
  const maxTokenBytes = Math.min(largest, config.server.limits.body);
  return {
    config,
    authorizer: createAuthorizer(config.authorization),
    consents: { policies: new ApprovePolicies(config.authorization), approvals: shared.approvals },
    roundTrip: { ...envelope, keys, maxTokenBytes, store, overrides, now, random },
    needs,
    repeats,
    limits,
    allowances,
    load,
    metrics,
    audit,
    log,
    now,
    tracer,
  };
}

function proofParts(
  { envelope }: Config,
  { keys, replays }: ProcessParts,
): NonNullable<AuthenticatorDeps["proofs"]> {
  return { replays, nonces: { keys, audience: envelope.audience } };
}

/** How the gateway shows each introspection endpoint who it is, by issuer. */
function introspectionClients(
  { config, secrets }: LoadedConfig,
  now: () => number,
): NonNullable<AuthenticatorDeps["clients"]> {
  return new Map(
    config.authentication.introspection?.map(({ issuer, url, client }) => {
      const secret = secrets.introspectionSecrets?.get(issuer);
      if (secret === undefined) throw new Error(`the client of introspection at ${issuer} has no secret`);
      return [issuer, openClient(client, secret, url, now)] as const;
    }),
  );
}
