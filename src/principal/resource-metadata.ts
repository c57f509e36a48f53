/**
 * OAuth 2.0 Protected Resource Metadata (RFC 9728), as MCP clients read it: one document per route, at the
 * well-known path with the route's path inserted after it. Holds only what the operator configured.
 */

import type { Config } from "../config/schema.ts";

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
}

type RouteMetadata = NonNullable<Config["routes"][number]["metadata"]>;

/**
 * The resource identifier of a route: `publicUrl` is an origin without a trailing slash, `path` the route's exact path.
 * The root route is the bare origin, the form without a slash that the MCP specification prefers.
 */
export function resourceUrl(publicUrl: string, path: string): string {
  return path === "/" ? publicUrl : publicUrl + path;
}

/** The path the document of a route is served at (RFC 9728 section 3.1): `/mcp` → `/.well-known/oauth-protected-resource/mcp`. */
export function resourceMetadataPath(path: string): string {
  return path === "/" ? WELL_KNOWN : WELL_KNOWN + path;
}

/** The absolute URL of the document, for the `resource_metadata` parameter of challenges. */
export function resourceMetadataUrl(publicUrl: string, path: string): string {
  return publicUrl + resourceMetadataPath(path);
}

/** The document of one route; undefined when no issuer is configured, as there is nothing to point a client to. */
export function resourceMetadata(
  publicUrl: string,
  path: string,
  authentication: Config["authentication"],
  own: RouteMetadata = {},
): ResourceMetadata | undefined {
  const { issuers } = authentication;
  const named = issuers.filter(({ issuer }) => own.issuers === undefined || own.issuers.includes(issuer));
  if (named.length === 0) return undefined;
  const scopes = own.scopes ?? [...new Set(named.flatMap((issuer) => issuer.requiredScopes))];
  return {
    resource: resourceUrl(publicUrl, path),
    authorization_servers: named.map((issuer) => issuer.issuer),
    ...(scopes.length === 0 ? {} : { scopes_supported: scopes }),
    bearer_methods_supported: ["header"],
    ...(own.name === undefined ? {} : { resource_name: own.name }),
    ...(own.documentation === undefined ? {} : { resource_documentation: own.documentation }),
    ...(own.policy === undefined ? {} : { resource_policy_uri: own.policy }),
    ...(own.terms === undefined ? {} : { resource_tos_uri: own.terms }),
  };
}
