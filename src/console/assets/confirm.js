/** Confirmation: nothing is done before the name of what it is about was typed. */
import { element, facts, shown, value } from "./elements.js";
import { ask, SignedOut } from "./talk.js";

const NAME = "sealgate-console-name";

/**
 * Asks for confirmation, then does it.
 * @param typed what has to be typed, as it is shown
 * @param work called with who does it and why; what it throws is shown, and nothing closes
 */
export function confirmed({ title, says, typed, verb, reasoned = false, work, done }) {
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
