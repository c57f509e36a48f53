/**
 * JUnit XML for CI systems: a suite per call and one for the endpoint, a case per check. fail → failure, inconclusive → error, not
 * applicable → skipped; warn passes with a text in system-out, since the format knows no warning. Pure. Source: junit-10.xsd of the
 * Jenkins xUnit plugin.
 */
import type { RecordedResult, ReviewRecord } from "../record.ts";
import { conclusionOf, type Find, factsOf, finderOf, partsOf, receivedWords, sentWords } from "./findings.ts";
import { escaped, MAX_NAME, shown } from "./text.ts";

interface Suite {
  readonly name: string;
  readonly cases: readonly string[];
  readonly counts: { readonly failures: number; readonly errors: number; readonly skipped: number };
  readonly seconds: number;
}

/** The report. A review that established nothing gets a case that says so, an error: skipped ones alone would look like a pass. */
export function junitReport(record: ReviewRecord): string {
  const find = finderOf(record);
  const suites = [
    ...partsOf(record.calls, record.results).map(({ name, results }) =>
      suiteOf(find, name === undefined ? "endpoint" : `call ${shown(name, MAX_NAME)}`, results),
    ),
    ...(conclusionOf(record).established ? [] : [NOTHING]),
  ];
  const all = (count: (suite: Suite) => number): number =>
    suites.reduce((sum, suite) => sum + count(suite), 0);
  const attributes = {
    name: `sealgate review of ${shown(record.endpoint, 300)}`,
    tests: all(({ cases }) => cases.length),
    failures: all(({ counts }) => counts.failures),
    errors: all(({ counts }) => counts.errors),
    time: all(({ seconds }) => seconds).toFixed(3),
  };
  return `<?xml version="1.0" encoding="UTF-8"?>\n${element("testsuites", attributes, suites.map((suite) => printed(suite, record)).join(""), 0)}`;
}

const NOTHING: Suite = {
  name: "review",
  cases: [
    element(
      "testcase",
      { name: "anything at all", classname: "sealgate.review", time: "0.000" },
      element("error", { message: "No check came to a result.", type: "inconclusive" }, undefined, 6),
      4,
    ),
  ],
  counts: { failures: 0, errors: 1, skipped: 0 },
  seconds: 0,
};

function printed({ name, cases, counts, seconds }: Suite, record: ReviewRecord): string {
  const attributes = {
    ...{ name, tests: cases.length, ...counts, time: seconds.toFixed(3) },
    timestamp: record.startedAt.slice(0, 19),
  };
  const facts = [
    ...factsOf(record),
    ...record.options.forbidden.map((text) => ["Not allowed", shown(text)] as const),
  ].map(([property, value]) => element("property", { name: property, value }, undefined, 6));
  return element("testsuite", attributes, element("properties", {}, facts.join(""), 4) + cases.join(""), 2);
}

function suiteOf(find: Find, name: string, results: readonly RecordedResult[]): Suite {
  const of = (verdict: RecordedResult["verdict"]): number =>
    results.filter((result) => result.verdict === verdict).length;
  const times = results.map((result) => secondsOf(find, result));
  return {
    name,
    cases: results.map((result, at) => caseOf(find, name, result, times[at] ?? 0)),
    counts: { failures: of("fail"), errors: of("inconclusive"), skipped: of("not_applicable") },
    seconds: times.reduce((sum, one) => sum + one, 0),
  };
}

const secondsOf = (find: Find, { exchanges }: RecordedResult): number =>
  find(exchanges).reduce((sum, { ms }) => sum + ms, 0) / 1_000;

const OUTCOMES = { fail: "failure", inconclusive: "error", not_applicable: "skipped" } as const;

function caseOf(find: Find, suite: string, result: RecordedResult, seconds: number): string {
  const { check, title, verdict, words, clause, advice } = result;
  const body = [
    ...(verdict === "warn" ? [`warn: ${shown(words)}`] : [shown(words)]),
    `${clause.level}: ${shown(clause.text)} [${shown(clause.source)}]`,
    `Advice: ${shown(advice)}`,
    ...find(result.exchanges).map(
      (exchange) => `#${exchange.number} ${sentWords(exchange)} → ${receivedWords(exchange)}`,
    ),
  ].join("\n");
  const outcome =
    verdict === "pass"
      ? undefined
      : verdict === "warn"
        ? element("system-out", {}, escaped(body), "text")
        : element(OUTCOMES[verdict], { message: shown(words), type: check }, escaped(body), "text");
  const attributes = {
    name: `${check}: ${shown(title)}`,
    classname: `sealgate.review.${suite.replaceAll(/[^\p{L}\p{N}_-]+/gu, "_")}`,
    time: seconds.toFixed(3),
  };
  return element("testcase", attributes, outcome === undefined ? undefined : `      ${outcome}\n`, 4);
}

/** @param inner XML, undefined for none @param place how far it is indented, with its inner on lines of its own; `text` for neither */
function element(
  name: string,
  attributes: Readonly<Record<string, string | number>>,
  inner: string | undefined,
  place: number | "text",
): string {
  const said = Object.entries(attributes).map(([key, value]) => ` ${key}="${escaped(String(value))}"`);
  const open = `<${name}${said.join("")}`;
  if (place === "text") return `${open}>${inner ?? ""}</${name}>`;
  const blanks = " ".repeat(place);
  return inner === undefined ? `${blanks}${open}/>\n` : `${blanks}${open}>\n${inner}${blanks}</${name}>\n`;
}
