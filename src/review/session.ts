/** What a check sends through: one planned call, kept to what the plan allows. Implements `Session` of `check.ts`. */
import { isObject, type Json, own } from "../mcp/parsed.ts";
import { answerTo } from "./answering.ts";
import { type Asked, type Caller, type Change, Inconclusive, NotAllowed, type Session } from "./check.ts";
import { type Exchange, isAsking, isDone } from "./exchange.ts";
import { checkPermitted, type Permit, permitsOf, targetMember } from "./permits.ts";
import type { PlannedCall } from "./plan.ts";
import { replyWords } from "./replies.ts";
import { CAPABILITIES, writeRequest } from "./requests.ts";
import type { Wire } from "./wire.ts";

/** Rounds that an honest client answers at most where the plan does not say it. */
export const MAX_ROUNDS = 10;

/** What a session stands on. */
export interface SessionOptions {
  readonly wire: Pick<Wire, "send">;
  readonly call: PlannedCall;
  readonly hasSecond: boolean;
  readonly listed: Json | undefined;
  readonly mapped: readonly Exchange[];
  /** Of this program. */
  readonly version: string;
  /** A new JSON-RPC id for each request of the review. */
  readonly nextId: () => string | number;
  readonly probe?: (() => Promise<string>) | undefined;
  readonly wait: (ms: number) => Promise<boolean>;
  /** What the exchanges are for where nothing more is known, such as the title of a check. */
  readonly label: string;
}

interface Request {
  readonly label: string;
  readonly method: string;
  readonly params: Json;
  readonly change: Change;
  readonly caller: Caller;
}

/** A session for one call. */
export function createSession(options: SessionOptions): Session {
  const { wire, call, hasSecond, listed, mapped, version, nextId, label } = options;
  const permits: readonly Permit[] = permitsOf(call);

  async function send({ label: what, method, params, change, caller }: Request): Promise<Exchange> {
    const { id = nextId(), capabilities = CAPABILITIES, cutAfterMs } = change;
    if (caller === "second" && !hasSecond) throw new NotAllowed("the plan has no second principal");
    const written = writeRequest(id, method, params, {
      version,
      capabilities,
      listed,
      protocolVersion: change.protocolVersion,
    });
    const headers = changedHeaders(written.headers, change.headers);
    checkPermitted(written.message, headers, permits, call.complete);
    const { message } = written;
    return heard(await wire.send({ label: `${label}: ${what}`, caller, message, headers, cutAfterMs }));
  }

  async function first(change: Change = {}): Promise<Exchange> {
    const method = change.method ?? call.method;
    const params = paramsOf(method, change.target ?? call.target, change.arguments ?? call.arguments);
    const carried = carriers(change, undefined, undefined);
    const what = changed("first call", change);
    return send({
      label: what,
      method,
      params: { ...params, ...carried },
      change,
      caller: change.caller ?? "first",
    });
  }

  async function retry(asked: Asked, change: Change = {}): Promise<Exchange> {
    const sent = asked.exchange.sent;
    const before = own(sent.message, "params");
    const origin = isObject(before) ? before : {};
    const method = change.method ?? String(sent.message["method"]);
    const target = change.target ?? String(origin[targetMember(String(sent.message["method"])) ?? "name"]);
    const args = change.arguments ?? origin["arguments"];
    const answered = "inputResponses" in change ? undefined : session.answers(asked);
    const carried = carriers(change, asked.requestState, answered);
    return send({
      label: changed(`retry of round ${asked.round}`, change),
      method,
      params: { ...paramsOf(method, target, isObject(args) ? args : {}), ...carried },
      change,
      caller: change.caller ?? sent.caller,
    });
  }

  const session: Session = {
    call,
    hasSecond,
    listed,
    mapped,
    first,
    retry,
    async begin(change = {}) {
      const exchange = await first(change);
      const asked = askedIn(exchange, 1);
      if (asked === undefined)
        throw new Inconclusive(
          `the first call did not end in input_required, it came to ${replyWords(exchange)}`,
          [exchange],
        );
      return asked;
    },
    next: (asked, reply) => askedIn(reply, asked.round + 1),
    async complete(asked) {
      const most = call.maxRounds ?? MAX_ROUNDS;
      let open: Asked | undefined = asked;
      const seen: Exchange[] = [];
      while (open !== undefined && open.round <= most) {
        const reply: Exchange = await retry(open);
        seen.push(reply);
        if (isDone(reply)) return reply;
        open = askedIn(reply, open.round + 1);
      }
      const why =
        open === undefined ? "honest answers did not complete the call" : `no end after ${most} rounds`;
      throw new Inconclusive(why, [asked.exchange, ...seen]);
    },
    answers(asked, action = "accept") {
      const entries = Object.entries(asked.inputRequests).flatMap(([key, request]) => {
        const planned = own(call.answers, key) ?? own(call.answers, "*");
        const answer = answerTo(key, request, planned as PlannedCall["answers"][string] | undefined, action);
        return answer === undefined ? [] : [[key, answer] as const];
      });
      if (action !== "accept" && entries.length === 0)
        throw new Inconclusive(`nothing is asked that can be answered with ${action}`, [asked.exchange]);
      return Object.fromEntries(entries);
    },
    ask(method, params = {}, change = {}) {
      const carried = carriers(change, undefined, undefined);
      const caller = change.caller ?? "first";
      return send({
        label: changed(method, change),
        method: change.method ?? method,
        params: { ...params, ...carried },
        change,
        caller,
      });
    },
    probe: async () => options.probe?.(),
    wait: options.wait,
  };
  return session;
}

