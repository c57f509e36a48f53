/**
 * Protected resource metadata (RFC 9728), readable from every origin: it is public, and browsers read it before they have a token.
 */
import type { IncomingMessage } from "node:http";
import type { FastifyInstance } from "fastify";
import type { Config } from "../config/schema.ts";
import { resourceMetadata, resourceMetadataPath } from "../principal/resource-metadata.ts";

const PREFLIGHT = { "access-control-allow-methods": "GET", "access-control-allow-headers": "*" };

/**
 * Serves the document of each route at its path-inserted well-known path; none where nobody is asked for a token.
 * @param checkHead throws a Refusal for a request that is not in order
 */
export function serveMetadata(
  app: FastifyInstance,
  config: Config,
  checkHead: (request: IncomingMessage) => void,
): void {
  if (config.authentication.mode === "anonymous") return;
  const single = config.routes.length === 1;
  for (const { path } of config.routes) {
    const document = resourceMetadata(config.server.publicUrl, path, config.authentication);
    if (document === undefined) continue;
    const paths = new Set([resourceMetadataPath(path)]);
    // Clients that know only the origin look at the root form; with several routes it would name a wrong resource.
    if (single) paths.add(resourceMetadataPath("/"));
    for (const url of paths) {
      app.route({
        method: ["GET", "OPTIONS"],
        url,
        handler: async (request, reply) => {
          checkHead(request.raw);
          reply.headers({ "access-control-allow-origin": "*", "cache-control": "max-age=300" });
          return request.method === "OPTIONS"
            ? reply.code(204).headers(PREFLIGHT).send()
            : reply.send(document);
        },
      });
    }
  }
}
