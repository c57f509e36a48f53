/** Who may use what is under /v1/ of the admin listener: whoever brings the token, or a session of the console that was opened with it. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Log } from "../log.ts";
import type { RecordDeed } from "./deeds.ts";
import { ownOrigin } from "./same-origin.ts";
import { cookieIn, KEY_HEADER, type Sessions } from "./sessions.ts";
import { carriesToken } from "./token.ts";

/** What it decides by. */
export interface GuardParts {
  /** The token in force; undefined where there is none, and then there are no verbs. */
  readonly token: () => string | undefined;
  /** Of the console; undefined while that is off. */
  readonly sessions: () => Sessions | undefined;
  readonly record: RecordDeed;
  readonly log: Log;
}

/** Methods that change nothing. */
const SAFE: ReadonlySet<string> = new Set(["GET", "HEAD"]);

/**
 * Adds the check to all routes of a scope.
 * @param open paths of routes, as they were registered, that look for themselves
 */
export function addGuard(
  scope: FastifyInstance,
  parts: GuardParts,
  open: ReadonlySet<string> = new Set(),
): void {
  // On the scope's routes, not on a path: a path has many spellings.
  scope.addHook("onRequest", async (request, reply) => {
    const wanted = parts.token();
    if (wanted === undefined) return reply.code(404).send({ error: "not found" });
    reply.header("x-request-id", request.id);
    if (open.has(request.routeOptions.url ?? "")) return;
    if (carriesToken(request.headers.authorization, wanted)) return;
    if (!holdsSession(request, parts.sessions(), wanted)) return refuse(request, reply, parts);
    // The key in the header is enough against other pages; this is the second lock on the same door.
    if (SAFE.has(request.method) || ownOrigin(request.headers) !== undefined) return;
    parts.record(request, "unknown", { outcome: "refused", cause: "origin" });
    return reply.code(403).send({ error: "this was not sent by a page of this listener" });
  });
}

/** Whether a request carries both halves of an open session. */
export function holdsSession(
  request: FastifyRequest,
  sessions: Sessions | undefined,
  token: string,
): boolean {
  const key = request.headers[KEY_HEADER];
  return (
    sessions?.holds(
      { cookie: cookieIn(request.headers.cookie), key: typeof key === "string" ? key : undefined },
      token,
    ) === true
  );
}

function refuse(request: FastifyRequest, reply: FastifyReply, { record, log }: GuardParts): FastifyReply {
  record(request, "unknown", { outcome: "refused", cause: "token" });
  log.warn({ requestId: request.id, address: request.ip }, "admin token missing or wrong");
  return reply
    .code(401)
    .header("www-authenticate", "Bearer")
    .send({ error: "the token of admin.token is needed, as Authorization: Bearer" });
}
