/**
 * The operator's log: JSON lines by pino. Callers never pass a secret, a token, a state, answers or arguments;
 * errors are reduced to what cannot hold one, since libraries hang commands and inputs on them.
 */
import pino from "pino";
import type { Output } from "./output.ts";

/** What every room may say to the operator's log. A pino logger satisfies it. */
export interface Log {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

const MAX_CAUSES = 4;

/** Codes of the operating system (ECONNREFUSED, EADDRINUSE): where in the program it was told says nothing. */
const SYSTEM_CODE = /^E[A-Z0-9]+$/;

/** An error as the log shows it: no own properties but `code`, causes up to a depth, a stack unless the system refused something. */
export function logError(thrown: unknown, depth = 0): object {
  if (!(thrown instanceof Error)) return { type: typeof thrown };
  const code = "code" in thrown && typeof thrown.code === "string" ? thrown.code : undefined;
  const stack = thrown.stack?.split("\n").slice(1, 8);
  return {
    type: thrown.name,
    message: thrown.message,
    ...(code === undefined ? {} : { code }),
    ...(code !== undefined && SYSTEM_CODE.test(code) ? {} : { stack: stack?.map((line) => line.trim()) }),
    ...(thrown.cause === undefined || depth >= MAX_CAUSES
      ? {}
      : { cause: logError(thrown.cause, depth + 1) }),
  };
}

/** An upstream's address as the log shows it: the query of its URL may hold a key. */
export function withoutQuery(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}

/**
 * Opens the log.
 * @param destination takes a line with its end, and neither waits nor throws
 */
export function createLog(level: string, destination: { write(line: string): void }): pino.Logger {
  const options: pino.LoggerOptions = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    serializers: { err: (error: unknown) => logError(error) },
  };
  return pino(options, destination);
}

/**
 * Lets standard output say on standard error what it cannot say itself: that log lines and audit records are lost.
 * @param log what is written to `stdout`
 */
export function tellLosses(stdout: Output, stderr: Output, log: Log): void {
  stdout.onChange((change) => {
    const text = change.taken
      ? `standard output takes lines again; ${change.lost} were lost`
      : `standard output cannot be written (${change.reason}): log lines, and audit records that go there, are lost; requests go on`;
    stderr.write(`sealgate: ${text}\n`);
    if (change.taken)
      log.warn({ sink: "stdout", lost: change.lost }, "log lines and audit records are written again");
    else
      log.error(
        { sink: "stdout", reason: change.reason },
        "log lines and audit records are lost, requests go on",
      );
  });
}
