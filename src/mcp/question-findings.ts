/**
 * The rules that questions of the right shape can still break, question by question. Pure; what becomes of a finding,
 * the rule's mode decides. Source: MCP 2026-07-28, elicitation, sampling.
 */
import type { JsonText, Node } from "../json/scan.ts";
import type { Finding } from "../rules/finding.ts";
import { type AddressPolicy, addressFindings } from "./address-findings.ts";
import type { Declared } from "./capabilities.ts";
import { formFindings, TEXT_BUDGET } from "./form-findings.ts";
import { readQuestionUrl } from "./question-url.ts";
import { samplingFindings } from "./sampling.ts";

const NONE: readonly Finding[] = [];

/**
 * What the questions of `inputRequests` break. `parseQuestions` has accepted them.
 * @param declared what the request's client declared
 */
export function questionFindings(
  doc: JsonText,
  inputRequests: Node,
  declared: Declared,
  addresses: AddressPolicy,
): readonly Finding[] {
  const budget = { left: TEXT_BUDGET };
  const findings: Finding[] = [];
  for (const { node } of doc.members(inputRequests)) {
    const params = doc.get(node, "params");
    if (params === undefined) continue;
    const schema = doc.get(params, "requestedSchema");
    const address = doc.text(doc.get(params, "url"));
    if (schema !== undefined) {
      const message = doc.text(doc.get(params, "message")) ?? "";
      findings.push(...formFindings({ message, schema: doc.value(schema) }, budget));
    } else if (address !== undefined) {
      const read = readQuestionUrl(address);
      budget.left -= address.length;
      if (typeof read !== "string") findings.push(...addressFindings(read, addresses, budget.left >= 0));
    } else if (doc.text(doc.get(node, "method")) === "sampling/createMessage") {
      findings.push(...samplingFindings(doc, params, declared));
    }
  }
  return findings.length === 0 ? NONE : findings;
}
