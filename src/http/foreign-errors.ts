/** What Node's parser and Fastify refuse before any stage of ours, in our terms. */
import { randomUUID } from "node:crypto";
import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { Refusal } from "../errors.ts";
import type { Log } from "../log.ts";
import { errorBody } from "./respond.ts";

const CLOSE = { connection: "close" };

/** What Node could not read as HTTP, or not in time, gets the same kind of answer, on a connection that is then closed. */
export function refuseBytes(error: Error & { code?: string }, socket: Socket, log: Log): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const status =
    error.code === "HPE_HEADER_OVERFLOW" ? 431 : error.code === "ERR_HTTP_REQUEST_TIMEOUT" ? 408 : 400;
  const requestId = randomUUID();
  const refusal = new Refusal("malformed_http", "parser");
  log.warn({ requestId, code: refusal.code, cause: refusal.detail }, "request refused");
  const body = errorBody(refusal, { id: null, requestId });
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\ncontent-type: application/json\r\nx-request-id: ${requestId}\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
}

/** What Fastify itself refuses, in our terms. */
export function fromFramework(thrown: unknown): unknown {
  const code = thrown instanceof Error && "code" in thrown ? thrown.code : undefined;
  switch (code) {
    case "FST_ERR_CTP_BODY_TOO_LARGE":
      return new Refusal("body_too_large", "body", { headers: CLOSE });
    case "FST_ERR_CTP_INVALID_CONTENT_LENGTH":
      return new Refusal("malformed_http", "content_length", { headers: CLOSE });
    case "FST_ERR_CTP_INVALID_MEDIA_TYPE":
    case "FST_ERR_CTP_EMPTY_TYPE":
      return new Refusal("unsupported_media_type", "media_type");
    case "FST_ERR_BAD_URL":
      return new Refusal("not_found", "url");
    case "ECONNRESET":
      // The client left while it sent its body.
      return new Refusal("cancelled", "client_left");
    default:
      return thrown;
  }
}
