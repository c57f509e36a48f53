/** What tests of the whole gateway have in common: an upstream that asks once and then acts, and requests for it. */
import type { ServerResponse } from "node:http";
import { type Message, meta, mirrored, type Reply, type TestGateway } from "../support/gateway.ts";
import { type Arrived, result, type Script } from "../support/upstream.ts";

/** The upstream's own state, which no client may ever see. */
export const INNER = "inner-state-4711";

/** An `input_required` result that asks one yes or no. */
export const ASK = JSON.stringify({
  resultType: "input_required",
  requestState: INNER,
  inputRequests: {
    confirm: {
      method: "elicitation/create",
      params: {
        message: "Sure?",
        requestedSchema: { type: "object", properties: { ok: { type: "boolean" } } },
      },
    },
  },
});
export const DONE = '{"resultType":"complete","content":[{"type":"text","text":"done"}]}';
export const YES = { confirm: { action: "accept", content: { ok: true } } };

export const TRANSFER: Message = {
  method: "tools/call",
  params: { name: "transfer", arguments: { to: "acct-9", amount: 50 } },
};

/** Whether what arrived is a retry. */
export const isRetry = ({ json }: Arrived): boolean =>
  json?.params?.requestState !== undefined || json?.params?.inputResponses !== undefined;

const MAY_ASK = /^(tools\/call|prompts\/get|resources\/read)$/;

/** Asks on the first round, acts on the retry; other methods are simply done. */
export const asksOnce: Script = (arrived, response) =>
  result(arrived, response, isRetry(arrived) || !MAY_ASK.test(arrived.json?.method) ? DONE : ASK);

/** Asks on every round. */
export const asksAlways: Script = (arrived, response) => result(arrived, response, ASK);

/** Answers everything with one result. */
export const answers =
  (text: string): Script =>
  (arrived, response) =>
    result(arrived, response, text);

/** A script that answers nothing until it is told to, and says when something has arrived. */
export interface Holding {
  readonly script: Script;
  /** The next request that arrives, with its response. */
  next(): Promise<{ readonly arrived: Arrived; readonly response: ServerResponse }>;
}

export function holding(): Holding {
  type Held = Awaited<ReturnType<Holding["next"]>>;
  const held: Held[] = [];
  const waiting: ((one: Held) => void)[] = [];
  return {
    script: (arrived, response) => {
      const take = waiting.shift();
      if (take === undefined) held.push({ arrived, response });
      else take({ arrived, response });
    },
    next: () => {
      const one = held.shift();
      return one === undefined ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve(one);
    },
  };
}

/** The sealed state of a first round. */
export function stateOf(reply: Reply): string {
  const state: unknown = reply.json?.result?.requestState;
  if (typeof state !== "string") throw new Error(`no state: ${reply.status} ${reply.body}`);
  return state;
}

/** The retry of a call with a state and answers. */
export const retryOf = (
  state: unknown,
  inputResponses: unknown = YES,
  { method, params }: Message = TRANSFER,
): Message => ({ method, params: { ...params, requestState: state, inputResponses } });

/** The text of a modern request with its id as written. */
export function textOf(
  id: string,
  { method, params }: Message,
  capabilities?: Readonly<Record<string, unknown>>,
): string {
  const body = JSON.stringify({ _meta: meta(capabilities), ...params });
  return `{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)},"params":${body}}`;
}

/** Sends a modern request with its id as written. */
export function sendAs(
  gateway: TestGateway,
  id: string,
  message: Message,
  options: {
    readonly capabilities?: Readonly<Record<string, unknown>>;
    readonly headers?: Readonly<Record<string, string>>;
    readonly path?: string;
    readonly signal?: AbortSignal;
  } = {},
): Promise<Reply> {
  const { capabilities, headers, ...rest } = options;
  return gateway.send({
    headers: { ...mirrored(message), ...headers },
    body: textOf(id, message, capabilities),
    ...rest,
  });
}
