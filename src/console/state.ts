/** What the console shows beside records: counts, rules, keys, stores and lists of this process, as JSON. Nothing in it is secret. */
import type { Config } from "../config/schema.ts";
import type { KeyLabel } from "../keyring.ts";
import type { OverridesStatus } from "../overrides/overrides.ts";
import type { KeysReport } from "../principal/issuer-keys.ts";
import type { RedemptionStore } from "../redemption/store.ts";
import type { Recorder, RecorderReport } from "./recorder.ts";
import type { CauseTally, RuleTally } from "./tallies.ts";
import { MINUTES } from "./tallies.ts";

/** What it is read from, each time. */
export interface StateSources {
  readonly recorder: Recorder;
  readonly config: () => Config;
  readonly keys: { labels(): readonly KeyLabel[] };
  readonly store: Pick<RedemptionStore, "health">;
  readonly overrides: { known(): boolean; status(): OverridesStatus };
  readonly issuers: () => readonly KeysReport[];
  readonly auditLosses: () => ReadonlyMap<string, number>;
  readonly draining: () => boolean;
  readonly shedding: () => boolean;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** The answer; times are RFC 3339 in UTC. */
export interface State {
  readonly now: string;
  readonly recorder: Omit<RecorderReport, "since"> & { readonly since: string };
  readonly requests: { readonly total: number; readonly minutes: readonly number[] };
  /** The first of the minutes that are told one by one. */
  readonly firstMinute: string;
  readonly refusals: readonly CauseTally[];
  readonly rules: { readonly list: readonly RuleTally[]; readonly lost: number };
  readonly keys: {
    readonly ring: readonly KeyLabel[];
    readonly next?: { readonly id: string; readonly notBefore: string };
    /** There are none in the configuration: the ring ends with the process. */
    readonly ephemeral: boolean;
  };
  readonly store: { readonly kind: string; readonly available: boolean; readonly reason?: string };
  readonly overrides: OverridesStatus & { readonly known: boolean };
  readonly issuers: readonly {
    readonly issuer: string;
    readonly state: string;
    readonly ageSeconds?: number;
  }[];
  readonly routes: readonly string[];
  readonly replicas: number;
  readonly auditLosses: Readonly<Record<string, number>>;
  readonly draining: boolean;
  readonly shedding: boolean;
}

/** Reads everything now, from memory. */
export function stateNow(sources: StateSources): State {
  const { recorder, keys, store, overrides, issuers, auditLosses, draining, shedding, now } = sources;
  const { redemption, redis, server, routes, keys: configured } = sources.config();
  const at = now();
  const { since, ...report } = recorder.report();
  const { tallies } = recorder;
  const health = store.health();
  const inMemory = redemption.store === "memory" || redis === undefined;
  const next = configured?.next;
  return {
    now: printed(at),
    recorder: { ...report, since: printed(since) },
    requests: { total: tallies.total, minutes: tallies.requests(at) },
    firstMinute: printed((Math.floor(at / 60_000) - MINUTES + 1) * 60_000),
    refusals: tallies.causes(at),
    rules: tallies.rules(),
    keys: {
      ring: keys.labels(),
      ...(next === undefined ? {} : { next: { id: next.id, notBefore: printed(next.notBefore * 1_000) } }),
      ephemeral: configured === undefined,
    },
    store: {
      kind: inMemory ? "memory" : "redis",
      available: health.available,
      ...(health.reason === undefined ? {} : { reason: health.reason }),
    },
    overrides: { ...overrides.status(), known: overrides.known() },
    issuers: issuers().map(({ issuer, state, ageSeconds }) => ({
      issuer,
      state,
      ...(ageSeconds === undefined ? {} : { ageSeconds: Math.round(ageSeconds) }),
    })),
    routes: routes.map(({ path }) => path),
    replicas: server.replicas,
    auditLosses: Object.fromEntries(auditLosses()),
    draining: draining(),
    shedding: shedding(),
  };
}

const printed = (milliseconds: number): string => new Date(milliseconds).toISOString();
