/**
 * The answer to the gateway's question for consent. Pure. Nothing counts as a yes but an accept whose content fits the form and in
 * which every confirmation was typed exactly, whatever modes the rules about answers have.
 */
import type { JsonText, Node } from "../json/scan.ts";
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
  | { readonly kind: "malformed"; readonly detail: ApprovalFault };

/**
 * Reads the answer out of the untrusted `inputResponses`.
 * @param question made anew for the retry; its `shown` was compared with the sealed one before
 */
export function readApprovalAnswer(
  doc: JsonText,
  inputResponses: Node | undefined,
  question: ApprovalQuestion,
): ApprovalAnswer {
  throw new Error(`not yet ${doc.root} ${inputResponses} ${question.shown}`);
}
