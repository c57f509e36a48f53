/** From the configuration of a route to the source of its credential. */
import type { LoadedConfig } from "../config/load.ts";
import type { Config } from "../config/schema.ts";
import type { Log } from "../log.ts";
import { openClient } from "../oauth/client-authentication.ts";
import { resourceAudiences, resourceUrl } from "../principal/resource-metadata.ts";
import { assertionSource } from "./assertion.ts";
import type { AssertionSigner } from "./assertion-keys.ts";
import {
  type CredentialOutcome,
  type CredentialSource,
  fixedSource,
  type UpstreamCredentialKind,
} from "./credential-source.ts";
import { clientCredentialsSource, exchangeSource } from "./granted.ts";
import { TokenEndpoint } from "./token-endpoint.ts";

type Route = Config["routes"][number];

/** What sources need besides a configuration. */
export interface CredentialSurroundings {
  /** Absent without a section `assertions`. */
  readonly signer: AssertionSigner | undefined;
  readonly log: Log;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly count: (route: string, kind: UpstreamCredentialKind, outcome: CredentialOutcome) => void;
}

/** All that decides what a route's source hands out, secrets among it: where two are equal, one source is both. */
export function credentialOptions({ config, secrets }: LoadedConfig, route: Route): unknown {
  const { credential, url } = route.upstream;
  const fixed = secrets.credentials.get(route.path);
  if (credential === undefined || fixed !== undefined) return { fixed };
  if (!("assertion" in credential)) {
    const secret = secrets.clientSecrets.get(route.path);
    return { credential, secret, ownAudiences: ownAudiences(config) };
  }
  return {
    ...{ credential, url, assertions: config.assertions, keys: secrets.assertionKeys },
    publicUrl: config.server.publicUrl,
  };
}

/**
 * Opens the source of a route's credential; connects on first use.
 * @throws Error when what it needs was not read, which `loadMaterial` and the checks rule out
 */
export function openCredentials(
  { config, secrets }: LoadedConfig,
  route: Route,
  { signer, log, now, count }: CredentialSurroundings,
): CredentialSource {
  const { path } = route;
  const { credential } = route.upstream;
  if (credential === undefined) return fixedSource();
  if ("bearer" in credential || "header" in credential) {
    const fixed = secrets.credentials.get(path);
    // Without it every request would go up bare.
    if (fixed === undefined) throw new Error(`the credential of ${path} was not read`);
    return fixedSource("bearer" in credential ? "bearer" : "header", fixed);
  }
  if ("assertion" in credential) {
    if (signer === undefined) throw new Error(`${path} needs the section assertions`);
    const { audience = withoutQueryOf(route.upstream.url), ...rest } = credential.assertion;
    const issuer = config.assertions?.issuer ?? config.server.publicUrl;
    const parts = { signer, now, count: (outcome: CredentialOutcome) => count(path, "assertion", outcome) };
    return assertionSource({ ...rest, issuer, audience }, parts);
  }
  const secret = secrets.clientSecrets.get(path);
  if (secret === undefined) throw new Error(`the client secret of ${path} was not read`);
  const exchanges = "exchange" in credential;
  const terms = exchanges ? credential.exchange : credential.clientCredentials;
  const { endpoint: url, client } = terms;
  const endpoint = new TokenEndpoint({ url, authentication: openClient(client, secret, url, now), log, now });
  const kind = exchanges ? "exchange" : "client_credentials";
  const parts = {
    ...{ endpoint, now, ownAudiences: ownAudiences(config) },
    count: (outcome: CredentialOutcome) => count(path, kind, outcome),
  };
  return exchanges
    ? exchangeSource(credential.exchange, parts)
    : clientCredentialsSource(credential.clientCredentials, parts);
}

/** The resources that this gateway is, as tokens for it name them. */
const ownAudiences = ({ server, routes }: Config): string[] =>
  routes.flatMap(({ path }) => resourceAudiences(resourceUrl(server.publicUrl, path)));

/** The query of an upstream's URL may hold a key, and the audience travels on. */
const withoutQueryOf = (url: string): string => url.replace(/\?.*$/s, "");
