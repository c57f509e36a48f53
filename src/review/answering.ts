/** The honest answers to the questions of a round: what the plan says, else what the question itself allows. Pure. */
import { checkForm } from "../mcp/form.ts";
import { isObject, type Json, own } from "../mcp/parsed.ts";
import { Inconclusive } from "./check.ts";
import { exampleObject } from "./example-value.ts";
import type { PlannedAnswer } from "./plan.ts";

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
      return { action, content: planned?.content ?? made(key, request) };
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

function made(key: string, request: unknown): Json {
  const params = isObject(request) ? own(request, "params") : undefined;
  const schema = isObject(params) ? own(params, "requestedSchema") : undefined;
  const content = exampleObject(schema);
  if (content !== undefined && checkForm(schema, content) === undefined) return content;
  const shown = JSON.stringify(key.slice(0, 64));
  throw new Inconclusive(
    `no answer to ${shown} can be made from its schema; the plan can give one, as answers`,
  );
}
