/**
 * Relays an event stream: every event is judged and printed again, never passed on as bytes.
 * The status line waits for the first event or comment, so that a refusal can usually still be an HTTP error.
 * Spec: basic/transports/streamable-http; docs/lifecycle.md, streams.
 */
import type { ServerResponse } from "node:http";
import { Refusal } from "../errors.ts";
import { createSseParser, EventStreamError, printComment, printEvent, type SseEvent } from "../sse.ts";
import type { UpstreamResponse } from "./dispatch.ts";

const HOLD_BACK_MS = 1_000;
const KEEP_ALIVE_MS = 15_000;
const NOTHING = Buffer.alloc(0);
/** After the answer the upstream may end its stream by itself, so that its connection can be used again. */
const LINGER_MS = 1_000;

/** What becomes of one event. */
export interface EventVerdict {
  /** Bytes to write; undefined drops the event. */
  readonly write: Buffer | undefined;
  /** The answer to the request: nothing may follow. */
  readonly final: boolean;
}

/** A client's side of a stream: the held-back head, the events, the end. */
export interface StreamReply {
  readonly raw: ServerResponse;
  /** Response headers besides those of every event stream. */
  readonly headers: Readonly<Record<string, string>>;
  /** The JSON text of a refusal, for the last event. */
  printRefusal(refusal: Refusal): string;
}

/**
 * Relays until the answer, the end of the upstream's stream, a refusal, the client's departure, or `stop`.
 * @param judge throws a Refusal for what must not pass
 * @param options `stop` is aborted when the client has gone or the gateway shuts down, its reason is a refusal;
 *   `mayEnd` is true for a stream that need not end with an answer
 * @param onOpen called before the head is written: from then on the reply is written by hand
 * @returns whether the client was there to the end, and the refusal that was its last event
 * @throws Refusal while nothing has been written yet; afterwards refusals go in-band
 */
export function relayStream(
  response: UpstreamResponse,
  reply: StreamReply,
  judge: (event: SseEvent) => EventVerdict,
  options: { readonly maxEventBytes: number; readonly stop: AbortSignal; readonly mayEnd: boolean },
  onOpen: () => void,
): Promise<{ readonly delivered: boolean; readonly refusal: Refusal | undefined }> {
  return new Promise((resolve, reject) => {
    const { raw } = reply;
    let over = false;
    let pending = false;
    let linger: NodeJS.Timeout | undefined;

    const open = (): void => {
      if (raw.headersSent) return;
      clearTimeout(hold);
      onOpen();
      raw.writeHead(200, {
        ...reply.headers,
        "content-type": "text/event-stream",
        "x-accel-buffering": "no",
      });
      raw.flushHeaders();
    };
    const write = (bytes: Buffer): void => {
      open();
      keepAlive.refresh();
      if (!raw.write(bytes)) pending = true;
    };
    const finish = (delivered: boolean, refusal?: Refusal): void => {
      if (over) return;
      over = true;
      clearTimeout(hold);
      clearTimeout(keepAlive);
      options.stop.removeEventListener("abort", onStop);
      raw.off("drain", onDrain);
      if (delivered && refusal === undefined) linger = setTimeout(() => response.abort(), LINGER_MS).unref();
      else response.abort();
      if (refusal !== undefined && !raw.headersSent) {
        reject(refusal);
        return;
      }
      if (refusal !== undefined) raw.write(printEvent(reply.printRefusal(refusal)));
      if (raw.destroyed) {
        onOpen();
      } else {
        open();
        raw.end();
      }
      resolve({ delivered, refusal });
    };
    const fail = (error: unknown): void => {
      if (raw.destroyed) finish(false);
      else if (error instanceof Refusal) finish(true, error);
      else if (error instanceof EventStreamError) finish(true, new Refusal("upstream_fault", error.fault));
      else finish(true, new Refusal("internal", "unexpected", { cause: error }));
    };
    const onStop = (): void => fail(options.stop.reason);
    const onDrain = (): void => {
      pending = false;
      response.resume();
    };

    const hold = setTimeout(open, HOLD_BACK_MS);
    const keepAlive = setTimeout(() => {
      // To a client that does not read, more would only pile up.
      if (pending) keepAlive.refresh();
      else write(printComment("keep-alive"));
    }, KEEP_ALIVE_MS);
    const parser = createSseParser({
      maxEventBytes: options.maxEventBytes,
      onEvent(event) {
        if (over) return;
        // Readers take only `message` events for JSON-RPC. Of any other nothing goes on but its id, by which older revisions resume.
        const verdict = judge(
          event.type === "message" ? event : { ...event, type: "message", data: NOTHING },
        );
        if (verdict.write !== undefined) write(verdict.write);
        if (verdict.final) finish(true);
      },
      onComment() {
        // The text is the upstream's and not checked; that something came is all that a comment says.
        if (!over) write(printComment("keep-alive"));
      },
    });

    raw.on("drain", onDrain);
    options.stop.addEventListener("abort", onStop, { once: true });
    if (options.stop.aborted) onStop();
    response.pipe({
      data(chunk) {
        if (over) {
          response.abort();
          return true;
        }
        try {
          parser.feed(chunk);
        } catch (error) {
          fail(error);
        }
        return !pending;
      },
      end() {
        clearTimeout(linger);
        if (options.mayEnd) finish(true);
        else fail(new Refusal("upstream_fault", "stream_ended"));
      },
      fail,
    });
  });
}
