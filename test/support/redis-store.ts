/** Redis stores for tests: short to make, closed at teardown, with a log that can be read. */
import { createRedisStore, type RedisStore, type RedisStoreOptions } from "../../src/redemption/redis.ts";
import type { Mark } from "../../src/redemption/store.ts";

/** What a store has logged, in order. */
export interface Line {
  readonly level: "info" | "warn" | "error";
  readonly fields: Readonly<Record<string, unknown>>;
  readonly message: string;
}

/** A store with what it logged. */
export type LoggedStore = RedisStore & { readonly lines: readonly Line[] };

/** Makes a store on a server; everything but the URL has a default. */
export async function redisStore(
  t: { teardown(run: () => unknown): void },
  options: Partial<RedisStoreOptions> & { readonly url: string },
): Promise<LoggedStore> {
  const lines: Line[] = [];
  const line = (level: Line["level"]) => (fields: object, message: string) =>
    void lines.push({ level, fields: { ...fields }, message });
  const log = { info: line("info"), warn: line("warn"), error: line("error") };
  const store = await createRedisStore({
    keyPrefix: "sg:",
    epoch: true,
    eviction: "refuse",
    log,
    ...options,
  });
  t.teardown(() => store.close());
  return Object.assign(store, { lines });
}

let serial = 0;

/** A state sealed just now under the epoch the store tells. */
export function sealed(store: RedisStore, change: Partial<Mark> = {}): Mark {
  const epoch = store.epoch();
  if (epoch === undefined) throw new Error("the store has no epoch yet");
  const jti = `${"s".repeat(16)}${String(serial++).padStart(6, "0")}`;
  return { jti, epoch, exp: Math.floor(Date.now() / 1000) + 60, ...change };
}
