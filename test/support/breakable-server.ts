/**
 * An MCP server of revision 2026-07-28 on plain `node:http` that holds every rule of multi round-trip requests, with one switch for
 * each to break it: what a check of the reviewer must be able to tell. Counts what it carries out. Keeps its spent states in memory.
 */
import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { readAnswers } from "./breakable/answers.ts";
import { BALANCE, balance, type Effect, notDone, type Target, targets } from "./breakable/calls.ts";
import {
  checkCapabilities,
  checkHeaders,
  DISCOVERED,
  Fault,
  LISTS,
  sorted,
  stateFault,
} from "./breakable/protocol.ts";
import type { Broken, Switch } from "./breakable/rules.ts";
import { type Claims, isBound, stateCodec } from "./breakable/state.ts";

export type { Effect } from "./breakable/calls.ts";
export { SWITCHES, type Switch } from "./breakable/rules.ts";

type Json = Readonly<Record<string, unknown>>;

export interface BreakableServer {
  readonly url: string;
  /** Bearer tokens of two principals. */
  readonly tokens: { readonly first: string; readonly second: string };
  /** What was carried out, oldest first. */
  readonly effects: readonly Effect[];
  /** Requests that came, their JSON-RPC method. */
  readonly requests: readonly string[];
  /** Milliseconds since the epoch; move it at will. */
  readonly clock: { now: number };
  /** Breaks these rules and no other, from now on. */
  break(...rules: Switch[]): void;
  /** Keeps the next reply to a retry back until its connection is closed. */
  holdReply(): void;
  close(): Promise<void>;
}

export interface BreakableOptions {
  readonly broken?: readonly Switch[];
  /** Answers a repeat of the same retry with the result it had, instead of refusing it. */
  readonly keepsResults?: boolean;
  /** How long a state is good for, in milliseconds. */
  readonly expiryMs?: number;
}

/** Bounds of the server. */
export const MAX_ASKED = 6;
export const MAX_REFUSED = 3;
const EXPIRY_MS = 600_000;

