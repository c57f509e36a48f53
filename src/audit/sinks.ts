/**
 * Where audit records go: standard output or a file, one JSON object a line. A record never holds up the request it is
 * about: what a place does not take is lost, counted and told to the log (docs/operations.md, "When records are lost").
 */
import { closeSync, constants, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import type { Config } from "../config/schema.ts";
import type { Log } from "../log.ts";
import { Output, openStandard } from "../output.ts";
import type { AdminRecord } from "./admin-record.ts";
import type { AuditRecord } from "./record.ts";

/** Takes finished records. */
export interface AuditLog {
  write(record: AuditRecord | AdminRecord): void;
  /** Records lost so far, by sink: `stdout`, or the path of the file. */
  losses(): ReadonlyMap<string, number>;
  /** Waits a moment until everything is written. */
  close(): Promise<void>;
}

/** Without waiting, or a pipe that nobody reads would hold up the start. */
const APPEND = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NONBLOCK;

interface Sink {
  readonly name: string;
  readonly output: Output;
  close(): Promise<void>;
}

/** Before anything is written: a gateway that cannot open one of its sinks leaves none open. */
function openFiles(sinks: Config["audit"]["sinks"]): ReadonlyMap<string, number> {
  const opened = new Map<string, number>();
  try {
    for (const sink of sinks) {
      if (sink.type !== "file" || opened.has(sink.path)) continue;
      mkdirSync(dirname(sink.path), { recursive: true });
      opened.set(sink.path, openSync(sink.path, APPEND, 0o640));
    }
    return opened;
  } catch (error) {
    for (const file of opened.values()) closeSync(file);
    throw error;
  }
}

/**
 * Opens the configured sinks.
 * @param context `log` is told when a file begins to lose records, and when it takes them again; `stdout` is what the
 *   log is written to as well, and tells of itself
 * @throws Error when a file cannot be opened: a gateway that cannot keep its audit does not start
 */
export async function openAuditLog(
  sinks: Config["audit"]["sinks"],
  { log, stdout }: { readonly log: Log; readonly stdout?: Output },
): Promise<AuditLog> {
  const places: Sink[] = [];
  for (const [path, file] of openFiles(sinks)) {
    const output = new Output(file);
    output.onChange((change) => {
      if (change.taken) log.warn({ sink: path, lost: change.lost }, "audit records are written again");
      else log.error({ sink: path, reason: change.reason }, "audit records are lost, requests go on");
    });
    places.push({ name: path, output, close: () => output.close() });
  }
  if (sinks.some(({ type }) => type === "stdout")) {
    const output = stdout ?? openStandard(1);
    places.push({ name: "stdout", output, close: () => output.flush() });
  }
  const losses = new Map(places.map(({ name }) => [name, 0]));
  return {
    write(record) {
      const line = `${JSON.stringify(record)}\n`;
      for (const { name, output } of places) {
        output.write(line, () => losses.set(name, (losses.get(name) ?? 0) + 1));
      }
    },
    losses: () => losses,
    close: async () => {
      await Promise.all(places.map((place) => place.close()));
    },
  };
}
