/**
 * The gateway: one list of stages that every request runs down once. Each may refuse, none may be skipped.
 *
 *   request    framing → principal → json → limits → protocol → tasks → authorization → capability → retry → approval
 *              → credential → upstream
 *   response   message → protocol → questions → seal → lists (response.ts, answer.ts) → outcome → audit
 *
 * Stages throw refusals; `http/server.ts` maps them once. Legacy traffic leaves the list after `protocol` (legacy.ts).
 */
import type { FastifyReply } from "fastify";
import { admit } from "./admission.ts";
import type { Kind } from "./allowance/allowance.ts";
import {
  askConsent,
  countConsent,
  isAnswered,
  noteConsent,
  refuseConsent,
  rememberConsent,
} from "./approval/asking.ts";
import { judgeConsent } from "./approval/consent.ts";
import { offersOf } from "./approval/offers.ts";
import { auditArguments, auditChain, auditClient, auditDeclared, auditMethod } from "./audit/record.ts";
import type { Call, Route } from "./call.ts";
import { narrow } from "./capability/narrow.ts";
import { checkRequired } from "./capability/policy.ts";
import type { Config } from "./config/schema.ts";
import { Refusal } from "./errors.ts";
import type { Journey } from "./journey.ts";
import { JsonError, type JsonText, scan } from "./json/scan.ts";
import { type Edit, splice } from "./json/splice.ts";
import { refuseLegacy, serveLegacy } from "./legacy.ts";
import { parseDeclared } from "./mcp/capabilities.ts";
import { decideEra } from "./mcp/era.ts";
import { parseClientMessage, readableId } from "./mcp/message.ts";
import { isTaskMethod, MRTR_METHODS, mirroredName, REMOVED_METHODS } from "./mcp/methods.ts";
import { checkMirrored } from "./mcp/mirrored-headers.ts";
import { notify } from "./notification.ts";
import type { Gateway } from "./opened-gateway.ts";
import { judgeParams, judgeRequest } from "./request-rules.ts";
import { answer, repeat } from "./response.ts";
import { allowedNow, openRetry, type Retry } from "./round-trip/retry.ts";
import { spend } from "./round-trip/spend.ts";
import type { Versions } from "./seen-lists.ts";
import { listenedEdits, openTaskRequest, openTasks } from "./tasks/request.ts";
import { modernHeaders } from "./upstream/credentials.ts";
import { obtain } from "./upstream/obtain.ts";
import { send } from "./upstream/send.ts";

/**
 * Serves one POST, after framing and principal.
 * @param body the bytes as they came, bounded by `server.limits.body`
 * @throws Refusal
 */
export async function serve(
  gateway: Gateway,
  journey: Journey,
  reply: FastifyReply,
  body: Buffer,
): Promise<void> {
  // json
  const doc = scanClient(body, gateway.config.server.limits);
  journey.id = readableId(doc);
  const message = parseClientMessage(doc);
  if ("method" in message) {
    journey.draft.method = auditMethod(message.method);
    if (gateway.config.audit.arguments) Object.assign(journey.draft, auditArguments(doc, message.params));
  }
  if ("params" in message) journey.trace?.readMeta(doc, message.meta);
  // limits
  await journey.admit(
    kindOf(doc, message, journey.route),
    "method" in message && MRTR_METHODS.has(message.method),
  );
  // protocol
  const header = journey.headers.get("mcp-protocol-version");
  const era = decideEra({ header, doc, message });
  journey.draft.era = era.era;
  if (era.version !== undefined) journey.draft.version = era.version;
  if (era.era === "legacy") {
    if (journey.route.config.legacy === "refuse") throw refuseLegacy(doc, message, header);
    return serveLegacy(gateway, journey, reply, { doc, message, version: era.version });
  }
  if (message.type === "result" || message.type === "error") throw new Refusal("invalid_request", "response");
  if (REMOVED_METHODS.has(message.method)) throw new Refusal("method_not_found", "removed_method");
  checkMirrored({
    headers: { method: journey.headers.get("mcp-method"), name: journey.headers.get("mcp-name") },
    message,
    name: mirroredName(doc, message),
  });
  // tasks
  const tasks = openTasks(gateway.roundTrip, journey, doc, message);
  // authorization
  const { target, refusal, approvals } = admit(gateway.authorizer, journey, doc, message, tasks);
  const tool = target?.kind === "tool" ? target.name : undefined;
  journey.modes = journey.route.modes(tool, refusal !== undefined);
  judgeRequest(journey, doc, message);
  if (message.type === "notification") {
    if (refusal !== undefined) throw refusal;
    return notify(gateway, journey, reply, doc, message, era.version);
  }
  // capability
  const declared = parseDeclared(doc, message.meta);
  Object.assign(journey.draft, auditDeclared(declared));
  if (gateway.config.audit.client) Object.assign(journey.draft, auditClient(doc, message.meta));
  if (MRTR_METHODS.has(message.method))
    checkRequired(journey.route.requiredAsks(tool, refusal !== undefined), declared);
  const call: Call = {
    journey,
    doc,
    message,
    params: message.params,
    version: era.version,
    target,
    declared,
    tasks,
    birth: Math.max(
      Math.floor(journey.startedAt / 1000),
      gateway.roundTrip.overrides.firstBirth(journey.principal, journey.route.config.path),
    ),
    allow: () => allowedNow(gateway.roundTrip, journey, tool),
  };
  const narrowed =
    message.meta === undefined ? [] : narrow(doc, message.meta, call.allow(), tasks !== undefined);
  return forward(gateway, call, { narrowed, refusal, approvals }, reply);
}

