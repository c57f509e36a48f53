/**
 * Access tokens that only their issuer can read (RFC 7662), and signed ones of issuers that are configured so. Which issuer is asked
 * is decided before anything is sent, and one only is: a token never goes to a server that it may not belong to.
 */
import type { JWTPayload } from "jose";
import type { Config } from "../config/schema.ts";
import type { Log } from "../log.ts";
import type { Authentication } from "../oauth/client-authentication.ts";
import { ClaimError, ownerByClaims, principalOf } from "./claims.ts";
import { splitBinding } from "./confirmation.ts";
import {
  type CredentialAuthenticator,
  CredentialFault,
  type Credentials,
  type Identity,
} from "./credential.ts";
import { AnswerFault, checkToken, checkUse } from "./introspection-answer.ts";
import { IntrospectionEndpoint, type IntrospectionOutcome } from "./introspection-endpoint.ts";
import type { Owner, Resource } from "./principal.ts";
import { resourceAudiences } from "./resource-metadata.ts";
import { type Admission, admitToken, type GoodToken, goodToken } from "./token-admission.ts";
import { isJwt, issuerOf } from "./token-form.ts";

type IntrospectionConfig = NonNullable<Config["authentication"]["introspection"]>[number];

/**
 * An answer as it is remembered: what it makes of the token wherever it is presented, or why that is nothing. Not the whole
 * answer, which can be large.
 */
interface Judged {
  readonly use: Pick<JWTPayload, "exp" | "nbf" | "iat" | "aud">;
  readonly owner: Owner;
  readonly good: GoodToken | undefined;
  readonly fault: string;
}

interface Server {
  readonly config: IntrospectionConfig;
  readonly endpoint: IntrospectionEndpoint<Judged>;
}

/** What the authenticator of introspected tokens needs besides its servers. */
export interface IntrospectionDeps {
  readonly log: Log;
  /** Unix milliseconds; `Date.now` when absent. */
  readonly now?: () => number;
  /** By issuer: how the gateway shows the endpoint who it is. */
  readonly clients: ReadonlyMap<string, () => Authentication | Promise<Authentication>>;
  /** Milliseconds for one answer; 5000 when absent. */
  readonly fetchTimeout?: number;
  readonly count?: ((outcome: IntrospectionOutcome) => void) | undefined;
}

/**
 * Builds the authenticator of introspected tokens. No request leaves before the first token comes.
 * @throws Error for an issuer that is listed twice or has no client: a mistake to show at start
 */
export function createIntrospectionAuthenticator(
  configured: readonly IntrospectionConfig[],
  admission: Admission,
  deps: IntrospectionDeps,
): CredentialAuthenticator {
  const now = deps.now ?? Date.now;
  const servers = new Map<string, Server>();
  for (const config of configured) {
    const { issuer, url, cache } = config;
    const authentication = deps.clients.get(issuer);
    if (servers.has(issuer)) throw new Error(`introspection of ${issuer} is listed twice`);
    if (authentication === undefined) throw new Error(`introspection of ${issuer} has no client`);
    const { log, count, fetchTimeout: timeout } = deps;
    const options = { issuer, url, cache, authentication, log, now, count };
    const endpoint = new IntrospectionEndpoint<Judged>(
      timeout === undefined ? options : { ...options, timeout },
      (claims, token) => judge(config, claims, token),
    );
    servers.set(issuer, { config, endpoint });
  }

  return {
    kind: "introspection",
    claims: ({ tokenKind }) => tokenKind === "introspection",
    authenticate(credentials, resource) {
      const { authorization } = credentials;
      if (authorization.kind !== "token") throw new CredentialFault("malformed");
      const server = serverOf(authorization.token, resource);
      if (server === undefined) throw new CredentialFault("unknown_issuer");
      const judged = server.endpoint.ask(authorization.token);
      return judged instanceof Promise
        ? judged.then((answer) => conclude(server, answer, credentials, resource))
        : conclude(server, judged, credentials, resource);
    },
    available: () => [...servers.values()].some(({ endpoint }) => endpoint.available()),
    close: () => {
      for (const { endpoint } of servers.values()) endpoint.close();
    },
  };

  /**
   * Who is asked: for a JWT the issuer that it names, for any other token the one that the route names, or else the one whose
   * prefix it has, or else the one without prefixes.
   */
  function serverOf(token: string, { introspection }: Resource): Server | undefined {
    if (isJwt(token)) {
      const server = servers.get(issuerOf(token) ?? "");
      return introspection === undefined || server?.config.issuer === introspection ? server : undefined;
    }
    const hasPrefix = ({ config }: Server): boolean | undefined =>
      config.tokenPrefixes?.some((prefix) => token.startsWith(prefix));
    if (introspection !== undefined) {
      const server = servers.get(introspection);
      return server !== undefined && hasPrefix(server) !== false ? server : undefined;
    }
    const all = [...servers.values()];
    const bare = all.filter(({ config }) => config.tokenPrefixes === undefined);
    // Of two without prefixes a token could be of either: then nobody is asked.
    return all.find((server) => hasPrefix(server) === true) ?? (bare.length === 1 ? bare[0] : undefined);
  }

  function conclude(
    { config }: Server,
    judged: Judged | undefined,
    credentials: Credentials,
    resource: Resource,
  ): Identity | Promise<Identity> {
    if (judged === undefined) throw new CredentialFault("inactive");
    const { use, owner, good, fault } = judged;
    const { audiences = config.audiences ?? resourceAudiences(resource.url) } = resource;
    try {
      if (good === undefined) throw new AnswerFault(fault);
      checkUse(use, { audiences, clockTolerance: config.clockTolerance }, now());
    } catch (error) {
      if (!(error instanceof AnswerFault)) throw error;
      throw new CredentialFault(error.message, { owner });
    }
    return admitToken(good, credentials, resource, admission);
  }
}

/** What an answer makes of a token, wherever it is presented. */
function judge(config: IntrospectionConfig, claims: JWTPayload, token: string): Judged {
  const bad = (fault: string): Judged => ({ use: {}, owner, good: undefined, fault });
  const owner = ownerByClaims(config.issuer, config.claims, claims);
  try {
    const checked = checkToken(claims, config.issuer, token);
    const { exp, nbf, iat, aud } = checked;
    const use = Object.fromEntries(
      Object.entries({ exp, nbf, iat, aud }).filter(([, value]) => value !== undefined),
    );
    const { binding, rest } = splitBinding(checked);
    // Said to be bound to a key, and not to which: it must not pass for a plain one.
    const { token_type: type } = claims;
    if (typeof type === "string" && type.toLowerCase() === "dpop" && binding?.key === undefined) {
      throw new ClaimError("confirmation_claim");
    }
    const principal = principalOf(config.issuer, config.claims, rest);
    return { use, owner, good: goodToken("introspection", principal, binding, config), fault: "" };
  } catch (error) {
    if (error instanceof AnswerFault) return bad(error.message);
    return bad(error instanceof ClaimError ? error.fault : "claims");
  }
}
