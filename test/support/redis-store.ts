/** Redis stores for tests: short to make, closed at teardown, with a log that can be read. */
import { randomBytes } from "node:crypto";
import { createRedisStore, type RedisStore, type RedisStoreOptions } from "../../src/redemption/redis.ts";
import type { Standards } from "../../src/redemption/server-state.ts";
import type { Mark, RedemptionStore } from "../../src/redemption/store.ts";
import type { RedisTarget } from "../../src/redis/target.ts";

type Extras = Pick<RedisStoreOptions, "keyPrefix" | "random" | "redeemTimeoutMs">;

/** What a store has logged, in order. */
export interface Line {
  readonly level: "info" | "warn" | "error";
  readonly fields: Readonly<Record<string, unknown>>;
  readonly message: string;
}

/** A store with what it logged. */
export type LoggedStore = RedisStore & { readonly lines: readonly Line[] };

/** Makes a store on a server; everything but where it is has a default. */
export async function redisStore(
  t: { teardown(run: () => unknown): void },
  options: RedisTarget & Partial<Standards & Extras>,
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

/** A state sealed just now under the epoch the store tells. */
export function sealed(store: RedemptionStore, change: Partial<Mark> = {}): Mark {
  const jti = change.jti ?? randomBytes(16).toString("base64url");
  const epoch = store.epoch(jti);
  if (epoch === undefined) throw new Error("the store has no epoch yet");
  return { jti, epoch, exp: Math.floor(Date.now() / 1000) + 60, ...change };
}
