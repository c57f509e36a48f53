/** What an operator can do here: revoke and take back, approve and deny, forget. Nothing is done before its name was typed. */
import { badge, day, element, facts, fill, shown, shownLines, table, value } from "./elements.js";
import { approverOf } from "./story.js";
import { ask, SignedOut } from "./talk.js";

const NAME = "sealgate-console-name";

/**
 * Asks for confirmation, then does it.
 * @param typed what has to be typed, as it is shown
 * @param work called with who does it and why; what it throws is shown, and nothing closes
 */
function confirmed({ title, says, typed, verb, reasoned = false, work, done }) {
  const expected = shown(typed);
  const field = (id, label, hint, attributes) => [
    element("label", { for: id }, label),
    element("input", { id, autocomplete: "off", spellcheck: "false", ...attributes }),
    ...(hint === undefined ? [] : [element("p", { class: "hint" }, hint)]),
  ];
  const fault = element("p", { class: "fault", role: "alert", id: "dialog-fault" });
  const form = element(
    "form",
    {},
    element("h2", { id: "dialog-title" }, title),
    ...says,
    ...field("dialog-by", "Your name, for the audit record", undefined, { maxlength: "64", required: true }),
    ...(reasoned
      ? field("dialog-reason", "Reason, for the audit record", undefined, { maxlength: "256" })
      : []),
    element("label", { for: "dialog-typed" }, "Type this to confirm: ", element("code", {}, value(typed))),
    element("input", {
      id: "dialog-typed",
      autocomplete: "off",
      spellcheck: "false",
      autocapitalize: "off",
      "aria-describedby": "dialog-fault",
    }),
    fault,
    element(
      "p",
      { class: "verbs" },
      element("button", { type: "submit", class: "danger" }, verb),
      element("button", { type: "button", onclick: () => dialog.close() }, "Cancel"),
    ),
  );
  const dialog = element("dialog", { "aria-labelledby": "dialog-title" }, form);
  const before = document.activeElement;
  const [by, reason, word] = ["dialog-by", "dialog-reason", "dialog-typed"].map((id) =>
    form.querySelector(`#${id}`),
  );
  by.value = sessionStorage.getItem(NAME) ?? "";
  let busy = false;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (busy) return;
    sessionStorage.setItem(NAME, by.value);
    if (word.value.trim() !== expected) {
      fault.textContent = "Nothing was done: what was typed is not what stands there.";
      word.focus();
      return;
    }
    busy = true;
    fault.textContent = "";
    try {
      await work({ by: by.value, ...(reason?.value ? { reason: reason.value } : {}) });
      dialog.close();
      done();
    } catch (error) {
      if (error instanceof SignedOut) dialog.close();
      fault.textContent = shown(error.message);
    }
    busy = false;
  });
  dialog.addEventListener("close", () => {
    dialog.remove();
    if (before?.isConnected) before.focus();
  });
  document.body.append(dialog);
  dialog.showModal();
}

/** Revokes a target, after a look at it. @param typed the part of it that has to be typed */
export function revoke(target, typed, done) {
  const { chain, principal, route } = target;
  const pairs = [
    ["Chain", chain],
    ["Caller", principal?.subject],
    ["Issuer", principal?.issuer],
    ["Client", principal?.client],
    ["Tenant", principal?.tenant],
    ["Route", route],
  ];
  confirmed({
    title:
      chain !== undefined
        ? "Revoke a chain"
        : route !== undefined
          ? "Revoke all of a route"
          : "Revoke all of a caller",
    says: [
      element(
        "p",
        {},
        "Open rounds of it end on all replicas, and none of their states opens any more. What begins afterwards is not touched.",
      ),
      facts(pairs.map(([name, text]) => [name, text === undefined ? undefined : value(text)])),
    ],
    typed,
    verb: "Revoke",
    reasoned: true,
    done: () => done(`Revoked: ${shown(typed)}`),
    work: (said) => ask("/v1/revocations", { method: "POST", body: { ...target, ...said } }),
  });
}

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
        : waiting.map((one) => this.#waiting(one))),
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
