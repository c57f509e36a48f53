/** The steps of a record between three lifelines. */
import { element, facts, moment, value } from "./elements.js";
import { stepsOf } from "./story.js";

export const LANES = { caller: "Caller", gateway: "Sealgate", server: "Server" };

/** A heading, and the steps below it. */
export function roundOf(record) {
  const { type, brought } = record;
  const what =
    type === "admin"
      ? "operator"
      : brought === undefined
        ? "call"
        : `retry with the state of round ${brought.round}`;
  return [
    element("h3", {}, moment(record.time), ` ${what}`),
    element(
      "ol",
      { class: "steps" },
      stepsOf(record).map(({ from, to, tone, title, facts: told, more }) =>
        element(
          "li",
          { class: `step ${from}-${to} ${tone}` },
          element("p", { class: "way" }, from === to ? LANES[from] : `${LANES[from]} → ${LANES[to]}`),
          element(
            "div",
            { class: "words" },
            element(
              "p",
              { class: "title" },
              SIGNS[tone] === undefined ? "" : element("span", { "aria-hidden": "true" }, SIGNS[tone]),
              value(title),
            ),
            told.length === 0 ? "" : factsOf(told),
            more.length === 0
              ? ""
              : element(
                  "details",
                  { class: "more" },
                  element("summary", {}, "Ids and digests"),
                  factsOf(more),
                ),
          ),
        ),
      ),
    ),
  ];
}

const factsOf = (pairs) => facts(pairs.map(([name, text]) => [name, value(text)]));

const SIGNS = { good: "✓ ", bad: "✕ ", waits: "? " };
