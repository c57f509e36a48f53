/** Refusals over time, rules, and the health of this process: tables and small bars made of its state. */
import { badge, bars, day, element, facts, fill, moment, table, value } from "./elements.js";

const sum = (numbers, last) => numbers.slice(-last).reduce((all, one) => all + one, 0);

/** Refusals by cause. */
export function showRefusals(panel, { refusals, requests, firstMinute, now, recorder }) {
  const all = requests.minutes.map((_, at) =>
    sum(
      refusals.map(({ minutes }) => minutes[at] ?? 0),
      refusals.length,
    ),
  );
  fill(panel, [refusals, requests, firstMinute], () => [
    element(
      "figure",
      {},
      bars(
        all,
        80,
        `Refusals by minute, from ${firstMinute.slice(11, 16)} to ${now.slice(11, 16)}: ${sum(all, 60)} in all, at most ${Math.max(...all)} in a minute`,
      ),
      element(
        "figcaption",
        {},
        `Refusals by minute, ${firstMinute.slice(11, 16)} to ${now.slice(11, 16)} UTC: ${sum(all, 60)} of ${sum(requests.minutes, 60)} requests, at most ${Math.max(...all)} in a minute.`,
      ),
    ),
    table(
      "Refusals by true cause",
      ["True cause", "Caller is told", "5 min", "60 min", "All", "Last hour"],
      refusals.map(({ cause, code, total, minutes }) => [
        value(cause),
        value(code),
        String(sum(minutes, 5)),
        String(sum(minutes, 60)),
        String(total),
        bars(minutes, 20),
      ]),
      "Nothing was refused.",
    ),
    element(
      "p",
      { class: "hint" },
      "Counted since ",
      day(recorder.since),
      ". docs/refusals.md says what each code means and what helps.",
    ),
  ]);
}

/** Rules that were broken. */
export function showRules(panel, { rules }) {
  fill(panel, rules, () => [
    element(
      "p",
      {},
      "A rule in report mode refuses nothing. The column “went on” counts the requests that it would have refused under ",
      element("code", {}, "enforce"),
      ".",
    ),
    table(
      "Broken rules",
      ["Rule", "Mode", "Went on", "Broken", "How", "Route", "Last"],
      rules.list.map(({ rule, mode, wentOn, broken, detail, route, last }) => [
        value(rule),
        badge(mode === "report" ? { tone: "waits", word: "report" } : { tone: "bad", word: "enforce" }),
        String(wentOn),
        String(broken),
        value(detail),
        value(route),
        moment(last),
      ]),
      "No rule was broken.",
    ),
    ...(rules.lost === 0
      ? []
      : [
          element(
            "p",
            { class: "hint" },
            `${rules.lost} more found no room in this table; the metric sealgate_rule_findings_total has all.`,
          ),
        ]),
  ]);
}

const GOOD = { tone: "good", word: "ok" };
const bad = (word) => ({ tone: "bad", word });

/** Keys, stores, issuers, sinks. */
export function showHealth(panel, state) {
  const { keys, store, overrides, issuers, auditLosses, replicas, routes, draining, shedding, recorder } =
    state;
  const lost = Object.entries(auditLosses);
  const seen = [keys, store, overrides, issuers, auditLosses, replicas, routes, draining, shedding, recorder];
  fill(panel, seen, () => [
    facts([
      [
        "Redemption store",
        badge(
          store.available
            ? store.reason === undefined
              ? { ...GOOD, word: store.kind }
              : { tone: "waits", word: `${store.kind}, degraded` }
            : bad(`${store.kind}, away`),
        ),
        store.reason === undefined ? undefined : ` ${store.reason}`,
      ],
      ["Revocations known", badge(overrides.known ? GOOD : bad("not yet: nothing is sealed or redeemed"))],
      [
        "Read from the store",
        store.kind === "memory"
          ? undefined
          : overrides.ageSeconds === undefined
            ? "never"
            : `${Math.round(overrides.ageSeconds)} s ago`,
      ],
      ["Values in the store that do not count", String(overrides.ignored)],
      [
        "Gateway",
        badge(
          draining
            ? { tone: "waits", word: "draining" }
            : shedding
              ? { tone: "waits", word: "shedding load" }
              : GOOD,
        ),
      ],
      ["Replicas, as configured", String(replicas)],
      ["Routes", routes.map((route) => element("span", { class: "item" }, value(route)))],
      [
        "Held for this page",
        `${recorder.held} records, ${Math.round(recorder.characters / 1024)} KiB; ${recorder.dropped} went to make room`,
      ],
    ]),
    table(
      "Keys",
      ["Label", "Key id", "Use"],
      keys.ring.map(({ id, keyId, seals }) => [
        value(id),
        value(keyId),
        element(
          "span",
          {},
          badge(seals ? { tone: "good", word: "seals and opens" } : { tone: "note", word: "opens" }),
          keys.next?.id === id && !seals ? element("span", {}, " seals from ", day(keys.next.notBefore)) : "",
        ),
      ]),
      "There are no keys.",
    ),
    ...(keys.ephemeral
      ? [element("p", { class: "hint" }, "The configuration has no keys: states end with this process.")]
      : []),
    table(
      "Keys of issuers",
      ["Issuer", "State", "Age"],
      issuers.map(({ issuer, state: held, ageSeconds }) => [
        value(issuer),
        badge(ISSUERS[held] ?? bad(held)),
        ageSeconds === undefined ? "–" : `${ageSeconds} s`,
      ]),
      "No issuer's keys come from a server.",
    ),
    table(
      "Audit sinks",
      ["Sink", "Records lost"],
      lost.map(([sink, number]) => [value(sink), number === 0 ? "0" : badge(bad(String(number)))]),
      "No sink tells of losses.",
    ),
  ]);
}

const ISSUERS = {
  fresh: GOOD,
  unread: { tone: "note", word: "not needed yet" },
  old: { tone: "waits", word: "server away, kept keys serve" },
  none: bad("no keys: nobody of it gets in"),
};
