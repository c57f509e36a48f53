/** The rest of a body that nobody will use. */
import type { IncomingMessage } from "node:http";

const QUIET_MS = 250;
const MOST_MS = 2_000;

/**
 * Reads and drops what is left of a request's body, until it ends, is quiet for a moment, or has taken long enough. A connection
 * that is closed with bytes unread is reset, and then a client that is still sending may never see its answer.
 */
export function readOut(request: IncomingMessage): Promise<void> {
  if (request.complete || request.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(quiet);
      clearTimeout(late);
      request.off("data", onData);
      for (const event of ["end", "close", "error"]) request.off(event, done);
      request.resume();
      resolve();
    };
    const quiet = setTimeout(done, QUIET_MS);
    const late = setTimeout(done, MOST_MS);
    const onData = (): void => void quiet.refresh();
    request.on("data", onData);
    for (const event of ["end", "close", "error"]) request.on(event, done);
  });
}
