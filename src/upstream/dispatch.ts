/**
 * One upstream and the requests sent to it. A POST is written once and never again: no retry, no resend, no redirect.
 * Bodies are buffers both ways until a caller asks for a stream. docs/decisions/0002-one-engine.md.
 */
import type { IncomingHttpHeaders } from "node:http";
import { type Dispatcher, Pool } from "undici";
import { Refusal } from "../errors.ts";
import { asUpstreamRefusal, UpstreamFailure } from "./failures.ts";

/** Redeemed retries go on a fresh or just used socket: a stale one could die under a state that is already spent. */
const RETRY_IDLE_MS = 1_000;
/** Bytes that may wait for a consumer before the upstream is told to pause. */
const HIGH_WATER_BYTES = 256 * 1024;

/** How to reach an upstream. Trusted: an operator wrote it. */
export interface UpstreamOptions {
  readonly url: string;
  /** Milliseconds. */
  readonly timeouts: { readonly connect: number; readonly headers: number; readonly idle: number };
  readonly tls:
    | {
        readonly ca?: Buffer;
        readonly servername?: string;
        /** The gateway's own certificate, for servers that ask for one. */
        readonly cert?: Buffer;
        readonly key?: Buffer;
      }
    | undefined;
}

/** One request to an upstream. */
export interface UpstreamRequest {
  readonly method: "POST" | "GET" | "DELETE";
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | null;
  /** A redeemed retry: sent on a socket that was idle for less than a second. */
  readonly retry: boolean;
  /** A stream that may be silent for hours (`subscriptions/listen`). */
  readonly openEnded: boolean;
  /** Aborting it closes the request at once (cancellation by disconnect); a Refusal as its reason is what the request fails with. */
  readonly signal: AbortSignal;
}

/** Takes the body of a response piece by piece. */
export interface BodySink {
  /** @returns false to be given no more until `resume` */
  data(chunk: Buffer): boolean;
  end(): void;
  fail(refusal: Refusal): void;
}

/** The head of a response, and the way to its body. Untrusted. */
export interface UpstreamResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The whole body. @throws Refusal `upstream_fault` over `maxBytes` */
  collect(maxBytes: number): Promise<Buffer>;
  /** Hands the body over as it comes; what came before is delivered first. */
  pipe(sink: BodySink): void;
  resume(): void;
  /** Closes the request to the upstream. */
  abort(): void;
}

/** An upstream endpoint with its connections. */
export interface Upstream {
  /** @throws UpstreamFailure; its `nothingSent` says whether the upstream surely got nothing */
  send(request: UpstreamRequest): Promise<UpstreamResponse>;
  close(): Promise<void>;
}

/** Opens an upstream; connects on first use. */
export function createUpstream(options: UpstreamOptions): Upstream {
  const url = new URL(options.url);
  const path = `${url.pathname}${url.search}`;
  const pool = (keepAlive: number): Pool =>
    new Pool(url.origin, {
      connections: null,
      pipelining: 1,
      headersTimeout: options.timeouts.headers,
      bodyTimeout: options.timeouts.idle,
      keepAliveTimeout: keepAlive,
      keepAliveMaxTimeout: keepAlive,
      connect: { timeout: options.timeouts.connect, rejectUnauthorized: true, ...options.tls },
    });
  const ordinary = pool(4_000);
  const retries = pool(RETRY_IDLE_MS);
  return {
    send: (request) =>
      new Promise((resolve, reject) => {
        const exchange = new UpstreamExchange(request, resolve, reject);
        (request.retry ? retries : ordinary).dispatch(
          {
            path,
            method: request.method,
            headers: request.headers,
            body: request.body,
            ...(request.openEnded ? { bodyTimeout: 0 } : {}),
          },
          exchange,
        );
      }),
    close: async () => {
      await Promise.all([ordinary.destroy(), retries.destroy()]);
    },
  };
}

/** The life of one request: an undici handler on one side, a response on the other. */
class UpstreamExchange implements Dispatcher.DispatchHandler, UpstreamResponse {
  status = 0;
  headers: IncomingHttpHeaders = {};
  #controller: Dispatcher.DispatchController | undefined;
  #started = false;
  #responded = false;
  #over = false;
  #queue: Buffer[] = [];
  #queued = 0;
  #failure: Refusal | undefined;
  #sink: BodySink | undefined;
  readonly #signal: AbortSignal;
  readonly #resolve: (response: UpstreamResponse) => void;
  readonly #reject: (failure: UpstreamFailure) => void;
  readonly #onAbort = (): void => (this.#started ? this.abort() : this.#giveUp());

  constructor(
    request: UpstreamRequest,
    resolve: (response: UpstreamResponse) => void,
    reject: (failure: UpstreamFailure) => void,
  ) {
    this.#signal = request.signal;
    this.#resolve = resolve;
    this.#reject = reject;
    request.signal.addEventListener("abort", this.#onAbort, { once: true });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // A second start would be a resend of a message that may have been carried out.
    if (this.#started || this.#signal.aborted) {
      controller.abort(new Error(this.#started ? "resend" : "aborted"));
      return;
    }
    this.#started = true;
    this.#controller = controller;
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: IncomingHttpHeaders,
  ): void {
    if (status < 200) return;
    this.#controller = controller;
    this.#responded = true;
    this.status = status;
    this.headers = headers;
    this.#resolve(this);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#sink === undefined) {
      this.#queue.push(chunk);
      this.#queued += chunk.length;
      if (this.#queued > HIGH_WATER_BYTES) controller.pause();
    } else if (!this.#sink.data(chunk)) {
      controller.pause();
    }
  }

  onResponseEnd(): void {
    this.#finish();
    this.#sink?.end();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#finish();
    // A request that was stopped failed for the reason it was stopped for.
    const { reason } = this.#signal;
    const refusal = reason instanceof Refusal ? reason : asUpstreamRefusal(error, this.#started);
    if (!this.#responded) {
      this.#reject(new UpstreamFailure(refusal, !this.#started));
      return;
    }
    this.#failure = refusal;
    this.#sink?.fail(refusal);
  }

  collect(maxBytes: number): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      this.pipe({
        data: (chunk) => {
          bytes += chunk.length;
          if (bytes > maxBytes) {
            this.abort();
            reject(new Refusal("upstream_fault", "response_too_large"));
            return false;
          }
          chunks.push(chunk);
          return true;
        },
        end: () =>
          resolve(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks)),
        fail: reject,
      });
    });
  }

  pipe(sink: BodySink): void {
    this.#sink = sink;
    const queue = this.#queue;
    this.#queue = [];
    let more = true;
    for (const chunk of queue) more = sink.data(chunk) && more;
    if (this.#failure !== undefined) sink.fail(this.#failure);
    else if (this.#over) sink.end();
    else if (more && this.#controller?.paused) this.#controller.resume();
    else if (!more) this.#controller?.pause();
  }

  resume(): void {
    if (!this.#over) this.#controller?.resume();
  }

  abort(): void {
    if (!this.#over) this.#controller?.abort(new Error("aborted"));
  }

  /** Stopped while it waited for a connection. It never starts on one that still comes, see `onRequestStart`. */
  #giveUp(): void {
    this.#finish();
    const { reason } = this.#signal;
    const refusal = reason instanceof Refusal ? reason : asUpstreamRefusal(new Error("aborted"), false);
    this.#reject(new UpstreamFailure(refusal, true));
  }

  #finish(): void {
    this.#over = true;
    this.#signal.removeEventListener("abort", this.#onAbort);
  }
}
