/** The honest answers to the questions of a round: what the plan says, else what the question itself allows. Pure. */
import { checkForm, fieldNames } from "../mcp/form.ts";
import { FORMATS } from "../mcp/formats.ts";
import { isObject, type Json, own } from "../mcp/parsed.ts";
import { Inconclusive } from "./check.ts";
import { exampleObject } from "./example-value.ts";
import { type Exchange, isAsking, isDone } from "./exchange.ts";
import type { PlannedAnswer, PlannedCall } from "./plan.ts";

/** An answer of the plan does not fit what is asked: the plan's fault, never the server's. */
export class PlanMisfit extends Inconclusive {}

/** What a question asks for. */
export type QuestionKind = "form" | "url" | "sampling" | "roots" | "unknown";

/** @param request one value of `inputRequests`, untrusted */
export function kindOf(request: unknown): QuestionKind {
  const method = isObject(request) ? own(request, "method") : undefined;
  const params = isObject(request) ? own(request, "params") : undefined;
  if (method === "roots/list") return "roots";
  if (method === "sampling/createMessage") return "sampling";
  if (method !== "elicitation/create" || !isObject(params)) return "unknown";
  const mode = own(params, "mode");
  return mode === undefined || mode === "form" ? "form" : mode === "url" ? "url" : "unknown";
}

const SAMPLED: Json = {
  role: "assistant",
  content: { type: "text", text: "review" },
  model: "sealgate-review",
};
const ROOTS: Json = { roots: [{ uri: "file:///sealgate-review" }] };

/**
 * One answer. Only elicitation can be declined or cancelled.
 * @param planned for this key
 * @returns undefined where the action cannot be said of this question
 * @throws PlanMisfit for planned content that the form does not allow
 * @throws Inconclusive where nothing fits for certain
 */
export function answerTo(
  key: string,
  request: unknown,
  planned: PlannedAnswer | undefined,
  action: "accept" | "decline" | "cancel",
): Json | undefined {
  const kind = kindOf(request);
  const isElicitation = kind === "form" || kind === "url";
  if (action !== "accept") return isElicitation ? { action } : undefined;
  if (planned?.result !== undefined && !isElicitation) return planned.result;
  switch (kind) {
    case "form":
      return { action, content: fitting(key, request, planned?.content) ?? made(key, request) };
    case "url":
      return { action };
    case "sampling":
      return SAMPLED;
    case "roots":
      return ROOTS;
    default:
      throw new Inconclusive(
        `the question ${JSON.stringify(key.slice(0, 64))} is of no kind that can be answered`,
      );
  }
}

/** Planned content as it is. A form whose schema is none, or asks for formats that there are not, says nothing against it. */
function fitting(key: string, request: unknown, content: Json | undefined): Json | undefined {
  const schema = schemaOf(request);
  if (content === undefined || !isObject(schema)) return content;
  const fault = checkForm(schema, content);
  const properties = own(schema, "properties");
  const fields: readonly unknown[] = isObject(properties) ? Object.values(properties) : [];
  const isKnown = fields.every((field) => {
    const format = isObject(field) ? own(field, "format") : undefined;
    return format === undefined || FORMATS.has(String(format));
  });
  if (fault === "form_schema" || !isKnown) return content;
  const names = fieldNames(schema);
  if (fault === undefined && Object.keys(content).every((name) => names.has(name))) return content;
  throw new PlanMisfit(`the plan's answer to ${JSON.stringify(key.slice(0, 64))} does not fit the form`);
}

/** Keys of the plan that a round trip which was accepted to its end has not asked; nothing of one that did not get there. */
export function unaskedIn(
  { answers, complete }: PlannedCall,
  mapped: readonly Exchange[],
): PlanMisfit | undefined {
  const last = mapped.at(-1);
  if (!complete || last === undefined || !isDone(last)) return undefined;
  const asked = new Set(
    mapped.filter(isAsking).flatMap(({ received }) => {
      const requests = received.kind === "result" ? own(received.result, "inputRequests") : undefined;
      return isObject(requests) ? Object.keys(requests) : [];
    }),
  );
  const unasked = Object.keys(answers).filter((key) => key !== "*" && !asked.has(key));
  if (unasked.length === 0) return undefined;
  const names = unasked.map((key) => JSON.stringify(key.slice(0, 64))).join(", ");
  return new PlanMisfit(`the plan has answers that nobody asks for: ${names}`, mapped);
}

function schemaOf(request: unknown): unknown {
  const params = isObject(request) ? own(request, "params") : undefined;
  return isObject(params) ? own(params, "requestedSchema") : undefined;
}

function made(key: string, request: unknown): Json {
  const schema = schemaOf(request);
  const content = exampleObject(schema);
  if (content !== undefined && checkForm(schema, content) === undefined) return content;
  const shown = JSON.stringify(key.slice(0, 64));
  throw new Inconclusive(
    `no answer to ${shown} can be made from its schema; the plan can give one, as answers`,
  );
}
