/**
 * The scene that the attacks are played on: a gateway, two users of two issuers if wanted, an upstream that asks once and then
 * acts, and a count of every byte that goes up.
 */
import type { ServerResponse } from "node:http";
import type { Test } from "tap";
import {
  type CallOptions,
  type Message,
  meta,
  mirrored,
  PUBLIC_URL,
  type Reply,
  startGateway,
  type TestGateway,
} from "../support/gateway.ts";
import { startIssuer, type TestIssuer } from "../support/issuer.ts";
import { startRelay } from "../support/relay.ts";
import { type Arrived, result, type Script, startUpstream, type TestUpstream } from "../support/upstream.ts";

/** The state that the upstream sends, as the gateway must never show it. */
export const INNER = "U1==";
export const QUESTION = {
  method: "elicitation/create",
  params: {
    message: "Sure?",
    requestedSchema: { type: "object", properties: { ok: { type: "boolean" } } },
  },
};
export const ASK = JSON.stringify({
  resultType: "input_required",
  requestState: INNER,
  inputRequests: { confirm: QUESTION },
});
export const DONE = '{"resultType":"complete","content":[{"type":"text","text":"done"}]}';
/** A yes to the question. */
export const YES = { confirm: { action: "accept", content: { ok: true } } };

/** The operation most attacks aim at. */
export const TRANSFER: Message = {
  method: "tools/call",
  params: { name: "transfer", arguments: { to: "acct-9", amount: 50 } },
};

/** Asks on a first round, acts on a retry. */
export const asksOnce: Script = (arrived, response) => {
  const params = arrived.json?.params;
  const isRetry = params?.requestState !== undefined || params?.inputResponses !== undefined;
  result(arrived, response, isRetry ? DONE : ASK);
};

export interface Scene {
  readonly gateway: TestGateway;
  readonly upstream: TestUpstream;
  /** The endpoint to put into a route of another gateway before the same upstream. */
  readonly upstreamUrl: string;
  /** Present with `users`. */
  readonly issuer: TestIssuer;
  readonly owner: string;
  readonly stranger: string;
  /** Bytes that have gone to the upstream so far. */
  bytesUp(): number;
  /** Plays a first round; gives the sealed state. */
  ask(message?: Message, options?: CallOptions): Promise<string>;
  /** The retry of `message` with a state, and an honest yes unless told otherwise. */
  retry(state: unknown, change?: Retry, options?: CallOptions): Promise<Reply>;
  /** Sends a body as it stands; headers mirror `like`. */
  raw(body: string, like?: Message, headers?: Readonly<Record<string, string | undefined>>): Promise<Reply>;
}

export interface Retry extends Partial<Message> {
  readonly inputResponses?: unknown;
}

export interface SceneOptions {
  readonly script?: Script;
  /** Two users, both with a valid token for the route. */
  readonly users?: boolean;
  readonly sections?: (upstream: string, issuer: TestIssuer) => Readonly<Record<string, unknown>>;
}

/** Sets the scene; everything ends with the test. */
export async function setScene(t: Test, options: SceneOptions = {}): Promise<Scene> {
  const upstream = await startUpstream(options.script ?? asksOnce);
  t.teardown(() => upstream.close());
  let bytes = 0;
  const relay = await startRelay(t, Number(new URL(upstream.url).port));
  relay.fate = (chunk) => {
    bytes += chunk.length;
    return "pass";
  };
  const issuer = await startIssuer();
  t.teardown(() => issuer.close());
  const upstreamUrl = `http://127.0.0.1:${relay.port}/mcp`;
  const gateway = await startGateway(upstreamUrl, {
    ...(options.users === true
      ? { authentication: { issuers: [{ issuer: issuer.issuer, jwks: { url: issuer.jwksUrl } }] } }
      : {}),
    ...options.sections?.(upstreamUrl, issuer),
  });
  t.teardown(() => gateway.close(0));
  const aud = `${PUBLIC_URL}/mcp`;
  const owner = await issuer.token({ sub: "u-1001", aud });
  const stranger = await issuer.token({ sub: "u-2002", aud });
  const authorized = (given: CallOptions = {}): CallOptions =>
    options.users === true ? { token: owner, ...given } : given;
  return {
    gateway,
    upstream,
    upstreamUrl,
    issuer,
    owner,
    stranger,
    bytesUp: () => bytes,
    async ask(message = TRANSFER, given) {
      const reply = await gateway.call(message, authorized(given));
      const state: unknown = reply.json?.result?.requestState;
      if (typeof state !== "string") throw new Error(`no state: ${reply.status} ${reply.body}`);
      return state;
    },
    retry(state, change = {}, given) {
      const inputResponses = "inputResponses" in change ? change.inputResponses : YES;
      const { params = TRANSFER.params, method = TRANSFER.method } = change;
      const id = change.id === undefined ? "retry" : change.id;
      const message = { id, method, params: { ...params, requestState: state, inputResponses } };
      return gateway.call(message, authorized(given));
    },
    raw(body, like = TRANSFER, headers = {}) {
      const all = { ...mirrored(like), authorization: `Bearer ${owner}`, ...headers };
      const given = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined);
      return gateway.send({ headers: Object.fromEntries(given), body });
    },
  };
}