/** Starts one. */
export async function startBreakableServer(options: BreakableOptions = {}): Promise<BreakableServer> {
  const switches = new Set<Switch>(options.broken);
  const broken: Broken = (rule) => switches.has(rule);
  const badState = (): Fault => stateFault(broken);
  const tokens = { first: "token-of-the-first", second: "token-of-the-second" };
  const effects: Effect[] = [];
  const requests: string[] = [];
  const clock = { now: Date.now() };
  const codec = stateCodec(broken);
  const spent = new Map<string, { readonly answers: string; readonly result: Json }>();
  const refused = new Map<string, number>();
  let held = 0;
  let open = 0;

  function ask(target: Target, params: Json, call: Omit<Claims, "jti" | "expires">): Json {
    checkCapabilities(target.rounds[call.round] ?? {}, params, broken);
    if (broken("effect-before-accept") && call.asked === 1) carryOut(target, params, call.principal);
    if (broken("asks-nothing")) return { resultType: "input_required" };
    const expires = clock.now + (options.expiryMs ?? EXPIRY_MS);
    return {
      resultType: "input_required",
      inputRequests: target.rounds[call.round],
      requestState: codec.seal({ ...call, jti: randomUUID(), expires }),
      ...(broken("cache-hints") ? { ttlMs: 60_000, cacheScope: "public" } : {}),
    };
  }

  function carryOut(target: Target, params: Json, principal: string): Json {
    const args = (params["arguments"] ?? {}) as Json;
    effects.push({ target: target.target, principal, arguments: args });
    return target.done(args, effects.length);
  }

  /** A retry whose state is good so far. */
  async function answered(target: Target, params: Json, claims: Claims, principal: string): Promise<Json> {
    const given = params["inputResponses"];
    const answers = JSON.stringify(sorted(given ?? null));
    const use = broken("spent-by-text") ? String(params["requestState"]) : claims.jti;
    const before = spent.get(use);
    if (before !== undefined && !broken("replay")) {
      if (options.keepsResults === true && before.answers === answers) return before.result;
      if (!broken("replay-other-answers") || before.answers === answers) throw badState();
    }
    if ((refused.get(claims.jti) ?? 0) >= MAX_REFUSED && !broken("endless-retries")) throw badState();
    const questions = target.rounds[claims.round] ?? {};
    const read = readAnswers(questions, given, broken);
    if (read === "malformed") {
      refused.set(claims.jti, (refused.get(claims.jti) ?? 0) + 1);
      throw new Fault(-32602, "Invalid inputResponses");
    }
    if (broken("concurrent-use")) await othersOrAWhile();
    const call = { ...claims, principal, asked: claims.asked + 1 };
    const result = ((): Json => {
      if (read === "declined") return notDone(target.method, target.target);
      const next = read === "missing" ? claims.round : nextRound(target, claims.round, given);
      if (next >= target.rounds.length) return carryOut(target, params, principal);
      if (claims.asked >= MAX_ASKED && !broken("endless-rounds")) throw badState();
      return ask(target, params, { ...call, round: next });
    })();
    if (!broken("forgets-lost")) spent.set(use, { answers, result });
    return result;
  }

  function nextRound(target: Target, round: number, given: unknown): number {
    const has = (questions: Json): boolean =>
      Object.keys(questions).every((key) => Object.hasOwn((given ?? {}) as Json, key));
    const ahead = broken("answers-ahead") && target.rounds.slice(round + 1).every(has);
    return ahead ? target.rounds.length : round + 1;
  }

  /** Until another request is under way, or a while. */
  async function othersOrAWhile(): Promise<void> {
    for (let turn = 0; turn < 40 && open < 2; turn += 1)
      await new Promise((resolve) => setTimeout(resolve, 5));
    await new Promise((resolve) => setTimeout(resolve, 20));
  }

  async function call(
    method: Target["method"],
    id: string | number,
    params: Json,
    principal: string,
  ): Promise<Json> {
    const name = params[method === "resources/read" ? "uri" : "name"];
    if (method === "tools/call" && name === "balance") return balance(effects);
    const { requestState: state, inputResponses } = params;
    const claims = state === undefined ? undefined : codec.open(state);
    const offered = targets(broken);
    const named = offered.find((one) => one.method === method && one.target === name);
    const isOpen = claims !== undefined && (broken("other-method") || broken("other-tool"));
    const target = named ?? (isOpen ? offered.find((one) => one.target === claims.target) : undefined);
    if (target === undefined) throw new Fault(-32602, "Unknown target");
    const args = JSON.stringify(sorted(params["arguments"] ?? {}));
    const fresh = { principal, method, target: target.target, arguments: args, id, round: 0, asked: 1 };
    if (state === undefined) {
      const unbound = broken("missing-state") && inputResponses !== undefined;
      return unbound
        ? answered(target, params, { ...fresh, jti: randomUUID(), expires: 0 }, principal)
        : ask(target, params, fresh);
    }
    if (claims === undefined) throw badState();
    const isMade = claims.principal !== "";
    if (isMade && !isBound(claims, { principal, method, target: String(name), args, id }, broken))
      throw badState();
    if (clock.now >= claims.expires && !broken("no-expiry")) throw badState();
    return answered(target, params, { ...claims, id }, principal);
  }

  async function dispatch(message: Json, principal: string): Promise<Json> {
    const { method, id } = message;
    const params = (message["params"] ?? {}) as Json;
    if (method === "tools/call" || method === "prompts/get" || method === "resources/read")
      return call(method, id as string, params, principal);
    if (method === "server/discover") return DISCOVERED;
    const list = LISTS[String(method)];
    if (list === undefined) throw new Fault(-32601, "Method not found", 404);
    if (broken("asks-elsewhere") && (list === "prompts" || list === "resourceTemplates"))
      return {
        resultType: "input_required",
        inputRequests: targets(broken)[0]?.rounds[0],
        requestState: "x",
      };
    const claims = broken("state-elsewhere") ? codec.open(params["requestState"]) : undefined;
    const target = targets(broken).find((one) => one.target === claims?.target);
    if (claims !== undefined && target !== undefined)
      await answered(target, { ...params, arguments: JSON.parse(claims.arguments) }, claims, principal);
    const offered = targets(broken).filter((one) => one.method.startsWith(list));
    const rows = [...offered.map(({ listed }) => listed), ...(list === "tools" ? [BALANCE] : [])];
    return { resultType: "complete", [list]: rows, ttlMs: 0, cacheScope: "private" };
  }

  function principalOf({ headers }: IncomingMessage): string {
    for (const [name, token] of Object.entries(tokens))
      if (headers.authorization === `Bearer ${token}`) return name;
    if (headers.authorization === undefined && broken("no-principal")) return "nobody";
    throw new Fault(-32600, "Who calls?", 401);
  }

  async function serve(request: IncomingMessage, response: ServerResponse, body: string): Promise<void> {
    let id: unknown = null;
    let reply: { status: number; message: Json };
    try {
      if (request.method !== "POST") throw new Fault(-32600, "POST only", 405);
      const message: Json = JSON.parse(body);
      id = message["id"];
      requests.push(String(message["method"]));
      const principal = principalOf(request);
      checkHeaders(request, message, broken);
      reply = { status: 200, message: { jsonrpc: "2.0", id, result: await dispatch(message, principal) } };
      const params = message["params"] as Json;
      if (held > 0 && params["inputResponses"] !== undefined) {
        held -= 1;
        await new Promise<void>((resolve) => response.once("close", resolve));
      }
      const state = broken("forgets-lost") ? codec.open(params["requestState"]) : undefined;
      const result = reply.message["result"] as Json;
      const answers = JSON.stringify(sorted(params["inputResponses"] ?? null));
      if (state !== undefined && !response.destroyed) spent.set(state.jti, { answers, result });
    } catch (error) {
      const fault = error instanceof Fault ? error : new Fault(-32700, "Parse error");
      const { code, message, data } = fault;
      reply = {
        status: fault.status,
        message: { jsonrpc: "2.0", id, error: { code, message, ...(data && { data }) } },
      };
    }
    const challenge = reply.status === 401 ? { "www-authenticate": "Bearer" } : {};
    response.writeHead(reply.status, { "content-type": "application/json", ...challenge });
    response.end(JSON.stringify(reply.message));
  }

  const http = createServer((request, response) => {
    open += 1;
    response.once("close", () => {
      open -= 1;
    });
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => void serve(request, response, Buffer.concat(chunks).toString()));
    request.on("error", () => undefined);
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    tokens,
    effects,
    requests,
    clock,
    break(...rules) {
      switches.clear();
      for (const rule of rules) switches.add(rule);
    },
    holdReply: () => {
      held += 1;
    },
    close: async () => {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}
