/** Bytes on a socket, and the bytes that come back. */
import { connect } from "node:net";

/**
 * Writes pieces to the server and reads until it closes the connection.
 * @param base `http://host:port`
 */
export function rawExchange(base: string, ...pieces: readonly (string | Buffer)[]): Promise<string> {
  const { hostname, port } = new URL(base);
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const socket = connect(Number(port), hostname);
    socket.setNoDelay(true);
    socket.on("data", (chunk) => chunks.push(chunk));
    socket.on("error", () => undefined);
    socket.on("close", () => resolve(Buffer.concat(chunks).toString("latin1")));
    for (const piece of pieces) socket.write(piece);
  });
}

/** The status codes of the responses in what came back. */
export const statuses = (text: string): number[] =>
  [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map((match) => Number(match[1]));
