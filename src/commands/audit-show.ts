/** `sealgate audit show`: the records of one chain, as a story or as they are. */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { linesOf, type ReadRecord, recordIn } from "../audit/lines.ts";
import { storyOf } from "../audit/story.ts";
import { readStream } from "../audit/stream-reader.ts";
import { loadConfig } from "../config/load.ts";
import { RedisFailure } from "../redis/failure.ts";
import { redisTarget } from "../redis/target-of.ts";
import { EXIT } from "./exit.ts";
import { UsageError } from "./usage-error.ts";

/** Records of one chain that a story holds; more are counted. */
const MOST_TOLD = 2_000;
/** Records that are known by a digest, so that none is told twice. */
const MOST_KNOWN = 100_000;

/** What is asked for. */
export interface ShowOptions {
  readonly chain: string;
  /** A path, or `-` for standard input, as without it. */
  readonly file: string | undefined;
  /** A configuration whose stream in Redis is read instead. */
  readonly config: string | undefined;
  readonly json: boolean;
}

/** Where a command reads and writes; a test's own. */
export interface Streams {
  readonly input: AsyncIterable<Uint8Array>;
  write(text: string): unknown;
}

const STANDARD: Streams = {
  get input() {
    return process.stdin;
  },
  write: (text) => process.stdout.write(text),
};

/**
 * Prints the story, or with `json` the records, a line each, in the order in which they were found.
 * @returns the exit code
 * @throws UsageError, ConfigError, ConfigFileError
 */
export async function auditShow(options: ShowOptions, streams: Streams = STANDARD): Promise<number> {
  const { chain, json } = options;
  const told: ReadRecord["record"][] = [];
  const seen = new Set<string>();
  let found = 0;
  try {
    for await (const line of await source(options, streams)) {
      const read = recordIn(line, chain);
      if (read === undefined) continue;
      // A sink may write a record twice, and files may hold the same.
      const digest = createHash("sha256").update(read.line).digest("base64url");
      if (seen.has(digest)) continue;
      if (seen.size < MOST_KNOWN) seen.add(digest);
      found += 1;
      if (json) streams.write(`${printable(read.line)}\n`);
      else if (told.length < MOST_TOLD) told.push(read.record);
    }
  } catch (error) {
    const failure = failureOf(error, options.file);
    if (failure === undefined) throw error;
    process.stderr.write(`sealgate: ${failure.text}\n`);
    return failure.code;
  }
  if (found === 0) {
    process.stderr.write(`sealgate: there is no record of chain ${chain}\n`);
    return EXIT.data[0];
  }
  if (!json) streams.write(storyOf(chain, told, found - told.length));
  return EXIT.ok[0];
}

async function source({ file, config }: ShowOptions, { input }: Streams): Promise<AsyncIterable<string>> {
  if (config !== undefined) return fromRedis(config);
  return linesOf(file === undefined || file === "-" ? input : createReadStream(file));
}

async function fromRedis(file: string): Promise<AsyncIterable<string>> {
  const loaded = await loadConfig(file, process.env);
  const { audit, redis } = loaded.config;
  if (redis === undefined || !audit.sinks.some(({ type }) => type === "redis"))
    throw new UsageError("--config names no audit sink of type redis: give the file of records with --file");
  return readStream(redisTarget(loaded), redis.keyPrefix);
}

function failureOf(
  error: unknown,
  file: string | undefined,
): { readonly text: string; readonly code: number } | undefined {
  if (error instanceof RedisFailure) return { text: error.message, code: EXIT.unavailable[0] };
  const code = error instanceof Error && "code" in error ? String(error.code) : undefined;
  if (code === undefined || !("syscall" in (error as Error))) return undefined;
  return { text: `cannot read ${file ?? "standard input"}: ${code}`, code: EXIT.input[0] };
}

/** JSON in which what is not printable is escaped, not only what JSON wants to be: the same value to whoever parses it. */
const printable = (json: string): string =>
  json.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (character) =>
    Array.from(
      { length: character.length },
      (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`,
    ).join(""),
  );
