/** A sampling question, judged by its schema and its rules on tool blocks. Source: MCP 2026-07-28, sampling. */
import type { JsonText, Kind, Node } from "../json/scan.ts";
import type { Finding } from "../rules/finding.ts";
import type { Declared, Need } from "./capabilities.ts";
import { hasTwin, knownNames } from "./twins.ts";

/** Why a sampling question is refused. */
export type SamplingFault =
  | "question_case_twin"
  | "sampling_messages"
  | "sampling_max_tokens"
  | "sampling_context"
  | "sampling_params"
  | "sampling_tools";

const PARAMS_NAMES = knownNames(
  ...["messages", "maxTokens", "modelPreferences", "systemPrompt", "includeContext", "temperature"],
  ...["stopSequences", "metadata", "tools", "toolChoice", "_meta"],
);
const MESSAGE_NAMES = knownNames("role", "content", "_meta");
const BLOCK_NAMES = knownNames("type", "text", "data", "id", "name", "input", "toolUseId", "content");

/** The other params, none of them required, and what each has to be. */
const OTHER_PARAMS: Readonly<Record<string, Kind>> = {
  modelPreferences: "object",
  systemPrompt: "string",
  temperature: "number",
  stopSequences: "array",
  metadata: "object",
};

interface Turn {
  readonly role: "user" | "assistant";
  readonly blocks: readonly Node[];
}

/**
 * Judges the shape of the untrusted params (an object) of a `sampling/createMessage` question: messages of users and assistants, an
 * integer maxTokens of one or more. Gives a fault, or undefined.
 */
export function samplingFault(doc: JsonText, params: Node): SamplingFault | undefined {
  if (hasTwin(doc, params, PARAMS_NAMES)) return "question_case_twin";
  const maxTokens = doc.get(params, "maxTokens");
  if (maxTokens === undefined || doc.kind(maxTokens) !== "number") return "sampling_max_tokens";
  const tokens = doc.value(maxTokens) as number;
  if (!Number.isSafeInteger(tokens) || tokens < 1) return "sampling_max_tokens";
  const context = doc.get(params, "includeContext");
  if (context !== undefined && !["none", "thisServer", "allServers"].includes(doc.text(context) ?? ""))
    return "sampling_context";
  for (const [name, kind] of Object.entries(OTHER_PARAMS)) {
    const other = doc.get(params, name);
    if (other !== undefined && doc.kind(other) !== kind) return "sampling_params";
    if (other !== undefined && doc.items(other).some((item) => doc.kind(item) !== "string"))
      return "sampling_params";
  }
  const tools = doc.get(params, "tools");
  const choice = doc.get(params, "toolChoice");
  if (tools !== undefined && doc.kind(tools) !== "array") return "sampling_tools";
  if (choice !== undefined && doc.kind(choice) !== "object") return "sampling_tools";

  const messages = doc.get(params, "messages");
  if (messages === undefined || doc.kind(messages) !== "array") return "sampling_messages";
  for (const message of doc.items(messages)) {
    if (hasTwin(doc, message, MESSAGE_NAMES)) return "question_case_twin";
    const turn = readTurn(doc, message);
    if (turn === undefined) return "sampling_messages";
    if (turn.blocks.some((block) => hasTwin(doc, block, BLOCK_NAMES))) return "question_case_twin";
  }
  return undefined;
}

/**
 * What a question of that shape can still break: a user message with tool results holds nothing else, and every tool use is
 * answered at once by the next message; no context is asked for that the client did not declare.
 */
export function samplingFindings(doc: JsonText, params: Node, declared: Declared): Finding[] {
  const findings: Finding[] = [];
  const messages = doc.get(params, "messages");
  const turns = messages === undefined ? [] : doc.items(messages).map((message) => readTurn(doc, message));
  if (
    !toolBlocksFit(
      doc,
      turns.filter((turn) => turn !== undefined),
    )
  )
    findings.push({ rule: "sampling/tool-blocks", detail: "tool_blocks" });
  const context = doc.text(doc.get(params, "includeContext")) ?? "none";
  if (context !== "none" && !declared.samplingContext)
    findings.push({
      rule: "sampling/undeclared-context",
      detail: context === "allServers" ? "all_servers" : "this_server",
    });
  return findings;
}

/**
 * What such a question needs of the client: tools or a choice of tools, or sampling alone. `includeContext` without
 * `sampling.context` is only a SHOULD NOT of the specification, and the client may ignore it.
 */
export function samplingNeeds(doc: JsonText, params: Node): Need[] {
  const needs: Need[] = ["sampling"];
  if (doc.get(params, "tools") !== undefined || doc.get(params, "toolChoice") !== undefined)
    needs.push("samplingTools");
  return needs;
}

function readTurn(doc: JsonText, message: Node): Turn | undefined {
  const role = doc.text(doc.get(message, "role"));
  const content = doc.get(message, "content");
  if ((role !== "user" && role !== "assistant") || content === undefined) return undefined;
  const blocks = doc.kind(content) === "array" ? Array.from(doc.items(content)) : [content];
  return blocks.every((block) => typeOf(doc, block) !== undefined) ? { role, blocks } : undefined;
}

function toolBlocksFit(doc: JsonText, turns: readonly Turn[]): boolean {
  let asked: ReadonlySet<string> = new Set();
  for (const { role, blocks } of turns) {
    const uses = idsOf(doc, blocks, "tool_use", "id");
    const results = idsOf(doc, blocks, "tool_result", "toolUseId");
    if (uses === undefined || results === undefined) return false;
    if (uses.length > 0 && role !== "assistant") return false;
    if (results.length > 0 && (role !== "user" || results.length !== blocks.length)) return false;
    const answered = new Set(results);
    if (answered.size !== results.length || answered.size !== asked.size) return false;
    if (!results.every((id) => asked.has(id))) return false;
    asked = new Set(uses);
    if (asked.size !== uses.length) return false;
  }
  return asked.size === 0;
}

/** The ids of all blocks of one type; undefined when one of them has none. */
function idsOf(doc: JsonText, blocks: readonly Node[], type: string, member: string): string[] | undefined {
  const ids: string[] = [];
  for (const block of blocks) {
    if (typeOf(doc, block) !== type) continue;
    const id = doc.text(doc.get(block, member));
    if (id === undefined) return undefined;
    ids.push(id);
  }
  return ids;
}

function typeOf(doc: JsonText, block: Node): string | undefined {
  return doc.text(doc.get(block, "type"));
}
