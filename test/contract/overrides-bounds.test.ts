/** The bounds of shared overrides: 10,000 entries, and a key that somebody else has filled. */
import t from "tap";
import type { Ask } from "../../src/config/schema.ts";
import type { OverridesDesk } from "../../src/overrides/overrides.ts";
import { signEntry } from "../../src/overrides/signature.ts";
import type { Principal } from "../../src/principal/principal.ts";
import { openOverrides, signingWith } from "../support/overrides.ts";
import { ownRedis } from "../support/redis.ts";
import { until } from "../support/until.ts";

const KEY = "sg:{overrides}";
const ALICE: Principal = { anonymous: false, issuer: "i", subject: "alice", groups: [], scopes: [] };
const OLD = { chain: "A".repeat(22), chainIat: 1 };
const YES = { by: "t", effect: "allow", capability: ["sampling"] } as const;
const ROUTE = { by: "t", target: { route: "/mcp" } } as const;

const asks = (desk: OverridesDesk): string[] =>
  [...desk.asks(new Set<Ask>(["roots"]), { principal: ALICE, route: "/mcp", tool: "x" })].sort();
const isRevoked = (desk: OverridesDesk): boolean => desk.isRevoked(OLD, ALICE, "/mcp");

t.test("a key of another type stops grants and nothing else", async (t) => {
  const redis = await ownRedis(t);
  const a = await openOverrides(t, redis.url, { grantsLapseMs: 1_000 });
  await a.revoke(ROUTE);
  await a.grant(YES);
  await redis.command("SET", KEY, "text");
  await until(() => asks(a).join() === "roots");
  t.ok(isRevoked(a));
  await t.rejects(a.refresh(), { name: "OverridesUnavailable" });
  t.ok(isRevoked(a));
  await redis.command("DEL", KEY);
  await until(() => asks(a).join() === "roots,sampling");
});

t.test("10,000 entries are the bound; what expires makes room, and Redis forgets it", async (t) => {
  const redis = await ownRedis(t);
  const a = await openOverrides(t, redis.url);
  const signing = signingWith("a");
  const end = Date.now() + 600_000;
  const values = Array.from({ length: 10_000 }, (_, index) => {
    const id = `${String(index).padStart(21, "0")}A`;
    const common = {
      kind: "grant",
      id,
      setAt: end - 600_000,
      by: "t",
      effect: "deny",
      tool: `x${index}`,
    } as const;
    return [id, signEntry(signing, { ...common, until: index === 0 ? Date.now() + 3_000 : end }, Date.now())];
  });
  await redis.command("HSET", KEY, ...values.flat(), "version", "filled");
  await until(() => a.status().denials >= 9_999);
  t.equal(a.status().ignored, 0);
  await until(async () => (await redis.command("HLEN", KEY)) === 10_000);
  await a.revoke(ROUTE);
  await t.rejects(a.revoke(ROUTE), { name: "OverridesFull", message: /10000/ });
  const b = await openOverrides(t, redis.url);
  t.ok(isRevoked(b));
  t.equal(b.status().denials, 9_999);
});
