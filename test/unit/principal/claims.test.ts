import t from "tap";
import { ClaimError, principalOf } from "../../../src/principal/claims.ts";

const ISSUER = "https://idp-a.example";
const mapping = {
  subject: "sub",
  client: ["client_id", "azp"],
  groups: "groups",
  scope: ["scope", "scp"],
  tenant: "tid",
};

function faultOf(run: () => unknown): string | undefined {
  try {
    run();
  } catch (error) {
    return error instanceof ClaimError ? error.fault : "other";
  }
  return undefined;
}

t.test("the shapes that issuers really send", async (t) => {
  const table: [claims: Record<string, unknown>, expected: Record<string, unknown>][] = [
    [{}, { client: undefined, tenant: undefined, groups: [], scopes: [] }],
    [{ client_id: "a", azp: "b" }, { client: "a" }],
    [{ azp: "b" }, { client: "b" }],
    [{ client_id: null, azp: "b" }, { client: "b" }],
    [{ client_id: "a", azp: 7 }, { client: "a" }],
    [{ tid: "t" }, { tenant: "t" }],
    [{ groups: "staff room" }, { groups: ["staff room"] }],
    [{ groups: ["a", "b", "a"] }, { groups: ["a", "b"] }],
    [{ groups: [] }, { groups: [] }],
    [{ scope: "a  b " }, { scopes: ["a", "b"] }],
    [{ scope: "" }, { scopes: [] }],
    [{ scp: ["a", "b"] }, { scopes: ["a", "b"] }],
    [{ scope: "a", scp: "b" }, { scopes: ["a"] }],
    [{ _claim_names: { photos: "src1" } }, { groups: [] }],
  ];
  for (const [claims, expected] of table) {
    const principal = principalOf(ISSUER, mapping, { sub: "s", ...claims });
    for (const [name, value] of Object.entries(expected)) {
      t.same(Reflect.get(principal, name), value, JSON.stringify(claims));
    }
  }
});

t.test("a claim of another shape is refused, not skipped", async (t) => {
  const table: [claims: Record<string, unknown>, fault: string][] = [
    [{ sub: null }, "missing_subject"],
    [{ sub: ["s"] }, "subject_claim"],
    [{ client_id: "" }, "client_claim"],
    [{ client_id: ["a"] }, "client_claim"],
    [{ tid: 7 }, "tenant_claim"],
    [{ tid: "\udc00" }, "tenant_claim"],
    [{ groups: { a: 1 } }, "groups_claim"],
    [{ groups: ["a", 1] }, "groups_claim"],
    [{ groups: [["a"]] }, "groups_claim"],
    [{ _claim_names: { groups: "src1" } }, "groups_overage"],
    [{ scope: 7 }, "scope_claim"],
    [{ scope: [null] }, "scope_claim"],
  ];
  for (const [claims, fault] of table) {
    t.equal(
      faultOf(() => principalOf(ISSUER, mapping, { sub: "s", ...claims })),
      fault,
      JSON.stringify(claims),
    );
  }
});

t.test("only own members are claims", async (t) => {
  const odd = { ...mapping, subject: "constructor" };
  t.equal(
    faultOf(() => principalOf(ISSUER, odd, {})),
    "missing_subject",
  );
});

t.test("a principal cannot be changed", async (t) => {
  const principal = principalOf(ISSUER, mapping, { sub: "s", groups: ["a"] });
  t.ok(Object.isFrozen(principal) && Object.isFrozen(principal.groups) && Object.isFrozen(principal.scopes));
});
