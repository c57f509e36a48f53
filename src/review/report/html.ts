/**
 * The report as one HTML file that is safe to mail around: no script, nothing loaded, a policy that says so, every text escaped and
 * visible. The conclusion and what could not be tried come first, then each call with its diagram and its checks. Pure.
 */
import type { RecordedCall, ReviewRecord } from "../record.ts";
import { conclusionOf, finderOf, grouped, partsOf, SAID } from "./findings.ts";
import { diagramOf } from "./html-diagram.ts";
import { code, element, facts, joined, type Markup, styleOf, text, value } from "./html-elements.ts";
import { type Printed, partName, resultArticle } from "./html-results.ts";
import { SHEET } from "./html-style.ts";
import { type Indexed, summary } from "./html-summary.ts";
import { MAX_NAME, shown } from "./text.ts";

/** Characters of messages that are printed in full; a reader who wants more reads the JSON report. */
const MAX_BODIES = 8_000_000;

/** The report. */
export function htmlReport(record: ReviewRecord): string {
  const style = styleOf(SHEET);
  const policy = `default-src 'none'; style-src ${style.source}; base-uri 'none'; form-action 'none'`;
  const title = `${conclusionOf(record).title}: review of ${shown(record.endpoint, MAX_NAME)}`;
  const head = element(
    "head",
    {},
    element("meta", { charset: "utf-8" }),
    element("meta", { "http-equiv": "Content-Security-Policy", content: policy }),
    element("meta", { name: "referrer", content: "no-referrer" }),
    element("meta", { name: "viewport", content: "width=device-width, initial-scale=1" }),
    element("meta", { name: "color-scheme", content: "light dark" }),
    element("title", {}, text(title)),
    style.element,
  );
  const indexed = record.results.map((result, at) => ({ ...result, at }));
  const body = element(
    "body",
    {},
    element(
      "header",
      {},
      element(
        "p",
        { class: "name" },
        text("Sealgate "),
        element("span", {}, text("review of multi round-trip security")),
      ),
      element("h1", {}, value(shown(record.endpoint, 300))),
    ),
    element("main", {}, summary(record, indexed), parts(record, indexed)),
    element(
      "footer",
      {},
      element(
        "p",
        {},
        text(
          `Written by ${record.program.name} ${shown(record.program.version, MAX_NAME)} from the outside, on ${record.startedAt.slice(0, 10)}. Tokens, states, answers and personal values are redacted.`,
        ),
      ),
    ),
  );
  return `<!doctype html>\n${element("html", { lang: "en" }, head, body)}\n`;
}

function parts(record: ReviewRecord, results: readonly Indexed[]): Markup {
  const printed: Printed = { numbers: new Set(), left: MAX_BODIES };
  return joined(
    partsOf(record.calls, results).map(({ name, call, results: those }, at) =>
      element(
        "section",
        { class: "call", id: `part-${at + 1}` },
        element("h2", {}, partName(name)),
        call === undefined ? joined([]) : aboutCall(record, call),
        checks(record, those, printed),
      ),
    ),
  );
}

function aboutCall(record: ReviewRecord, call: RecordedCall): Markup {
  const said = (content: string | undefined): Markup =>
    content === undefined
      ? element("span", { class: "quiet" }, text("not said in the plan"))
      : value(shown(content));
  return joined([
    facts([
      ["Call", joined([code(call.method), text(" "), code(shown(call.target, MAX_NAME))])],
      ["Consent surface", said(call.consentSurface)],
      ["Data sensitivity", said(call.dataSensitivity)],
      ["Side effects", said(call.sideEffects)],
    ]),
    diagramOf(call, new Map(record.exchanges.map((exchange) => [exchange.number, exchange]))),
  ]);
}

function checks(record: ReviewRecord, results: readonly Indexed[], printed: Printed): Markup {
  const find = finderOf(record);
  return joined(
    grouped(results).map(({ verdict, results: those }) =>
      joined([
        element("h3", { class: "group" }, text(`${SAID[verdict].heading} (${those.length})`)),
        ...those.map((result) => resultArticle(result, result.at, find(result.exchanges), printed)),
      ]),
    ),
  );
}
