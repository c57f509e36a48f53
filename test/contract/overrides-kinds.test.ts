/** Overrides on every kind of Redis, with the least rights that the documentation asks for. */
import t from "tap";
import { openOverrides } from "../support/overrides.ts";
import { KINDS } from "../support/redis-kinds.ts";
import { until } from "../support/until.ts";

const ANYBODY = { anonymous: true, issuer: "", subject: "", groups: [], scopes: [] };

for (const [name, open] of Object.entries(KINDS)) {
  t.test(name, async (t) => {
    const { target, ownerOf } = await open(t);
    const [a, b] = [await openOverrides(t, target), await openOverrides(t, target)];
    const entry = await a.revoke({ by: "t", target: { route: "/mcp" } });
    const isRevoked = () => b.isRevoked({ chain: "A".repeat(22), chainIat: 1 }, ANYBODY, "/mcp");
    await until(isRevoked);
    t.equal(await ownerOf("sg:{overrides}").command("HLEN", "sg:{overrides}"), 2);
    await ownerOf("sg:{overrides}").command("DEL", "sg:{overrides}");
    await until(async () => (await ownerOf("sg:{overrides}").command("EXISTS", "sg:{overrides}")) === 1);
    t.ok(isRevoked());
    await b.remove("revocation", entry.id, "t");
    await a.refresh();
    t.same(a.list(), []);
  });
}
