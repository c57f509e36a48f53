/**
 * What every answer to a question has to be, whatever the kind of the question, and by which members readers tell the kinds
 * apart. Source: MCP 2026-07-28 schema, InputResponses; the bounds are decision 17.
 */
import type { Asked } from "../envelope/format.ts";
import type { JsonText, Node } from "../json/scan.ts";
import type { Finding } from "../rules/finding.ts";
import { areRoots } from "./roots.ts";
import { hasSpelling, hasTwin, knownNames } from "./twins.ts";

/** Why a value is no answer to anything. */
export type ShapeFault =
  | "answer"
  | "lone_surrogate"
  | "too_many_members"
  | "answer_wrapped"
  | "answer_case_twin";

/** How many answers, fields, or members of an answer may be there that nobody asked for; they are dropped. */
export const MAX_UNASKED = 64;
/** Bytes as sent of all answers that are read, together. Of sampling results only the outside is read: they hold images. */
export const MAX_ANSWER_BYTES = 256 * 1024;

/** Members that only a JSON-RPC message around the answer would have. */
const WRAPPERS = knownNames("method", "result", "error", "jsonrpc");
const ANSWER_NAMES = knownNames("action", "content", "role", "model", "stopReason", "roots", "_meta");

/** Kind of question → the members that its answers have. */
export const MEMBERS: Readonly<Record<Asked["kind"], ReadonlySet<string>>> = {
  form: new Set(["action", "content", "_meta"]),
  url: new Set(["action", "_meta"]),
  sampling: new Set(["role", "content", "model", "stopReason", "_meta"]),
  roots: new Set(["roots", "_meta"]),
};
/** Members by which readers tell the kinds apart: an answer must not look like another kind too. */
const FOREIGN: Readonly<Record<Asked["kind"], readonly string[]>> = {
  form: ["role", "model", "roots"],
  url: ["role", "model", "roots"],
  sampling: ["action", "roots"],
  roots: ["action", "role", "model"],
};

/** Judges an untrusted value as an answer of any kind; gives a fault, or undefined. */
export function shapeFault(doc: JsonText, answer: Node): ShapeFault | undefined {
  if (doc.kind(answer) !== "object") return "answer";
  if (!doc.wellFormed(answer)) return "lone_surrogate";
  if (doc.count(answer) > MAX_UNASKED) return "too_many_members";
  if (hasSpelling(doc, answer, WRAPPERS)) return "answer_wrapped";
  return hasTwin(doc, answer, ANSWER_NAMES) ? "answer_case_twin" : undefined;
}

/** Whether an answer has members of another kind than `kind`. */
export function looksForeign(doc: JsonText, answer: Node, kind: Asked["kind"]): boolean {
  return FOREIGN[kind].some((name) => doc.get(answer, name) !== undefined);
}

/** Members that blocks of these types have to have, strings; of other types the outside alone is known. */
const BLOCKS: ReadonlyMap<string, readonly string[]> = new Map([
  ["text", ["text"]],
  ["image", ["data", "mimeType"]],
  ["audio", ["data", "mimeType"]],
  ["tool_use", ["id", "name"]],
  ["tool_result", ["toolUseId"]],
]);

/**
 * Whether an answer is what a client's model said: a role, a model, and blocks of content, each with a type and what
 * belongs to it.
 */
export function isSamplingResult(doc: JsonText, answer: Node): boolean {
  const role = doc.text(doc.get(answer, "role"));
  const content = doc.get(answer, "content");
  if (role !== "user" && role !== "assistant") return false;
  if (doc.text(doc.get(answer, "model")) === undefined || content === undefined) return false;
  const reason = doc.get(answer, "stopReason");
  if (reason !== undefined && doc.kind(reason) !== "string") return false;
  if (doc.kind(content) !== "array") return isBlock(doc, content);
  const blocks = doc.items(content);
  return blocks.length > 0 && blocks.every((block) => isBlock(doc, block));
}

/** Bytes as sent of what a model wrote; the longest outputs there are have about 128 thousand tokens of four bytes. */
export const MAX_SAMPLED_BYTES = 512 * 1024;

/**
 * What a sampling result can still break: its text is longer than that. What was asked for is not sealed, so the
 * bound is one for all.
 */
export function samplingResultFindings(doc: JsonText, answer: Node): Finding[] {
  const content = doc.get(answer, "content");
  const blocks = content === undefined ? [] : doc.kind(content) === "array" ? doc.items(content) : [content];
  let bytes = 0;
  for (const block of blocks) {
    const type = doc.text(doc.get(block, "type"));
    if (type !== "image" && type !== "audio") bytes += doc.end(block) - doc.start(block);
  }
  return bytes > MAX_SAMPLED_BYTES ? [{ rule: "sampling/answer-size", detail: "sampling_size" }] : [];
}

function isBlock(doc: JsonText, block: Node): boolean {
  const type = doc.text(doc.get(block, "type"));
  if (type === undefined) return false;
  return (BLOCKS.get(type) ?? []).every((name) => {
    const member = doc.get(block, name);
    return member !== undefined && doc.kind(member) === "string";
  });
}

/**
 * Whether an answer is a yes to whatever was asked, for when that is not known: an accepted elicitation or another result,
 * of exactly one kind. Anything that cannot be read so, by whoever reads it, is none.
 */
export function agrees(doc: JsonText, answer: Node): boolean {
  if (shapeFault(doc, answer) !== undefined) return false;
  const action = doc.get(answer, "action");
  if (action !== undefined) {
    const content = doc.get(answer, "content");
    const isForm = content === undefined || ["object", "null"].includes(doc.kind(content));
    return isForm && doc.text(action) === "accept" && !looksForeign(doc, answer, "form");
  }
  if (doc.get(answer, "roots") === undefined) return isSamplingResult(doc, answer);
  // Cheap first: with a role, the answer did not count towards the bound.
  return !looksForeign(doc, answer, "roots") && areRoots(doc, doc.get(answer, "roots"));
}
