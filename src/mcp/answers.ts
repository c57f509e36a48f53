/**
 * The answers of a retry against the questions that were asked. Nothing on the wire says what kind an answer is; the sealed
 * questions do. What was never asked is dropped; what was asked has to fit. Source: MCP 2026-07-28, multi round-trip
 * requests (unexpected keys are ignored, missing ones asked again), elicitation, sampling, roots.
 */
import type { Asked } from "../envelope/format.ts";
import { Refusal } from "../errors.ts";
import type { JsonText, Node } from "../json/scan.ts";
import { type Edit, editObject } from "../json/splice.ts";
import { checkForm, type FormFault, fieldNames } from "./form.ts";
import { areRoots } from "./roots.ts";
import { fold, hasTwin, knownNames } from "./twins.ts";

/** `detail` of the refusal. */
export type AnswerFault =
  | "input_responses"
  | "lone_surrogate"
  | "answer"
  | "answer_wrapped"
  | "answer_case_twin"
  | "answer_kind"
  | "action"
  | "content"
  | "sampling_result"
  | "roots_result"
  | FormFault;

/** Members that only a JSON-RPC message around the answer would have. */
const WRAPPERS: ReadonlySet<string> = new Set(["method", "result", "error", "jsonrpc"].map(fold));
const ANSWER_NAMES = knownNames("action", "content", "role", "model", "roots", "_meta");
/** Members by which readers tell the kinds apart: an answer must not look like another kind too. */
const FOREIGN: Readonly<Record<Asked["kind"], readonly string[]>> = {
  form: ["role", "model", "roots"],
  url: ["role", "model", "roots"],
  sampling: ["action", "roots"],
  roots: ["action", "role", "model"],
};

/**
 * Checks the untrusted value of `inputResponses` against what was asked (trusted: out of an opened envelope). Gives the
 * edits that drop answers never asked for, `content` where none belongs, and content members that the form did not ask for;
 * every other byte stays. Missing answers are fine. Throws Refusal `invalid_input_responses` with an AnswerFault.
 */
export function checkAnswers(doc: JsonText, inputResponses: Node, asked: readonly Asked[]): Edit[] {
  if (doc.kind(inputResponses) !== "object") throw fault("input_responses");
  const questions = new Map(asked.map((question) => [question.key, question]));
  const unasked = new Set<string>();
  const edits: Edit[] = [];
  for (const { key, node } of doc.members(inputResponses)) {
    const question = questions.get(key);
    if (question === undefined) unasked.add(key);
    else edits.push(...checkAnswer(doc, node, question));
  }
  return [...edits, ...editObject(doc, inputResponses, { remove: unasked })];
}

function checkAnswer(doc: JsonText, answer: Node, question: Asked): Edit[] {
  if (doc.kind(answer) !== "object") throw fault("answer");
  if (!doc.wellFormed(answer)) throw fault("lone_surrogate");
  const names = Array.from(doc.members(answer), ({ key }) => key);
  if (names.some((name) => WRAPPERS.has(fold(name)))) throw fault("answer_wrapped");
  if (hasTwin(doc, answer, ANSWER_NAMES)) throw fault("answer_case_twin");
  if (FOREIGN[question.kind].some((name) => names.includes(name))) throw fault("answer_kind");
  switch (question.kind) {
    case "form":
      return checkElicitation(doc, answer, question.schema);
    case "url":
      return checkElicitation(doc, answer, undefined);
    case "sampling":
      if (!isSamplingResult(doc, answer)) throw fault("sampling_result");
      return [];
    case "roots":
      if (!areRoots(doc, doc.get(answer, "roots"))) throw fault("roots_result");
      return [];
  }
}

/** `schema` is the form's JSON text, undefined for a url question. */
function checkElicitation(doc: JsonText, answer: Node, schema: string | undefined): Edit[] {
  const action = stringOf(doc, doc.get(answer, "action"));
  if (action !== "accept" && action !== "decline" && action !== "cancel") throw fault("action");
  const content = doc.get(answer, "content");
  // SDK clients send null for no content.
  const isAbsent = content === undefined || doc.kind(content) === "null";
  if (schema === undefined || action !== "accept" || isAbsent) {
    if (schema !== undefined && action === "accept") checkContent(schema, {});
    return editObject(doc, answer, { remove: new Set(["content"]) });
  }
  if (doc.kind(content) !== "object") throw fault("content");
  const fields = checkContent(schema, doc.value(content));
  const unasked = Array.from(doc.members(content), ({ key }) => key).filter((name) => !fields.has(name));
  return editObject(doc, content, { remove: new Set(unasked) });
}

function checkContent(schemaText: string, content: unknown): ReadonlySet<string> {
  const schema: unknown = JSON.parse(schemaText);
  const broken = checkForm(schema, content);
  if (broken !== undefined) throw fault(broken);
  return fieldNames(schema);
}

function isSamplingResult(doc: JsonText, answer: Node): boolean {
  const role = stringOf(doc, doc.get(answer, "role"));
  const content = doc.get(answer, "content");
  if (role !== "user" && role !== "assistant") return false;
  if (stringOf(doc, doc.get(answer, "model")) === undefined || content === undefined) return false;
  if (doc.kind(content) !== "array") return doc.kind(content) === "object";
  const blocks = Array.from(doc.items(content));
  return blocks.length > 0 && blocks.every((block) => doc.kind(block) === "object");
}

function stringOf(doc: JsonText, node: Node | undefined): string | undefined {
  return node !== undefined && doc.kind(node) === "string" ? doc.string(node) : undefined;
}

function fault(detail: AnswerFault): Refusal {
  return new Refusal("invalid_input_responses", detail);
}
