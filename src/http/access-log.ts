/**
 * The access log: one line for each HTTP request that clients send, when its answer has left or cannot leave any more. No body, token,
 * query, address of a resource or name of a caller; a path only where a route is served. docs/operations.md, log.
 */
import { createHash } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Log } from "../log.ts";
import { countedMethod } from "../mcp/methods.ts";
import type { Principal } from "../principal/principal.ts";

/** Has the line written; what it says is known at the end only. */
export function logAccess(request: FastifyRequest, reply: FastifyReply, log: Log): void {
  const { raw } = reply;
  const began = performance.now();
  const { socket } = request.raw;
  const writtenBefore = socket.bytesWritten;
  raw.once("close", () => {
    const journey = request.journey ?? undefined;
    const { body } = request;
    const draft = journey?.record ?? journey?.draft;
    const requestId = journey?.requestId ?? reply.getHeader("x-request-id");
    const traceId = journey?.trace?.id;
    log.info(
      {
        type: "access",
        ...(typeof requestId === "string" ? { requestId } : {}),
        ...(traceId === undefined ? {} : { traceId }),
        method: request.raw.method,
        ...(journey === undefined ? {} : { route: journey.route.config.path }),
        ...(draft?.method === undefined ? {} : { mcpMethod: countedMethod(draft.method) }),
        // Nobody got the status of an answer that did not leave.
        ...(raw.headersSent ? { status: raw.statusCode } : {}),
        bytesIn: Buffer.isBuffer(body) ? body.length : 0,
        bytesOut: Math.max(0, socket.bytesWritten - writtenBefore),
        durationMs: Math.round((performance.now() - began) * 1_000) / 1_000,
        ...(draft?.principal === undefined || journey === undefined
          ? {}
          : { principal: pseudonym(journey.principal) }),
      },
      "access",
    );
  });
}

/** One word for one caller, the same in all logs: whoever knows a name can tell whether it is this one. */
function pseudonym(principal: Principal): string {
  if (principal.anonymous) return "anonymous";
  const { issuer, tenant = "", subject } = principal;
  const name = JSON.stringify(["sealgate/access/1", issuer, tenant, subject]);
  return createHash("sha256").update(name, "utf8").digest("base64url").slice(0, 22);
}
