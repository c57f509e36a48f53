/**
 * Counters and histograms in the Prometheus format. Label values come from bounded sets only.
 */
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { AuditRecord } from "./audit/record.ts";
import type { ReloadStatus } from "./config/reload.ts";
import type { KeyLabel } from "./keyring.ts";
import type { Limits } from "./limits.ts";
import type { Load } from "./load.ts";
import { countedMethod } from "./mcp/methods.ts";
import type { OverridesStatus } from "./overrides/overrides.ts";
import type { IntrospectionOutcome } from "./principal/introspection-endpoint.ts";
import type { KeysReport } from "./principal/issuer-keys.ts";
import { registerKeyMetrics } from "./principal/key-metrics.ts";
import { registerProcessMetrics } from "./process-metrics.ts";
import type { RedemptionStore } from "./redemption/store.ts";
import { FINDINGS } from "./redis/description.ts";
import type { SpanOutcome } from "./telemetry/exporter.ts";

const LATENCY_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** A server chooses its status: those that mean a refusal or a fault are told apart, the rest is one. */
const countedCause = (cause: string): string =>
  cause.startsWith("status_") && !/^status_[45]\d\d$/.test(cause) ? "status_other" : cause;

type Labels = Readonly<Record<string, string | number>>;

/** A metric by its series; a histogram has a value for each upper bound `le`. */
interface Series {
  get(): Promise<{ readonly values: readonly { readonly labels: Labels }[] }>;
  remove(labels: Labels): void;
}

/** The process's metrics. */
export interface Metrics {
  /** Counts one decision. */
  observe(record: AuditRecord): void;
  /** A redemption was tried: `redeemed`, `already_redeemed`, `epoch_mismatch`, `expired`, or why the store could not be used. */
  redemption(outcome: string): void;
  /** An issuer was to be asked about a token. */
  introspection(outcome: IntrospectionOutcome): void;
  /** An answer was to be kept for a repeat, or to be found for one. */
  result(outcome: "kept" | "too_large" | "not_kept" | "returned" | "not_found"): void;
  /** A user was asked for consent, or answered: once for each policy that asks. */
  approval(
    policies: readonly string[],
    outcome: "asked" | "accept" | "decline" | "cancel" | "remembered",
  ): void;
  /** Spans were to be sent. */
  spans(outcome: SpanOutcome, count: number): void;
  /** A rule was broken, and its mode says what became of it. */
  finding(route: string, rule: string, mode: string): void;
  /** A credential for a route's upstream was obtained, used again, dropped after a 401, or could not be had. */
  credential(route: string, kind: string, outcome: string): void;
  /** Drops the series of all other routes, so that their number is bounded by what is served. */
  keepRoutes(paths: ReadonlySet<string>): Promise<void>;
  /** The exposition text and its media type. */
  expose(): Promise<{ readonly type: string; readonly text: string }>;
}

