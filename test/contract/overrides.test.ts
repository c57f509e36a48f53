/** One contract, two stores: what is set holds, what is removed does not, and what is asked of an empty table. */
import t, { type Test } from "tap";
import type { Ask } from "../../src/config/schema.ts";
import { createMemoryOverrides } from "../../src/overrides/memory.ts";
import type { OverridesDesk } from "../../src/overrides/overrides.ts";
import type { Principal } from "../../src/principal/principal.ts";
import { openOverrides } from "../support/overrides.ts";
import { ownRedis } from "../support/redis.ts";

const ALICE: Principal = {
  anonymous: false,
  issuer: "https://id.example",
  subject: "alice",
  groups: ["staff"],
  scopes: [],
};
const CHAIN = "A".repeat(22);
const LIFETIMES = { skewSeconds: 60, chainSeconds: 4_000 };

const redis = await ownRedis(t);
const stores: Readonly<Record<string, (t: Test) => Promise<OverridesDesk>>> = {
  memory: async () => createMemoryOverrides({ lifetimes: () => LIFETIMES, now: Date.now }),
  redis: async (t) => {
    await redis.command("FLUSHALL");
    return openOverrides(t, redis.url);
  },
};

const seconds = (): number => Math.floor(Date.now() / 1000);
const asks = (desk: OverridesDesk, allowed: readonly Ask[] = []): string[] =>
  [...desk.asks(new Set(allowed), { principal: ALICE, route: "/mcp", tool: "pay" })].sort();

for (const [name, open] of Object.entries(stores)) {
  t.test(`${name}: an empty table changes nothing`, async (t) => {
    const desk = await open(t);
    t.ok(desk.known());
    t.same(desk.list(), []);
    t.notOk(desk.isRevoked({ chain: CHAIN, chainIat: 0 }, ALICE, "/mcp"));
    t.equal(desk.firstBirth(ALICE, "/mcp"), 0);
    t.same(asks(desk, ["roots"]), ["roots"]);
    t.match(desk.status(), { revocations: 0, allows: 0, denials: 0, ignored: 0 });
  });

  t.test(`${name}: what was born before a revocation is hit, what is born after it is not`, async (t) => {
    const desk = await open(t);
    const born = { chain: CHAIN, chainIat: seconds() };
    const entry = await desk.revoke({ by: "t", target: { route: "/mcp" } });
    t.ok(desk.isRevoked(born, ALICE, "/mcp"));
    t.ok(
      desk.isRevoked({ chain: CHAIN, chainIat: seconds() }, ALICE, "/mcp"),
      "by the clock alone, for a while",
    );
    const after = { chain: CHAIN, chainIat: Math.max(seconds(), desk.firstBirth(ALICE, "/mcp")) };
    t.notOk(desk.isRevoked(after, ALICE, "/mcp"));
    await desk.revoke({ by: "t", target: { principal: { issuer: ALICE.issuer, subject: "alice" } } });
    t.ok(desk.isRevoked(after, ALICE, "/mcp"), "by a revocation of the same second too");
    t.match(await desk.remove("revocation", entry.id, "t"), { id: entry.id });
    t.same(desk.list().length, 1);
  });

  t.test(`${name}: grants, denials, and their removal`, async (t) => {
    const desk = await open(t);
    const allow = await desk.grant({ by: "t", effect: "allow", capability: ["sampling"], group: "staff" });
    t.same(asks(desk), ["sampling"]);
    const deny = await desk.grant({ by: "t", effect: "deny", tool: "p*" });
    t.same(asks(desk, ["roots"]), []);
    t.match(desk.status(), { revocations: 0, allows: 1, denials: 1 });
    t.same(
      desk.list().map(({ id, signed }) => [id, signed]),
      [allow, deny].map(({ id }) => [id, true]),
    );
    t.equal(await desk.remove("revocation", deny.id, "t"), undefined, "not as an entry of another kind");
    t.match(await desk.remove("grant", deny.id, "t"), { id: deny.id });
    t.equal(await desk.remove("grant", deny.id, "t"), undefined, "once");
    t.equal(await desk.remove("grant", "nothing", "t"), undefined);
    t.same(asks(desk), ["sampling"]);
  });
}

t.test("memory: entries end by the injected clock, and 10,000 is the bound", async (t) => {
  let now = 1_900_000_000_000;
  const desk = createMemoryOverrides({ lifetimes: () => LIFETIMES, now: () => now });
  for (let count = 0; count < 10_000; count++)
    await desk.grant({ by: "t", effect: "deny", tool: `x${count}`, ttl: 5_000 });
  await t.rejects(desk.grant({ by: "t", effect: "deny", tool: "y" }), {
    name: "OverridesFull",
    message: /10000/,
  });
  await t.rejects(desk.revoke({ by: "t", target: { route: "/mcp" } }), { name: "OverridesFull" });
  t.equal(desk.list().length, 10_000);
  now += 5_000;
  t.same(desk.list(), []);
  await desk.revoke({ by: "t", target: { route: "/mcp" } });
  t.ok(desk.isRevoked({ chain: CHAIN, chainIat: now / 1000 }, ALICE, "/mcp"));
  now += (4_000 + 62) * 1000;
  t.notOk(desk.isRevoked({ chain: CHAIN, chainIat: 0 }, ALICE, "/mcp"), "when nothing it could hit is left");
});
