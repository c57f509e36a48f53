/** The end of a gateway: which signal or error asks for it, and how long it may take. */
import closeWithGrace, { type Signals } from "close-with-grace";
import type { Log } from "../log.ts";
import type { Running } from "../start.ts";
import { EXIT } from "./exit.ts";
import { heedStopSignals } from "./stop-signals.ts";

/** Time for closing sockets after the grace for requests is over, in milliseconds. */
const CLOSE_MS = 5_000;

/** What an end takes. */
export interface Ending {
  readonly log: Log;
  readonly flush: () => Promise<unknown>;
  /** Signals that ask for the end beside SIGTERM and SIGINT. */
  readonly others: readonly Signals[];
  /** `server.shutdownGrace`, in milliseconds. */
  readonly grace: number;
  /** The signal that came already. */
  readonly stopping: NodeJS.Signals | undefined;
}

/**
 * Drains at the first signal or unexpected error; a second signal takes the rest of the grace, a third one ends the process.
 * @returns the exit code; a second signal, and a drain that takes too long, end the process themselves with 1
 */
export async function untilClosed(running: Running, ending: Ending): Promise<number> {
  const { log, flush, others, grace } = ending;
  let asked: NodeJS.Signals | undefined;
  let begun = false;
  let cut = false;
  return new Promise<number>((resolve) => {
    const { close } = closeWithGrace(
      { delay: grace + CLOSE_MS, logger: false, skip: ["SIGHUP", "SIGTERM", "SIGINT", ...others] },
      async ({ signal = asked, err }) => {
        begun = true;
        if (err !== undefined) log.error({ err }, "unexpected error, shutting down");
        else log.info({ signal }, "draining");
        try {
          await running.close();
          log.info({}, "closed");
        } catch (failure) {
          log.error({ err: failure }, "closed out of order");
          throw failure;
        } finally {
          // The process ends right after this, and what is not written by then is gone.
          await flush();
        }
        if (cut) process.exit(EXIT.unhealthy[0]);
        resolve(err === undefined ? EXIT.ok[0] : EXIT.fault[0]);
      },
    );
    const onSignal = (signal: NodeJS.Signals): void => {
      if (cut) process.exit(EXIT.unhealthy[0]);
      asked = signal;
      if (!begun) return void close();
      cut = true;
      log.warn({ signal, requests: running.cut() }, "ended by a second signal");
      // What is cut gets its last words and its record, and no more.
      setTimeout(() => void flush().then(() => process.exit(EXIT.unhealthy[0])), CLOSE_MS);
    };
    for (const signal of others) process.on(signal, onSignal);
    heedStopSignals(onSignal);
    if (ending.stopping !== undefined) onSignal(ending.stopping);
  });
}
