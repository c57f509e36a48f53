/**
 * What a caller may still do on a route (`limits.perPrincipal`): requests in a window, requests and streams at once, chains that
 * wait for an answer; but for streams at all gateways together. It protects servers, and callers from each other; it decides on nothing that single use rests on, and so goes
 * on in this process alone while Redis is away.
 *
 * A retry that belongs to a chain is not counted: its chain was, when it began. Whether it does is known when its state is redeemed;
 * one that was not counts afterwards.
 */
import type { Draft } from "../audit/record.ts";
import { REFUSALS, Refusal, type RefusalCode } from "../errors.ts";
import type { Place, Slot } from "../limits.ts";
import type { Principal } from "../principal/principal.ts";
import { callerOn } from "./caller.ts";
import { Leases } from "./leases.ts";
import { type OpenChain, OpenRounds, type View } from "./open-rounds.ts";
import { CallerPlaces, type MostAtOnce } from "./places.ts";
import { SharedCounts, type SharedCountsOptions } from "./shared-counts.ts";
import { type Counted, type Rate, Windows } from "./windows.ts";

/** The limits of one route; what is absent has no bound. */
export interface CallerLimits extends MostAtOnce {
  readonly requests?: Rate | undefined;
  readonly openRounds?: number | undefined;
}

/**
 * What a message is, as far as it is counted: a request; a retry that brings a state; a poll of a task, which belongs to a call that
 * was counted and has a window of its own.
 */
export type Kind = "request" | "retry" | "poll";

/** Counters that all gateways share, where there is a Redis; of requests in flight there are none without. */
interface Counts {
  readonly windows: Windows;
  readonly rounds: OpenRounds;
  readonly leases: Leases | undefined;
}

/** What all callers of this process are counted with. */
export class Allowances {
  readonly #open: (() => SharedCounts) | undefined;
  readonly #now: () => number;
  #shared: SharedCounts | undefined;
  #counts: Counts | undefined;
  readonly places = new CallerPlaces();

  /**
   * @param shared how to reach the Redis that gateways count in; without it this process counts alone
   * @param now milliseconds since the epoch
   */
  constructor(shared: SharedCountsOptions | undefined, now: () => number) {
    this.#open = shared === undefined ? undefined : () => new SharedCounts(shared);
    this.#now = now;
  }

  /** Connects, where a route has limits that need it. @throws Error for a Redis that cannot be used */
  prepare(limits: readonly CallerLimits[]): void {
    if (limits.some(({ streams: _, ...counted }) => Object.values(counted).some((one) => one !== undefined)))
      void this.counts;
  }

  /** Counters that are made when they are first needed. */
  get counts(): Counts {
    if (this.#counts === undefined) {
      this.#shared = this.#open?.();
      this.#counts = {
        windows: new Windows(this.#shared, this.#now),
        rounds: new OpenRounds(this.#shared, this.#now),
        leases: this.#shared && new Leases(this.#shared),
      };
    }
    return this.#counts;
  }

  /** Whether this process counts alone although others count too, since Redis is away. */
  get alone(): boolean {
    return this.#shared?.away === true;
  }

  /** What this caller may do on this route; undefined where there are no limits. */
  of(limits: CallerLimits, route: string, principal: Principal, address: string): Allowance | undefined {
    const { requests, concurrent, streams, openRounds } = limits;
    if (
      requests === undefined &&
      concurrent === undefined &&
      streams === undefined &&
      openRounds === undefined
    )
      return undefined;
    return new Allowance(this, limits, callerOn(route, principal, address));
  }

  /** Ends the link to Redis. */
  async close(): Promise<void> {
    this.#counts?.leases?.close();
    await this.#shared?.close();
  }
}

/** Refusals that say nothing of the caller, or were counted already. */
const NOT_COUNTED: ReadonlySet<RefusalCode> = new Set([
  "rate_limited",
  "concurrency_limited",
  "streams_limited",
  "open_rounds_limited",
  "too_many_requests",
  "too_many_streams",
]);

/** Refusals of a retry whose caller was told to send it again, since others have to approve: too many are a flood all the same. */
const WAITING: ReadonlySet<RefusalCode> = new Set(["approval_pending", "approvals_limited"]);

/** The allowance of one request. */
export class Allowance {
  readonly #all: Allowances;
  readonly #limits: CallerLimits;
  readonly #caller: string;
  #counted = false;
  #isRetry = false;
  #view: View | undefined;
  #lease: Slot | undefined;
  #over = false;

  constructor(all: Allowances, limits: CallerLimits, caller: string) {
    this.#all = all;
    this.#limits = limits;
    this.#caller = caller;
  }