/** Registers the metrics; gauges read their sources when scraped. */
export function createMetrics(sources: {
  /** The keys in force. */
  readonly keys: { labels(): readonly KeyLabel[] };
  readonly store: RedemptionStore;
  readonly overrides: { status(): OverridesStatus };
  /** What servers turned out to ask of clients that cannot answer. */
  readonly needs: { list(): readonly unknown[] };
  readonly limits: Limits;
  readonly allowances: { readonly alone: boolean };
  /** Route → whether callers without any credential are let in. */
  readonly anonymous: () => ReadonlyMap<string, boolean>;
  readonly load: Pick<Load, "shedding" | "delay">;
  /** Of the issuers whose keys come from a server. */
  readonly issuerKeys?: () => readonly KeysReport[];
  readonly reloads: () => ReloadStatus;
  /** Route → whether its server is open around the gateway; routes of which nothing can be said are left out. */
  readonly exposed: () => ReadonlyMap<string, boolean>;
  /** Audit records lost so far, by sink; the sinks are the operator's. */
  readonly auditLosses: () => ReadonlyMap<string, number>;
}): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const requests = new Counter({
    name: "sealgate_requests_total",
    help: "Requests by route, method and outcome",
    labelNames: ["route", "method", "outcome"],
    registers,
  });
  const refusals = new Counter({
    name: "sealgate_refusals_total",
    help: "Refusals by public code and true cause",
    labelNames: ["route", "code", "cause"],
    registers,
  });
  const seals = new Counter({
    name: "sealgate_seals_total",
    help: "States sealed",
    labelNames: ["route"],
    registers,
  });
  const opens = new Counter({
    name: "sealgate_opens_total",
    help: "States presented, by what became of them",
    labelNames: ["route", "result"],
    registers,
  });
  const redemptions = new Counter({
    name: "sealgate_redemptions_total",
    help: "Redemptions by outcome",
    labelNames: ["outcome"],
    registers,
  });
  const findings = new Counter({
    name: "sealgate_rule_findings_total",
    help: "Rules that were broken, by rule and mode",
    labelNames: ["route", "rule", "mode"],
    registers,
  });
  const approvals = new Counter({
    name: "sealgate_approvals_total",
    help: "Users asked for consent, what they answered, and calls that ran on an earlier answer, by policy",
    labelNames: ["policy", "outcome"],
    registers,
  });
  const introspections = new Counter({
    name: "sealgate_introspections_total",
    help: "Tokens that an issuer was to be asked about, by answer, or why there was none",
    labelNames: ["outcome"],
    registers,
  });
  const authentications = new Counter({
    name: "sealgate_authentications_total",
    help: "Requests of known callers, by kind of credential and what showed that a token was its sender's",
    labelNames: ["route", "kind", "confirmed_by"],
    registers,
  });
  const results = new Counter({
    name: "sealgate_results_total",
    help: "Answers that were to be kept for a repeat, and repeats that asked for one, by outcome",
    labelNames: ["outcome"],
    registers,
  });
  const credentials = new Counter({
    name: "sealgate_upstream_credentials_total",
    help: "Credentials for upstreams that are made or granted, by kind and outcome",
    labelNames: ["route", "kind", "outcome"],
    registers,
  });
  const spans = new Counter({
    name: "sealgate_trace_spans_total",
    help: "Spans of traces, by what became of them",
    labelNames: ["outcome"],
    registers,
  });
  const latency = new Histogram({
    name: "sealgate_request_duration_seconds",
    help: "Time from the request's head to the end of its answer",
    labelNames: ["route", "outcome"],
    buckets: LATENCY_SECONDS,
    registers,
  });
  new Gauge({
    name: "sealgate_in_flight",
    help: "Bodies being read, requests and open-ended streams in flight",
    labelNames: ["kind"],
    registers,
    collect() {
      this.set({ kind: "body" }, sources.limits.bodies);
      this.set({ kind: "request" }, sources.limits.inFlight);
      this.set({ kind: "stream" }, sources.limits.streams);
    },
  });
  new Gauge({
    name: "sealgate_anonymous",
    help: "1 if callers without any credential are let in, and are one principal; 0 if not",
    labelNames: ["route"],
    registers,
    collect() {
      this.reset();
      for (const [route, open] of sources.anonymous()) this.set({ route }, open ? 1 : 0);
    },
  });
  const nameless = new Counter({
    name: "sealgate_anonymous_requests_total",
    help: "Requests of callers without any credential",
    labelNames: ["route"],
    registers,
  });
  new Gauge({
    name: "sealgate_limits_alone",
    help: "1 while this gateway counts callers alone, since Redis is away",
    registers,
    collect() {
      this.set(sources.allowances.alone ? 1 : 0);
    },
  });
  new Gauge({
    name: "sealgate_event_loop_delay_seconds",
    help: "How late the event loop is: so long every request waits",
    registers,
    collect() {
      this.set(sources.load.delay / 1000);
    },
  });
  new Gauge({
    name: "sealgate_shedding",
    help: "1 while new requests are refused since the event loop is too late",
    registers,
    collect() {
      this.set(sources.load.shedding ? 1 : 0);
    },
  });
  new Gauge({
    name: "sealgate_store_available",
    help: "1 while the redemption store can be used; in a Cluster the share of states that can be redeemed",
    registers,
    collect() {
      this.set(sources.store.report().available);
    },
  });
  new Gauge({
    name: "sealgate_store_refusing",
    help: "1 while redemptions are refused without waiting for a store that is away; in a Cluster their share",
    registers,
    collect() {
      this.set(sources.store.report().refusing);
    },
  });
  new Gauge({
    name: "sealgate_store_findings",
    help: "Redis servers in use, by what their operator should know of them",
    labelNames: ["finding"],
    registers,
    collect() {
      const { findings } = sources.store.report();
      for (const finding of FINDINGS) this.set({ finding }, findings.get(finding) ?? 0);
    },
  });
  new Gauge({
    name: "sealgate_overrides",
    help: "What operators have set at run time and is in force: revocation, allow, deny",
    labelNames: ["kind"],
    registers,
    collect() {
      const { revocations, allows, denials } = sources.overrides.status();
      this.set({ kind: "revocation" }, revocations);
      this.set({ kind: "allow" }, allows);
      this.set({ kind: "deny" }, denials);
    },
  });
  new Gauge({
    name: "sealgate_overrides_ignored",
    help: "Values among the overrides in the store that are malformed or not signed, and do not count",
    registers,
    collect() {
      this.set(sources.overrides.status().ignored);
    },
  });
  new Gauge({
    name: "sealgate_overrides_age_seconds",
    help: "Time since the overrides were last read; infinite if they never were",
    registers,
    collect() {
      this.set(sources.overrides.status().ageSeconds ?? Number.POSITIVE_INFINITY);
    },
  });
  new Gauge({
    name: "sealgate_needs",
    help: "Capabilities that servers turned out to need and clients lacked, by route, target and kind",
    registers,
    collect() {
      this.set(sources.needs.list().length);
    },
  });
  new Gauge({
    name: "sealgate_keys",
    help: "Keys in the ring by label and key id; 1 for the key that seals, 0 for keys that only open",
    labelNames: ["id", "key_id"],
    registers,
    collect() {
      this.reset();
      for (const { id, keyId, seals } of sources.keys.labels())
        this.set({ id, key_id: keyId }, seals ? 1 : 0);
    },
  });
  registerProcessMetrics(registry);
  registerKeyMetrics(registry, sources.issuerKeys ?? (() => []));
  new Gauge({
    name: "sealgate_reload_successful",
    help: "1 if what the configuration was last read as is in force",
    registers,
    collect() {
      this.set(sources.reloads().successful ? 1 : 0);
    },
  });
  new Gauge({
    name: "sealgate_reload_success_timestamp_seconds",
    help: "When the configuration was last read without a problem",
    registers,
    collect() {
      this.set(sources.reloads().succeededAt / 1000);
    },
  });
  new Gauge({
    name: "sealgate_upstream_exposed",
    help: "1 if a server on this machine or pod answers around the gateway, 0 if not; none where it cannot be seen",
    labelNames: ["route"],
    registers,
    collect() {
      this.reset();
      for (const [route, open] of sources.exposed()) this.set({ route }, open ? 1 : 0);
    },
  });
  new Counter({
    name: "sealgate_audit_lost_total",
    help: "Audit records that a sink did not take, by sink",
    labelNames: ["sink"],
    registers,
    collect() {
      this.reset();
      for (const [sink, lost] of sources.auditLosses()) this.inc({ sink }, lost);
    },
  });
  return {
    observe(record) {
      const { route, outcome } = record;
      const method = countedMethod(record.method);
      requests.inc({ route, method, outcome });
      if (record.principal?.anonymous === true) nameless.inc({ route });
      latency.observe({ route, outcome }, record.latencyMs / 1000);
      if (record.code !== undefined)
        refusals.inc({ route, code: record.code, cause: countedCause(record.cause ?? "") });
      if (outcome === "input_required") seals.inc({ route });
      const { authenticatedBy: kind, confirmedBy = [] } = record;
      if (kind !== undefined) authentications.inc({ route, kind, confirmed_by: confirmedBy.join("+") });
      if (record.state !== undefined) opens.inc({ route, result: record.state });
    },
    redemption: (outcome) => redemptions.inc({ outcome }),
    approval(policies, outcome) {
      for (const policy of policies) approvals.inc({ policy, outcome });
    },
    introspection: (outcome) => introspections.inc({ outcome }),
    result: (outcome) => results.inc({ outcome }),
    spans: (outcome, count) => spans.inc({ outcome }, count),
    finding: (route, rule, mode) => findings.inc({ route, rule, mode }),
    credential: (route, kind, outcome) => credentials.inc({ route, kind, outcome }),
    async keepRoutes(paths) {
      for (const metric of registry.getMetricsAsArray() as unknown as Series[]) {
        for (const { labels } of (await metric.get()).values) {
          const { le, ...series } = labels;
          const { route } = series;
          if (route !== undefined && !paths.has(String(route))) metric.remove(series);
        }
      }
    },
    expose: async () => ({ type: registry.contentType, text: await registry.metrics() }),
  };
}
