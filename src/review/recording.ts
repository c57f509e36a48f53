/** What was found → the record. Pure; everything from outside goes through the redaction. */
import { withoutQuery } from "../log.ts";
import { MODERN_VERSION } from "../mcp/era.ts";
import { isObject, type Json, own } from "../mcp/parsed.ts";
import { kindOf, type QuestionKind } from "./answering.ts";
import type { Check, Finding } from "./check.ts";
import type { Listing } from "./discovery.ts";
import { type Exchange, isAsking, isToolError } from "./exchange.ts";
import type { Plan, PlannedCall } from "./plan.ts";
import type { RecordedCall, RecordedResult, ReviewRecord } from "./record.ts";
import { recordedLists } from "./recorded-lists.ts";
import type { Redaction } from "./redaction.ts";

type Step = RecordedCall["map"][number];
type Question = NonNullable<Step["questions"]>[number];

const MAX_FIELDS = 50;

/** One call with its round trip as it was before checks began. */
export function recordedCall(
  call: PlannedCall,
  mapped: readonly Exchange[],
  { ours }: Redaction,
): RecordedCall {
  const { consentSurface, dataSensitivity, sideEffects } = call;
  return {
    name: call.name,
    method: call.method,
    target: call.target,
    ...(consentSurface === undefined ? {} : { consentSurface }),
    ...(dataSensitivity === undefined ? {} : { dataSensitivity }),
    ...(sideEffects === undefined ? {} : { sideEffects }),
    map: mapped.map((exchange, index) => step(exchange, index, ours)),
  };
}

function step(exchange: Exchange, index: number, words: (text: string) => string): Step {
  const params = own(exchange.sent.message, "params");
  const given = isObject(params) ? own(params, "inputResponses") : undefined;
  const { received } = exchange;
  const result: Json = received.kind === "result" ? received.result : {};
  const asked = own(result, "inputRequests");
  return {
    kind: index === 0 ? "call" : "retry",
    exchange: exchange.number,
    ...(isObject(given)
      ? {
          answers: Object.entries(given).map(([key, answer]) => ({
            key: words(key),
            action: actionOf(answer),
          })),
        }
      : {}),
    ends: endOf(exchange),
    ...(isAsking(exchange) && isObject(asked)
      ? { questions: Object.entries(asked).map(([key, request]) => question(key, request, words)) }
      : {}),
    ...(isAsking(exchange) ? { state: own(result, "requestState") !== undefined } : {}),
  };
}

function actionOf(answer: unknown): "accept" | "decline" | "cancel" | "result" {
  const action = isObject(answer) ? own(answer, "action") : undefined;
  return action === "accept" || action === "decline" || action === "cancel" ? action : "result";
}

function endOf(exchange: Exchange): Step["ends"] {
  const { received } = exchange;
  if (received.kind !== "result") return received.kind;
  if (isAsking(exchange)) return "input_required";
  if (received.resultType === "task") return "task";
  return isToolError(exchange) ? "tool_error" : "complete";
}

function question(key: string, request: unknown, words: (text: string) => string): Question {
  const kind: QuestionKind = kindOf(request);
  const params = isObject(request) ? own(request, "params") : undefined;
  const schema = isObject(params) ? own(params, "requestedSchema") : undefined;
  const properties = isObject(schema) ? own(schema, "properties") : undefined;
  if (kind !== "form" || !isObject(schema) || !isObject(properties)) return { key: words(key), kind };
  const required = own(schema, "required");
  const fields = Object.entries(properties)
    .slice(0, MAX_FIELDS)
    .map(([name, field]) => ({
      name: words(name),
      type: words(String((isObject(field) ? own(field, "type") : undefined) ?? "(none)")),
      required: Array.isArray(required) && required.includes(name),
    }));
  return { key: words(key), kind, fields };
}

/** One check on one call. */
export function recordedResult(
  check: Omit<Check, "run" | "completes">,
  call: string,
  finding: Finding,
  { found }: Redaction,
): RecordedResult {
  const { id, title, clause, advice } = check;
  return {
    check: id,
    call,
    title,
    clause,
    advice,
    verdict: finding.verdict,
    words: found(finding.words),
    exchanges: finding.exchanges.map(({ number }) => number),
  };
}

/** What a review was of, and when: milliseconds since the epoch. */
export interface About {
  readonly plan: Plan;
  readonly listing: Listing;
  /** Of this program. */
  readonly version: string;
  readonly forbidden: readonly string[];
  readonly startedAt: number;
  readonly endedAt: number;
}

/** The whole record. */
export function recordOf(
  { plan, listing, version, forbidden, startedAt, endedAt }: About,
  { calls, results, exchanges }: Pick<ReviewRecord, "calls" | "results" | "exchanges">,
  { ours }: Redaction,
): ReviewRecord {
  const { probe, limits } = plan;
  const count = (verdict: string): number => results.filter((result) => result.verdict === verdict).length;
  return {
    version: 1,
    program: { name: "sealgate", version },
    startedAt: new Date(startedAt).toISOString(),
    endedAt: new Date(endedAt).toISOString(),
    endpoint: withoutQuery(plan.endpoint),
    options: {
      plan: plan.source,
      secondPrincipal: plan.hasSecond,
      ...(probe === undefined ? {} : { effectProbe: `${probe.method} ${probe.target}` }),
      limits: {
        requests: limits.requests,
        requestsPerSecond: limits.perSecond,
        timeoutMs: limits.timeoutMs,
        waitMs: limits.waitMs,
      },
      forbidden: [...forbidden],
    },
    server: {
      ...(listing.name === undefined ? {} : { name: ours(listing.name) }),
      ...(listing.version === undefined ? {} : { version: ours(listing.version) }),
      ...(listing.versions.includes(MODERN_VERSION) ? { protocolVersion: MODERN_VERSION } : {}),
      ...(plan.source === "discovery" ? { listed: recordedLists(listing, ours) } : {}),
    },
    counts: {
      pass: count("pass"),
      fail: count("fail"),
      warn: count("warn"),
      not_applicable: count("not_applicable"),
      inconclusive: count("inconclusive"),
    },
    calls,
    results,
    exchanges,
  };
}
