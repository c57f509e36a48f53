/** Somebody who can write to Redis, and has no key, plants what he likes: operators go on revoking, and nothing comes back. */
import { randomBytes } from "node:crypto";
import t from "tap";
import type { Ask } from "../../src/config/schema.ts";
import type { OverridesDesk } from "../../src/overrides/overrides.ts";
import { openOverrides, signingWith } from "../support/overrides.ts";
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
const now = (): number => Math.floor(Date.now() / 1000);
const isRevoked = (desk: OverridesDesk, chainIat = now()): boolean =>
  desk.isRevoked({ chain: "A".repeat(22), chainIat }, ANYBODY, "/mcp");
const asks = (desk: OverridesDesk): Ask[] => [
  ...desk.asks(new Set<Ask>(), { principal: ANYBODY, route: "/mcp", tool: "x" }),
];

/** A value of the right form that nobody has signed. */
function forged(change: Readonly<Record<string, unknown>>): [string, string] {
  const id = newId();
  const until = Date.now() + 80 * 86_400_000;
  const entry = { kind: "revocation", id, setAt: Date.now(), until, by: "x", ...change };
  return [id, `${until} 00000000.${"A".repeat(43)} ${JSON.stringify(entry)}`];
}
const plant = (pairs: readonly (readonly [string, string])[]): Promise<unknown> =>
  redis.command("HSET", KEY, ...pairs.flat(), "version", newId());
for (const bornBefore of [253_402_300_799, 100_000_000_000, now() + 2_000])
  t.test(`a birth in the far future is no operator's: ${bornBefore}`, async (t) => {
    const [a, b] = [await openOverrides(t, redis.url), await openOverrides(t, redis.url)];
    const planted = [
      forged({ target: { route: "/other" }, bornBefore }),
      forged({ target: { route: "/mcp" }, bornBefore }),
    ];
    await plant(planted);
    await until(() => a.status().ignored === 2);
    t.equal(a.firstBirth(ANYBODY, "/mcp"), 0);
    const command = await openOverrides(t, redis.url, { follow: false });
    const entry = await command.revoke(ROUTE);
    t.ok(entry.bornBefore <= now() + 62, "as if nothing had been planted");
    await until(() => isRevoked(a) && isRevoked(b));
    t.equal(a.firstBirth(ANYBODY, "/mcp"), entry.bornBefore);
  });

t.test("one that is near counts, dates chains, and is passed by the next", async (t) => {
  const a = await openOverrides(t, redis.url);
  const bornBefore = now() + 400;
  await plant([forged({ target: { route: "/mcp" }, bornBefore })]);
  await until(() => isRevoked(a));
  const birth = a.firstBirth(ANYBODY, "/mcp");
  t.equal(birth, bornBefore);
  t.notOk(isRevoked(a, birth));
  await a.revoke(ROUTE);
  t.ok(isRevoked(a, birth));
});

t.test("a grant is taken back with a key that gateways lack; a denial is not", async (t) => {
  const [a, b] = [await openOverrides(t, redis.url), await openOverrides(t, redis.url)];
  const allow = await a.grant({ by: "t", effect: "allow", capability: ["sampling"] });
  const deny = await a.grant({ by: "t", effect: "deny", capability: ["roots"] });
  const signed = String(await redis.command("HGET", KEY, allow.id));
  const next = signingWith("b", "a");
  const command = await openOverrides(t, redis.url, { follow: false, signing: () => next });
  t.ok(command.sealsAlone(), "which can be seen before");
  await command.remove("grant", allow.id, "t");
  await command.remove("grant", deny.id, "t");
  await until(() => asks(a).length === 0 && asks(b).length === 0);
  await until(async () => String(await redis.command("HGET", KEY, deny.id)).includes('"deny"'));
  t.match(await redis.command("HGET", KEY, allow.id), /"removal"/, "not written over");
  await redis.command("HSET", KEY, allow.id, signed, "version", "planted");
  await until(async () => String(await redis.command("HGET", KEY, allow.id)).includes('"removal"'));
  const late = await openOverrides(t, redis.url);
  t.same(asks(late), [], "not for those who start later either");
  t.equal(late.status().denials, 1);
});
