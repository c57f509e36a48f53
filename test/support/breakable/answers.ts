/** How the breakable server reads answers to the questions of a round. */
import { checkForm } from "../../../src/mcp/form.ts";
import type { Broken } from "./rules.ts";

type Json = Readonly<Record<string, unknown>>;

/** `malformed` is refused, `missing` asked for again. */
export type Read = "accepted" | "declined" | "missing" | "malformed";

const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Answers as they came to the questions that were asked. */
export function readAnswers(questions: Json, given: unknown, broken: Broken): Read {
  const asked = Object.keys(questions);
  if (asked.length === 0) return "accepted";
  if (given !== undefined && !isObject(given)) return broken("not-an-answer") ? "accepted" : "malformed";
  const answers = given ?? {};
  const unasked = Object.keys(answers).filter((key) => !asked.includes(key));
  if (unasked.length > 0 && broken("refuses-unasked")) return "malformed";
  const counts = unasked.some((key) => isObject(answers[key]) && answers[key]["action"] === "accept");
  if (counts && broken("unasked-answers")) return "accepted";
  const present = asked.filter((key) => Object.hasOwn(answers, key));
  const read = present.map((key) => readAnswer(questions[key] as Json, answers[key], broken));
  if (read.includes("malformed")) return "malformed";
  if (read.includes("declined")) return "declined";
  if (present.length === asked.length) return "accepted";
  if (broken("refuses-unanswered")) return "malformed";
  return broken(present.length === 0 ? "executes-unanswered" : "one-missing") ? "accepted" : "missing";
}

function readAnswer(question: Json, answer: unknown, broken: Broken): Read {
  if (!isObject(answer)) return broken("not-an-answer") ? "accepted" : "malformed";
  const params = question["params"] as Json | undefined;
  if (question["method"] === "sampling/createMessage")
    return otherwise(readSampled(answer), answer, ["action", "roots", "method"], broken);
  if (question["method"] === "roots/list")
    return otherwise(readRoots(answer), answer, ["action", "role", "method"], broken);
  const action = answer["action"];
  if (action === "decline") return broken("executes-declined") ? "accepted" : "declined";
  if (action === "cancel") return broken("executes-cancelled") ? "accepted" : "declined";
  if (action !== "accept") {
    const isOther = action === undefined && ["role", "roots", "method"].some((key) => key in answer);
    return broken(isOther ? "other-kind" : "any-action") ? "accepted" : "malformed";
  }
  if (params?.["mode"] === "url") return "accepted";
  const { content } = answer;
  if (content === undefined) return broken("without-content") ? "accepted" : "malformed";
  const fault = checkForm(params?.["requestedSchema"], content);
  if (fault === undefined) return "accepted";
  const isType = fault === "form_type" || fault === "form_shape" || fault === "form_items";
  return broken(isType ? "wrong-types" : "against-schema") ? "accepted" : "malformed";
}

function otherwise(fits: boolean, answer: Json, others: readonly string[], broken: Broken): Read {
  if (fits) return "accepted";
  return broken(others.some((key) => key in answer) ? "other-kind" : "wrong-types")
    ? "accepted"
    : "malformed";
}

function readSampled(answer: Json): boolean {
  const { role, content, model } = answer;
  return (
    role === "assistant" &&
    isObject(content) &&
    typeof content["type"] === "string" &&
    typeof model === "string"
  );
}

function readRoots({ roots }: Json): boolean {
  return (
    Array.isArray(roots) &&
    roots.every((root: unknown) => isObject(root) && String(root["uri"]).startsWith("file://"))
  );
}
