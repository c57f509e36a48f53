/**
 * The answers of a retry against the questions that were asked. Nothing on the wire says what kind an answer is; the sealed
 * questions do. What was never asked is dropped; what was asked has to fit. Source: MCP 2026-07-28, multi round-trip
 * requests (unexpected keys are ignored, missing ones asked again), elicitation, sampling, roots.
 */
import type { Asked } from "../envelope/format.ts";
import { Refusal } from "../errors.ts";
import type { JsonText, Node } from "../json/scan.ts";
import { type Edit, editObject } from "../json/splice.ts";
import type { Finding } from "../rules/finding.ts";
import {
  agrees,
  isSamplingResult,
  looksForeign,
  MAX_ANSWER_BYTES,
  MAX_UNASKED,
  MEMBERS,
  type ShapeFault,
  samplingResultFindings,
  shapeFault,
} from "./answer-shape.ts";
import { checkForm, fieldNames } from "./form.ts";
import { JsonNumber, parseExact } from "./number.ts";
import { MAX_QUESTIONS } from "./questions.ts";
import { type RootsFault, rootsFault, rootsFindings } from "./roots.ts";

/** `detail` of the refusal. */
export type AnswerFault =
  | "input_responses"
  | "too_many_answers"
  | "answers_too_large"
  | "answer_kind"
  | "action"
  | "content"
  | "too_many_fields"
  | "too_many_items"
  | "sampling_result"
  | RootsFault
  | ShapeFault;

/** What a check of answers gives. */
export interface CheckedAnswers {
  /** Take out what nobody asked for. */
  readonly edits: Edit[];
  /** Rules that answers of the right shape break: they do not fit their form, or their roots are none. */
  readonly findings: readonly Finding[];
}

/**
 * Checks the untrusted value of `inputResponses` against what was asked (trusted: out of an opened envelope). Gives the
 * edits that drop answers never asked for, members that no answer of the kind has, `content` where none belongs, and content
 * members that the form did not ask for; every other byte stays. Missing answers are fine. The work is bounded, whatever the
 * size of the body (decision 17). Throws Refusal `invalid_input_responses` with an AnswerFault for what could be taken for
 * another answer than it is.
 */
export function checkAnswers(doc: JsonText, inputResponses: Node, asked: readonly Asked[]): CheckedAnswers {
  if (doc.kind(inputResponses) !== "object") throw fault("input_responses");
  if (doc.count(inputResponses) > asked.length + MAX_UNASKED) throw fault("too_many_answers");
  const questions = new Map(asked.map((question) => [question.key, question]));
  const unasked = new Set<string>();
  const edits: Edit[] = [];
  const findings: Finding[] = [];
  let bytes = 0;
  for (const { key, node } of doc.members(inputResponses)) {
    const question = questions.get(key);
    if (question === undefined) {
      unasked.add(key);
      continue;
    }
    if (question.kind !== "sampling") bytes += doc.end(node) - doc.start(node);
    if (bytes > MAX_ANSWER_BYTES) throw fault("answers_too_large");
    edits.push(...checkAnswer(doc, node, question, findings));
  }
  edits.push(...editObject(doc, inputResponses, { remove: unasked }));
  return { edits, findings };
}

/** What was done with a question: what the user did, or that there was a result. */
export type Action = "accept" | "decline" | "cancel" | "result";

/** The actions of checked answers to what was asked; a sampling or roots result has none and counts as `result`. For audit. */
export function actionsIn(doc: JsonText, inputResponses: Node, asked: readonly Asked[]): Action[] {
  const given = new Map(doc.members(inputResponses).map(({ key, node }) => [key, node]));
  return asked.flatMap(({ key }) => {
    const answer = given.get(key);
    if (answer === undefined) return [];
    const action = doc.get(answer, "action");
    return [action === undefined ? "result" : (doc.string(action) as Action)];
  });
}

/**
 * Whether every answer in the untrusted value of `inputResponses` is a yes, when no state says what was asked. False for
 * everything that somebody could read as a no, or that cannot be read.
 */
