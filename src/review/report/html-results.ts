/** One check of the HTML report: verdict, what was sent and what came back with the exchanges folded under it, clause and advice. Pure. */
import type { RecordedExchange, RecordedResult } from "../record.ts";
import { receivedWords, SAID, sentWords } from "./findings.ts";
import { code, element, joined, type Markup, prose, text, value } from "./html-elements.ts";
import { MAX_NAME, shown, shownJson } from "./text.ts";

/** A sign and a word, never a colour alone; with how many, if it is said. */
export const badge = (verdict: RecordedResult["verdict"], count?: number): Markup =>
  element(
    "span",
    { class: `badge ${verdict}` },
    element("span", { "aria-hidden": "true" }, text(SAID[verdict].sign)),
    text(` ${count === undefined ? "" : `${count} `}${SAID[verdict].word}`),
  );

/** The heading of a part. */
export const partName = (name: string | undefined): Markup =>
  name === undefined ? text("The endpoint as a whole") : value(shown(name, MAX_NAME));

/** A link to a result. */
export const linkTo = (at: number, inner: Markup): Markup =>
  element("a", { href: `#result-${at + 1}` }, inner);

/** What of exchanges stands in full already, which later results link to. */
export interface Printed {
  readonly numbers: Set<number>;
  /** Characters that may still be printed. */
  left: number;
}

/**
 * @param at place among all results
 * @param exchanges those that show it

 */
export function resultArticle(
  result: RecordedResult,
  at: number,
  exchanges: readonly RecordedExchange[],
  printed: Printed,
): Markup {
  const { check, title, verdict, words, clause, advice } = result;
  return element(
    "article",
    { class: `result ${verdict}`, id: `result-${at + 1}` },
    element("h4", {}, badge(verdict), text(" "), prose(shown(title))),
    element("p", { class: "id" }, code(check)),
    element("p", {}, prose(shown(words))),
    exchanges.length === 0
      ? element("p", { class: "quiet" }, text("Nothing was sent for this."))
      : element(
          "ol",
          { class: "exchanges" },
          ...exchanges.map((exchange) => exchangeItem(exchange, check, printed)),
        ),
    element(
      "dl",
      {},
      row(
        "Rule",
        joined([
          element("strong", {}, text(clause.level)),
          text(" "),
          prose(shown(clause.text)),
          text(" "),
          element("span", { class: "source" }, value(shown(clause.source))),
        ]),
      ),
      verdict === "pass" || verdict === "not_applicable"
        ? row("If it failed", prose(shown(advice)))
        : row("Advice", prose(shown(advice))),
    ),
  );
}

const row = (name: string, inner: Markup): Markup =>
  element("div", {}, element("dt", {}, text(name)), element("dd", {}, inner));

/** In full where it comes first; later on a link to there. */
function exchangeItem(exchange: RecordedExchange, check: string, printed: Printed): Markup {
  const { number, sent, received } = exchange;
  // Labels begin with the check that sent them, which stands above them here.
  const label = exchange.label.startsWith(`${check}: `)
    ? exchange.label.slice(check.length + 2)
    : exchange.label;
  const line = joined([
    element("span", { class: "number" }, text(`#${number}`)),
    element("span", { class: "label" }, value(shown(label, MAX_NAME))),
    element(
      "span",
      { class: "sent" },
      element("span", { class: "way" }, text("sent ")),
      value(sentWords(exchange)),
    ),
    element(
      "span",
      { class: "received" },
      element("span", { class: "way" }, text("back ")),
      value(receivedWords(exchange)),
    ),
  ]);
  if (printed.numbers.has(number))
    return element("li", {}, element("a", { class: "line", href: `#exchange-${number}` }, line));
  if (printed.left <= 0)
    return element(
      "li",
      {},
      element("div", { class: "line" }, line),
      element("p", { class: "quiet" }, text("In full in the JSON report only: this one is long enough.")),
    );
  printed.numbers.add(number);
  const back =
    received.kind === "none"
      ? value(shown(received.words))
      : element("pre", {}, text(shownJson(received.kind === "result" ? received.result : errorOf(received))));
  const sentText = text(shownJson(sent.message));
  printed.left -= sentText.length + back.length;
  return element(
    "li",
    {},
    element(
      "details",
      { id: `exchange-${number}` },
      element("summary", { class: "line" }, line),
      element("p", { class: "way" }, text(`Sent at ${exchange.at.slice(11, 23)} UTC`)),
      headersOf(sent.headers),
      element("pre", {}, sentText),
      element("p", { class: "way" }, text(`Came back after ${Math.round(exchange.ms)} ms`)),
      headersOf(received.headers),
      back,
    ),
  );
}

function errorOf(received: Extract<RecordedExchange["received"], { readonly kind: "error" }>): unknown {
  const { code: number, message, data } = received;
  return { code: number, message, ...(data === undefined ? {} : { data }) };
}

const MAX_HEADERS = 64;

function headersOf(headers: Readonly<Record<string, string>>): Markup {
  const lines = Object.entries(headers).map(
    ([name, content]) => `${shown(name, MAX_NAME)}: ${shown(content, 300)}`,
  );
  if (lines.length === 0) return joined([]);
  const more = lines.length > MAX_HEADERS ? [`… (${lines.length} headers in all)`] : [];
  return element("pre", { class: "headers" }, text([...lines.slice(0, MAX_HEADERS), ...more].join("\n")));
}
