/**
 * What the console's page asks for, under /v1/console/ of the admin listener: a session for the token, records, and the state of this
 * process. What it changes it changes by the admin verbs. While `admin.console` is off there is nothing here.
 */
import { randomUUID } from "node:crypto";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Attempts } from "../admin/attempts.ts";
import type { RecordDeed } from "../admin/deeds.ts";
import { addGuard, holdsSession } from "../admin/guard.ts";
import { addJsonParser } from "../admin/json-body.ts";
import { ownOrigin } from "../admin/same-origin.ts";
import { cookieIn, SESSION_SECONDS, type Sessions, setCookie } from "../admin/sessions.ts";
import { carriesToken } from "../admin/token.ts";
import { type Log, logError } from "../log.ts";
import { OrderRefused } from "../overrides/orders.ts";
import { type StateSources, stateNow } from "./state.ts";

/** What they work with. */
export interface ConsoleVerbSources {
  /** `admin.console` in force. */
  readonly on: () => boolean;
  /** The token in force. */
  readonly token: () => string | undefined;
  readonly sessions: Sessions;
  readonly attempts: Attempts;
  readonly state: StateSources;
  readonly record: RecordDeed;
  readonly log: Log;
}

const PREFIX = "/v1/console";
/** Of one answer. */
const PAGE = { records: 200, characters: 512 * 1024 };
const NUMBER = /^\d{1,15}$/;

/** Adds them to the admin app, whose own hooks come first. */
export function serveConsoleVerbs(app: FastifyInstance, sources: ConsoleVerbSources): void {
  app.register(
    (scope, _options, done) => {
      addConsoleVerbs(scope, sources);
      done();
    },
    { prefix: PREFIX },
  );
}

function addConsoleVerbs(scope: FastifyInstance, sources: ConsoleVerbSources): void {
  const { on, token, sessions, state, record, log } = sources;
  const { recorder } = state;
  // Records of another process have other numbers.
  const process = randomUUID();
  scope.addHook("onRequest", async (_request, reply) => {
    if (!on()) return reply.code(404).send({ error: "not found" });
  });
  addGuard(scope, { token, sessions: () => sessions, record, log }, new Set([`${PREFIX}/session`]));
  addJsonParser(scope);

  scope.post("/session", (request, reply) => signIn(request, reply, sources));
  scope.delete("/session", async (request, reply) => {
    const own = ownOrigin(request.headers);
    if (own === undefined) return reply.code(403).send({ error: NOT_OURS });
    const cookie = cookieIn(request.headers.cookie);
    if (cookie !== undefined && holdsSession(request, sessions, token() ?? "")) {
      sessions.end(cookie);
      record(request, "signout", {});
    }
    return reply.header("set-cookie", setCookie("", own.secure, 0)).send({ signedIn: false });
  });
  scope.get("/records", async (request) => {
    const { after = "0" } = request.query as { readonly after?: unknown };
    if (typeof after !== "string" || !NUMBER.test(after))
      throw new OrderRefused("after is no number of a record");
    const page = recorder.after(Number(after), PAGE);
    const last = page.at(-1)?.number ?? recorder.last;
    return {
      process,
      // Numbers are no secret, and texts are JSON already; parsed here once so that the answer is one document.
      records: page.map(({ number, text }) => ({ number, record: JSON.parse(text) as unknown })),
      last,
      more: last < recorder.last,
    };
  });
  scope.get("/state", async () => ({ process, ...stateNow(state) }));
  scope.all("/*", (_request, reply) => reply.code(404).send({ error: "not found" }));
  scope.setErrorHandler((error: Error & { readonly statusCode?: number }, request, reply) => {
    if (error instanceof OrderRefused) return reply.code(400).send({ error: error.message });
    const { statusCode: status = 500 } = error;
    if (status < 500) return reply.code(status).send({ error: "the request is malformed" });
    log.error({ requestId: request.id, err: logError(error) }, "console request failed");
    return reply.code(500).send({ error: "internal error" });
  });
}

const NOT_OURS = "this was not sent by a page of this listener";

/** The token for a session: once, from our own page, and not too often from one address. */
async function signIn(
  request: FastifyRequest,
  reply: FastifyReply,
  { token, sessions, attempts, record, log }: ConsoleVerbSources,
): Promise<FastifyReply> {
  const own = ownOrigin(request.headers);
  // Before anything is counted: no page of others can use up the attempts of this one.
  if (own === undefined) return reply.code(403).send({ error: NOT_OURS });
  const wait = attempts.wait(request.ip);
  if (wait > 0) {
    record(request, "signin", { outcome: "refused", cause: "attempts" });
    return reply
      .code(429)
      .header("retry-after", String(wait))
      .send({ error: `too many wrong tokens from this address; wait ${wait} s` });
  }
  const wanted = token() ?? "";
  if (!carriesToken(`Bearer ${tokenIn(request.body)}`, wanted)) {
    attempts.failed(request.ip);
    record(request, "signin", { outcome: "refused", cause: "token" });
    log.warn({ requestId: request.id, address: request.ip }, "admin token missing or wrong");
    return reply.code(401).send({ error: "this is not the token of admin.token" });
  }
  attempts.succeeded(request.ip);
  const before = cookieIn(request.headers.cookie);
  if (before !== undefined) sessions.end(before);
  const { cookie, key } = sessions.open(wanted);
  record(request, "signin", {});
  log.info({ requestId: request.id, address: request.ip }, "signed in to the console");
  return reply.header("set-cookie", setCookie(cookie, own.secure)).send({ key, seconds: SESSION_SECONDS });
}

/** @throws OrderRefused */
function tokenIn(body: unknown): string {
  const { token, ...rest } = (typeof body === "object" && body !== null ? body : {}) as Record<
    string,
    unknown
  >;
  if (typeof token !== "string" || Object.keys(rest).length > 0)
    throw new OrderRefused("the body is not one JSON object with token");
  return token;
}
