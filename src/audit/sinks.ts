/**
 * Where audit records go: standard output, files, a stream in Redis; one JSON object a line. A record never holds up the request it is
 * about: what a place does not take is lost, counted and told to the log (docs/audit.md, "When records are lost").
 */
import { closeSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import type { Config } from "../config/schema.ts";
import type { Log } from "../log.ts";
import { type Output, openStandard } from "../output.ts";
import type { RedisTarget } from "../redis/target.ts";
import type { AdminRecord } from "./admin-record.ts";
import { FileSink, openForRecords } from "./file-sink.ts";
import type { AuditRecord } from "./record.ts";
import { StreamSink } from "./stream-sink.ts";

/** Characters of a record that goes to Redis with its lists. */
const MAX_STREAMED = 8 * 1024;

/** Takes finished records. */
export interface AuditLog {
  write(record: AuditRecord | AdminRecord): void;
  /** Records lost so far, by sink: `stdout`, `redis`, or the path of the file. */
  losses(): ReadonlyMap<string, number>;
  /** Goes on in new files where others stand at the paths by now, or none. Never rejects. */
  reopen?(): Promise<void>;
  /** Waits a moment until everything is written. */
  close(): Promise<void>;
}

/** One place. */
export interface Sink {
  readonly name: string;
  /** @param line with its end */
  write(line: string, onLost: () => void): void;
  reopen?(): Promise<void>;
  close(): Promise<void>;
}

/** What sinks are opened with. */
export interface SinkParts {
  /** Told when a place begins to lose records, and when it takes them again. */
  readonly log: Log;
  /** What the log is written to as well, and which tells of itself. */
  readonly stdout?: Output;
  /** For a sink of type `redis`. */
  readonly redis?: { readonly target: RedisTarget; readonly keyPrefix: string };
}

/** Before anything is written: a gateway that cannot open one of its sinks leaves none open. */
function openFiles(sinks: Config["audit"]["sinks"]): ReadonlyMap<string, number> {
  const opened = new Map<string, number>();
  try {
    for (const sink of sinks) {
      if (sink.type !== "file" || opened.has(sink.path)) continue;
      mkdirSync(dirname(sink.path), { recursive: true });
      opened.set(sink.path, openForRecords(sink.path));
    }
    return opened;
  } catch (error) {
    for (const file of opened.values()) closeSync(file);
    throw error;
  }
}

/**
 * Opens the configured sinks. Redis may be away.
 * @throws Error when a file cannot be opened, or what is said of Redis is of no use: a gateway that cannot keep its audit does not start
 */
export async function openAuditLog(
  sinks: Config["audit"]["sinks"],
  { log, stdout, redis }: SinkParts,
): Promise<AuditLog> {
  const files = openFiles(sinks);
  let toStream: StreamSink | undefined;
  try {
    const stream = sinks.find((sink) => sink.type === "redis");
    if (stream !== undefined && redis !== undefined)
      toStream = new StreamSink({ ...redis, maxRecords: stream.maxRecords, log });
  } catch (error) {
    for (const file of files.values()) closeSync(file);
    throw error;
  }
  const places: Sink[] = [...files].map(([path, file]) => new FileSink(path, file, log));
  if (sinks.some(({ type }) => type === "stdout")) places.push(standardSink(stdout ?? openStandard(1)));
  const all = toStream === undefined ? places : [...places, toStream];
  const losses = new Map(all.map(({ name }) => [name, 0]));
  const lost = new Map(
    all.map(({ name }) => [name, () => void losses.set(name, (losses.get(name) ?? 0) + 1)] as const),
  );
  const none = (): void => undefined;
  return {
    write(record) {
      const line = `${JSON.stringify(record)}\n`;
      for (const place of places) place.write(line, lost.get(place.name) ?? none);
      toStream?.write(short(record, line), lost.get(toStream.name) ?? none);
    },
    losses: () => losses,
    async reopen() {
      await Promise.all(places.map((place) => place.reopen?.()));
    },
    async close() {
      await Promise.all(all.map((place) => place.close()));
    },
  };
}

/**
 * The memory of Redis is that of the marks of spent states, and callers and servers decide how long their lists are: without arguments, and
 * without lists where these are long.
 */
function short(record: AuditRecord | AdminRecord, line: string): string {
  if (record.type === "admin" || (record.arguments === undefined && line.length <= MAX_STREAMED)) return line;
  const { arguments: _, ...rest } = record;
  const text = `${JSON.stringify(rest)}\n`;
  if (text.length <= MAX_STREAMED) return text;
  const { asked, questions, answers, rules, principal, approval, ...few } = rest;
  const { groups, scopes, ...who } = principal ?? {};
  const cut: AuditRecord = {
    ...few,
    ...(principal === undefined ? {} : { principal: who }),
    ...(approval === undefined ? {} : { approval: withoutLists(approval) }),
    cut: true,
  };
  return `${JSON.stringify(cut)}\n`;
}

const withoutLists = ({ fields, others, ...rest }: NonNullable<AuditRecord["approval"]>) => rest;

const standardSink = (output: Output): Sink => ({
  name: "stdout",
  write: (line, onLost) => output.write(line, onLost),
  close: () => output.flush(),
});