/** HTTP statuses by which a server, or what stands before it, refuses whatever it is: that says nothing of what was tried. */
const UNHEARD: ReadonlyMap<number, string> = new Map([
  [429, "limits how often it may be asked; a lower rate may help"],
  [502, "could not be reached behind what answered"],
  [503, "was not available"],
  [504, "was not reached in time behind what answered"],
]);

/** @throws Inconclusive for a refusal that would be taken for one of what was tried */
function heard(exchange: Exchange): Exchange {
  const { sent, received } = exchange;
  const said = received.kind === "error" ? `: ${replyWords(exchange)}` : "";
  if (received.status === 401 && sent.caller !== "nobody")
    throw new Inconclusive(
      `the credential of the ${sent.caller} principal is not accepted (HTTP 401)${said}`,
      [exchange],
    );
  const why = UNHEARD.get(received.status ?? 0);
  if (why !== undefined)
    throw new Inconclusive(`the server ${why} (HTTP ${received.status})${said}`, [exchange]);
  return exchange;
}

/** The round that an exchange opens, if it ends in questions. */
export function askedIn(exchange: Exchange, round: number): Asked | undefined {
  if (!isAsking(exchange) || exchange.received.kind !== "result") return undefined;
  const { result } = exchange.received;
  const requests = own(result, "inputRequests");
  return {
    exchange,
    id: exchange.sent.message["id"] as string | number,
    inputRequests: isObject(requests) ? requests : {},
    requestState: own(result, "requestState"),
    round,
  };
}

/** The params that name a target. */
function paramsOf(method: string, target: string, args: Json): Json {
  const member = targetMember(method);
  if (member === undefined) return {};
  return member === "uri" ? { uri: target } : { name: target, arguments: args };
}

/** State and answers, those of the change where it names them. */
function carriers(change: Change, state: unknown, answers: Json | undefined): Json {
  const requestState = "requestState" in change ? change.requestState : state;
  const inputResponses = "inputResponses" in change ? change.inputResponses : answers;
  const isEmpty = inputResponses === answers && answers !== undefined && Object.keys(answers).length === 0;
  return {
    ...(requestState === undefined ? {} : { requestState }),
    ...(inputResponses === undefined || isEmpty ? {} : { inputResponses }),
  };
}

function changedHeaders(
  headers: Readonly<Record<string, string>>,
  change: Change["headers"],
): Record<string, string> {
  const all: Record<string, string> = { ...headers };
  for (const [name, value] of Object.entries(change ?? {})) {
    if (value === undefined) delete all[name.toLowerCase()];
    else all[name.toLowerCase()] = value;
  }
  // Who calls is decided by the caller alone.
  delete all["authorization"];
  return all;
}

/** The label of a request, with what differs from the honest one. */
function changed(what: string, change: Change): string {
  const differs = [
    ...(change.caller === "second" ? ["as the second principal"] : []),
    ...(change.caller === "nobody" ? ["as nobody"] : []),
    ...(change.method === undefined ? [] : [`by ${change.method}`]),
    ...(change.target === undefined ? [] : ["of another target"]),
    ...(change.arguments === undefined ? [] : ["with other arguments"]),
    ...("requestState" in change
      ? [change.requestState === undefined ? "without state" : "with another state"]
      : []),
    ...("inputResponses" in change
      ? [change.inputResponses === undefined ? "without answers" : "with given answers"]
      : []),
    ...(change.id === undefined ? [] : ["with a given id"]),
    ...(change.capabilities === undefined ? [] : ["with other capabilities"]),
    ...(change.protocolVersion === undefined ? [] : ["with another protocol version"]),
    ...(change.headers === undefined ? [] : ["with other headers"]),
    ...(change.cutAfterMs === undefined ? [] : ["cut"]),
  ];
  return differs.length === 0 ? what : `${what}, ${differs.join(", ")}`;
}
