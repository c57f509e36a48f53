/**
 * The questions that went out, as audit shows them: what the user was shown, by digests that a reviewer can make from the question itself.
 * Each is the SHA-256 of one whole text in UTF-8, as unpadded base64url; no two texts are joined, and no other text has the same one.
 */
import { hash } from "node:crypto";
import { canonical } from "../json/canonical.ts";
import type { JsonText } from "../json/scan.ts";
import type { Question } from "../mcp/questions.ts";
import type { AuditRecord } from "./record.ts";

type Shown = NonNullable<AuditRecord["questions"]>[number];

/** SHA-256 of a text, as audit writes it. */
export const digestOf = (text: string): string => hash("sha256", text, "base64url");

/** Questions of a server, read and judged; all texts in them are well formed. */
export const auditQuestions = (doc: JsonText, questions: readonly Question[]): readonly Shown[] =>
  questions.map((question) => shownOf(doc, question));

function shownOf(doc: JsonText, question: Question): Shown {
  const { kind, node } = question;
  const params = doc.get(node, "params");
  const textOf = (name: string): string => doc.text(doc.get(params, name)) ?? "";
  const key = digestOf(question.key);
  switch (kind) {
    case "form":
      return auditForm({ key: question.key, message: textOf("message"), requestedSchema: question.schema });
    case "url":
      return { kind, key, message: digestOf(textOf("message")), url: digestOf(textOf("url")) };
    case "sampling":
      return { kind, key, ...(params === undefined ? {} : { params: digestOf(canonical(doc, params)) }) };
    case "roots":
      return { kind, key };
  }
}

/** One form. @param requestedSchema JSON text, as it goes out */
export const auditForm = (form: {
  readonly key: string;
  readonly message: string;
  readonly requestedSchema: string;
}): Shown => ({
  kind: "form",
  key: digestOf(form.key),
  message: digestOf(form.message),
  schema: digestOf(form.requestedSchema),
});
