/**
 * OAuth 2.0 Protected Resource Metadata (RFC 9728), as MCP clients read it: one document per route, at the
 * well-known path with the route's path inserted after it. Holds only what the operator configured.
 */

import { type TokenIssuer, tokenIssuers } from "../config/caller-issuers.ts";
import type { Config } from "../config/schema.ts";
import type { CredentialKind } from "./principal.ts";

const WELL_KNOWN = "/.well-known/oauth-protected-resource";

/** RFC 9728 section 2, the members we publish. */
export interface ResourceMetadata {
  readonly resource: string;
  readonly authorization_servers: readonly string[];
  /** What to start with (MCP 2026-07-28, basic/authorization, scope selection), not all that there is. */
  readonly scopes_supported?: readonly string[];
  readonly bearer_methods_supported: readonly ["header"];
  readonly resource_name?: string;
  readonly resource_documentation?: string;
  readonly resource_policy_uri?: string;
  readonly resource_tos_uri?: string;
  readonly tls_client_certificate_bound_access_tokens?: true;
  readonly dpop_signing_alg_values_supported?: readonly string[];
  readonly dpop_bound_access_tokens_required?: true;
}

/**
 * The resource identifier of a route: `publicUrl` is an origin without a trailing slash, `path` the route's exact path.
 * The root route is the bare origin, the form without a slash that the MCP specification prefers.
 */
export function resourceUrl(publicUrl: string, path: string): string {
  return path === "/" ? publicUrl : publicUrl + path;
}

/**
 * What `aud` may be where nothing else is configured. The URL of the root route has two spellings, which are the same (RFC 3986
 * section 6.2.3): clients and issuers that parse it write the slash.
 */
export function resourceAudiences(resource: string): readonly string[] {
  return new URL(resource).pathname === "/" ? [resource, `${resource}/`] : [resource];
}

/** The path the document of a route is served at (RFC 9728 section 3.1): `/mcp` → `/.well-known/oauth-protected-resource/mcp`. */
export function resourceMetadataPath(path: string): string {
  return path === "/" ? WELL_KNOWN : WELL_KNOWN + path;
}

/** The absolute URL of the document, for the `resource_metadata` parameter of challenges. */
export function resourceMetadataUrl(publicUrl: string, path: string): string {
  return publicUrl + resourceMetadataPath(path);
}

/**
 * The document of one route; undefined where no issuer's tokens are taken, as there is nothing to point a client to.
 * `authentication` and `server` are the sections of the configuration.
 */
export function resourceMetadata(
  { authentication, server }: Pick<Config, "authentication" | "server">,
  route: Pick<Config["routes"][number], "path" | "metadata" | "authentication">,
): ResourceMetadata | undefined {
  const { metadata: own = {} } = route;
  const named = issuersOf(authentication, route).filter(
    ({ issuer }) => own.issuers === undefined || own.issuers.includes(issuer),
  );
  if (named.length === 0) return undefined;
  const scopes = own.scopes ?? inCommon(named.map(({ requiredScopes }) => requiredScopes));
  const algorithms = authentication.dpop?.algorithms;
  const certificates =
    server.tls?.clientCa !== undefined || authentication.clientCertificates?.header !== undefined;
  const bound = named.every(({ senderConstrained }) => senderConstrained === "required");
  return {
    resource: resourceUrl(server.publicUrl, route.path),
    authorization_servers: [...new Set(named.map((issuer) => issuer.issuer))],
    ...(scopes.length === 0 ? {} : { scopes_supported: scopes }),
    bearer_methods_supported: ["header"],
    ...(own.name === undefined ? {} : { resource_name: own.name }),
    ...(own.documentation === undefined ? {} : { resource_documentation: own.documentation }),
    ...(own.policy === undefined ? {} : { resource_policy_uri: own.policy }),
    ...(own.terms === undefined ? {} : { resource_tos_uri: own.terms }),
    ...(certificates ? { tls_client_certificate_bound_access_tokens: true } : {}),
    ...(algorithms === undefined ? {} : { dpop_signing_alg_values_supported: algorithms }),
    // Where a certificate would do as well, DPoP is not what is required.
    ...(algorithms !== undefined && bound && !certificates
      ? { dpop_bound_access_tokens_required: true }
      : {}),
  };
}

/** An issuer that does not know a scope may refuse to give any: of different ones only those count that all of them know. */
function inCommon([first = [], ...others]: readonly (readonly string[])[]): string[] {
  return [...new Set(first)].filter((scope) => others.every((list) => list.includes(scope)));
}

/** The issuers whose tokens a route takes. */
function issuersOf(
  authentication: Config["authentication"],
  { authentication: own }: Pick<Config["routes"][number], "authentication">,
): TokenIssuer[] {
  const accepts = (kind: CredentialKind): boolean => own?.accept === undefined || own.accept.includes(kind);
  return tokenIssuers(authentication).filter(({ path: [, list], issuer }) => {
    if (list === "issuers") return accepts("jwt");
    return accepts("introspection") && (own?.introspection === undefined || own.introspection === issuer);
  });
}
