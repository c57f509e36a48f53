/** Round trips as sequence diagrams: a list, newest first, each opened to its steps. */
import { LANES, roundOf } from "./diagram.js";
import { badge, element, fill, moment, value } from "./elements.js";
import { summaryOf, tripOf } from "./story.js";

const MAX_RECORDS = 2_000;
/** Of one trip: who sends a state again and again must not push out all others. */
const MAX_TRIP = { first: 50, all: 200 };
const PAGE = 40;

/** The panel. `revoke` is called with a target and what it is called. */
export class Trips {
  #byId = new Map();
  #records = 0;
  #most = PAGE;
  #list = element("ol", { class: "trips" });
  #none = element("p", { class: "none" });
  #more = element("button", { type: "button", onclick: () => this.#showMore() }, "Show more");
  #kind;
  #search;
  #revoke;

  constructor(panel, revoke) {
    this.#revoke = revoke;
    this.#kind = element(
      "select",
      { id: "kind" },
      element("option", { value: "all" }, "All requests"),
      element("option", { value: "chains" }, "Round trips"),
      element("option", { value: "refused" }, "With refusals"),
    );
    this.#search = element("input", {
      id: "search",
      type: "search",
      autocomplete: "off",
      spellcheck: "false",
    });
    this.#kind.addEventListener("change", () => this.render());
    this.#search.addEventListener("input", () => this.render());
    panel.append(
      element(
        "div",
        { class: "filters", role: "search" },
        element("div", {}, element("label", { for: "kind" }, "Show"), this.#kind),
        element("div", {}, element("label", { for: "search" }, "Caller, call, route or id"), this.#search),
      ),
      this.#none,
      this.#list,
      this.#more,
    );
    this.render();
  }

  /** Takes records, oldest first. */
  add(records) {
    for (const { record } of records) {
      const { id, chain } = tripOf(record);
      let trip = this.#byId.get(id);
      if (trip === undefined) {
        trip = { id, chain, records: [], text: "", left: 0 };
        this.#byId.set(id, trip);
      }
      trip.records.push(record);
      if (trip.left === 0) trip.text += ` ${textOf(record)}`;
      trip.stale = true;
      this.#records += 1;
      if (trip.records.length > MAX_TRIP.all) {
        trip.records.splice(MAX_TRIP.first, 1);
        trip.left += 1;
        this.#records -= 1;
      }
    }
    for (const [id, { records: gone }] of this.#byId) {
      if (this.#records <= MAX_RECORDS) break;
      this.#byId.delete(id);
      this.#records -= gone.length;
    }
    if (records.length > 0) this.render();
  }

  forget() {
    this.#byId.clear();
    this.#records = 0;
    this.render();
  }

  render() {
    const wanted = this.#wanted();
    let cursor = this.#list.firstChild;
    for (const trip of wanted.slice(0, this.#most)) {
      const item = this.#itemOf(trip);
      if (item === cursor) cursor = cursor.nextSibling;
      else this.#list.insertBefore(item, cursor);
    }
    while (cursor !== null) {
      const next = cursor.nextSibling;
      cursor.remove();
      cursor = next;
    }
    this.#more.hidden = wanted.length <= this.#most;
    this.#none.hidden = wanted.length > 0;
    this.#none.textContent =
      this.#byId.size === 0
        ? "Nothing yet. Requests appear here as they end."
        : "Nothing here fits what is asked for.";
  }

  #showMore() {
    const at = this.#most;
    this.#most += PAGE;
    this.render();
    this.#list.children[at]?.querySelector("summary").focus();
  }

  #wanted() {
    const text = this.#search.value.trim().toLowerCase();
    const kind = this.#kind.value;
    return [...this.#byId.values()].reverse().filter(({ chain, records, text: own }) => {
      if (kind === "chains" && chain === undefined) return false;
      if (kind === "refused" && !records.some(({ outcome }) => outcome === "refused")) return false;
      return text === "" || own.includes(text);
    });
  }

  #itemOf(trip) {
    if (trip.item === undefined) {
      trip.summary = element("summary", { class: "line", "data-name": `trip ${trip.id}` });
      trip.body = element("div", { class: "trip" });
      trip.details = element("details", {}, trip.summary, trip.body);
      trip.details.addEventListener("toggle", () => this.#fillBody(trip));
      trip.item = element("li", {}, trip.details);
    }
    if (trip.stale) {
      trip.stale = false;
      const summary = summaryOf(trip.records);
      fill(trip.summary, summary, () => summaryLine(summary));
      this.#fillBody(trip);
    }
    return trip.item;
  }

  #fillBody(trip) {
    if (!trip.details.open) return;
    if (trip.rounds === undefined) {
      trip.rounds = element("div", {});
      trip.verbs = element("div", {});
      const lanes = Object.values(LANES).map((name) => element("span", {}, name));
      const head = element("p", { class: "lanes", "aria-hidden": "true" }, lanes);
      trip.body.append(head, trip.rounds, trip.verbs);
      trip.told = 0;
    }
    if (trip.left > 0) {
      trip.rounds.replaceChildren(
        element(
          "p",
          { class: "hint" },
          `${trip.left} records after the first ${MAX_TRIP.first} are left out.`,
        ),
      );
      trip.told = 0;
    }
    // What stands there stays: somebody may have opened or marked a part of it.
    for (const record of trip.records.slice(trip.told)) trip.rounds.append(...roundOf(record));
    trip.told = trip.records.length;
    const targets = targetsOf(trip.records, trip.chain);
    fill(trip.verbs, targets, () => this.#verbsOf(trip.id, targets));
  }

  #verbsOf(id, targets) {
    if (targets.length === 0) return [];
    const buttons = targets.map(([words, target, typed]) =>
      element(
        "button",
        { type: "button", "data-name": `${words} ${id}`, onclick: () => this.#revoke(target, typed) },
        words,
      ),
    );
    return element("p", { class: "verbs" }, buttons);
  }
}

