/** The report on a terminal or in a log: the conclusion, what could not be tried and why, then results by verdict, failures first. Pure. */
import type { Verdict } from "../check.ts";
import type { RecordedExchange, RecordedResult, ReviewRecord } from "../record.ts";
import {
  conclusionOf,
  type Find,
  factsOf,
  finderOf,
  grouped,
  placeOf,
  receivedWords,
  SAID,
  sentWords,
  UNCHECKED,
  uncheckedOf,
  untriedOf,
} from "./findings.ts";
import { MAX_NAME, shown, wrapped } from "./text.ts";

/** How it is drawn. */
export interface TerminalStyle {
  /** See `isColoured`. */
  readonly colour: boolean;
  /** Of the terminal; 40 to 120 are used. */
  readonly columns: number;
}

/** Whether colours are wanted: a terminal, no NO_COLOR (no-color.org), and none that says it cannot. */
export function isColoured(
  environment: Readonly<Record<string, string | undefined>>,
  isTerminal: boolean,
): boolean {
  return isTerminal && (environment["NO_COLOR"] ?? "") === "" && environment["TERM"] !== "dumb";
}

const CODES = {
  fail: 31,
  inconclusive: 35,
  warn: 33,
  not_applicable: 36,
  pass: 32,
  bold: 1,
  quiet: 2,
} as const;

/** Paints a text, or leaves it. */
export const painter =
  (colour: boolean) =>
  (text: string, code: keyof typeof CODES): string =>
    colour ? `\u001b[${CODES[code]}m${text}\u001b[0m` : text;

/** @returns the report, with a line end after its last line */
export function terminalReport(record: ReviewRecord, style: TerminalStyle): string {
  const columns = Math.min(120, Math.max(40, Math.floor(style.columns) || 80));
  const paint = painter(style.colour);
  const conclusion = conclusionOf(record);
  const lines = [paint("Review of multi round-trip security", "bold")];
  for (const [name, text] of factsOf(record)) lines.push(...entry(name, text, columns, paint));
  for (const text of record.options.forbidden)
    lines.push(...entry("Not allowed", shown(text), columns, paint));
  const verdict = `${SAID[conclusion.verdict].sign} ${conclusion.title.toUpperCase()}`;
  lines.push("", paint(paint(verdict, conclusion.verdict), "bold"));
  lines.push(...indented(conclusion.words, 2, columns));
  lines.push(...listedLines(record, columns, paint));
  lines.push(...untriedLines(record, columns, paint));
  const find = finderOf(record);
  for (const { verdict, results } of grouped(record.results)) {
    lines.push("", paint(`${SAID[verdict].heading} (${results.length})`, "bold"));
    const print = verdict === "pass" ? passLines : resultLines;
    // One after the other what was found wrong; what came to the same words on several calls once.
    const same = ({ check, words }: RecordedResult, at: number): string =>
      verdict === "fail" || verdict === "warn" ? String(at) : JSON.stringify([check, words]);
    for (const those of groupedBy(results, same)) lines.push(...print(those, find, columns, paint));
  }
  lines.push("", `${paint(verdict, conclusion.verdict)}: ${conclusion.words}`);
  return `${lines.join("\n")}\n`;
}

type Paint = ReturnType<typeof painter>;

/** What could be named, where nothing was. */
function listedLines({ server, calls }: ReviewRecord, columns: number, paint: Paint): string[] {
  const { listed } = server;
  if (listed === undefined || calls.length > 0) return [];
  const tools = listed.tools.map(({ name, annotations }) => {
    const hints = Object.entries(annotations).map(([hint, value]) => `${shown(hint, MAX_NAME)}: ${value}`);
    return `tool ${shown(name, MAX_NAME)}${hints.length === 0 ? "" : ` (${hints.join(", ")})`}`;
  });
  const all = [
    ...tools,
    ...listed.prompts.map((name) => `prompt ${shown(name, MAX_NAME)}`),
    ...listed.resources.map((uri) => `resource ${shown(uri, MAX_NAME)}`),
  ];
  if (all.length === 0) return [];
  const heading = paint("What the server lists, in its own words", "bold");
  return ["", heading, ...all.flatMap((line) => indented(line, 2, columns))];
}

