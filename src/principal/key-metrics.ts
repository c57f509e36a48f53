/** What is measured of issuers' keys. Label values are the issuers that operators have named. */
import { Counter, Gauge, type Registry } from "prom-client";
import type { KeysReport } from "./issuer-keys.ts";

/** @param reports asked at each scrape; an issuer with several sets stands for the one that is worst off */
export function registerKeyMetrics(registry: Registry, reports: () => readonly KeysReport[]): void {
  const registers = [registry];
  const labelNames = ["issuer"] as const;
  new Gauge({
    name: "sealgate_issuer_keys_usable",
    help: "1 while the keys of an issuer's server can be used, also if they are kept ones and old; 0 when there are none",
    labelNames,
    registers,
    collect() {
      this.reset();
      const worst = new Map<string, number>();
      for (const { issuer, state } of reports())
        worst.set(issuer, Math.min(worst.get(issuer) ?? 1, state === "none" ? 0 : 1));
      for (const [issuer, usable] of worst) this.set({ issuer }, usable);
    },
  });
  new Gauge({
    name: "sealgate_issuer_keys_age_seconds",
    help: "Time since the keys of an issuer's server were last loaded; none before the first time",
    labelNames,
    registers,
    collect() {
      this.reset();
      const oldest = new Map<string, number>();
      for (const { issuer, ageSeconds } of reports())
        if (ageSeconds !== undefined) oldest.set(issuer, Math.max(oldest.get(issuer) ?? 0, ageSeconds));
      for (const [issuer, age] of oldest) this.set({ issuer }, age);
    },
  });
  new Counter({
    name: "sealgate_issuer_key_loads_total",
    help: "Attempts to load the keys of an issuer from its server, by outcome",
    labelNames: ["issuer", "outcome"],
    registers,
    collect() {
      this.reset();
      for (const { issuer, loads } of reports())
        for (const outcome of ["loaded", "failed"] as const) this.inc({ issuer, outcome }, loads[outcome]);
    },
  });
}
