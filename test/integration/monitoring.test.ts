/**
 * The alert rules and the dashboard are such as Prometheus takes, name only metrics, labels and codes there are, and each alert fires
 * when it should and not when all is well. Judged by promtool.
 */
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import t, { type Test } from "tap";
import { parse, stringify } from "yaml";
import { REFUSALS } from "../../src/errors.ts";
import { program } from "../support/debian.ts";
import { anchors, codes, page, ROOT, rows, section } from "../support/markdown.ts";

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: Readonly<Record<string, string>>;
}
interface Panel {
  readonly id: number;
  readonly title: string;
  readonly type: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly { readonly refId: string; readonly expr: string }[];
}

const FILE = `${ROOT}monitoring/alerts.yaml`;
const [{ rules = [] } = {}] = parse(readFileSync(FILE, "utf8")).groups as { rules?: Rule[] }[];
const dashboard = JSON.parse(readFileSync(`${ROOT}monitoring/dashboard.json`, "utf8"));
const panels: Panel[] = dashboard.panels;
const queries = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
const annotations: string[] = dashboard.annotations.list.map(({ expr }: { expr: string }) => expr);
const promtool = await program("promtool", { debian: "prometheus" });

const METRICS = new Map(
  rows(section(page("docs/metrics.md"), "All of them")).map(([name = "", type, , labels = ""]) => [
    codes(name)[0] ?? "",
    { type, labels: codes(labels) },
  ]),
);
/** What Prometheus itself puts beside them. */
const SCRAPED = ["job", "instance"];
const OTHERS = ["up", "ALERTS"];

async function run(...args: string[]): Promise<{ readonly ok: boolean; readonly text: string }> {
  try {
    const { stdout, stderr } = await promisify(execFile)(promtool, args);
    return { ok: true, text: stdout + stderr };
  } catch (error) {
    const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
    return { ok: false, text: stdout + stderr };
  }
}

/** What is wrong with the names in a query. */
function wrongNames(expr: string): string[] {
  const wrong: string[] = [];
  for (const [, name = "", selector = ""] of expr.matchAll(/\b((?:sealgate|process)_\w+)(?:\{([^}]*)\})?/g)) {
    const known = METRICS.get(name) ?? METRICS.get(name.replace(/_(bucket|sum|count)$/, ""));
    if (known === undefined) wrong.push(`no metric ${name}`);
    for (const [, label = "", operator, value = ""] of selector.matchAll(/(\w+)(=~|!~|!=|=)"([^"]*)"/g)) {
      if (![...(known?.labels ?? []), ...SCRAPED, "le"].includes(label))
        wrong.push(`${name} has no label ${label}`);
      if (label !== "code") continue;
      const pattern = new RegExp(`^(?:${value})$`);
      for (const one of operator === "=" ? [value] : value.split("|"))
        if (!Object.keys(REFUSALS).some((code) => new RegExp(`^(?:${one})$`).test(code)))
          wrong.push(`no code is ${one} ${pattern}`);
    }
    if (known?.type === "counter" && !/(rate|increase|changes|unless|offset)/.test(expr))
      wrong.push(`${name} is a counter, and ${expr} shows its height`);
  }
  return wrong;
}

t.test("the rules are such as Prometheus takes", async (t) => {
  const checked = await run("check", "rules", FILE);
  t.ok(checked.ok, checked.text);
  t.match(checked.text, `${rules.length} rules found`);
  t.ok(rules.length > 20);
  const broken = join(t.testdir({}), "broken.yaml");
  writeFileSync(broken, stringify({ groups: [{ name: "g", rules: [{ alert: "A", expr: "sum(" }] }] }));
  t.notOk((await run("check", "rules", broken)).ok, "and what is none would be found");
});

