/** What tests of HTTP on the wire have in common: requests as bytes, and a connection that is looked at while it is open. */
import { connect } from "node:net";
import { mirrored } from "../support/gateway.ts";
import { TRANSFER, textOf } from "./rounds.ts";

export const BODY = textOf("1", TRANSFER);

/** The head of a modern call; `lines` are further header lines. */
export function head(lines: readonly string[], version = "1.1"): string {
  const own = Object.entries(mirrored(TRANSFER)).map(([name, value]) => `${name}: ${value}`);
  return [`POST /mcp HTTP/${version}`, "Host: 127.0.0.1", ...own, ...lines, "", ""].join("\r\n");
}

/** One whole call with a length. */
export const call = (body = BODY, ...lines: string[]): string =>
  `${head([`Content-Length: ${Buffer.byteLength(body)}`, ...lines])}${body}`;

/** One whole call in chunks of so many bytes. */
export function chunked(size: number, end = "0\r\n\r\n"): string {
  let text = head(["Transfer-Encoding: chunked"]);
  for (let at = 0; at < BODY.length; at += size) {
    const piece = BODY.slice(at, at + size);
    text += `${piece.length.toString(16)}\r\n${piece}\r\n`;
  }
  return text + end;
}

/** A connection of one's own. */
export interface Wire {
  write(text: string): void;
  /** Everything that came so far. */
  readonly text: () => string;
  /** Resolves once `part` has come; rejects when the connection closes without it. */
  until(part: string): Promise<void>;
  /** Resolves with everything when the gateway has closed the connection. */
  readonly closed: Promise<string>;
  destroy(): void;
}

export function openWire(base: string): Wire {
  const { hostname, port } = new URL(base);
  const socket = connect(Number(port), hostname);
  socket.setNoDelay(true);
  let text = "";
  let isClosed = false;
  let wake = (): void => undefined;
  socket.setEncoding("latin1").on("data", (piece: string) => {
    text += piece;
    wake();
  });
  socket.on("error", () => undefined);
  const closed = new Promise<string>((resolve) => {
    socket.on("close", () => {
      isClosed = true;
      wake();
      resolve(text);
    });
  });
  return {
    write: (bytes) => void socket.write(bytes, "latin1"),
    text: () => text,
    closed,
    destroy: () => void socket.destroy(),
    async until(part) {
      while (!text.includes(part)) {
        if (isClosed) throw new Error(`closed without it: ${text}`);
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}