/** The JSON text of a valid `_meta`, for bodies written by hand. */
export const META = JSON.stringify(meta());

/** A modern request whose params are written by hand after `_meta`. */
export function request(params: string, method = "tools/call", id = "7"): string {
  return `{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)},"params":{"_meta":${META},${params}}}`;
}

/** REFUSE-STATE for a request with this id (JSON text): the same bytes whatever the cause. */
export const frozen = (id: string): string =>
  `{"jsonrpc":"2.0","id":${id},"error":{"code":-32602,"message":"Invalid or expired requestState","data":{"reason":"invalid_request_state"}}}`;

/**
 * Expects REFUSE-STATE: frozen status, headers and bytes, nothing at the upstream while `attempt` ran, and the true cause in
 * audit only.
 */
export async function refusesState(
  t: Test,
  scene: Scene,
  attempt: () => Promise<Reply>,
  expected: { readonly id?: string; readonly cause?: string } = {},
): Promise<void> {
  const before = scene.bytesUp();
  const reply = await attempt();
  const { id = '"retry"', cause } = expected;
  t.equal(reply.body, frozen(id), "frozen body");
  t.equal(reply.status, 400);
  const names = Object.keys(reply.headers).filter((name) => name !== "connection" && name !== "keep-alive");
  t.same(names.sort(), ["cache-control", "content-length", "content-type", "date", "x-request-id"]);
  t.equal(scene.bytesUp(), before, "not a byte went up");
  const record = scene.gateway.audit.at(-1);
  t.match(record, { outcome: "refused", code: "invalid_request_state", state: "rejected" });
  if (cause !== undefined) t.equal(record?.cause, cause, "true cause in audit");
}

/** Expects any refusal with this JSON-RPC code (or none, for HTTP-only answers), and nothing at the upstream. */
export async function refuses(
  t: Test,
  scene: Scene,
  attempt: () => Promise<Reply>,
  expected: { readonly status: number; readonly code?: number; readonly reason?: string },
): Promise<Reply> {
  const before = scene.bytesUp();
  const reply = await attempt();
  t.equal(reply.status, expected.status, reply.body);
  if (expected.code !== undefined) t.equal(reply.json?.error?.code, expected.code);
  if (expected.reason !== undefined) t.equal(reply.json?.error?.data?.reason, expected.reason);
  t.equal(scene.bytesUp(), before, "not a byte went up");
  return reply;
}

/** Expects success: one request more at the upstream, which is returned. */
export async function passes(t: Test, scene: Scene, attempt: () => Promise<Reply>): Promise<Arrived> {
  const before = scene.upstream.arrived.length;
  const reply = await attempt();
  t.equal(reply.status, 200, reply.body);
  t.equal(reply.json?.error, undefined, reply.body);
  t.equal(scene.upstream.arrived.length, before + 1, "one request more at the upstream");
  const arrived = scene.upstream.arrived.at(-1);
  if (arrived === undefined) throw new Error("nothing arrived");
  return arrived;
}

/** A script that answers every request with one result text. */
export const answers =
  (text: string): Script =>
  (arrived: Arrived, response: ServerResponse) =>
    result(arrived, response, text);
