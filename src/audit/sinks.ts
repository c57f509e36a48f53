/**
 * Where audit records go: standard output or a file, one JSON object a line. Writing never blocks a request.
 */
import { closeSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import pino from "pino";
import type { Config } from "../config/schema.ts";
import type { AuditRecord } from "./record.ts";

const STDOUT = 1;

/** Takes finished records. */
export interface AuditLog {
  write(record: AuditRecord): void;
  /** Waits until everything is written. */
  close(): Promise<void>;
}

/** Before any stream: one that cannot open its file by itself throws once more when the process ends. */
function openFiles(sinks: Config["audit"]["sinks"]): number[] {
  const opened: number[] = [];
  try {
    for (const sink of sinks) {
      if (sink.type === "file") mkdirSync(dirname(sink.path), { recursive: true });
      opened.push(sink.type === "file" ? openSync(sink.path, "a", 0o640) : STDOUT);
    }
    return opened;
  } catch (error) {
    for (const file of opened) if (file !== STDOUT) closeSync(file);
    throw error;
  }
}

/**
 * Opens the configured sinks.
 * @throws Error when a file cannot be opened: a gateway that cannot keep its audit does not start
 */
export async function openAuditLog(sinks: Config["audit"]["sinks"]): Promise<AuditLog> {
  const places = openFiles(sinks);
  const streams = places.map((dest) => pino.destination({ dest, sync: false }));
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