export function agreesToAll(doc: JsonText, inputResponses: Node): boolean {
  if (doc.kind(inputResponses) !== "object") return false;
  if (doc.count(inputResponses) > MAX_QUESTIONS + MAX_UNASKED) return false;
  let bytes = 0;
  return doc.members(inputResponses).every(({ node }) => {
    if (doc.get(node, "role") === undefined) bytes += doc.end(node) - doc.start(node);
    return bytes <= MAX_ANSWER_BYTES && agrees(doc, node);
  });
}

function checkAnswer(doc: JsonText, answer: Node, question: Asked, findings: Finding[]): Edit[] {
  const broken = shapeFault(doc, answer);
  if (broken !== undefined) throw fault(broken);
  if (looksForeign(doc, answer, question.kind)) throw fault("answer_kind");
  const keep = MEMBERS[question.kind];
  const drop = new Set(doc.members(answer).flatMap(({ key }) => (keep.has(key) ? [] : [key])));
  const edits: Edit[] = [];
  switch (question.kind) {
    case "form":
      edits.push(...checkElicitation(doc, answer, question.schema, { drop, findings }));
      break;
    case "url":
      readAction(doc, answer);
      break;
    case "sampling":
      if (!isSamplingResult(doc, answer)) throw fault("sampling_result");
      findings.push(...samplingResultFindings(doc, answer));
      break;
    case "roots": {
      const roots = doc.get(answer, "roots");
      const unfit = rootsFault(doc, roots);
      if (unfit !== undefined) throw fault(unfit);
      findings.push(...rootsFindings(doc, roots));
    }
  }
  return [...edits, ...editObject(doc, answer, { remove: drop })];
}

/** Checks an answer to a form whose schema has this JSON text; adds `content` to `drop` where there should be none. */
function checkElicitation(
  doc: JsonText,
  answer: Node,
  schemaText: string,
  { drop, findings }: { readonly drop: Set<string>; readonly findings: Finding[] },
): Edit[] {
  const action = readAction(doc, answer);
  // SDK clients send null for no content.
  const content = doc.present(answer, "content");
  if (action !== "accept" || content === undefined) drop.add("content");
  if (action !== "accept") return [];
  const schema = parseExact(schemaText);
  const fields = fieldNames(schema);
  const given = content === undefined ? {} : readContent(doc, content, fields, schemaText.length);
  const broken = checkForm(schema, given);
  if (broken !== undefined) findings.push({ rule: "elicitation/answer-invalid", detail: broken });
  if (content === undefined) return [];
  const unasked = doc.members(content).flatMap(({ key }) => (fields.has(key) ? [] : [key]));
  return editObject(doc, content, { remove: new Set(unasked) });
}

function readAction(doc: JsonText, answer: Node): "accept" | "decline" | "cancel" {
  const action = doc.text(doc.get(answer, "action"));
  if (action !== "accept" && action !== "decline" && action !== "cancel") throw fault("action");
  return action;
}

/**
 * The values of the fields that were asked for; what else stands there is not looked into. An array has at most `mostItems`
 * items: a schema has fewer options than characters.
 */
function readContent(
  doc: JsonText,
  content: Node,
  fields: ReadonlySet<string>,
  mostItems: number,
): Readonly<Record<string, unknown>> {
  if (doc.kind(content) !== "object") throw fault("content");
  if (doc.count(content) > fields.size + MAX_UNASKED) throw fault("too_many_fields");
  const asked = doc.members(content).filter(({ key }) => fields.has(key));
  return Object.fromEntries(asked.map(({ key, node }) => [key, readField(doc, node, mostItems)]));
}

/** A primitive, or an array with null for all that is no string; an object counts as an empty one. No form has more. */
function readField(doc: JsonText, field: Node, mostItems: number): unknown {
  const kind = doc.kind(field);
  if (kind === "object") return {};
  if (kind === "number") return new JsonNumber(doc.raw(field));
  if (kind !== "array") return doc.value(field);
  if (doc.count(field) > mostItems) throw fault("too_many_items");
  return doc.items(field).map((item) => doc.text(item) ?? null);
}

function fault(detail: AnswerFault): Refusal {
  return new Refusal("invalid_input_responses", detail);
}
