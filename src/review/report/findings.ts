/** What all reports say in the same way: verdicts, the conclusion, what could not be tried and why, exchanges in a line. Pure. */
import type { Verdict } from "../check.ts";
import {
  type RecordedCall,
  type RecordedExchange,
  type RecordedResult,
  type ReviewRecord,
  VERDICTS,
} from "../record.ts";
import { MAX_NAME, shown } from "./text.ts";

/** A sign and a word for each verdict; never one without the other. */
export const SAID = {
  fail: { sign: "✕", word: "fail", heading: "Failed" },
  inconclusive: { sign: "?", word: "inconclusive", heading: "Inconclusive" },
  warn: { sign: "!", word: "warn", heading: "Warnings" },
  not_applicable: { sign: "–", word: "not applicable", heading: "Not applicable" },
  pass: { sign: "✓", word: "pass", heading: "Passed" },
} as const satisfies Readonly<Record<Verdict, object>>;

/** How it ends, for the top of a report. */
export interface Conclusion {
  /** `warn`: nothing failed, but rules that are a MUST could not be told for certain. */
  readonly verdict: "fail" | "inconclusive" | "warn" | "pass";
  readonly title: string;
  readonly words: string;
  /** Whether any check came to a result at all. */
  readonly established: boolean;
}

/** A count with its word. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`;

/** The verdict on the whole: one failure fails it, and nothing that was not established counts as a pass. */
export function conclusionOf({ results }: ReviewRecord): Conclusion {
  const of = (verdict: Verdict): number => results.filter((result) => result.verdict === verdict).length;
  const [fail, inconclusive, warn, none] = [of("fail"), of("inconclusive"), of("warn"), of("not_applicable")];
  const tried = `${counted(results.length, "check")} on ${counted(new Set(results.map(({ call }) => call)).size, "target")}`;
  const open = [
    ...(inconclusive > 0 ? [`${inconclusive} came to no result`] : []),
    ...(none > 0 ? [`${none} did not apply or were not allowed`] : []),
    ...(warn > 0 ? [`${counted(warn, "warning")}`] : []),
  ];
  const untold = results.filter(isUntold).length;
  if (untold > 0) open.push(`${counted(untold, "MUST rule")} could not be told`);
  const rest = open.length === 0 ? "" : `; ${open.join(", ")}`;
  if (fail > 0)
    return {
      verdict: "fail",
      title: "Failed",
      words: `${fail} of ${tried} failed${rest}.`,
      established: true,
    };
  if (of("pass") + warn === 0)
    return {
      verdict: "inconclusive",
      title: "Nothing established",
      words: `${tried}, and none of them came to a result${rest}.`,
      established: false,
    };
  const words = `None of ${tried} failed${rest}.`;
  if (inconclusive > 0) return { verdict: "inconclusive", title: "Incomplete", words, established: true };
  if (untold > 0)
    return {
      verdict: "warn",
      title: `Passed, ${counted(untold, "MUST rule")} could not be told`,
      words,
      established: true,
    };
  return { verdict: "pass", title: "Passed", words, established: true };
}

/** A warning about a rule that is a MUST: nobody could tell from outside whether it held. */
const isUntold = ({ verdict, clause }: Pick<RecordedResult, "verdict" | "clause">): boolean =>
  verdict === "warn" && clause.level === "MUST";

/** Results in the order of reports, those of one verdict as they ran. */
export function grouped<Result extends Pick<RecordedResult, "verdict">>(
  results: readonly Result[],
): readonly { readonly verdict: Verdict; readonly results: readonly Result[] }[] {
  return VERDICTS.map((verdict) => ({
    verdict,
    results: results.filter((result) => result.verdict === verdict),
  })).filter(({ results }) => results.length > 0);
}

/** A call, or the endpoint, with what was found on it. */
export interface Part<Result> {
  /** Undefined of the endpoint as a whole. */
  readonly name: string | undefined;
  /** Undefined of the endpoint, and of a call that the record does not hold. */
  readonly call: RecordedCall | undefined;
  readonly results: readonly Result[];
}

/** Results by call, in the order of the calls, the endpoint last; every result is in one part, and no part is empty. */
export function partsOf<Result extends { readonly call?: string }>(
  calls: readonly RecordedCall[],
  results: readonly Result[],
): readonly Part<Result>[] {
  const names = new Set([...calls.map(({ name }) => name), ...results.flatMap(({ call }) => call ?? [])]);
  return [...names, undefined]
    .map((name) => ({
      name,
      call: name === undefined ? undefined : calls.find((call) => call.name === name),
      results: results.filter(({ call }) => call === name),
    }))
    .filter((part) => part.results.length > 0);
}

/** Calls that no check was tried on, for example since they asked for nothing. */
export function uncheckedOf({ calls, results }: Pick<ReviewRecord, "calls" | "results">): readonly string[] {
  const checked = new Set(results.map(({ call }) => call));
  return calls.filter(({ name }) => !checked.has(name)).map(({ name }) => shown(name, MAX_NAME));
}

