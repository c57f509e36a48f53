/** Overrides for tests: replicas on one Redis, each with its own log, closed at teardown. */
import { loadKeyring } from "../../src/keyring.ts";
import {
  createRedisOverrides,
  type RedisOverrides,
  type RedisOverridesOptions,
} from "../../src/overrides/redis.ts";
import type { Signing } from "../../src/overrides/signature.ts";
import type { RedisTarget } from "../../src/redis/target.ts";

/** A line of the log. */
export interface OverridesLine {
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Overrides with what they logged. */
export type LoggedOverrides = RedisOverrides & { readonly lines: readonly OverridesLine[] };

/** Keys of rings by name: one letter is one secret. The first seals. */
export const signingWith = (...names: readonly string[]): Signing => ({
  ring: loadKeyring(
    names.map((id) => ({ id, secret: Buffer.alloc(32, id) })),
    names[0] ?? "",
  ),
  audience: "https://gateway.example",
});

/** Opens what one replica has; everything but the server has a default. */
export async function openOverrides(
  t: { teardown(run: () => unknown): void },
  target: string | RedisTarget,
  change: Partial<RedisOverridesOptions> = {},
): Promise<LoggedOverrides> {
  const lines: OverridesLine[] = [];
  const line = (fields: object, message: string): void => void lines.push({ fields: { ...fields }, message });
  const signing = signingWith("a");
  const overrides = await createRedisOverrides({
    target: typeof target === "string" ? { url: target } : target,
    keyPrefix: "sg:",
    signing: () => signing,
    lifetimes: () => ({ skewSeconds: 60, chainSeconds: 4_000 }),
    log: { info: line, warn: line, error: line },
    now: Date.now,
    follow: true,
    ...change,
  });
  t.teardown(() => overrides.close());
  return Object.assign(overrides, { lines });
}
