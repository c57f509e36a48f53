/** The reports that are written to files, by the name of their format: each a function from the record to a text. */
import type { ReviewRecord } from "../record.ts";
import { htmlReport } from "./html.ts";
import { jsonReport } from "./json.ts";
import { junitReport } from "./junit.ts";
import { sarifReport } from "./sarif.ts";

/** One more format is one more line here, and a section in docs/review.md. */
export const REPORTS = {
  json: jsonReport,
  html: htmlReport,
  junit: junitReport,
  sarif: sarifReport,
} as const satisfies Readonly<Record<string, (record: ReviewRecord) => string>>;

/** Name of a format. */
export type ReportFormat = keyof typeof REPORTS;
