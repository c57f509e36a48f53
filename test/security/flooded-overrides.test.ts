/** Somebody who can write to Redis fills it: operators go on revoking, and who starts later knows what was revoked. */
import { randomBytes } from "node:crypto";
import t from "tap";
import type { OverridesDesk } from "../../src/overrides/overrides.ts";
import { openOverrides } from "../support/overrides.ts";
import { ownRedis } from "../support/redis.ts";
import { until } from "../support/until.ts";

const KEY = "sg:{overrides}";
const ANYBODY = { anonymous: true, issuer: "", subject: "", groups: [], scopes: [] };
const ROUTE = { by: "t", target: { route: "/mcp" } } as const;
const redis = await ownRedis(t);
t.beforeEach(async () => {
  await redis.command("FLUSHALL");
});

const newId = (): string => randomBytes(16).toString("base64url");
const isRevoked = (desk: OverridesDesk): boolean =>
  desk.isRevoked({ chain: "A".repeat(22), chainIat: 1 }, ANYBODY, "/mcp");

/** Values of the right form that nobody has signed. */
const denials = (count: number): [string, string][] =>
  Array.from({ length: count }, (_, index) => {
    const id = newId();
    const until = Date.now() + 80 * 86_400_000;
    const entry = { kind: "grant", id, setAt: 1, until, by: "x", effect: "deny", tool: `y${index}` };
    return [id, `${until} 00000000.${"A".repeat(43)} ${JSON.stringify(entry)}`];
  });
const plant = (pairs: readonly (readonly [string, string])[]): Promise<unknown> =>
  redis.command("HSET", KEY, ...pairs.flat(), "version", newId());

t.test("thousands of fields without any form: nothing is lost, and operators go on", async (t) => {
  const a = await openOverrides(t, redis.url);
  const entry = await a.revoke(ROUTE);
  await redis.command(
    "EVAL",
    "redis.call('DEL', KEYS[1]) for i = 1, 30000 do redis.call('HSET', KEYS[1], 'j' .. i, '9999999999999 x') end redis.call('HSET', KEYS[1], 'version', 'evil')",
    "1",
    KEY,
  );
  await until(async () => (await redis.command("HEXISTS", KEY, entry.id)) === 1);
  t.equal(await redis.command("HLEN", KEY), 2);
  const late = await openOverrides(t, redis.url);
  t.ok(isRevoked(late), "who starts later knows what was revoked");
  await a.revoke(ROUTE);
  t.ok(a.lines.some(({ message }) => message.includes("are no entries, and were dropped")));
});

for (const count of [9_999, 20_500])
  t.test(`thousands in the right form: the same, ${count}`, async (t) => {
    const a = await openOverrides(t, redis.url);
    const entry = await a.revoke(ROUTE);
    await redis.command("DEL", KEY);
    await plant(denials(count));
    await until(async () => (await redis.command("HLEN", KEY)) === 2);
    t.equal(await redis.command("HEXISTS", KEY, entry.id), 1, "only what is signed is left");
    t.ok(a.lines.some(({ message }) => message.includes("filled the store")));
    await a.revoke(ROUTE);
    const late = await openOverrides(t, redis.url);
    t.ok(isRevoked(late));
    t.equal(late.status().revocations, 2);
  });

t.test("what is signed comes back although others have written a lot", async (t) => {
  const a = await openOverrides(t, redis.url);
  const entry = await a.revoke(ROUTE);
  const pairs = [entry.id, String(await redis.command("HGET", KEY, entry.id))] as const;
  await redis.command("DEL", KEY);
  const command = await openOverrides(t, redis.url, { follow: false });
  await plant([...denials(8_000), pairs]);
  await command.refresh();
  t.ok(isRevoked(command));
});

t.test("a value or a name of many megabytes ends no reading", async (t) => {
  const a = await openOverrides(t, redis.url);
  await a.revoke(ROUTE);
  for (const id of ["big", newId(), "x".repeat(1_000_000)]) {
    const script = `redis.call('HSET', KEYS[1], ARGV[1], string.rep('x', 4000000), 'version', ARGV[1])`;
    await redis.command("EVAL", script, "1", KEY, id);
    await until(async () => (await redis.command("HEXISTS", KEY, id)) === 0);
  }
  await a.refresh();
  t.equal(a.status().revocations, 1);
});
