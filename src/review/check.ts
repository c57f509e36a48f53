/**
 * What a check of the reviewer is: one rule of the field, how it is tried from outside, and what may be said of it.
 * Checks send only through their `Session`, which keeps to the plan: they cannot call what was not allowed.
 */
import type { Json } from "../mcp/parsed.ts";
import type { Exchange } from "./exchange.ts";
import type { PlannedCall } from "./plan.ts";

/**
 * `warn`: against a SHOULD, or not to be told for certain. `inconclusive`: what the check builds on did not come about, which
 * never counts as a pass. `not_applicable`: nothing of the kind is there, or the plan does not allow to try it.
 */
export type Verdict = "pass" | "fail" | "warn" | "not_applicable" | "inconclusive";

/** Where the rule stands. */
export interface Clause {
  readonly level: "MUST" | "SHOULD" | "advice";
  /** The rule in our words, one sentence. */
  readonly text: string;
  /** A page of the specification, such as `basic/patterns/mrtr`, or an RFC with its section. */
  readonly source: string;
}

/** What a check has found. */
export interface Finding {
  readonly verdict: Verdict;
  /** What was tried and what came of it, a sentence or two for people; never a state, an answer or a token. */
  readonly words: string;
  /** Those that show it, in order. */
  readonly exchanges: readonly Exchange[];
}

/** One rule. */
export interface Check {
  /** `group/name` in lower case and dashes. */
  readonly id: string;
  readonly title: string;
  readonly clause: Clause;
  /** What the owner of a server that fails does about it. */
  readonly advice: string;
  /** Whether it carries the call out (an accepted round trip), which a plan can forbid. */
  readonly completes: boolean;
  /** @throws Inconclusive, and nothing else for anything a server does; what the session throws may pass */
  run(session: Session): Promise<Finding>;
}

/** What a check builds on did not come about. Its message says what, as in `Finding.words`. */
export class Inconclusive extends Error {
  override readonly name = "Inconclusive";
  readonly exchanges: readonly Exchange[];

  constructor(message: string, exchanges: readonly Exchange[] = []) {
    super(message);
    this.exchanges = exchanges;
  }
}

/** The plan does not allow what a check was about to send; nothing was sent. Sessions throw it, checks let it pass. */
export class NotAllowed extends Error {
  override readonly name = "NotAllowed";
}

/** How names of targets and methods begin that are made up: of those nobody has, any may be sent. */
export const INVENTED = "sealgate-review";

/** Who calls: the first principal of the plan unless told otherwise; `nobody` sends no credential. */
export type Caller = "first" | "second" | "nobody";

/** A request that differs from the honest one. */
export interface Change {
  readonly caller?: Caller;
  readonly method?: string;
  /** Of tools/call and prompts/get the name, of resources/read the uri. */
  readonly target?: string;
  readonly arguments?: Json;
  /** `undefined` leaves it away. */
  readonly requestState?: unknown;
  /** `undefined` leaves them away. */
  readonly inputResponses?: unknown;
  /** The JSON-RPC id; a new one otherwise. */
  readonly id?: string | number;
  /** In place of all that the reviewer can answer. */
  readonly capabilities?: Json;
  /** In place of the revision that the reviewer speaks, in body and header. */
  readonly protocolVersion?: string;
  /** Over those that mirror the body; `undefined` leaves one away. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  /** Cuts the connection once the request is written, or milliseconds after that. */
  readonly cutAfterMs?: number;
}

/** A round trip that waits for its answer. */
export interface Asked {
  readonly exchange: Exchange;
  readonly id: string | number;
  /** Key → the request as the server wrote it. */
  readonly inputRequests: Readonly<Record<string, unknown>>;
  readonly requestState: unknown;
  readonly round: number;
}

/** Everything a check can do, for one planned call. All that sends throws NotAllowed before it sends what the plan does not allow. */
export interface Session {
  readonly call: PlannedCall;
  /** Whether there is a second principal to try with. */
  readonly hasSecond: boolean;
  /** What the server lists of this call's target (a tool with its annotations), if it lists it. */
  readonly listed: Json | undefined;
  /** Everything sent for the map of the round trip before checks began: first call, questions, retries, result. */
  readonly mapped: readonly Exchange[];

  /** Sends a first call. @throws Inconclusive if it does not end in `input_required` and `expects` is not `anything` */
  begin(change?: Change): Promise<Asked>;
  /** Sends a first call, whatever comes of it. */
  first(change?: Change): Promise<Exchange>;
  /** Sends the retry of a round trip; honest but for `change`: the state as it came, the plan's answers, a new id. */
  retry(asked: Asked, change?: Change): Promise<Exchange>;
  /** The round that a retry's reply opens, if it asks again. */
  next(asked: Asked, reply: Exchange): Asked | undefined;
  /** Answers honestly until it is over. @throws Inconclusive if it ends in anything but a complete result that is no error */
  complete(asked: Asked): Promise<Exchange>;
  /** The honest answers for a round: from the plan, else made from the schema. @throws Inconclusive if none can be made */
  answers(asked: Asked, action?: "accept" | "decline" | "cancel"): Readonly<Record<string, Json>>;
  /** Sends any other read-only request, such as a list. */
  ask(method: string, params?: Json, change?: Change): Promise<Exchange>;
  /** What the effect probe says now: equal texts, equal effects. `undefined` without a probe. @throws Inconclusive */
  probe(): Promise<string | undefined>;
  /** Waits, if the plan allows so long; false otherwise. */
  wait(ms: number): Promise<boolean>;
}