/** How a list of them begins. */
export const UNCHECKED = "No check was tried on what follows: it asked for nothing, or could not be called.";

/** Why something was not tried, and all that was not tried for this reason. */
export interface Untried<Result> {
  readonly verdict: "inconclusive" | "warn" | "not_applicable";
  readonly words: string;
  readonly results: readonly Result[];
}

/** What the reviewer cannot vouch for, by reason; inconclusive ones first, then warnings about a MUST. */
export function untriedOf<Result extends Pick<RecordedResult, "verdict" | "words" | "clause">>(
  results: readonly Result[],
): readonly Untried<Result>[] {
  return (["inconclusive", "warn", "not_applicable"] as const).flatMap((verdict) => {
    const those = results.filter(
      (result) => result.verdict === verdict && (verdict !== "warn" || isUntold(result)),
    );
    return [...Map.groupBy(those, ({ words }) => words)].map(([words, results]) => ({
      ...{ verdict, words, results },
    }));
  });
}

/** Where a result belongs. */
export const placeOf = ({ call }: { readonly call?: string | undefined }): string =>
  call === undefined ? "the endpoint" : shown(call, MAX_NAME);

/** Finds exchanges by their numbers; numbers that nothing stands for are left out, and none comes twice. */
export type Find = (numbers: readonly number[]) => readonly RecordedExchange[];

/** See `Find`. */
export function finderOf({ exchanges }: Pick<ReviewRecord, "exchanges">): Find {
  const all = new Map(exchanges.map((exchange) => [exchange.number, exchange]));
  return (numbers) => [...new Set(numbers)].flatMap((number) => all.get(number) ?? []);
}

const CALLERS = { first: "", second: " as the second principal", nobody: " without a credential" } as const;

/** What was sent, in a few words. */
export function sentWords({ caller, sent }: RecordedExchange): string {
  const { method, params } = sent.message;
  const inner = typeof params === "object" && params !== null ? (params as Record<string, unknown>) : {};
  const target = inner["name"] ?? inner["uri"];
  const name = typeof target === "string" ? ` ${shown(target, MAX_NAME)}` : "";
  const carried = ["requestState", "inputResponses"].filter((member) => member in inner);
  const tail = carried.length === 0 ? "" : ` with ${carried.join(" and ")}`;
  return `${typeof method === "string" ? shown(method, MAX_NAME) : "(no method)"}${name}${tail}${CALLERS[caller]}`;
}

/** What came back, in a few words. */
export function receivedWords({ received }: RecordedExchange): string {
  if (received.kind === "none") {
    const status = received.status === undefined ? "" : `HTTP ${received.status}: `;
    return `${status}${shown(received.words, 300)}`;
  }
  if (received.kind === "error")
    return `HTTP ${received.status}: error ${received.code}, ${shown(received.message, 300)}`;
  const failed = received.result["isError"] === true ? " with isError" : "";
  return `HTTP ${received.status}: ${shown(received.resultType, 60)}${failed}`;
}

/** What the review spoke with, who the server says it is, and how long it took. */
export function factsOf(record: ReviewRecord): readonly (readonly [string, string])[] {
  const { server, options, startedAt, endedAt } = record;
  const { limits } = options;
  const seconds = Math.max(0, (Date.parse(endedAt) - Date.parse(startedAt)) / 1_000);
  const named = [server.name, server.version].filter((text) => text !== undefined);
  return [
    ["Endpoint", shown(record.endpoint, 300)],
    [
      "Server",
      named.length === 0
        ? "does not say its name"
        : `${named.map((text) => shown(text, MAX_NAME)).join(" ")} (its own words)`,
    ],
    ["Protocol", shown(server.protocolVersion ?? "not established", MAX_NAME)],
    [
      "Reviewed",
      `${startedAt.slice(0, 19).replace("T", " ")} UTC, ${counted(record.exchanges.length, "exchange")} in ${seconds.toFixed(1)} s`,
    ],
    ["Calls", `${record.calls.length}, from ${options.plan === "file" ? "a plan file" : "discovery"}`],
    ["Principals", options.secondPrincipal ? "two" : "one: nothing was tried as somebody else"],
    [
      "Effects",
      options.effectProbe === undefined
        ? "not looked at: no effect probe was given"
        : `looked at with ${shown(options.effectProbe, 300)}`,
    ],
    [
      "Limits",
      [
        ...(limits.requests === undefined ? [] : [`at most ${counted(limits.requests, "request")}`]),
        ...(limits.requestsPerSecond === undefined ? [] : [`${limits.requestsPerSecond} a second`]),
        `${limits.timeoutMs / 1_000} s for an answer`,
        limits.waitMs === 0
          ? "no waiting for an expiry"
          : `up to ${limits.waitMs / 1_000} s of waiting for an expiry`,
      ].join(", "),
    ],
    ["By", `${record.program.name} ${shown(record.program.version, MAX_NAME)}`],
  ];
}
