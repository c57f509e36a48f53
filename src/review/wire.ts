/**
 * Sends the requests of a review and records each with what came back. Owns the connections, the pace and the bounds; decides nothing
 * about what may be sent (`permits.ts`). One connection for each request, so that nothing rides on what an earlier one left open.
 * Follows no redirect. Source: MCP 2026-07-28, Streamable HTTP.
 */
import { Readable } from "node:stream";
import { Agent, request } from "undici";
import { errorCode } from "../error-code.ts";
import { JsonError } from "../json/scan.ts";
import type { Json } from "../mcp/parsed.ts";
import { createSseParser, EventStreamError } from "../sse.ts";
import { type Caller, Inconclusive } from "./check.ts";
import type { Exchange, Received } from "./exchange.ts";
import { type Clock, createPace } from "./pace.ts";
import { checkedLookup, checkLiteral, NotHere, type Resolve } from "./reach.ts";
import { type Head, MAX_ANSWER_BYTES, readResponse } from "./reading.ts";

/** Longest time for the first byte of a connection. */
const CONNECT_MS = 10_000;

/** Bytes of all answers together: they are kept until the review is over. */
const MAX_KEPT_BYTES = 256 * 1_048_576;

/** Where, as whom, and how much at most. */
export interface WireOptions {
  readonly url: string;
  /** Bearer tokens. */
  readonly tokens: { readonly first?: string | undefined; readonly second?: string | undefined };
  /** PEM of the authority of the server's certificate; without it those that everybody trusts. */
  readonly ca?: string | undefined;
  /** Whether the endpoint may be on another machine. */
  readonly remote: boolean;
  /** For one whole exchange, in milliseconds. */
  readonly timeoutMs: number;
  readonly perSecond: number;
  /** Requests in all, at most. */
  readonly requests: number;
  readonly clock: Clock;
  /** Aborted: nothing more is sent, and what is under way is cut. */
  readonly signal: AbortSignal;
  readonly resolve?: Resolve;
}

/** One request. */
export interface Outgoing {
  readonly label: string;
  readonly caller: Caller;
  /** Has an `id`. */
  readonly message: Json;
  /** In lower case; without the credential, which the wire adds. */
  readonly headers: Readonly<Record<string, string>>;
  readonly cutAfterMs?: number | undefined;
}

/** The way to the endpoint. */
export interface Wire {
  /**
   * Whatever the server does is in the exchange.
   * @throws Inconclusive when the requests are used up, NotHere, and the reason of the signal
   */
  send(outgoing: Outgoing): Promise<Exchange>;
  /** Everything that was sent, by number. */
  readonly exchanges: readonly Exchange[];
  close(): Promise<void>;
}

class Cut extends Error {}

/** @throws NotHere for an address of another machine without `remote` */
export function openWire(options: WireOptions): Wire {
  const { url, tokens, ca, remote, timeoutMs, clock, signal } = options;
  checkLiteral(new URL(url), remote);
  const agent = new Agent({
    connect: {
      timeout: Math.min(timeoutMs, CONNECT_MS),
      lookup: checkedLookup(remote, options.resolve),
      ...(ca === undefined ? {} : { ca }),
    },
    pipelining: 0,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    maxResponseSize: MAX_ANSWER_BYTES,
  });
  const pace = createPace(options.perSecond, clock, signal);
  const exchanges: Exchange[] = [];
  let sent = 0;
  let kept = 0;

  async function send({ label, caller, message, headers, cutAfterMs }: Outgoing): Promise<Exchange> {
    if (sent >= options.requests)
      throw new Inconclusive(`the ${options.requests} requests that this review may send are used up`);
    if (kept >= MAX_KEPT_BYTES) throw new Inconclusive("the server has sent more than this review keeps");
    sent += 1;
    const number = sent;
    await pace();
    const token = caller === "nobody" ? undefined : tokens[caller];
    const at = clock.now();
    const received = await receive(message, cutAfterMs, {
      ...headers,
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    });
    // The credential itself is never kept.
    const shown = token === undefined ? headers : { ...headers, authorization: `Bearer (${caller})` };
    const exchange: Exchange = {
      number,
      label,
      sent: { caller, headers: shown, message },
      received,
      at,
      ms: Math.max(0, clock.now() - at),
    };
    exchanges.push(exchange);
    // What was under way is in the record like all else.
    signal.throwIfAborted();
    return exchange;
  }

  async function receive(
    message: Json,
    cutAfterMs: number | undefined,
    headers: Readonly<Record<string, string>>,
  ): Promise<Received> {
    const cut = new AbortController();
    const limit = AbortSignal.timeout(timeoutMs);
    let timer: NodeJS.Timeout | undefined;
    let head: Head | undefined;
    const body = Buffer.from(JSON.stringify(message));
    const cutSoon = (): void => {
      timer = setTimeout(() => cut.abort(new Cut()), cutAfterMs);
    };
    try {
      const response = await request(url, {
        method: "POST",
        dispatcher: agent,
        signal: AbortSignal.any([limit, cut.signal, signal]),
        headers: { ...headers, "content-length": String(body.length) },
        body: cutAfterMs === undefined ? body : Readable.from(thenCall(body, cutSoon)),
      });
      head = { status: response.statusCode, headers: plainHeaders(response.headers) };
      const count = (bytes: number): void => {
        kept += bytes;
      };
      return await read(response.body, head, message["id"], count);
    } catch (error) {
      return told(error, head, { stopped: signal.aborted, cut: cut.signal.aborted, late: limit.aborted });
    } finally {
      clearTimeout(timer);
    }
  }

  return { send, exchanges, close: () => agent.destroy() };
}

