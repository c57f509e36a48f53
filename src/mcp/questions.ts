/**
 * The questions of an `input_required` result, read strictly: what the gateway does not understand it does not let a server
 * ask. Source: MCP 2026-07-28 schema, InputRequests; elicitation, sampling and roots pages.
 */
import { Refusal } from "../errors.ts";
import type { JsonText, Node } from "../json/scan.ts";
import type { Need } from "./capabilities.ts";
import { type FormSchemaFault, formSchemaFault } from "./form-schema.ts";
import { readQuestionUrl, type UrlFault } from "./question-url.ts";
import { type SamplingFault, samplingFault, samplingNeeds } from "./sampling.ts";
import { hasTwin, knownNames } from "./twins.ts";

/** One question: its key, its kind, what it needs of the client; a form brings the JSON text of its schema as sent. */
export type Question = Kind & {
  readonly key: string;
  /** The untrusted value under the key. */
  readonly node: Node;
};

type Kind =
  | { readonly kind: "form"; readonly needs: readonly Need[]; readonly schema: string }
  | { readonly kind: "url" | "sampling" | "roots"; readonly needs: readonly Need[] };

/** `detail` of the refusal: which rule a question breaks. Never a word of the question itself. */
export type QuestionFault =
  | "input_requests"
  | "too_many_questions"
  | "question"
  | "question_case_twin"
  | "lone_surrogate"
  | "unknown_kind"
  | "question_params"
  | "unknown_mode"
  | "mode_mix"
  | "message"
  | "schema_too_large"
  | "urls_too_large"
  | FormSchemaFault
  | UrlFault
  | SamplingFault;

/** Default bound for all form schemas of one result together, in bytes as sent; they are sealed whole. */
export const MAX_SCHEMA_BYTES = 16 * 1024;
/** Bounds for what else of the questions is sealed. */
export const MAX_QUESTIONS = 256;
const MAX_KEY_BYTES = 16 * 1024;
/** Bytes as sent of all addresses of one result. */
export const MAX_ADDRESS_BYTES = 256 * 1024;

const REQUEST_NAMES = knownNames("jsonrpc", "id", "method", "params", "_meta");
const ELICITATION_NAMES = knownNames("mode", "message", "requestedSchema", "url", "_meta");

/**
 * Reads the untrusted value of `inputRequests`; an empty object is legal and gives no questions. `maxSchemaBytes`
 * bounds the form schemas together. Throws Refusal `upstream_fault` with a QuestionFault.
 */
export function parseQuestions(
  doc: JsonText,
  inputRequests: Node,
  maxSchemaBytes = MAX_SCHEMA_BYTES,
): Question[] {
  if (doc.kind(inputRequests) !== "object") throw fault("input_requests");
  if (!doc.wellFormed(inputRequests)) throw fault("lone_surrogate");
  const questions: Question[] = [];
  let keyBytes = 0;
  let schemaBytes = 0;
  let addressBytes = 0;
  for (const { key, node } of doc.members(inputRequests)) {
    keyBytes += Buffer.byteLength(key);
    if (questions.length >= MAX_QUESTIONS || keyBytes > MAX_KEY_BYTES) throw fault("too_many_questions");
    addressBytes += addressSize(doc, node);
    if (addressBytes > MAX_ADDRESS_BYTES) throw fault("urls_too_large");
    const question = { key, node, ...parseQuestion(doc, node, maxSchemaBytes) };
    if (question.kind === "form") schemaBytes += Buffer.byteLength(question.schema);
    if (schemaBytes > maxSchemaBytes) throw fault("schema_too_large");
    questions.push(question);
  }
  return questions;
}

/** Bytes of what would be the address of a question, before anything of it is known to be right. */
function addressSize(doc: JsonText, question: Node): number {
  const params = doc.get(question, "params");
  const url = params === undefined ? undefined : doc.get(params, "url");
  return url === undefined ? 0 : doc.end(url) - doc.start(url);
}

function parseQuestion(doc: JsonText, node: Node, maxSchemaBytes: number): Kind {
  if (doc.kind(node) !== "object") throw fault("question");
  if (hasTwin(doc, node, REQUEST_NAMES)) throw fault("question_case_twin");
  const method = doc.get(node, "method");
  const params = doc.get(node, "params");
  if (method === undefined || doc.kind(method) !== "string") throw fault("unknown_kind");
  if (params !== undefined && doc.kind(params) !== "object") throw fault("question_params");
  const kind = doc.string(method);
  if (kind === "roots/list") return { kind: "roots", needs: ["roots"] };
  if (kind !== "elicitation/create" && kind !== "sampling/createMessage") throw fault("unknown_kind");
  if (params === undefined) throw fault("question_params");
  if (kind === "elicitation/create") return parseElicitation(doc, params, maxSchemaBytes);
  const broken = samplingFault(doc, params);
  if (broken !== undefined) throw fault(broken);
  return { kind: "sampling", needs: samplingNeeds(doc, params) };
}

function parseElicitation(doc: JsonText, params: Node, maxSchemaBytes: number): Kind {
  if (hasTwin(doc, params, ELICITATION_NAMES)) throw fault("question_case_twin");
  const mode = readMode(doc, doc.get(params, "mode"));
  const message = doc.get(params, "message");
  if (message === undefined || doc.kind(message) !== "string") throw fault("message");
  const schema = doc.get(params, "requestedSchema");
  const url = doc.get(params, "url");
  // A client that goes by the members and not by the mode must see the same question.
  if ((mode === "form" ? url : schema) !== undefined) throw fault("mode_mix");
  if (mode === "url") {
    if (url === undefined || doc.kind(url) !== "string") throw fault("url");
    const read = readQuestionUrl(doc.string(url));
    if (typeof read === "string") throw fault(read);
    return { kind: "url", needs: ["url"] };
  }
  if (schema === undefined) throw fault("schema_shape");
  // Measured before it is looked into.
  if (doc.end(schema) - doc.start(schema) > maxSchemaBytes) throw fault("schema_too_large");
  const broken = formSchemaFault(doc.value(schema));
  if (broken !== undefined) throw fault(broken);
  return { kind: "form", needs: ["form"], schema: doc.raw(schema) };
}

function readMode(doc: JsonText, mode: Node | undefined): "form" | "url" {
  if (mode === undefined) return "form";
  const name = doc.text(mode);
  if (name !== "form" && name !== "url") throw fault("unknown_mode");
  return name;
}

function fault(detail: QuestionFault): Refusal {
  return new Refusal("upstream_fault", detail);
}