/** What a message counts as, by what it brings; whether its state is good is seen later. */
function kindOf(doc: JsonText, message: ReturnType<typeof parseClientMessage>, { config }: Route): Kind {
  if (message.type !== "request") return "request";
  const state = doc.get(message.params, "requestState");
  if (MRTR_METHODS.has(message.method) && state !== undefined && doc.kind(state) === "string") return "retry";
  return config.tasks === "pass" && isTaskMethod(message.method) ? "poll" : "request";
}

/** Scans a client's body. @throws Refusal `parse_error`, naming the kind of fault but no content */
function scanClient(body: Buffer, limits: Config["server"]["limits"]): JsonText {
  try {
    return scan(body, { bytes: limits.body, depth: limits.depth });
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    throw new Refusal("parse_error", error.fault, { data: { fault: error.fault, offset: error.offset } });
  }
}

/**
 * The rest of the request half: retry, redeem, send; then the answer.
 * @param judged what policy made of the request, and which policies may ask for consent. What it hides goes the way of an unknown name up
 *   to the server's door: no check before it may tell the two apart. Of its states none is redeemed but that of an answer to the gateway's
 *   own question.
 */
async function forward(
  gateway: Gateway,
  call: Call,
  judged: {
    readonly narrowed: readonly Edit[];
    readonly refusal: Refusal | undefined;
    readonly approvals: readonly string[];
  },
  reply: FastifyReply,
): Promise<void> {
  const { journey, message, doc } = call;
  const openEnded = message.method === "subscriptions/listen";
  journey.enter(gateway.limits, openEnded ? "stream" : "request");
  const shared = openEnded ? undefined : journey.share();
  if (shared !== undefined) await shared;
  // retry
  const retry = openTaskRequest(gateway.roundTrip, call) ?? openRetry(gateway.roundTrip, call);
  noteRetry(journey, retry);
  // What goes up without a state being redeemed is a request like any other, whatever it brought.
  if (retry.kind !== "retry" && call.tasks?.own === undefined) await journey.admit("request", true);
  const spans = journey.trace?.editsUp(doc, message.meta) ?? [];
  const edits = [...judged.narrowed, ...retry.edits, ...listenedEdits(call), ...spans];
  const body = splice(doc.bytes, edits);
  const name = call.tasks?.own?.claims.task ?? mirroredName(doc, message);
  const mirrored = { method: message.method, target: name, version: call.version };
  const headers = modernHeaders(journey.headers, mirrored);
  const { refusal, approvals: ids } = judged;
  const hidden = refusal !== undefined;
  if (hidden && ids.length === 0) throw refusal;
  if (!hidden) judgeParams(journey, doc, call.params, annotationsOf(call));
  // approval
  const judging = judgeConsent(gateway.roundTrip, gateway.consents, call, { ids, hidden }, retry);
  const consent = judging instanceof Promise ? await judging : judging;
  if (hidden && !isAnswered(consent)) throw refusal;
  if (consent.kind === "ask") return askConsent(gateway, call, consent, reply);
  if (consent.kind !== "free") noteConsent(call, consent);
  // credential, before anything is spent: one that cannot be had leaves the state as good as it was
  const isOver = consent.kind === "refused" || consent.kind === "vote";
  const obtained = isOver ? undefined : obtain(journey);
  const credential = obtained instanceof Promise ? await obtained : obtained;
  const spent = retry.kind === "retry" ? await spend(gateway, call, retry.claims) : undefined;
  if (spent !== undefined && "again" in spent) return repeat(gateway, call, spent.again, reply);
  if (isOver) throw await refuseConsent(gateway, call, consent, async () => spent?.release());
  if (consent.kind === "given") countConsent(gateway, consent);
  if (hidden) {
    rememberConsent(gateway, consent);
    throw refusal;
  }
  // upstream
  const offers = offersOf(gateway.consents, call, consent);
  const response = await send(journey, {
    ...{ method: "POST", headers: { ...headers, ...offers.headers }, credential, openEnded },
    body: offers.edits.length === 0 ? body : splice(doc.bytes, [...edits, ...offers.edits]),
    release: spent?.release,
  });
  rememberConsent(gateway, consent);
  await answer(gateway, call, retry.kind === "retry" ? retry.claims : undefined, response, reply);
}

/** What is known of the headers of the tool that is called. */
function annotationsOf({ journey, message, target }: Call): Versions | undefined {
  return message.method === "tools/call" && target !== undefined
    ? journey.route.seen.annotationsOf(target.name)
    : undefined;
}

function noteRetry(journey: Journey, retry: Retry): void {
  if (retry.kind === "retry")
    Object.assign(journey.draft, auditChain(retry.claims), { answers: retry.answers });
  if (retry.kind === "reprompt") Object.assign(journey.draft, { state: "reprompted", cause: retry.fault });
}
