/** Reads the stream of audit records in Redis to its end, a page at a time. */
import { RedisFailure } from "../redis/failure.ts";
import { openRedis } from "../redis/open.ts";
import type { RedisTarget } from "../redis/target.ts";
import { keyOf, RANGE } from "./stream.ts";

const TIMEOUT_MS = 5_000;
const PAGE = 500;

/**
 * The records, oldest first, as JSON texts.
 * @param keyPrefix `redis.keyPrefix`
 * @throws RedisFailure
 */
export async function* readStream(target: RedisTarget, keyPrefix: string): AsyncGenerator<string> {
  const key = keyOf(keyPrefix);
  const servers = openRedis(target, TIMEOUT_MS, { ready: () => undefined, lost: () => undefined });
  try {
    for (let from = "-"; ; ) {
      const deadline = performance.now() + TIMEOUT_MS;
      if (!(await servers.whenReady(key, deadline)))
        throw new RedisFailure("unreachable", `Redis ${servers.name}: not connected`);
      const page = entriesOf(await servers.run(RANGE, [key], [from, String(PAGE)], deadline));
      for (const { record } of page) if (record !== undefined) yield record;
      const last = page.at(-1);
      if (last === undefined || page.length < PAGE) return;
      from = after(last.id);
    }
  } finally {
    await servers.close();
  }
}

/** Whoever can write to Redis can write other things there: what is no record is passed over. */
function entriesOf(reply: unknown): { readonly id: string; readonly record: string | undefined }[] {
  if (!Array.isArray(reply)) return [];
  return (reply as unknown[]).map((entry) => {
    const [id, fields] = Array.isArray(entry) ? (entry as unknown[]) : [];
    const [name, value] = Array.isArray(fields) ? (fields as unknown[]) : [];
    return { id: String(id), record: name === "record" && typeof value === "string" ? value : undefined };
  });
}

/** The first id that is greater; works before Redis 6.2, too, which has a sign for that. */
function after(id: string): string {
  const [time = "0", sequence = "0"] = id.split("-");
  return `${time}-${BigInt(sequence) + 1n}`;
}