/** What can be revoked of a trip: the words of a button, the target, and what has to be typed. */
function targetsOf(records, chain) {
  const { principal } = records.find((one) => one.principal?.subject !== undefined) ?? {};
  const { route } = records.find((one) => one.type === "audit") ?? {};
  return [
    ...(chain === undefined ? [] : [["Revoke this chain…", { chain }, chain]]),
    ...(principal === undefined
      ? []
      : [["Revoke this caller…", { principal: personOf(principal) }, principal.subject]]),
    ...(route === undefined || chain === undefined ? [] : [["Revoke this route…", { route }, route]]),
  ];
}

const personOf = ({ issuer, subject, client, tenant }) => ({
  ...{ issuer, subject },
  ...(client === undefined ? {} : { client }),
  ...(tenant === undefined ? {} : { tenant }),
});

function textOf(record) {
  const { principal, target, method, route, requestId, chain, jti, cause, code, entry, action } = record;
  return [
    principal?.subject,
    target?.name,
    method,
    route,
    requestId,
    chain,
    jti,
    cause,
    code,
    entry?.chain,
    entry?.by,
    action,
  ]
    .filter((one) => one !== undefined)
    .join(" ")
    .toLowerCase();
}

const count = (number, what) => `${number} ${what}${number === 1 ? "" : "s"}`;

function summaryLine({ call, route, who, end, rounds, refusals, codes, first }) {
  const counts = [
    ...(rounds > 0 ? [count(rounds, "round")] : []),
    ...(refusals > 0
      ? [`${count(refusals, "refusal")} (${codes.slice(0, 3).join(", ")}${codes.length > 3 ? ", …" : ""})`]
      : []),
  ];
  return [
    element("span", { class: "when" }, moment(first)),
    element("span", { class: "call" }, value(call)),
    badge(end),
    element(
      "span",
      { class: "about" },
      value(who),
      route === undefined ? "" : element("span", {}, " on ", value(route)),
      counts.length === 0 ? "" : ` · ${counts.join(", ")}`,
    ),
  ];
}