  /** Takes one of the caller's own places. @throws Refusal `concurrency_limited`, `streams_limited` */
  enter(kind: Place): Slot {
    return this.#all.places.enter(this.#caller, this.#limits, kind);
  }

  /**
   * Takes a place among the caller's requests at all gateways, once; undefined where nobody has to be asked.
   * @throws Refusal `concurrency_limited`
   */
  share(): Promise<void> | undefined {
    const { concurrent } = this.#limits;
    const leases = concurrent === undefined ? undefined : this.#all.counts.leases;
    return leases === undefined || concurrent === undefined ? undefined : this.#take(leases, concurrent);
  }

  async #take(leases: Leases, most: number): Promise<void> {
    const lease = await leases.take(this.#caller, most);
    if (lease === undefined) throw new Refusal("concurrency_limited", "caller_requests");
    // The client has left meanwhile, and nobody will say so again.
    if (this.#over) lease.leave();
    else this.#lease = lease;
  }

  /**
   * Before a body is read: a caller who has used the window up does not have a large one read. A retry fits into what is always read.
   * @param bytes as announced; undefined where it is not
   * @throws Refusal `rate_limited`
   */
  checkBody(bytes: number | undefined, alwaysRead: number): void {
    if (bytes !== undefined && bytes <= alwaysRead) return;
    const ms = this.#blockedFor("requests");
    if (ms > 0) throw rateLimited("requests", ms);
  }

  /**
   * Counts a message that is to be served, once, and waits for Redis once at most. A retry is only looked at.
   * @param mayAsk whether its answer can be a question
   * @throws Refusal `rate_limited`
   */
  async admit(kind: Kind, mayAsk: boolean): Promise<void> {
    if (kind === "retry") {
      this.#isRetry = true;
      const ms = this.#blockedFor("retries");
      if (ms > 0) throw rateLimited("retries", ms);
      return;
    }
    if (this.#counted) return;
    this.#counted = true;
    const { requests, openRounds } = this.#limits;
    const what = kind === "poll" ? "polls" : "requests";
    const waiting = this.#blockedFor(what);
    if (waiting > 0) throw rateLimited(what, waiting);
    if (mayAsk && openRounds !== undefined) this.#look();
    const [ms] = await Promise.all([
      requests === undefined ? 0 : this.#all.counts.windows.count(requests, this.#caller, what),
      this.#view?.ready,
    ]);
    if (ms > 0) throw rateLimited(what, ms);
  }

  /**
   * A question is about to leave.
   * @param begun whether it is the first of its chain; no other is ever refused
   * @throws Refusal `open_rounds_limited`
   */
  openRound(chain: OpenChain, begun: boolean): void {
    const { openRounds } = this.#limits;
    if (openRounds === undefined) return;
    const { rounds } = this.#all.counts;
    if (begun) {
      if (this.#look().count() >= openRounds) throw new Refusal("open_rounds_limited", "caller_rounds");
    }
    rounds.opened(this.#caller, chain, begun);
  }

  /** The request is decided; what is owed is counted, and nobody waits for that. Never throws. */
  settle({ state, outcome, code, chain }: Draft): void {
    const spent = state === "redeemed" || state === "released";
    if (state === "redeemed" && outcome !== "input_required" && chain !== undefined) {
      if (this.#limits.openRounds !== undefined) this.#all.counts.rounds.closed(this.#caller, chain);
    }
    const { requests } = this.#limits;
    if (this.#counted || spent || requests === undefined) return;
    if (code !== undefined && (NOT_COUNTED.has(code) || REFUSALS[code].status >= 500)) return;
    this.#counted = true;
    const { windows } = this.#all.counts;
    if (code === undefined || !WAITING.has(code)) void windows.count(requests, this.#caller, "requests");
    if (this.#isRetry) void windows.count(requests, this.#caller, "retries");
  }

  /** The request is over. */
  end(): void {
    this.#over = true;
    this.#lease?.leave();
    this.#view?.end();
  }

  #look(): View {
    this.#view ??= this.#all.counts.rounds.look(this.#caller);
    // The client has left already, and nobody will say so again.
    if (this.#over) this.#view.end();
    return this.#view;
  }

  #blockedFor(what: Counted): number {
    const { requests } = this.#limits;
    return requests === undefined ? 0 : this.#all.counts.windows.blockedFor(requests, this.#caller, what);
  }
}

function rateLimited(cause: Counted, ms: number): Refusal {
  return new Refusal("rate_limited", `caller_${cause}`, {
    headers: { "retry-after": String(Math.ceil(ms / 1000)) },
  });
}
