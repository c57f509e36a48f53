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
    [{ cnf: { jkt: "A".repeat(43) } }, "proof_not_checked"],
    [{ cnf: null }, "proof_not_checked"],
    [{ cnf: undefined }, "proof_not_checked"],
  ];
  for (const [claims, fault] of table) {
    t.equal(
      faultOf(() => principalOf(ISSUER, mapping, { sub: "s", ...claims })),
      fault,
      JSON.stringify(claims),
    );
  }
});

t.test("a claim is named literally, or by a dotted path into objects", async (t) => {
  const keycloak = { realm_access: { roles: ["a"] }, resource_access: { "my.client": { roles: ["b"] } } };
  const url = "https://example.com/groups";
  const table: [groups: string, claims: Record<string, unknown>, expected: string[]][] = [
    ["realm_access.roles", keycloak, ["a"]],
    ["resource_access.my.client.roles", keycloak, ["b"]],
    ["realm_access.none", keycloak, []],
    ["realm_access.roles", {}, []],
    ["realm_access.roles", { realm_access: null }, []],
    ["realm_access.roles", { realm_access: { roles: null } }, []],
    [url, { [url]: ["c"] }, ["c"]],
    [`${url}.in`, { [url]: { in: "d" } }, ["d"]],
    [url, { "https://example": { "com/groups": ["e"] } }, ["e"]],
    ["a.b", { "a.b": ["literal"], a: { b: ["path"] } }, ["literal"]],
    ["a.b", { "a.b": null, a: { b: ["path"] } }, ["path"]],
    ["a.b.c", { "a.b": { c: ["longer"] }, a: { b: { c: ["shorter"] } } }, ["longer"]],
    ["a.b.c", { "a.b": {}, a: { "b.c": ["other"] } }, ["other"]],
    ["a.b", { "a.b": [], a: { b: ["path"] } }, []],
    ["realm_access.constructor", keycloak, []],
    ["constructor.name", {}, []],
    ["__proto__.x", {}, []],
    [".a", { "": { a: ["x"] } }, []],
    ["a.", { a: { "": ["odd"] } }, ["odd"]],
  ];
  for (const [groups, claims, expected] of table) {
    const principal = principalOf(ISSUER, { ...mapping, groups }, { sub: "s", ...claims });
    t.same(principal.groups, expected, `${groups} in ${JSON.stringify(claims)}`);
  }
  const nested = { subject: "who.id", client: ["app.id"], scope: ["app.scope"], tenant: "who.org" };
  const claims = { who: { id: "s", org: "t" }, app: { id: "c", scope: "x y" } };
  t.match(principalOf(ISSUER, nested, claims), {
    subject: "s",
    client: "c",
    tenant: "t",
    scopes: ["x", "y"],
  });
});

t.test(
  "a step of a path that is there and no object is refused, not taken for an absent claim",
  async (t) => {
    for (const a of ["x", 1, true, ["x"], [{ b: ["g"] }]]) {
      for (const [name, fault] of [
        ["subject", "subject_claim"],
        ["groups", "groups_claim"],
        ["tenant", "tenant_claim"],
      ] as const) {
        const odd = { ...mapping, [name]: "a.b" };
        t.equal(
          faultOf(() => principalOf(ISSUER, odd, { sub: "s", a })),
          fault,
          JSON.stringify(a),
        );
      }
      t.equal(
        faultOf(() => principalOf(ISSUER, { ...mapping, client: ["a.b"] }, { sub: "s", a })),
        "client_claim",
      );
      t.equal(
        faultOf(() => principalOf(ISSUER, { ...mapping, scope: ["a.b"] }, { sub: "s", a })),
        "scope_claim",
      );
    }
    const away = { sub: "s", _claim_names: { realm_access: "src1" } };
    t.equal(
      faultOf(() => principalOf(ISSUER, { ...mapping, groups: "realm_access.roles" }, away)),
      "groups_overage",
    );
    t.same(principalOf(ISSUER, { ...mapping, groups: "realm.roles" }, away).groups, []);
  },
);

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

t.test("a token without subject: refused, or its client's where the issuer is configured so", async (t) => {
  const asClient = { ...mapping, absentSubject: "client" } as const;
  const table: [claims: Record<string, unknown>, strict: string, open: string][] = [
    [{}, "missing_subject", "missing_subject"],
    [{ client_id: "app" }, "missing_subject", "app"],
    [{ azp: "app" }, "missing_subject", "app"],
    [{ sub: null, client_id: "app" }, "missing_subject", "app"],
    [{ sub: "u", client_id: "app" }, "u", "u"],
    [{ sub: "", client_id: "app" }, "subject_claim", "subject_claim"],
    [{ sub: 7, client_id: "app" }, "subject_claim", "subject_claim"],
    [{ client_id: "" }, "client_claim", "client_claim"],
  ];
  const subjectOf = (by: typeof mapping, claims: Record<string, unknown>): string | undefined => {
    let subject: string | undefined;
    const fault = faultOf(() => {
      subject = principalOf(ISSUER, by, claims).subject;
    });
    return fault ?? subject;
  };
  for (const [claims, strict, open] of table) {
    t.equal(subjectOf(mapping, claims), strict, JSON.stringify(claims));
    t.equal(subjectOf({ ...mapping, absentSubject: "refuse" } as typeof mapping, claims), strict);
    t.equal(subjectOf(asClient, claims), open, JSON.stringify(claims));
  }
  const elsewhere = { ...asClient, subject: "oid" };
  t.equal(
    subjectOf(elsewhere, { sub: "u", client_id: "app" }),
    "missing_subject",
    "a user's token is no client's",
  );
  t.equal(subjectOf(elsewhere, { client_id: "app" }), "app");
});
