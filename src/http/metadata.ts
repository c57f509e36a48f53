/**
 * Protected resource metadata (RFC 9728), readable from every origin: it is public, and browsers read it before they have a token.
 */
import type { FastifyReply } from "fastify";
import type { Config } from "../config/schema.ts";
import {
  type ResourceMetadata,
  resourceMetadata,
  resourceMetadataPath,
} from "../principal/resource-metadata.ts";
import type { PublicKeySet } from "../upstream/assertion-keys.ts";

const HEADERS = { "access-control-allow-origin": "*", "cache-control": "max-age=300" };
const PREFLIGHT = {
  "access-control-allow-methods": "GET, HEAD",
  "access-control-allow-headers": "*",
  "access-control-max-age": "600",
};

/**
 * The document of each route by its path-inserted well-known path; none where nobody is ever asked for a token. The bare path is
 * that of a route at `/`, or of the only route.
 */
export function metadataDocuments(config: Config): ReadonlyMap<string, ResourceMetadata> {
  const documents = new Map<string, ResourceMetadata>();
  const { authentication, authorization } = config;
  const asked = authentication.mode === "required" || (authorization.scopes ?? []).length > 0;
  if (!asked) return documents;
  for (const route of config.routes) {
    const { path } = route;
    const document = resourceMetadata(config, route);
    if (document === undefined) continue;
    documents.set(resourceMetadataPath(path), document);
    // Clients that know only the origin look at the root form; with several routes it would name a wrong resource.
    if (config.routes.length === 1) documents.set(resourceMetadataPath("/"), document);
  }
  return documents;
}

/** Methods that a document answers. */
export const isMetadataMethod = (method: string): boolean => /^(GET|HEAD|OPTIONS)$/.test(method);

/** Sends a document, or the answer to a preflight for it. */
export async function sendMetadata(
  document: ResourceMetadata | PublicKeySet,
  method: string,
  reply: FastifyReply,
): Promise<void> {
  reply.headers(HEADERS);
  await (method === "OPTIONS" ? reply.code(204).headers(PREFLIGHT).send() : reply.send(document));
}
