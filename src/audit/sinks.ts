/**
 * Where audit records go: standard output or a file, one JSON object a line. Writing never blocks a request.
 */
import pino from "pino";
import type { Config } from "../config/schema.ts";
import type { AuditRecord } from "./record.ts";

/** Takes finished records. */
export interface AuditLog {
  write(record: AuditRecord): void;
  /** Waits until everything is written. */
  close(): Promise<void>;
}

/**
 * Opens the configured sinks.
 * @throws Error when a file cannot be opened: a gateway that cannot keep its audit does not start
 */
export async function openAuditLog(sinks: Config["audit"]["sinks"]): Promise<AuditLog> {
  const streams = await Promise.all(
    sinks.map(async (sink) => {
      const stream = pino.destination(
        sink.type === "file"
          ? { dest: sink.path, mkdir: true, append: true, mode: 0o640, sync: false }
          : { dest: 1, sync: false },
      );
      await new Promise<void>((resolve, reject) => {
        stream.once("ready", resolve);
        stream.once("error", reject);
      });
      return stream;
    }),
  );
  return {
    write(record) {
      const line = `${JSON.stringify(record)}\n`;
      for (const stream of streams) stream.write(line);
    },
    close: async () => {
      for (const stream of streams) {
        await new Promise<void>((resolve) => {
          stream.once("close", resolve);
          stream.end();
        });
      }
    },
  };
}
