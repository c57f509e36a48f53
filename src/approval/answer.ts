/**
 * The answer to the gateway's question for consent. Pure. Nothing counts as a yes but an accept whose content fits the form and in
 * which every confirmation was typed exactly, whatever modes the rules about answers have.
 */
import type { JsonText, Node } from "../json/scan.ts";
import { looksForeign, MAX_ANSWER_BYTES, MAX_UNASKED, shapeFault } from "../mcp/answer-shape.ts";
import { checkField, checkForm } from "../mcp/form.ts";
import { parseExact } from "../mcp/number.ts";
import { isObject, own } from "../mcp/parsed.ts";
import type { QuestionField } from "./fields.ts";
import type { ApprovalQuestion } from "./question.ts";

/** What somebody filled in. */
export interface FilledField {
  readonly name: string;
  readonly text: string;
  /** Whether the audit record may hold it. */
  readonly audit: boolean;
  readonly offer: "none" | "header" | "meta";
}

/** `detail` of a refusal as `invalid_input_responses`; the state is not spent. */
export type ApprovalFault = "answers_missing" | "answer" | "action" | "content" | "form" | "not_confirmed";

/** What the user did. */
export type ApprovalAnswer =
  | { readonly kind: "accept"; readonly fields: readonly FilledField[] }
  | { readonly kind: "decline" | "cancel" }
  /** `field`: the member of the form that is wrong, by the name that policy gave it. */
  | { readonly kind: "malformed"; readonly detail: ApprovalFault; readonly field?: string };

/**
 * Reads the answer out of the untrusted `inputResponses`. What nobody asked for is not looked at.
 * @param question made anew for the retry; its `shown` was compared with the sealed one before
 */
export function readApprovalAnswer(
  doc: JsonText,
  inputResponses: Node | undefined,
  question: ApprovalQuestion,
): ApprovalAnswer {
  const answer = doc.get(inputResponses, question.key);
  if (answer === undefined) return malformed("answers_missing");
  if (doc.end(answer) - doc.start(answer) > MAX_ANSWER_BYTES) return malformed("answer");
  if (shapeFault(doc, answer) !== undefined || looksForeign(doc, answer, "form")) return malformed("answer");
  const action = doc.text(doc.get(answer, "action"));
  if (action === "decline" || action === "cancel") return { kind: action };
  if (action !== "accept") return malformed("action");
  const content = readContent(doc, doc.get(answer, "content"), question.fields);
  if (content === undefined) return malformed("content");
  const schema = parseExact(question.requestedSchema);
  if (checkForm(schema, content) !== undefined) return malformed("form", faultyField(schema, content));
  for (const { key, typed } of question.fields) {
    // What was typed is the one thing that is trimmed: a space at its end is nobody's intention.
    if (typed !== undefined && content[key]?.trim() !== typed) return malformed("not_confirmed", key);
  }
  return {
    kind: "accept",
    fields: question.fields.flatMap(({ key, name, audit, offer }) => {
      const text = content[key];
      return name === undefined || text === undefined ? [] : [{ name, text, audit, offer }];
    }),
  };
}

/** The first field of the form that is absent and has to be there, or holds what it must not. */
function faultyField(schema: unknown, content: Readonly<Record<string, string>>): string | undefined {
  const properties = isObject(schema) ? own(schema, "properties") : undefined;
  const required = isObject(schema) ? own(schema, "required") : undefined;
  if (!isObject(properties)) return undefined;
  return Object.entries(properties).find(([name, field]) =>
    Object.hasOwn(content, name)
      ? isObject(field) && checkField(field, content[name]) !== undefined
      : Array.isArray(required) && required.includes(name),
  )?.[0];
}

/** The texts of the fields that were asked for; undefined where the content is none, or one of them is no text. */
function readContent(
  doc: JsonText,
  content: Node | undefined,
  fields: readonly QuestionField[],
): Readonly<Record<string, string>> | undefined {
  // SDK clients send null for no content.
  if (content === undefined || doc.kind(content) === "null") return {};
  if (doc.kind(content) !== "object" || doc.count(content) > fields.length + MAX_UNASKED) return undefined;
  const texts: [string, string][] = [];
  for (const { key } of fields) {
    const node = doc.get(content, key);
    if (node === undefined) continue;
    if (doc.kind(node) !== "string") return undefined;
    texts.push([key, doc.string(node)]);
  }
  return Object.fromEntries(texts);
}

const malformed = (detail: ApprovalFault, field?: string): ApprovalAnswer => ({
  ...{ kind: "malformed", detail },
  ...(field === undefined ? {} : { field }),
});
