/** The record itself as JSON, and the JSON Schema that is published for it. Pure. */
import * as z from "zod";
import { type ReviewRecord, reviewRecord } from "../record.ts";

/** What JSON lets stand and a terminal or an editor obeys or hides; it only ever stands in strings. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** The record as a text that is fit to be looked at anywhere: what cannot be seen is escaped, and means the same. */
export function jsonReport(record: ReviewRecord): string {
  const text = JSON.stringify(record, undefined, 2).replace(UNSEEN, (sign) =>
    sign === "\n" ? sign : Array.from({ length: sign.length }, (_, at) => unit(sign.charCodeAt(at))).join(""),
  );
  return `${text}\n`;
}

const unit = (code: number): string => `\\u${code.toString(16).padStart(4, "0")}`;

/** The JSON Schema (draft 2020-12) of `jsonReport`. */
export function reviewSchema(): Readonly<Record<string, unknown>> {
  const described = reviewRecord.meta({
    title: "Sealgate review",
    description:
      "What one run of `sealgate review` sent, what came back, and what was found. Members that do not apply are absent. Times are RFC 3339 in UTC, durations milliseconds. Tokens, states, answers and personal values are redacted. New versions of the program may add members; `version` changes when one changes its meaning.",
  });
  return z.toJSONSchema(described, { target: "draft-2020-12" }) as Record<string, unknown>;
}

/** The text that is printed and checked in as `config/review.schema.json`. */
export const reviewSchemaText = (): string => `${JSON.stringify(reviewSchema(), undefined, 2)}\n`;
