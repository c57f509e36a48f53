/**
 * A review: each call's round trip is mapped, then every check is tried on it, one after the other. Whatever stops it, what was done
 * is in the record, and what was not is inconclusive there.
 */

import { PlanMisfit, unaskedIn } from "./answering.ts";
import { type Check, type Finding, Inconclusive, NotAllowed, type Session } from "./check.ts";
import { type Listing, listedOf } from "./discovery.ts";
import { type Exchange, isAsking, isDone } from "./exchange.ts";
import type { Clock } from "./pace.ts";
import { checkPermitted } from "./permits.ts";
import type { Plan, PlannedCall } from "./plan.ts";
import { createProbe, type Look, unsettled, withLooks } from "./probe.ts";
import type { RecordedResult, ReviewRecord } from "./record.ts";
import { recordedCall, recordedResult, recordOf } from "./recording.ts";
import { createRedaction } from "./redaction.ts";
import { replyWords } from "./replies.ts";
import { CAPABILITIES, writeRequest } from "./requests.ts";
import { askedIn, createSession, MAX_ROUNDS, type SessionOptions } from "./session.ts";
import { FITTING, REVIEWABLE, type Unreviewed } from "./unreviewed.ts";
import type { Wire } from "./wire.ts";

/** Told while it goes on. */
export interface Watcher {
  checking(
    check: { readonly check: string; readonly title: string; readonly call: string },
    position: number,
    total: number,
  ): void;
  found(result: RecordedResult): void;
  note(text: string): void;
}

/** What a review stands on. */
export interface ReviewOptions {
  readonly plan: Plan;
  readonly checks: readonly Check[];
  readonly wire: Wire;
  readonly listing: Listing;
  readonly clock: Clock;
  /** The one that the wire has. */
  readonly signal: AbortSignal;
  /** Of this program. */
  readonly version: string;
  readonly nextId: () => number;
  readonly showArguments: boolean;
  /** What was not allowed, a sentence each. */
  readonly forbidden: readonly string[];
  /** What was named and is no part of the plan, since it cannot be called. */
  readonly unreviewed?: readonly Unreviewed[];
  readonly watcher: Watcher;
}

/** How it ended. */
export interface Reviewed {
  readonly record: ReviewRecord;
  /** The signal stopped it. */
  readonly stopped: boolean;
  /** What a check threw that it must not: a fault of this program. */
  readonly fault: unknown;
}

/** Reviews. Never throws for anything that a server does. */
export async function review(options: ReviewOptions): Promise<Reviewed> {
  const { plan, checks, clock, signal, watcher } = options;
  const startedAt = clock.now();
  const mapped = new Map<PlannedCall, readonly Exchange[]>();
  const found: {
    readonly check: Named;
    readonly call: string;
    readonly finding: Finding;
    readonly isProbed: boolean;
  }[] = [];
  const { probe: planned } = plan;
  const probe = planned === undefined ? undefined : createProbe(() => sendProbe(options, planned));
  const redaction = createRedaction(plan, options.showArguments || plan.source === "discovery");
  const total = plan.calls.length * checks.length;
  let fault: unknown;
  let ended: string | undefined;
  const stop = (error: unknown): undefined => {
    if (!signal.aborted) fault ??= error;
    ended = signal.aborted
      ? "the review was stopped before this was tried"
      : "the review broke off before this was tried";
  };
  const tell = (check: Named, call: string, finding: Finding, isProbed = false): void => {
    found.push({ check, call, finding, isProbed });
    watcher.found(recordedResult(check, call, finding, redaction));
  };
  for (const { name, words, exchanges } of options.unreviewed ?? [])
    tell(REVIEWABLE, name, { verdict: "inconclusive", words, exchanges });
  let position = 0;
  for (const call of plan.calls) {
    const map: Exchange[] = [];
    mapped.set(call, map);
    const base = { ...sessionBase(options, call), mapped: map };
    let why: string | undefined;
    let misfit: PlanMisfit | undefined;
    if (ended === undefined) {
      watcher.note(`${call.name}: mapping the round trip`);
      why = await mapTrip(createSession({ ...base, label: "map" }), map).catch((error: unknown) => {
        if (!(error instanceof PlanMisfit)) return stop(error);
        misfit = error;
        return undefined;
      });
      misfit ??= unaskedIn(call, map);
    }
    // With a plan that does not fit, whatever came of a check would be laid to the server.
    if (misfit !== undefined) {
      tell(FITTING, call.name, { verdict: "inconclusive", words: misfit.message, exchanges: map });
      position += checks.length;
      continue;
    }
    const asks = map[0] !== undefined && isAsking(map[0]);
    const [first] = map;
    if (!asks && plan.source === "discovery" && ended === undefined) {
      if (why === undefined && first !== undefined && isDone(first))
        watcher.note(`${call.name}: asks for nothing, so there is nothing to review`);
      else
        tell(REVIEWABLE, call.name, {
          verdict: "inconclusive",
          words: why ?? noQuestion(map),
          exchanges: map,
        });
      position += checks.length;
      continue;
    }
    for (const check of checks) {
      position += 1;
      if (ended !== undefined || !asks) {
        const words = ended ?? why ?? noQuestion(map);
        tell(check, call.name, { verdict: "inconclusive", words, exchanges: map.slice(0, 1) });
        continue;
      }
      watcher.checking({ check: check.id, title: check.title, call: call.name }, position, total);
      const watch = probe?.watch();
      const session = createSession({ ...base, label: check.id, probe: watch && (() => watch.take()) });
      const finding = await tryCheck(check, session).catch(stop);
      const looks = watch?.exchanges ?? [];
      const told = finding ?? { verdict: "inconclusive" as const, words: ended ?? "", exchanges: [] };
      tell(check, call.name, withLooks(told, looks), looks.length > 0);
    }
  }
  // In the order in which they were sent, so that every state has its name before it comes back.
  const exchanges = options.wire.exchanges.toSorted((a, b) => a.number - b.number).map(redaction.exchange);
  const calls = [...mapped].map(([call, map]) => recordedCall(call, map, redaction));
  const isRestless = probe?.isRestless() === true;
  if (isRestless) watcher.note("the effect probe changed by itself: what was found with it does not hold");
  const results = found.map(({ check, call, finding, isProbed }) =>
    recordedResult(check, call, isRestless && isProbed ? unsettled(finding) : finding, redaction),
  );
  const { listing, version, forbidden } = options;
  const times = { startedAt, endedAt: clock.now() };
  const about = { plan, listing, version, forbidden, ...times };
  const record = recordOf(about, { calls, results, exchanges }, redaction);
  return { record, stopped: signal.aborted, fault };
}

