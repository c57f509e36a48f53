/** Approvals: calls that wait for others, with a yes or no by their code, and approvals that are remembered. */
import { confirmed } from "./confirm.js";
import { day, element, facts, fill, shown, shownLines, table, value } from "./elements.js";
import { approverOf } from "./story.js";
import { ask } from "./talk.js";

const MOST_WAITING = 50;

/** The panel about approvals: calls that wait for others, and approvals that are remembered. */
export class Approvals {
  #lists = element("div", {});
  #done;

  constructor(panel, done) {
    this.#done = done;
    panel.append(this.#lists);
  }

  show({ waiting, remembered }) {
    fill(this.#lists, [waiting, remembered], () => [
      element("h2", {}, "Calls that wait for others"),
      ...(waiting.length === 0
        ? [element("p", { class: "none" }, "No call waits.")]
        : waiting.slice(0, MOST_WAITING).map((one) => this.#waiting(one))),
      waiting.length > MOST_WAITING
        ? element(
            "p",
            { class: "hint" },
            `${waiting.length - MOST_WAITING} more wait; sealgate approve --list has all.`,
          )
        : "",
      element("h2", {}, "Remembered"),
      table(
        "Approvals that are remembered",
        ["Call", "Caller", "Policies", "Arguments", "Until", "Change"],
        remembered.map((one) => [
          element("span", {}, `${one.kind} `, value(one.target), " on ", value(one.route)),
          value(`${one.principal.subject} of ${one.principal.issuer}`),
          value(one.policies.join(", ")),
          one.arguments === "any" ? "any" : "the same",
          day(one.until),
          element(
            "button",
            {
              type: "button",
              "data-name": `forget ${one.id}`,
              onclick: () => this.#decide(one, "forget", one.target),
              "aria-label": `Forget: ${shown(one.target)}`,
            },
            "Forget…",
          ),
        ]),
        "Nothing is remembered.",
      ),
    ]);
  }

  #waiting(one) {
    const button = (decision, words, style) =>
      element(
        "button",
        {
          type: "button",
          class: style,
          "data-name": `${decision} ${one.id}`,
          onclick: () => this.#decide(one, decision, one.code),
          "aria-label": `${words} ${shown(one.code)}`,
        },
        words,
      );
    return element(
      "article",
      { class: "waiting", "aria-label": `Call ${shown(one.code)}` },
      element("h3", {}, `${one.kind} `, value(one.target)),
      quoted(one.message),
      facts([
        ["Code", value(one.code)],
        ["Caller", value(`${one.principal.subject} of ${one.principal.issuer}`)],
        ["Route", value(one.route)],
        [
          "Needs",
          Object.entries(one.needs ?? {}).map(([policy, people]) =>
            element("span", { class: "item" }, `${people} for `, value(policy)),
          ),
        ],
        [
          "Approved by",
          (one.approvedBy ?? []).length === 0
            ? "nobody else yet"
            : one.approvedBy.map((by) => element("span", { class: "item" }, value(approverOf(by)))),
        ],
        ["Chain", value(one.chain)],
        ["Waits until", day(one.until)],
      ]),
      element(
        "p",
        { class: "verbs" },
        button("approve", "Approve…", "main"),
        button("deny", "Deny…", "danger"),
      ),
    );
  }

  #decide(one, decision, typed) {
    const verb = { approve: "Approve", deny: "Deny", forget: "Forget" }[decision];
    confirmed({
      title: { approve: "Approve a call", deny: "Deny a call", forget: "Forget an approval" }[decision],
      says: [
        ...(one.message === undefined ? [] : [quoted(one.message)]),
        ...(decision === "forget"
          ? [element("p", {}, "Its user is asked again. The chain it was given in is revoked.")]
          : []),
      ],
      ...{ typed, verb },
      done: () => this.#done(`${verb}: done`),
      work: ({ by }) =>
        ask(`/v1/approvals/${encodeURIComponent(one.id)}`, { method: "POST", body: { decision, by } }),
    });
  }
}

function quoted(text) {
  const made = element("pre", {});
  made.textContent = shownLines(text ?? "");
  return made;
}
