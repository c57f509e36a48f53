/**
 * The admin verbs, under /v1/ of the admin listener: lists, sets and removes what operators set at run time. They exist only with
 * `admin.token`. Every request has to bring it; what is changed is on record. No page of another origin can send that header.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { ApprovalsDesk } from "../approval/approvals.ts";
import { ShelfUnavailable } from "../approval/shelf.ts";
import type { AdminAction, AdminRecord } from "../audit/admin-record.ts";
import type { Needs } from "../capability/needs.ts";
import { parseDuration } from "../config/units.ts";
import { type Log, logError } from "../log.ts";
import type { Grant, Revocation } from "../overrides/entry.ts";
import { OrderRefused, parseGrantOrder, parseRevocationOrder } from "../overrides/orders.ts";
import {
  OverridesBusy,
  type OverridesDesk,
  OverridesFull,
  OverridesUnavailable,
} from "../overrides/overrides.ts";
import { present } from "../overrides/shown.ts";
import { addApprovalVerbs } from "./approval-verbs.ts";
import { deedRecorder } from "./deeds.ts";
import { addGuard } from "./guard.ts";
import { addJsonParser } from "./json-body.ts";
import type { Sessions } from "./sessions.ts";

const WHO = "admin";
const NO_ROUTE = "route is the path of no route of this gateway";

/** What the verbs work with. */
export interface VerbSources {
  readonly desk: OverridesDesk;
  readonly approvals: ApprovalsDesk;
  readonly needs: Needs;
  /** Paths of the routes in force. */
  readonly routes: () => readonly string[];
  /** The token in force; undefined where there is none, and then there are no verbs. */
  readonly token: () => string | undefined;
  /** Of the console; undefined while that is off. */
  readonly sessions: () => Sessions | undefined;
  readonly audit: { write(record: AdminRecord): void };
  readonly log: Log;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Adds the verbs to the admin app, whose own hooks come first. */
export function serveVerbs(app: FastifyInstance, sources: VerbSources): void {
  app.register(
    (scope, _options, done) => {
      addVerbs(scope, sources);
      done();
    },
    { prefix: "/v1" },
  );
}

function addVerbs(
  scope: FastifyInstance,
  { desk, approvals, needs, routes, token, sessions, audit, log, now }: VerbSources,
): void {
  const record = deedRecorder(audit, now);
  addGuard(scope, { token, sessions, record, log });
  addJsonParser(scope);

  const change = async (
    request: FastifyRequest,
    reply: FastifyReply,
    action: AdminAction,
    work: () => Promise<Revocation | Grant | undefined>,
  ): Promise<FastifyReply> => {
    try {
      const entry = await work();
      if (entry === undefined) {
        record(request, action, { outcome: "failed", cause: "not_found" });
        return reply.code(404).send({ error: "there is no such entry" });
      }
      const shown = present(entry);
      record(request, action, { entry: shown });
      log.info({ requestId: request.id, action, id: entry.id }, "overrides changed by an operator");
      if (request.method !== "POST") return reply.code(200).send(shown);
      const { route } = shown;
      const isLost = typeof route === "string" && !routes().includes(route);
      return reply.code(201).send({ ...shown, ...(isLost ? { warning: NO_ROUTE } : {}) });
    } catch (error) {
      const answer = answerTo(error);
      if (answer === undefined) throw error;
      record(request, action, { outcome: answer.status === 400 ? "refused" : "failed", cause: answer.cause });
      return reply.code(answer.status).send({ error: answer.text });
    }
  };

  scope.get("/revocations", async () => ({
    revocations: desk
      .list()
      .filter(({ kind }) => kind === "revocation")
      .map(present),
  }));
  scope.get("/grants", async () => ({
    grants: desk
      .list()
      .filter(({ kind }) => kind === "grant")
      .map(present),
  }));
  scope.get("/needs", async () => ({ needs: needs.list() }));
  scope.post("/revocations", (request, reply) =>
    change(request, reply, "revoke", async () => await desk.revoke(revocationOf(request.body))),
  );
  scope.post("/grants", (request, reply) =>
    change(request, reply, "grant", async () => await desk.grant(grantOf(request.body))),
  );
  scope.delete("/revocations/:id", (request, reply) =>
    change(request, reply, "unrevoke", () => desk.remove("revocation", idOf(request), WHO)),
  );
  scope.delete("/grants/:id", (request, reply) =>
    change(request, reply, "ungrant", () => desk.remove("grant", idOf(request), WHO)),
  );
  addApprovalVerbs(scope, { approvals, record, causeOf: (error) => answerTo(error)?.cause });
  scope.all("/*", (_request, reply) => reply.code(404).send({ error: "not found" }));
  scope.setErrorHandler((error: Error & { readonly statusCode?: number }, request, reply) => {
    const answer = answerTo(error);
    const status = answer?.status ?? error.statusCode ?? 500;
    // An order that could not even be read is an attempt all the same.
    const action = ACTIONS[`${request.method} ${request.routeOptions.url}`];
    // What failed was recorded where it was tried.
    const unread = status < 500 && (answer === undefined || answer.cause === "order");
    if (action !== undefined && unread) record(request, action, { outcome: "refused", cause: "order" });
    if (answer !== undefined) return reply.code(status).send({ error: answer.text });
    if (status < 500) return reply.code(status).send({ error: TEXTS[status] ?? "the request is malformed" });
    log.error({ requestId: request.id, err: logError(error) }, "admin request failed");
    return reply.code(500).send({ error: "internal error" });
  });
}

const ACTIONS: Readonly<Record<string, AdminAction>> = {
  "POST /v1/revocations": "revoke",
  "POST /v1/grants": "grant",
  "DELETE /v1/revocations/:id": "unrevoke",
  "DELETE /v1/grants/:id": "ungrant",
  "POST /v1/approvals/:id": "approve",
};

const TEXTS: Readonly<Record<number, string>> = {
  413: "the body is larger than 16KiB",
  415: "Content-Type must be application/json",
};

function answerTo(
  error: unknown,
):
  | { readonly status: number; readonly text: string; readonly cause: NonNullable<AdminRecord["cause"]> }
  | undefined {
  if (error instanceof OrderRefused) return { status: 400, text: error.message, cause: "order" };
  if (error instanceof OverridesFull) return { status: 409, text: error.message, cause: "full" };
  if (error instanceof OverridesBusy) return { status: 503, text: error.message, cause: "busy" };
  if (error instanceof OverridesUnavailable || error instanceof ShelfUnavailable)
    return {
      status: 503,
      text: "the store cannot be used now; look at the list before you try again",
      cause: "store_unavailable",
    };
  return undefined;
}

const idOf = (request: FastifyRequest): string => (request.params as { readonly id: string }).id;

function membersOf(body: unknown): Record<string, unknown> {
  if (typeof body !== "object" || body === null || Array.isArray(body))
    throw new OrderRefused("the body is not one JSON object");
  return body as Record<string, unknown>;
}

function revocationOf(body: unknown) {
  const { by = WHO, reason, ...target } = membersOf(body);
  return parseRevocationOrder({ by, ...(reason === undefined ? {} : { reason }), target });
}

function grantOf(body: unknown) {
  const { by = WHO, ttl, ...rest } = membersOf(body);
  // In the words of the configuration: 30m, 12h.
  const time = typeof ttl === "string" ? (parseDuration(ttl) ?? Number.NaN) : ttl;
  return parseGrantOrder({ by, ...rest, ...(ttl === undefined ? {} : { ttl: time }) });
}