type Named = Omit<Check, "run" | "completes">;

/** What the first call came to, where that is no question. */
function noQuestion([first]: readonly Exchange[]): string {
  const came = first === undefined ? "nothing" : replyWords(first);
  return `the first call did not end in a question, so nothing was tried; it came to ${came}`;
}

/** @throws what is neither a finding nor a reason for none */
async function tryCheck(check: Check, session: Session): Promise<Finding> {
  if (check.completes && !session.call.complete)
    return { verdict: "not_applicable", words: "the plan does not allow to accept", exchanges: [] };
  try {
    return await check.run(session);
  } catch (error) {
    if (error instanceof Inconclusive)
      return { verdict: "inconclusive", words: error.message, exchanges: error.exchanges };
    if (error instanceof NotAllowed)
      return { verdict: "not_applicable", words: error.message, exchanges: [] };
    throw error;
  }
}

/**
 * Goes through the round trip once, as an honest client; declines where the plan does not allow to accept.
 * @returns why it went no further, where that was not the server's doing
 */
async function mapTrip(session: Session, map: Exchange[]): Promise<string | undefined> {
  const action = session.call.complete ? "accept" : "decline";
  const most = session.call.maxRounds ?? MAX_ROUNDS;
  try {
    map.push(await session.first());
    for (let round = 1; round <= most; round += 1) {
      const last = map.at(-1);
      const asked = last === undefined ? undefined : askedIn(last, round);
      if (asked === undefined || (action === "decline" && round > 1)) return undefined;
      map.push(await session.retry(asked, { inputResponses: session.answers(asked, action) }));
    }
  } catch (error) {
    if (error instanceof NotAllowed) return error.message;
    if (!(error instanceof Inconclusive) || error instanceof PlanMisfit) throw error;
    map.push(...error.exchanges.filter((exchange) => !map.includes(exchange)));
    return error.message;
  }
  return undefined;
}

function sessionBase(options: ReviewOptions, call: PlannedCall): Omit<SessionOptions, "label" | "mapped"> {
  const { plan, wire, version, nextId, clock, signal, listing } = options;
  const { hasSecond } = plan;
  return {
    wire,
    call,
    hasSecond,
    version,
    nextId,
    listed: listedOf(listing, call),
    wait: async (ms) => {
      if (ms > plan.limits.waitMs) return false;
      await clock.sleep(ms, signal);
      return true;
    },
  };
}

async function sendProbe(
  { wire, version, nextId, listing }: ReviewOptions,
  probe: NonNullable<Plan["probe"]>,
): Promise<Look> {
  const { method, target, arguments: args } = probe;
  const params = method === "resources/read" ? { uri: target } : { name: target, arguments: args };
  const written = writeRequest(nextId(), method, params, {
    version,
    capabilities: CAPABILITIES,
    listed: listedOf(listing, probe),
  });
  checkPermitted(written.message, written.headers, [{ method, target, arguments: [args] }], false);
  const exchange = await wire.send({ label: "effect probe", caller: "first", ...written });
  if (exchange.received.kind !== "result" || !isDone(exchange))
    throw new Inconclusive("the effect probe did not come to a result", [exchange]);
  return { said: sorted({ ...exchange.received.result, _meta: null }), exchange };
}

/** A text that is the same for the same JSON, in whatever order its members stand. */
function sorted(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
