/** What is on record of a question for consent, and of the answer to it: what was shown by its digests, never its words. */
import { digestOf } from "../audit/questions.ts";
import type { AuditRecord } from "../audit/record.ts";
import type { Call } from "../call.ts";
import type { FilledField } from "./answer.ts";
import type { ApprovalQuestion } from "./question.ts";

type Noted = NonNullable<AuditRecord["approval"]>;

/** Notes the question that a request is about, with what came of it; and the answer among its answers, where it brought one. */
export function noteQuestion(
  { journey }: Call,
  { policies, code, message, requestedSchema }: ApprovalQuestion,
  more: Omit<Noted, "policies" | "code" | "message" | "schema"> = {},
): void {
  journey.draft.approval = {
    ...{ policies, code, message: digestOf(message), schema: digestOf(requestedSchema) },
    ...more,
  };
  if (more.action !== undefined) journey.draft.answers = [more.action];
}

/** What was filled in, of the fields that policy keeps. */
export function keptOf(filled: readonly FilledField[]): Pick<Noted, "fields"> {
  const kept = filled.filter(({ audit }) => audit);
  return kept.length === 0 ? {} : { fields: Object.fromEntries(kept.map(({ name, text }) => [name, text])) };
}