type Run = [first: number, last: number, words: string];

/** Exchanges one after the other that went alike stand in one line. */
function runsOf(exchanges: readonly RecordedExchange[]): readonly Run[] {
  const runs: Run[] = [];
  for (const exchange of exchanges) {
    const { number } = exchange;
    const words = `${sentWords(exchange)} → ${receivedWords(exchange)}`;
    const run = runs.at(-1);
    if (run !== undefined && run[1] + 1 === number && run[2] === words) run[1] = number;
    else runs.push([number, number, words]);
  }
  return runs;
}

/** Here and not only below, since nobody can vouch for what was not tried. */
function untriedLines(record: ReviewRecord, columns: number, paint: Paint): string[] {
  const untried = untriedOf(record.results);
  const unchecked = uncheckedOf(record);
  if (untried.length + unchecked.length === 0) return [];
  const lines = ["", paint("Not established, and why", "bold")];
  for (const { verdict, words, results } of untried) {
    lines.push(`  ${mark(verdict, paint)} ${SAID[verdict].word}`);
    lines.push(...indented(shown(words), 4, columns));
    const tried = results.map((result) => `${result.check} (${placeOf(result)})`).join(", ");
    lines.push(...indented(tried, 6, columns).map((line) => paint(line, "quiet")));
  }
  if (unchecked.length > 0) {
    lines.push(...indented(UNCHECKED, 2, columns));
    lines.push(...indented(unchecked.join(", "), 6, columns).map((line) => paint(line, "quiet")));
  }
  return lines;
}

/** Results of one check with one verdict in the same words; one at least. */
type Same = readonly [RecordedResult, ...RecordedResult[]];

function groupedBy(
  results: readonly RecordedResult[],
  key: (result: RecordedResult, at: number) => string,
): readonly Same[] {
  return [...Map.groupBy(results, key).values()] as unknown as readonly Same[];
}

const placesOf = (results: Same): string => results.map(placeOf).join(", ");

function passLines(results: Same, _: Find, columns: number, paint: Paint): string[] {
  const [result] = results;
  return [
    `  ${mark("pass", paint)} ${result.check}: ${shown(result.title)} (${placesOf(results)})`,
    ...indented(shown(result.words), 4, columns).map((line) => paint(line, "quiet")),
  ];
}

function resultLines(results: Same, find: Find, columns: number, paint: Paint): string[] {
  const [result] = results;
  const { verdict, clause, advice } = result;
  const exchanges = runsOf(find(results.length === 1 ? result.exchanges : [])).map(
    ([first, last, words]) => `#${first}${last === first ? "" : `–#${last}`} ${words}`,
  );
  return [
    `  ${mark(verdict, paint)} ${paint(`${result.check}: ${shown(result.title)}`, "bold")} (${placesOf(results)})`,
    ...indented(shown(result.words), 4, columns),
    ...exchanges.flatMap((line) => indented(line, 6, columns)).map((line) => paint(line, "quiet")),
    ...indented(`${clause.level}: ${shown(clause.text)} [${shown(clause.source)}]`, 4, columns),
    ...indented(`Advice: ${shown(advice)}`, 4, columns),
  ];
}

const mark = (verdict: Verdict, paint: Paint): string => paint(SAID[verdict].sign, verdict);

const indented = (text: string, blanks: number, columns: number): string[] =>
  wrapped(text, columns - blanks).map((line) => `${" ".repeat(blanks)}${line}`);

function entry(name: string, text: string, columns: number, paint: Paint): string[] {
  const [first = "", ...rest] = wrapped(text, columns - 14);
  return [`  ${paint(name.padEnd(11), "quiet")} ${first}`, ...rest.map((line) => `${" ".repeat(14)}${line}`)];
}
