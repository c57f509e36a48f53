/** A raw client for one event stream: sees the head when it comes, each piece as it comes, and can leave at any time. */
import { request as httpRequest, type IncomingMessage } from "node:http";
import type { SendOptions } from "./gateway.ts";

export interface OpenStream {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  /** Everything that came so far. */
  readonly text: () => string;
  /** Resolves once `part` has come. Rejects when the stream ends without it. */
  until(part: string): Promise<void>;
  /** Resolves with everything at the end; rejects when the connection broke. */
  readonly ended: Promise<string>;
  /** Stops reading, and reads on. */
  pause(): void;
  resume(): void;
  /** Closes the connection. */
  leave(): void;
}

/** Sends a request and resolves with the head of the answer. */
export function openStream(base: string, { path = "/mcp", ...options }: SendOptions): Promise<OpenStream> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(new URL(path, base), {
      method: options.method ?? "POST",
      headers: (options.headers ?? {}) as Record<string, string>,
      agent: false,
    });
    request.on("error", reject);
    request.on("response", (response) => {
      let text = "";
      let wake = (): void => undefined;
      let isOver = false;
      response.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
        wake();
      });
      const ended = new Promise<string>((resolveEnd, rejectEnd) => {
        response.once("close", () => {
          isOver = true;
          wake();
          if (response.complete) resolveEnd(text);
          else rejectEnd(new Error("the connection broke"));
        });
        response.once("error", () => undefined);
      });
      ended.catch(() => undefined);
      resolve({
        status: response.statusCode ?? 0,
        headers: response.headers,
        text: () => text,
        ended,
        async until(part) {
          while (!text.includes(part)) {
            if (isOver) throw new Error(`ended without it: ${text}`);
            await new Promise<void>((resolveWake) => {
              wake = resolveWake;
            });
          }
        },
        pause: () => void response.pause(),
        resume: () => void response.resume(),
        leave: () => void request.destroy(),
      });
    });
    request.end(options.body);
  });
}
