/** Counts for the console: requests and refusals by minute and cause, and rules that were broken. Every table is bounded. Pure. */
import type { AuditRecord } from "../audit/record.ts";

const MINUTE_MS = 60_000;
/** Minutes that are told one by one. */
export const MINUTES = 60;
const MAX_CAUSES = 64;
const MAX_RULES = 512;
/** Of causes beyond the first `MAX_CAUSES`. */
const OTHERS = "(others)";

/** Refusals of one true cause. */
export interface CauseTally {
  /** What clients were told. */
  readonly code: string;
  readonly cause: string;
  readonly total: number;
  /** By minute, oldest first; as many as `MINUTES`. */
  readonly minutes: readonly number[];
}

/** Requests in which a rule was broken in one way. */
export interface RuleTally {
  readonly route: string;
  readonly rule: string;
  readonly mode: "enforce" | "report";
  readonly detail: string;
  readonly broken: number;
  /** Of those, the ones that were not refused: in report mode, what the rule would have refused. */
  readonly wentOn: number;
  /** RFC 3339. */
  readonly last: string;
}

interface Counted {
  total: number;
  /** Minute since the epoch → count; those that are too old are dropped when the table is read or written. */
  readonly minutes: Map<number, number>;
}

/** See the file's header. */
export class Tallies {
  readonly #requests: Counted = { total: 0, minutes: new Map() };
  readonly #causes = new Map<string, Counted & { readonly code: string; readonly cause: string }>();
  readonly #rules = new Map<string, { -readonly [K in keyof RuleTally]: RuleTally[K] }>();
  #rulesLost = 0;

  /** @param now milliseconds since the epoch */
  count(record: AuditRecord, now: number): void {
    const minute = Math.floor(now / MINUTE_MS);
    add(this.#requests, minute);
    const { code, outcome, route, time } = record;
    if (outcome === "refused" && code !== undefined) add(this.#causeOf(code, record.cause ?? code), minute);
    for (const { id: rule, mode, detail } of distinct(record.rules ?? [])) {
      const key = JSON.stringify([route, rule, mode, detail]);
      let tally = this.#rules.get(key);
      if (tally === undefined) {
        if (this.#rules.size >= MAX_RULES) {
          this.#rulesLost += 1;
          continue;
        }
        tally = { route, rule, mode, detail, broken: 0, wentOn: 0, last: time };
        this.#rules.set(key, tally);
      }
      tally.broken += 1;
      if (outcome !== "refused") tally.wentOn += 1;
      tally.last = time;
    }
  }

  /** Requests by minute, oldest first; the last is the one that is under way. */
  requests(now: number): readonly number[] {
    return byMinute(this.#requests, now);
  }

  get total(): number {
    return this.#requests.total;
  }

  /** Refusals, most frequent first. */
  causes(now: number): readonly CauseTally[] {
    return [...this.#causes.values()]
      .map((one) => ({
        code: one.code,
        cause: one.cause,
        total: one.total,
        minutes: byMinute(one, now),
      }))
      .sort((a, b) => b.total - a.total);
  }

  /** Broken rules, those in report mode first, most frequent first; how many were left out stands beside. */
  rules(): { readonly list: readonly RuleTally[]; readonly lost: number } {
    const list = [...this.#rules.values()].sort(
      (a, b) => Number(b.mode === "report") - Number(a.mode === "report") || b.broken - a.broken,
    );
    return { list, lost: this.#rulesLost };
  }

  #causeOf(code: string, cause: string): Counted {
    const key = `${code} ${cause}`;
    const known = this.#causes.get(key);
    if (known !== undefined) return known;
    const room = this.#causes.size < MAX_CAUSES;
    const made = { code: room ? code : OTHERS, cause: room ? cause : OTHERS, total: 0, minutes: new Map() };
    const name = `${made.code} ${made.cause}`;
    const there = this.#causes.get(name);
    if (there !== undefined) return there;
    this.#causes.set(name, made);
    return made;
  }
}

function add(counted: Counted, minute: number): void {
  counted.total += 1;
  counted.minutes.set(minute, (counted.minutes.get(minute) ?? 0) + 1);
  if (counted.minutes.size > 2 * MINUTES)
    for (const old of counted.minutes.keys()) if (old <= minute - MINUTES) counted.minutes.delete(old);
}

function byMinute({ minutes }: Counted, now: number): number[] {
  const last = Math.floor(now / MINUTE_MS);
  return Array.from({ length: MINUTES }, (_, index) => minutes.get(last - MINUTES + 1 + index) ?? 0);
}

/** One request that breaks a rule twice breaks it once. */
function distinct<T extends { readonly id: string; readonly mode: string; readonly detail: string }>(
  rules: readonly T[],
): T[] {
  return [...new Map(rules.map((one) => [`${one.id} ${one.mode} ${one.detail}`, one])).values()];
}
