/**
 * The records of one chain among the lines of a log: reads on and on, holds one line at a time, and passes over what is no record. A
 * record has to stand at the start of its line: in the middle of others' lines there may be texts that others chose.
 */
import type * as z from "zod";
import { adminRecord } from "./admin-schema.ts";
import { auditRecord } from "./record-schema.ts";

/** Longer lines are passed over: no record is that long. */
export const MAX_LINE_BYTES = 1024 * 1024;
const START = '{"type":"';

/** A record as it was read; what this version cannot read of it is `undefined`. */
export type ReadRecord = {
  /** The line as it was found, from where the record begins. */
  readonly line: string;
  readonly record: z.output<typeof anyAudit> | z.output<typeof anyAdmin> | undefined;
};

/** Members that a later version has added are left out. */
const anyAudit = auditRecord.strip();
const anyAdmin = adminRecord.strip();

/** Lines of UTF-8, without their ends; what is longer than `MAX_LINE_BYTES` is passed over, and never held whole. */
export async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let rest: Buffer[] = [];
  let size = 0;
  for await (const bytes of chunks) {
    let chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10)) {
      size += end;
      if (size <= MAX_LINE_BYTES) yield Buffer.concat([...rest, chunk.subarray(0, end)]).toString();
      [rest, size] = [[], 0];
      chunk = chunk.subarray(end + 1);
    }
    size += chunk.length;
    if (size <= MAX_LINE_BYTES) rest.push(Buffer.from(chunk));
    else rest = [];
  }
  // A last line without its end may be half a record, or whole.
  if (size > 0 && size <= MAX_LINE_BYTES) yield Buffer.concat(rest).toString();
}

/** The record of a chain in a line; undefined where it holds none. */
export function recordIn(line: string, chain: string): ReadRecord | undefined {
  // Most lines end here.
  if (!line.includes(chain) || !line.startsWith(START)) return undefined;
  // One that was cut by a crash may have the next on its line.
  for (const at of [0, line.lastIndexOf(START)]) {
    const text = line.slice(at).trimEnd();
    const value = parse(text);
    if (value === undefined || !isAbout(value, chain)) continue;
    return { line: text, record: readRecord(value) };
  }
  return undefined;
}

type Members = Readonly<Record<string, unknown>>;

function parse(text: string): Members | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Members) : undefined;
  } catch {
    return undefined;
  }
}

/** It is of the chain, it brought a state of the chain, it ran on an approval in it, or an operator did something about it. */
function isAbout({ type, chain, brought, approval, entry }: Members, wanted: string): boolean {
  if (type === "admin") return chainOf(entry) === wanted;
  return (
    type === "audit" && (chain === wanted || chainOf(brought) === wanted || rememberedOf(approval) === wanted)
  );
}

const chainOf = (value: unknown): unknown => (value as Members | null | undefined)?.["chain"];
const rememberedOf = (value: unknown): unknown => (value as Members | null | undefined)?.["remembered"];

function readRecord(value: Members): ReadRecord["record"] {
  const result = value["type"] === "admin" ? anyAdmin.safeParse(value) : anyAudit.safeParse(value);
  return result.success ? result.data : undefined;
}
