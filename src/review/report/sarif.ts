/**
 * SARIF 2.1.0 for code scanning. There are no files, so results stand at logical locations: the call that they were found on. Levels
 * only go with kind `fail` (3.27.10): a failure is an error; a warning against a SHOULD is a warning, against advice a note; a warning
 * about a MUST could not be told for certain and is for people to review. Pure. Source: OASIS SARIF 2.1.0, sections by number.
 */
import { createHash } from "node:crypto";
import type { RecordedResult, ReviewRecord } from "../record.ts";
import { conclusionOf, type Find, finderOf, receivedWords, sentWords } from "./findings.ts";
import { MAX_NAME, shown } from "./text.ts";

const LEVELS = { MUST: "error", SHOULD: "warning", advice: "note" } as const;
const KINDS = { inconclusive: "open", not_applicable: "notApplicable", pass: "pass" } as const;

/** The report. */
export function sarifReport(record: ReviewRecord): string {
  const rules = [...new Map(record.results.map((result) => [result.check, result])).values()];
  const conclusion = conclusionOf(record);
  const find = finderOf(record);
  const log = {
    $schema: "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
    version: "2.1.0",
    runs: [
      {
        tool: {
          driver: {
            name: "sealgate review",
            version: shown(record.program.version, MAX_NAME),
            rules: rules.map(ruleOf),
          },
        },
        invocations: [
          {
            // A review that found nothing out has not succeeded, whatever is not in its results.
            executionSuccessful: conclusion.established,
            startTimeUtc: record.startedAt,
            endTimeUtc: record.endedAt,
          },
        ],
        columnKind: "utf16CodeUnits",
        results: record.results.map((result) =>
          resultOf(
            record,
            find,
            result,
            rules.findIndex(({ check }) => check === result.check),
          ),
        ),
        properties: {
          endpoint: shown(record.endpoint),
          conclusion: conclusion.title,
          words: conclusion.words,
          forbidden: record.options.forbidden.map((text) => shown(text)),
        },
      },
    ],
  };
  return `${JSON.stringify(log, undefined, 2)}\n`;
}

function ruleOf({ check, title, clause, advice }: RecordedResult): object {
  return {
    id: check,
    name: check.replaceAll(/(?:^|[/-])([a-z0-9])/g, (_, letter: string) => letter.toUpperCase()),
    shortDescription: message(title),
    fullDescription: message(clause.text),
    help: message(`${advice} Rule (${clause.level}): ${clause.text} Source: ${clause.source}`),
    defaultConfiguration: { level: LEVELS[clause.level] },
    properties: {
      tags: ["security", "mcp"],
      clause: { level: clause.level, text: shown(clause.text), source: shown(clause.source) },
    },
  };
}

function resultOf(record: ReviewRecord, find: Find, result: RecordedResult, ruleIndex: number): object {
  const { check, call, verdict, words, exchanges } = result;
  return {
    ruleId: check,
    ruleIndex,
    ...standing(result),
    message: message(words),
    locations: [{ logicalLocations: [locationOf(record, result)] }],
    partialFingerprints: { "checkOnCall/v1": fingerprint([record.endpoint, check, call ?? ""]) },
    properties: {
      verdict,
      exchanges: find(exchanges).map((exchange) => ({
        number: exchange.number,
        sent: sentWords(exchange),
        received: receivedWords(exchange),
      })),
    },
  };
}

function standing({ verdict, clause }: RecordedResult): { readonly kind: string; readonly level: string } {
  if (verdict === "fail") return { kind: "fail", level: "error" };
  if (verdict !== "warn") return { kind: KINDS[verdict], level: "none" };
  if (clause.level === "MUST") return { kind: "review", level: "none" };
  return { kind: "fail", level: LEVELS[clause.level] };
}

const TARGETS = { "tools/call": "tool", "prompts/get": "prompt", "resources/read": "resource" } as const;

function locationOf({ endpoint, calls }: ReviewRecord, { call: name }: RecordedResult): object {
  const call = calls.find((one) => one.name === name);
  const at = shown(endpoint, 300);
  if (name === undefined) return { name: at, fullyQualifiedName: at, kind: "endpoint" };
  const target = call === undefined ? "" : ` ${call.method} ${shown(call.target, MAX_NAME)}`;
  return {
    name: shown(name, MAX_NAME),
    fullyQualifiedName: `${at}#${shown(name, MAX_NAME)}${target}`,
    kind: call === undefined ? "call" : TARGETS[call.method],
  };
}

/** Braces stand doubled in messages (3.11.5), and nothing in one may become a link (3.11.6). */
const message = (text: string): { readonly text: string } => ({
  text: shown(text).replaceAll("](", "] (").replaceAll(/[{}]/g, "$&$&"),
});

const fingerprint = (parts: readonly string[]): string =>
  createHash("sha256").update(JSON.stringify(parts)).digest("hex");