/** The body in one piece; `done` is called once it has been handed to the connection. */
async function* thenCall(body: Buffer, done: () => void): AsyncGenerator<Buffer> {
  yield body;
  done();
}

function plainHeaders(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(", ") : (value ?? ""),
    ]),
  );
}

/** The one response in the body, whatever its form. Leaving early closes the connection. @param count is told of what came */
async function read(
  body: AsyncIterable<Uint8Array>,
  head: Head,
  id: unknown,
  count: (bytes: number) => void,
): Promise<Received> {
  const type = (head.headers["content-type"] ?? "").split(";")[0]?.trim().toLowerCase();
  const found: Received[] = [];
  if (type === "text/event-stream") {
    const parser = createSseParser({
      maxEventBytes: MAX_ANSWER_BYTES,
      onEvent: ({ data }) => {
        const response = data.length === 0 ? undefined : readResponse(data, id, head);
        if (response !== undefined) found.push(response);
      },
    });
    for await (const chunk of body) {
      count(chunk.length);
      parser.feed(chunk);
      const [first] = found;
      if (first !== undefined) return first;
    }
    return { kind: "none", why: "lost", ...head, words: "the stream ended without a response" };
  }
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    count(chunk.length);
    if (bytes > MAX_ANSWER_BYTES) throw new EventStreamError("event_too_large");
    chunks.push(chunk);
  }
  const isJson = type === "application/json";
  const response = isJson && bytes > 0 ? readResponse(Buffer.concat(chunks), id, head) : undefined;
  if (response !== undefined) return response;
  if (head.status >= 200 && head.status < 300) {
    const words = isJson ? "JSON that is no response to the request" : "no JSON and no event stream";
    return { kind: "none", why: "unreadable", ...head, words };
  }
  return { kind: "none", why: "http", ...head, words: `HTTP ${head.status} without a JSON-RPC response` };
}

/** A failure of the network or of the answer, in words of ours. */
function told(
  error: unknown,
  head: Head | undefined,
  is: { readonly stopped: boolean; readonly cut: boolean; readonly late: boolean },
): Received {
  const code = errorCode(error) ?? "";
  // What could not be sent as it was given says nothing of the server.
  if (error instanceof NotHere || error instanceof TypeError || code.startsWith("UND_ERR_INVALID"))
    throw error;
  const none = { kind: "none", status: head?.status, headers: head?.headers ?? {} } as const;
  if (is.stopped) return { ...none, why: "cut", words: "the review was stopped" };
  if (is.cut) return { ...none, why: "cut", words: "the reviewer cut the connection" };
  if (is.late || code.endsWith("TIMEOUT")) return { ...none, why: "timeout", words: "no answer in time" };
  if (
    code === "UND_ERR_RES_EXCEEDED_MAX_SIZE" ||
    (error instanceof EventStreamError && error.fault === "event_too_large")
  )
    return { ...none, why: "too_large", words: "the answer is larger than 4 MiB" };
  if (error instanceof JsonError || error instanceof EventStreamError) {
    if (head !== undefined && head.status >= 400)
      return { ...none, why: "http", words: `HTTP ${head.status} without a JSON-RPC response` };
    return { ...none, why: "unreadable", words: "the answer is not JSON as MCP has it" };
  }
  return { ...none, why: "lost", words: `the connection failed${code === "" ? "" : ` (${code})`}` };
}
