/**
 * The HTTP server of a listener, and what belongs to a connection rather than to one request on it: time limits, what its bytes
 * were, and whether anything on it is still believed. Source: RFC 9112 sections 7.1.1, 9.3.2 and 11.2.
 */
import { createServer, type RequestListener, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { ChunkLines } from "./chunk-lines.ts";
import { type Handshake, type ListenerTls, readHandshake, tlsOptions } from "./handshake.ts";

/** How long a client may take, in milliseconds. */
export interface ClientTimeouts {
  /** For a whole request, head and body. */
  readonly request: number;
  /** Between two looks at the clock; a limit is overrun by at most this much. */
  readonly check: number;
  /** Between two requests. */
  readonly keepAlive: number;
}

/** The times of a gateway that is no test. */
export const CLIENT_TIMEOUTS: ClientTimeouts = { request: 60_000, check: 5_000, keepAlive: 72_000 };

/** Requests on one connection that are not answered yet. */
const MAX_PIPELINED = 16;

/** See the file's header. */
export class Connections {
  readonly #spoiled = new WeakSet<Socket>();
  /** Connections on which the last request has come. */
  readonly #last = new WeakSet<Socket>();
  readonly #open = new WeakMap<Socket, Set<ServerResponse>>();
  readonly #handshakes = new WeakMap<Socket, Handshake>();
  readonly #timeouts: ClientTimeouts;

  constructor(timeouts: ClientTimeouts) {
    this.#timeouts = timeouts;
  }

  /**
   * The server for one listener.
   * @param onRequest gets every request, also one that waits for a 100: nothing is invited before it was judged
   * @param onBrokenBytes gets what the parser could not read; `maySpeak` says whether an answer would be one, and not the
   *   middle of another
   */
  createServer(
    onRequest: RequestListener,
    tls: ListenerTls | undefined,
    onBrokenBytes: (error: Error & { code?: string }, socket: Socket, maySpeak: boolean) => void,
  ): Server {
    const options = {
      requestTimeout: this.#timeouts.request,
      headersTimeout: this.#timeouts.request,
      connectionsCheckingInterval: this.#timeouts.check,
      keepAliveTimeout: this.#timeouts.keepAlive,
      // Node would answer a missing Host itself, without a body; framing refuses it.
      requireHostHeader: false,
    };
    const server =
      tls === undefined
        ? createServer(options)
        : (createTlsServer({ ...options, ...tlsOptions(tls) }) as Server);
    // The raw list has all headers, the parsed one would leave out what is past the count: bytes are bounded already.
    server.maxHeadersCount = 0;
    const take: RequestListener = (request, response) => {
      const { socket } = request;
      if (this.#last.has(socket)) {
        socket.destroy();
        return;
      }
      // Node serves a request that offers an upgrade, and drops or rereads what stands behind it: nothing may.
      if (request.headers.upgrade !== undefined) {
        this.#last.add(socket);
        response.shouldKeepAlive = false;
      }
      // Answers wait for those before them, in memory; nobody needs so many on one connection.
      if (this.#opened(socket, response) > MAX_PIPELINED) {
        socket.destroy();
        return;
      }
      onRequest(request, response);
    };
    for (const event of ["request", "checkContinue", "checkExpectation"]) server.on(event, take);
    if (tls === undefined) server.on("connection", (socket) => this.#watch(socket));
    else {
      server.on("secureConnection", (socket: TLSSocket) => {
        const handshake = readHandshake(socket);
        if (handshake !== undefined) this.#handshakes.set(socket, handshake);
        this.#watch(socket);
      });
    }
    server.on("clientError", (error, socket) => {
      onBrokenBytes(error, socket as Socket, this.#maySpeak(socket as Socket));
    });
    return server;
  }

  /** The client certificate that was shown when the connection was made, if one was. */
  handshakeOf(socket: Socket): Handshake | undefined {
    return this.#handshakes.get(socket);
  }

  /** From now on nothing on this connection is served: where its messages begin and end is in doubt. */
  spoil(socket: Socket): void {
    this.#spoiled.add(socket);
  }

  /** Whether the connection was spoiled, by a caller or by a chunk line that has come, read by the parser or not. */
  isSpoiled(socket: Socket): boolean {
    return this.#spoiled.has(socket);
  }

  #watch(socket: Socket): void {
    const lines = new ChunkLines();
    // Before the parser's own listener, so that no request is handed over whose bytes have not been looked at.
    socket.prependListener("data", (bytes: Buffer) => {
      if (!lines.feed(bytes)) this.spoil(socket);
    });
    // Node tells only the answer that is being written that its connection is gone, not those that wait behind it.
    socket.once("close", () => {
      for (const response of this.#open.get(socket) ?? []) response.emit("close");
    });
  }

  /** Counts a request; gives how many of this connection are open. */
  #opened(socket: Socket, response: ServerResponse): number {
    const open = this.#open.get(socket) ?? new Set();
    this.#open.set(socket, open.add(response));
    response.once("close", () => {
      open.delete(response);
      // The time in which an answer has to be taken is not the time in which the next one has to come.
      if (open.size > 0) socket.setTimeout(0);
    });
    return open.size;
  }

  #maySpeak(socket: Socket): boolean {
    const open = [...(this.#open.get(socket) ?? [])];
    return open.length === 0 || (open.length === 1 && open[0]?.headersSent === false);
  }
}
