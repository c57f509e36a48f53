/** The top of the HTML report: conclusion, counts, what failed, what could not be established and why, warnings, and how it was reviewed. Pure. */
import type { Verdict } from "../check.ts";
import { type RecordedResult, type ReviewRecord, VERDICTS } from "../record.ts";
import {
  conclusionOf,
  factsOf,
  grouped,
  partsOf,
  placeOf,
  SAID,
  UNCHECKED,
  uncheckedOf,
  untriedOf,
} from "./findings.ts";
import { code, element, facts, joined, type Markup, prose, text, value } from "./html-elements.ts";
import { badge, linkTo, partName } from "./html-results.ts";
import { shown } from "./text.ts";

/** A result with its place among all, which its anchor is made of. */
export type Indexed = RecordedResult & { readonly at: number };

/** Where the summary tells of them. */
const ANCHORS = { fail: "fail", warn: "warn", inconclusive: "untried", not_applicable: "untried" } as const;

/** The whole section. */
export function summary(record: ReviewRecord, results: readonly Indexed[]): Markup {
  const { verdict, title, words } = conclusionOf(record);
  const count = (one: Verdict): number => results.filter((result) => result.verdict === one).length;
  return element(
    "section",
    { "aria-labelledby": "summary" },
    element("h2", { id: "summary", class: "hidden" }, text("Summary")),
    element(
      "div",
      { class: `conclusion ${verdict}` },
      element(
        "p",
        { class: "verdict" },
        element("span", { class: "sign", "aria-hidden": "true" }, text(SAID[verdict].sign)),
        text(title),
      ),
      element("p", {}, text(words)),
    ),
    element(
      "ul",
      { class: "counts" },
      ...VERDICTS.map((one) =>
        element(
          "li",
          { class: count(one) === 0 ? "zero" : one },
          element("strong", {}, text(String(count(one)))),
          text(" "),
          one === "pass" || count(one) === 0
            ? element("span", {}, text(SAID[one].word))
            : element("a", { href: `#${ANCHORS[one]}` }, text(SAID[one].word)),
        ),
      ),
    ),
    contents(record, results),
    found(results, "fail", "What failed"),
    untried(record, results),
    found(results, "warn", "What to look at"),
    element(
      "div",
      { class: "about" },
      element("h3", {}, text("What was reviewed, and how")),
      facts([
        ...factsOf(record).map(([name, content]) => [name, value(content)] as const),
        ...(record.options.forbidden.length === 0
          ? []
          : [
              [
                "Not allowed",
                element(
                  "ul",
                  {},
                  ...record.options.forbidden.map((one) => element("li", {}, value(shown(one)))),
                ),
              ] as const,
            ]),
      ]),
    ),
  );
}

/** The way into the parts, with how each of them did. */
function contents({ calls }: ReviewRecord, results: readonly Indexed[]): Markup {
  const parts = partsOf(calls, results);
  if (parts.length < 2) return joined([]);
  return element(
    "nav",
    { class: "found calls", "aria-labelledby": "calls" },
    element("h3", { id: "calls" }, text("Calls")),
    element(
      "ul",
      {},
      ...parts.map(({ name, results: those }, at) =>
        element(
          "li",
          {},
          element("span", {}, element("a", { href: `#part-${at + 1}` }, partName(name))),
          ...grouped(those).map(({ verdict, results: one }) => badge(verdict, one.length)),
        ),
      ),
    ),
  );
}

/** By check, and where several calls came to the same words, these once. */
function found(results: readonly Indexed[], verdict: "fail" | "warn", heading: string): Markup {
  const those = results.filter((result) => result.verdict === verdict);
  if (those.length === 0) return joined([]);
  return element(
    "div",
    { class: `found ${verdict}`, id: verdict },
    element("h3", {}, text(heading)),
    element(
      "ul",
      {},
      ...[...Map.groupBy(those, ({ check }) => check)].map(([check, ofCheck]) =>
        element(
          "li",
          {},
          element("p", { class: "title" }, prose(shown(ofCheck[0]?.title ?? check))),
          ...[...Map.groupBy(ofCheck, ({ words }) => words)].flatMap(([words, same]) => [
            element("p", {}, prose(shown(words))),
            element(
              "p",
              { class: "those" },
              ...listed(same, (result) => linkTo(result.at, value(placeOf(result)))),
            ),
          ]),
        ),
      ),
    ),
  );
}

const listed = <Item>(items: readonly Item[], print: (item: Item) => Markup): readonly Markup[] =>
  items.flatMap((item, at) => [text(at === 0 ? "" : ", "), print(item)]);

/** As visible as failures: nobody vouches for what stands here. */
function untried(record: ReviewRecord, results: readonly Indexed[]): Markup {
  const reasons = untriedOf(results);
  const heading = element("h3", {}, text("What could not be established, and why"));
  const unchecked = uncheckedOf(record);
  if (reasons.length + unchecked.length === 0)
    return element(
      "div",
      { class: "found" },
      heading,
      element(
        "p",
        { class: "quiet" },
        text(
          record.results.length === 0
            ? "No check was carried out at all."
            : "Nothing: every check was tried and came to a result.",
        ),
      ),
    );
  return element(
    "div",
    { class: "found untried", id: "untried" },
    heading,
    element(
      "ul",
      {},
      ...reasons.map(({ verdict, words, results: those }) =>
        element(
          "li",
          {},
          badge(verdict),
          element("p", {}, prose(shown(words))),
          element(
            "p",
            { class: "those" },
            ...listed(those, (result) =>
              joined([
                linkTo(result.at, code(result.check)),
                text(" "),
                element("span", { class: "quiet" }, value(placeOf(result))),
              ]),
            ),
          ),
        ),
      ),
      unchecked.length === 0
        ? joined([])
        : element(
            "li",
            {},
            element("p", {}, text(UNCHECKED)),
            element("p", { class: "those quiet" }, ...listed(unchecked, value)),
          ),
    ),
  );
}
