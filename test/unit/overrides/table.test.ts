/** What a table of overrides decides: whose chains are revoked, and what may be asked of whom. */
import t from "tap";
import type { Ask } from "../../../src/config/schema.ts";
import type { Grant } from "../../../src/overrides/entry.ts";
import { Table } from "../../../src/overrides/table.ts";
import { ANONYMOUS, type Principal } from "../../../src/principal/principal.ts";
import { ALICE, grant, NOW, newId, revocation, SECOND } from "./entries.ts";

const chain = newId();
const old = { chain, chainIat: SECOND - 1 };
const at = (principal: Principal = ALICE, route = "/mcp") => ({ principal, route });

t.test("a revocation hits what it names, and its neighbours not", async (t) => {
  const { issuer, subject } = ALICE;
  for (const [target, hit, missed] of [
    [{ chain }, at(ANONYMOUS), undefined],
    [{ route: "/mcp" }, at(ANONYMOUS), at(ALICE, "/mcp/x")],
    [
      { principal: { issuer, subject } },
      at({ ...ALICE, client: "other", tenant: "other" }),
      at({ ...ALICE, subject: "Alice" }),
    ],
    [
      { principal: { issuer, subject } },
      at(ALICE, "/other"),
      at({ ...ALICE, issuer: "https://id.example/" }),
    ],
    [{ principal: { issuer, subject, client: "desk" } }, at(), at({ ...ALICE, client: "other" })],
    [{ principal: { issuer, subject, tenant: "acme" } }, at(), at({ ...ALICE, tenant: "other" })],
    [
      { principal: { issuer, subject, client: "desk" } },
      at(),
      at({ anonymous: false, issuer, subject, groups: [], scopes: [] }),
    ],
    [
      { principal: { issuer: "x", subject: "y" } },
      at({ ...ALICE, issuer: "x", subject: "y" }),
      at(ANONYMOUS),
    ],
  ] as const) {
    const table = new Table([revocation(target)]);
    t.ok(table.isRevoked(old, hit, NOW), JSON.stringify(target));
    if (missed !== undefined) t.notOk(table.isRevoked(old, missed, NOW), JSON.stringify(missed));
  }
  t.notOk(
    new Table([revocation({ chain })]).isRevoked({ ...old, chain: newId() }, at(), NOW),
    "another chain",
  );
});

t.test("nobody is made anonymous by an empty issuer and subject", async (t) => {
  const { issuer, subject } = ANONYMOUS;
  const table = new Table([
    revocation({ principal: { issuer, subject } }),
    grant({ principal: { issuer, subject } }),
  ]);
  t.notOk(table.isRevoked(old, at(ANONYMOUS), NOW));
  t.equal(table.asks(new Set(), { ...at(ANONYMOUS), tool: "x" }, NOW, NOW).size, 0);
});

t.test("the birth of the chain counts, to the second", async (t) => {
  const table = new Table([
    revocation({ route: "/mcp" }, { bornBefore: SECOND }),
    revocation({ route: "/mcp" }, { bornBefore: SECOND + 5 }),
  ]);
  t.ok(table.isRevoked({ chain, chainIat: SECOND + 4 }, at(), NOW));
  t.notOk(table.isRevoked({ chain, chainIat: SECOND + 5 }, at(), NOW));
  t.equal(table.firstBirth(at(), NOW), SECOND + 5, "a chain with this birth is hit by none of them");
  t.equal(table.firstBirth(at(ALICE, "/other"), NOW), 0);
});

t.test("entries end by themselves, also where the time is no number", async (t) => {
  const table = new Table([revocation({ route: "/mcp" }), grant({ capability: ["roots"] })]);
  const asks = (now: number) => table.asks(new Set(), { ...at(), tool: undefined }, now, now);
  t.ok(table.isRevoked(old, at(), NOW + 59_999));
  t.ok(asks(NOW + 59_999).has("roots"));
  for (const now of [NOW + 60_000, Number.POSITIVE_INFINITY, Number.NaN]) {
    t.notOk(asks(now).has("roots"));
    t.equal(table.firstBirth(at(), now), 0);
  }
});

t.test("selectors of a grant fit together or not at all", async (t) => {
  const { issuer, subject } = ALICE;
  const asks = (
    entry: Partial<Grant>,
    principal: Principal = ALICE,
    tool?: string,
    route = "/mcp",
  ): Ask[] => [
    ...new Table([grant({ capability: ["sampling"], ...entry })]).asks(
      new Set(),
      { principal, route, tool },
      NOW,
      NOW,
    ),
  ];
  const yes = ["sampling"];
  t.same(asks({ principal: { issuer, subject } }), yes);
  t.same(asks({ principal: { issuer, subject } }, { ...ALICE, subject: "bob" }), []);
  t.same(asks({ group: "night" }), yes);
  t.same(asks({ group: "day" }), []);
  t.same(asks({ group: "night" }, ANONYMOUS), []);
  t.same(asks({ route: "/mcp" }), yes);
  t.same(asks({ route: "/mcp" }, ALICE, undefined, "/other"), []);
  t.same(asks({ tool: "pay_*" }, ALICE, "pay_all"), yes);
  t.same(asks({ tool: "pay_*" }, ALICE, "repay_all"), []);
  t.same(asks({ tool: "*" }), [], "what is no call of a tool fits no pattern of tools");
  t.same(
    asks({ group: "staff", route: "/mcp", tool: "pay_*", principal: { issuer, subject } }, ALICE, "pay_all"),
    yes,
  );
  t.same(
    asks({ group: "day", route: "/mcp", tool: "pay_*", principal: { issuer, subject } }, ALICE, "pay_all"),
    [],
  );
  t.same(asks({ route: "/mcp", group: "staff" }, ALICE, undefined, "/other"), []);
});

t.test("denials win over policy and grants; without a kind they deny all", async (t) => {
  const allowed: ReadonlySet<Ask> = new Set<Ask>(["elicitation.form", "roots"]);
  const place = { ...at(), tool: "x" };
  const table = new Table([
    grant({ capability: ["sampling", "roots"] }),
    grant({ effect: "deny", capability: ["roots"], group: "staff" }),
  ]);
  t.same([...table.asks(allowed, place, NOW, NOW)].sort(), ["elicitation.form", "sampling"]);
  t.same(
    [...table.asks(allowed, place, NOW, Number.POSITIVE_INFINITY)],
    ["elicitation.form"],
    "grants have lapsed, denials not",
  );
  t.same([...allowed], ["elicitation.form", "roots"], "what policy allows is not changed");
  const all = new Table([grant({ effect: "deny", tool: "x" }), grant({ capability: ["sampling"] })]);
  t.equal(all.asks(allowed, place, NOW, NOW).size, 0);
  t.equal(new Table().asks(allowed, place, NOW, NOW), allowed);
});