t.test("each alert has a severity, words, and a paragraph of its own", async (t) => {
  const operations = page("docs/operations.md");
  const known = anchors(operations);
  for (const { alert, labels, annotations } of rules) {
    t.match(alert, /^Sealgate[A-Z]\w+$/);
    t.match(labels.severity, /^(critical|warning|info)$/);
    t.ok((annotations["summary"] ?? "") !== "" && (annotations["description"] ?? "") !== "", alert);
    const [path, anchor = ""] = annotations["runbook_url"]?.split("#") ?? [];
    t.equal(path, "docs/operations.md");
    t.ok(known.has(anchor), `docs/operations.md#${anchor}`);
    t.ok(section(operations, alert).text.trim().length > 40, alert);
  }
  const headings = [...section(operations, "Alerts").text.matchAll(/^### (\w+)$/gm)].map(([, name]) => name);
  t.same(headings.sort(), rules.map(({ alert }) => alert).sort(), "and there is no paragraph more");
});

t.test("queries name metrics and labels there are", async (t) => {
  for (const expr of [...rules.map(({ expr }) => expr), ...queries, ...annotations])
    t.same(wrongNames(expr), [], expr);
  t.match(wrongNames('rate(sealgate_request_total{rout="a"}[5m])'), [/no metric/, /no label/]);
  t.match(wrongNames('rate(sealgate_refusals_total{code=~"internal|infernal"}[5m])'), [/infernal/]);
  const text = [...queries, ...annotations, ...rules.map(({ expr }) => expr)].join("\n");
  t.same(
    [...METRICS.keys()].filter((name) => !text.includes(name) && !OTHERS.includes(name)),
    ["sealgate_build_info"].filter((name) => !text.includes(name)),
    "and each metric stands in one",
  );
});

t.test("the dashboard's queries are such as Prometheus takes", async (t) => {
  const variables = (expr: string): string =>
    expr.replaceAll("[$__rate_interval]", "[5m]").replaceAll(/\$(instance|route)\b/g, ".*");
  const file = join(t.testdir({}), "queries.yaml");
  const all = [...queries, ...annotations];
  writeFileSync(
    file,
    stringify({
      groups: [
        { name: "g", rules: all.map((expr, index) => ({ record: `q:${index}`, expr: variables(expr) })) },
      ],
    }),
  );
  const checked = await run("check", "rules", file);
  t.ok(checked.ok, checked.text);
  t.ok(queries.length > 40);
  t.notMatch(all.map(variables).join("\n"), /\$/, "no variable that nothing defines");
});

t.test("the dashboard's panels have a place each, and queries by name", async (t) => {
  t.equal(new Set(panels.map(({ id }) => id)).size, panels.length);
  const cells = new Set<string>();
  for (const { title, type, gridPos, targets = [] } of panels) {
    const { x, y, w, h } = gridPos;
    t.ok(x >= 0 && x + w <= 24, title);
    for (let column = x; column < x + w; column += 1)
      for (let line = y; line < y + h; line += 1) {
        const cell = `${column},${line}`;
        if (cells.has(cell)) t.fail(`${title} lies over another panel`);
        cells.add(cell);
      }
    t.equal(targets.length > 0, type !== "row", title);
    t.equal(new Set(targets.map(({ refId }) => refId)).size, targets.length, title);
  }
});

/** Series by which an alert fires, and the like by which it must not. Values as promtool reads them, one a minute. */
const CASES: Readonly<Record<string, { readonly bad: Series; readonly good: Series }>> = {
  SealgateDown: {
    bad: { 'up{job="sealgate"}': "0x200" },
    good: { 'up{job="sealgate"}': "1x200", 'up{job="x"}': "0x200" },
  },
  SealgateStoreDown: gauge("sealgate_store_available", "0.5", "1"),
  SealgateStoreFinding: {
    bad: { 'sealgate_store_findings{finding="evicts"}': "1x200" },
    good: { 'sealgate_store_findings{finding="no_append_only_file"}': "1x200" },
  },
  SealgateStatesRefused: rising('sealgate_refusals_total{code="invalid_request_state",cause="principal"}'),
  SealgateReplays: rising('sealgate_opens_total{result="already_redeemed"}'),
  SealgateOutcomeUnknown: {
    bad: { 'sealgate_refusals_total{code="outcome_unknown"}': "_x115 1x90" },
    good: { 'sealgate_refusals_total{code="outcome_unknown"}': "3x200" },
  },
  SealgateUnknownKey: {
    bad: { 'sealgate_refusals_total{code="invalid_request_state",cause="unknown_key"}': "3x115 4x90" },
    good: { 'sealgate_refusals_total{code="invalid_request_state",cause="unknown_key"}': "3x200" },
  },
  SealgateKeysDiffer: {
    bad: ring({ a: ["1"], b: ["1", "2"] }),
    good: ring({ a: ["1", "2"], b: ["1", "2"] }),
  },
  SealgateKeyNamedTwice: {
    bad: {
      'sealgate_keys{job="sealgate",id="k",key_id="1"}': "1x200",
      'sealgate_keys{job="sealgate",id="k",key_id="2"}': "1x200",
    },
    good: {
      'sealgate_keys{job="sealgate",id="k",key_id="1"}': "1x200",
      'sealgate_keys{job="sealgate",id="l",key_id="2"}': "0x200",
    },
  },
  SealgateRotationStuck: {
    bad: { 'sealgate_keys{instance="a",id="1"}': "1x200", 'sealgate_keys{instance="b",id="2"}': "1x200" },
    good: { 'sealgate_keys{instance="a",id="1"}': "0x200", 'sealgate_keys{instance="b",id="2"}': "1x200" },
  },
  SealgateAuditLost: rising('sealgate_audit_lost_total{sink="stdout"}'),
  SealgateUpstreamExposed: gauge('sealgate_upstream_exposed{route="/mcp"}', "1", "0"),
  SealgateAnonymous: gauge('sealgate_anonymous{route="/mcp"}', "1", "0"),
  SealgateReloadFailed: gauge("sealgate_reload_successful", "0", "1"),
  SealgateConfigurationsDiffer: {
    bad: {
      'sealgate_reload_success_timestamp_seconds{instance="a"}': "1000x200",
      'sealgate_reload_success_timestamp_seconds{instance="b"}': "5000x200",
      'sealgate_reload_successful{instance="a"}': "0x200",
    },
    good: {
      'sealgate_reload_success_timestamp_seconds{instance="a"}': "1000x200",
      'sealgate_reload_success_timestamp_seconds{instance="b"}': "5000x200",
      'sealgate_reload_successful{instance="a"}': "1x200",
    },
  },
  SealgateEventLoopLate: gauge("sealgate_event_loop_delay_seconds", "0.8", "0.05"),
  SealgateShedding: gauge("sealgate_shedding", "1", "0"),
  SealgateCallersLimited: rising('sealgate_refusals_total{code="rate_limited"}'),
  SealgateFull: rising('sealgate_refusals_total{code="overloaded"}'),
  SealgateLimitsAlone: gauge("sealgate_limits_alone", "1", "0"),
  SealgateIssuerKeysUnavailable: gauge('sealgate_issuer_keys_usable{issuer="i"}', "0", "1"),
  SealgateIssuerKeysOld: gauge('sealgate_issuer_keys_age_seconds{issuer="i"}', "2000", "600"),
  SealgateIntrospectionFails: {
    bad: {
      'sealgate_introspections_total{outcome="timeout"}': "0+60x200",
      'sealgate_introspections_total{outcome="active"}': "0+60x200",
    },
    good: {
      'sealgate_introspections_total{outcome="inactive"}': "0+60x200",
      'sealgate_introspections_total{outcome="timeout"}': "0+1x200",
    },
  },
  SealgateCredentialsFail: rising('sealgate_upstream_credentials_total{outcome="unavailable"}'),
  SealgateUpstreamFails: {
    bad: {
      'sealgate_refusals_total{route="/mcp",code="upstream_timeout"}': "0+60x200",
      'sealgate_requests_total{route="/mcp"}': "0+600x200",
    },
    good: {
      'sealgate_refusals_total{route="/mcp",code="unauthorized"}': "0+60x200",
      'sealgate_requests_total{route="/mcp"}': "0+600x200",
    },
  },
  SealgateOverridesOld: gauge("sealgate_overrides_age_seconds", "60", "1"),
  SealgateOverridesIgnored: gauge("sealgate_overrides_ignored", "2", "0"),
  SealgateTracesLost: {
    bad: { 'sealgate_trace_spans_total{outcome="dropped"}': "0+60x200" },
    good: { 'sealgate_trace_spans_total{outcome="exported"}': "0+60x200" },
  },
};

type Series = Readonly<Record<string, string>>;

function gauge(series: string, bad: string, good: string): { bad: Series; good: Series } {
  return { bad: { [series]: `${bad}x200` }, good: { [series]: `${good}x200` } };
}
function rising(series: string): { bad: Series; good: Series } {
  return { bad: { [series]: "0+120x200" }, good: { [series]: "500x200" } };
}
/** Rings of replicas, by the key ids that each has. */
function ring(replicas: Readonly<Record<string, readonly string[]>>): Series {
  const series: Record<string, string> = {};
  for (const [instance, keys] of Object.entries(replicas)) {
    series[`up{job="sealgate",instance="${instance}"}`] = "1x200";
    for (const key of keys)
      series[`sealgate_keys{job="sealgate",instance="${instance}",id="k${key}",key_id="${key}"}`] = "1x200";
  }
  return series;
}

/** A file of tests for promtool: whether each alert fires two hours into its series. */
function judged(
  t: Test,
  cases: readonly { readonly alert: string; readonly series: Series; readonly fires: boolean }[],
): string {
  const file = join(t.testdir({}), "test.yaml");
  const tests = cases.map(({ alert, series, fires }) => ({
    interval: "1m",
    input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
    promql_expr_test: [
      {
        expr: `count(ALERTS{alertname="${alert}",alertstate="firing"}) > bool 0`,
        eval_time: "2h",
        exp_samples: fires ? [{ labels: "{}", value: 1 }] : [],
      },
    ],
  }));
  writeFileSync(file, stringify({ rule_files: [FILE], evaluation_interval: "1m", tests }));
  return file;
}

t.test("each alert has its case", async (t) => {
  t.same(Object.keys(CASES).sort(), rules.map(({ alert }) => alert).sort());
});

t.test("each alert fires when it should, and not when all is well", async (t) => {
  const cases = Object.entries(CASES).flatMap(([alert, { bad, good }]) => [
    { alert, series: bad, fires: true },
    { alert, series: good, fires: false },
  ]);
  const { ok, text } = await run("test", "rules", judged(t, cases));
  t.ok(ok, text.slice(0, 2_000));
  const [first] = cases;
  if (first === undefined) throw new Error("no cases");
  const { ok: wrong } = await run("test", "rules", judged(t, [{ ...first, fires: false }]));
  t.notOk(wrong, "and a wrong expectation would be found");
});
