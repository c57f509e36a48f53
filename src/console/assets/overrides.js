/** What operators have set at run time, on all replicas: a form to revoke, and what can be taken back. */
import { confirmed, revoke } from "./confirm.js";
import { badge, day, element, fill, shown, table, value } from "./elements.js";
import { ask } from "./talk.js";

const nameOf = ({ chain, principal, route, group, tool, id }) =>
  chain ?? principal?.subject ?? route ?? tool ?? group ?? id;

const targetOf = ({ chain, principal, group, route, tool }) =>
  [
    ["chain", chain],
    ["caller", principal === undefined ? undefined : `${principal.subject} of ${principal.issuer}`],
    ["group", group],
    ["route", route],
    ["tools", tool],
  ]
    .filter(([, text]) => text !== undefined)
    .map(([name, text]) => element("span", { class: "item" }, `${name} `, value(text)));

/** The panel about revocation: a form, and what is in force. */
export class Overrides {
  #lists = element("div", {});
  #done;

  constructor(panel, done) {
    this.#done = done;
    const kind = element(
      "select",
      { id: "revoke-kind" },
      element("option", { value: "chain" }, "One chain"),
      element("option", { value: "principal" }, "All of a caller"),
      element("option", { value: "route" }, "All of a route"),
    );
    const input = (id, label) =>
      element(
        "div",
        {},
        element("label", { for: id }, label),
        element("input", { id, autocomplete: "off", spellcheck: "false" }),
      );
    const fields = {
      chain: [input("revoke-chain", "Chain id")],
      principal: [input("revoke-issuer", "Issuer"), input("revoke-subject", "Subject")],
      route: [input("revoke-route", "Path of the route")],
    };
    const fault = element("p", { class: "fault", role: "alert" });
    const form = element(
      "form",
      { class: "filters" },
      element("div", {}, element("label", { for: "revoke-kind" }, "What"), kind),
      ...Object.values(fields).flat(),
      element("button", { type: "submit", class: "danger" }, "Revoke…"),
      fault,
    );
    const look = () => {
      for (const [name, parts] of Object.entries(fields))
        for (const part of parts) part.hidden = name !== kind.value;
    };
    kind.addEventListener("change", look);
    look();
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const text = (id) => form.querySelector(`#revoke-${id}`).value.trim();
      const target = {
        chain: { chain: text("chain") },
        route: { route: text("route") },
        principal: { principal: { issuer: text("issuer"), subject: text("subject") } },
      }[kind.value];
      const typed = { chain: text("chain"), route: text("route"), principal: text("subject") }[kind.value];
      const empty = typed === "" || target.principal?.issuer === "";
      fault.textContent = empty ? "Fill in what is to be revoked." : "";
      if (!empty) revoke(target, typed, done);
    });
    panel.append(
      element("h2", {}, "Revoke"),
      form,
      element("h2", {}, "In force on all replicas"),
      this.#lists,
    );
  }

  show({ revocations, grants }) {
    const rowOf = (kind) => (entry) => [
      element("span", {}, targetOf(entry)),
      kind === "grants"
        ? badge(entry.effect === "deny" ? { tone: "bad", word: "deny" } : { tone: "good", word: "allow" })
        : day(entry.bornBefore),
      ...(kind === "grants" ? [entry.capability?.join(", ") ?? "every question"] : []),
      element(
        "span",
        {},
        value(entry.by),
        entry.reason === undefined ? "" : element("span", { class: "item" }, value(entry.reason)),
      ),
      day(entry.until),
      entry.signed ? badge({ tone: "good", word: "yes" }) : badge({ tone: "bad", word: "no" }),
      element(
        "button",
        {
          type: "button",
          "data-name": `back ${entry.id}`,
          onclick: () => this.#takeBack(kind, entry),
          "aria-label": `Take back: ${shown(nameOf(entry))}`,
        },
        "Take back…",
      ),
    ];
    fill(this.#lists, [revocations, grants], () => [
      table(
        "Revocations",
        ["Target", "Begun before", "By", "Until", "Signed", "Change"],
        revocations.map(rowOf("revocations")),
        "Nothing is revoked.",
      ),
      table(
        "Grants and denials",
        ["For", "Effect", "Questions", "By", "Until", "Signed", "Change"],
        grants.map(rowOf("grants")),
        "Nothing is granted or denied at run time.",
      ),
    ]);
  }

  #takeBack(kind, entry) {
    confirmed({
      title: kind === "grants" ? "Take back a grant or denial" : "Take back a revocation",
      says: [element("p", {}, "Holds on all replicas."), element("p", {}, targetOf(entry))],
      typed: nameOf(entry),
      verb: "Take back",
      done: () => this.#done(`Taken back: ${shown(nameOf(entry))}`),
      work: () => ask(`/v1/${kind}/${encodeURIComponent(entry.id)}`, { method: "DELETE" }),
    });
  }
}
