/**
 * The routes of a configuration, opened: connections to their servers and the sources of their credentials, kept where another
 * configuration has the same.
 */
import { isDeepStrictEqual } from "node:util";
import { callerLimits } from "./allowance/settings.ts";
import type { Route } from "./call.ts";
import { compileAddresses } from "./capability/addresses.ts";
import { compileCapability } from "./capability/policy.ts";
import type { LoadedConfig } from "./config/load.ts";
import type { Config } from "./config/schema.ts";
import { Held } from "./held.ts";
import { optional } from "./optional.ts";
import { resourceMetadata, resourceMetadataUrl, resourceUrl } from "./principal/resource-metadata.ts";
import { compileModes } from "./rules/modes.ts";
import { SeenLists } from "./seen-lists.ts";
import type { CredentialSource } from "./upstream/credential-source.ts";
import { createUpstream, type Upstream, type UpstreamOptions } from "./upstream/dispatch.ts";
import { type CredentialSurroundings, credentialOptions, openCredentials } from "./upstream/open.ts";

type ConfiguredRoute = Config["routes"][number];

/** What routes hold open, by path. */
export interface RouteParts {
  readonly credentials: ReadonlyMap<
    string,
    { readonly options: unknown; readonly held: Held<CredentialSource> }
  >;
  readonly upstreams: ReadonlyMap<
    string,
    {
      readonly options: UpstreamOptions;
      readonly held: Held<Upstream>;
      /** What its lists said; as long as it is the same server, and no longer. */
      readonly seen: SeenLists;
    }
  >;
}

/**
 * Opens all routes.
 * @param before parts to keep where they are the same
 * @param take holds a part for the configuration that is being opened
 */
export function openRoutes(
  loaded: LoadedConfig,
  surroundings: CredentialSurroundings,
  before: RouteParts | undefined,
  take: <T>(held: Held<T>) => Held<T>,
): { readonly parts: RouteParts; readonly routes: ReadonlyMap<string, Route> } {
  const { config } = loaded;
  const upstreams = new Map(
    config.routes.map((route) => {
      const options = upstreamOptions(loaded, route);
      const known = before?.upstreams.get(route.path);
      const held =
        known !== undefined && isDeepStrictEqual(known.options, options)
          ? known.held
          : new Held(createUpstream(options), (upstream) => upstream.close());
      const seen = known?.held === held ? known.seen : new SeenLists();
      return [route.path, { options, held: take(held), seen }] as const;
    }),
  );
  const credentials = new Map(
    config.routes.map((route) => {
      const options = credentialOptions(loaded, route);
      const known = before?.credentials.get(route.path);
      const held =
        known !== undefined && isDeepStrictEqual(known.options, options)
          ? known.held
          : new Held(openCredentials(loaded, route, surroundings), (source) => source.close());
      return [route.path, { options, held: take(held) }] as const;
    }),
  );
  const parts = { upstreams, credentials };
  const routes = new Map(config.routes.map((route) => [route.path, openRoute(loaded, route, parts)]));
  return { parts, routes };
}

function upstreamOptions({ secrets }: LoadedConfig, { path, upstream }: ConfiguredRoute): UpstreamOptions {
  const { url, timeouts, tls } = upstream;
  const ca = secrets.upstreamCas.get(path);
  const pair = secrets.upstreamPairs.get(path);
  return {
    url,
    timeouts,
    tls: { ...optional("ca", ca), ...pair, ...optional("servername", tls?.servername) },
  };
}

function openRoute(
  { config }: LoadedConfig,
  route: ConfiguredRoute,
  { upstreams, credentials }: RouteParts,
): Route {
  const { publicUrl } = config.server;
  const upstream = upstreams.get(route.path);
  const source = credentials.get(route.path);
  if (upstream === undefined || source === undefined) throw new Error(`${route.path} was not opened`);
  return {
    config: route,
    resource: resourceUrl(publicUrl, route.path),
    metadataUrl: resourceMetadataUrl(publicUrl, route.path),
    proofAlgorithms: config.authentication.dpop?.algorithms,
    startScopes: resourceMetadata(config, route)?.scopes_supported ?? [],
    requiredScopes: new Map(
      [...config.authentication.issuers, ...(config.authentication.introspection ?? [])].map((of) => [
        of.issuer,
        of.requiredScopes,
      ]),
    ),
    upstream: upstream.held.value,
    credentials: source.held.value,
    readsHints: config.authorization.policies.some(({ when }) => when !== undefined),
    ...compileCapability(route.capability),
    limits: callerLimits(route),
    addresses: compileAddresses(config, route),
    modes: compileModes(route.rules),
    seen: upstream.seen,
  };
}
