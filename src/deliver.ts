/**
 * Takes an upstream's response apart and brings each message to the client: one JSON body, or a relayed event stream.
 * What a message becomes is decided by the judge it is given; nothing passes unread.
 */
import type { Socket } from "node:net";
import type { FastifyReply } from "fastify";
import { Refusal } from "./errors.ts";
import { mediaType } from "./http/framing.ts";
import { errorBody } from "./http/respond.ts";
import type { Journey } from "./journey.ts";
import type { SseEvent } from "./sse.ts";
import type { UpstreamResponse } from "./upstream/dispatch.ts";
import { type EventVerdict, relayStream } from "./upstream/stream.ts";

/**
 * Longer than the gateway's own keep-alive, so that only a client that reads nothing runs into it; and so long that a slow
 * one does not, since the system tells of progress in large steps.
 */
const STALLED_MS = 300_000;

/** Settings of one delivery. */
export interface Delivery {
  readonly journey: Journey;
  readonly reply: FastifyReply;
  readonly limits: { readonly body: number; readonly event: number };
}

/** What a single JSON body becomes. */
export interface JsonVerdict {
  readonly status: number;
  readonly bytes: Buffer;
}

/** Refuses what no MCP response may be, before a byte of the body is read. @throws Refusal */
export function checkHead(response: UpstreamResponse): "json" | "stream" | "empty" {
  const { status, headers } = response;
  const refuse = (code: "upstream_unauthorized" | "upstream_fault", detail: string): Refusal => {
    response.abort();
    return new Refusal(code, detail);
  };
  // HTTP has no others, and no answer could be given with one (RFC 9110, section 15).
  if (status < 200 || status > 599) throw refuse("upstream_fault", "status");
  // Its challenge is about the gateway's credential and never relayed.
  if (status === 401 || status === 403) throw refuse("upstream_unauthorized", `status_${status}`);
  if (status >= 300 && status < 400) throw refuse("upstream_fault", `status_${status}`);
  // Some servers put a media type on the body they do not send (Python SDK).
  if (status === 202 || status === 204) return "empty";
  const coding = String(headers["content-encoding"] ?? "identity").toLowerCase();
  if (coding !== "identity") throw refuse("upstream_fault", "content_coding");
  const { type } = mediaType(String(headers["content-type"] ?? ""));
  if (type === "application/json") return "json";
  if (type === "text/event-stream" && status === 200) return "stream";
  if (type === "" && headers["content-length"] === "0") return "empty";
  throw refuse("upstream_fault", status === 200 ? "media_type" : `status_${status}`);
}

/** Sends a JSON body that has been judged. */
export async function deliverJson(delivery: Delivery, verdict: JsonVerdict): Promise<void> {
  expectReading(delivery.reply.request.raw.socket);
  await delivery.reply.code(verdict.status).header("content-type", "application/json").send(verdict.bytes);
}

/**
 * Relays an event stream until it is answered.
 * @param mayEnd a stream that need not end with an answer (legacy GET)
 * @throws Refusal while nothing has been written; a later one is delivered in-band and returned
 */
export async function deliverStream(
  delivery: Delivery,
  response: UpstreamResponse,
  judge: (event: SseEvent) => EventVerdict,
  mayEnd: boolean,
): Promise<Refusal | undefined> {
  const { journey, reply, limits } = delivery;
  const printRefusal = (refusal: Refusal): string =>
    errorBody(refusal, { id: journey.id, requestId: journey.requestId });
  expectReading(reply.request.raw.socket);
  const { refusal } = await relayStream(
    response,
    { raw: reply.raw, headers: headersOf(reply), printRefusal },
    judge,
    { maxEventBytes: limits.event, stop: journey.signal, mayEnd },
    () => reply.hijack(),
  );
  return refusal;
}

/**
 * From now on the client has to take what it is sent: a connection on which nothing moves for this long is closed.
 * Node goes back to the time for idle connections by itself when the answer has left.
 */
function expectReading(socket: Socket): void {
  socket.setTimeout(STALLED_MS);
}

/** The headers set so far, for a reply that is written by hand. */
function headersOf(reply: FastifyReply): Record<string, string> {
  return Object.fromEntries(Object.entries(reply.getHeaders()).map(([name, value]) => [name, String(value)]));
}
