import fc from "fast-check";
import t from "tap";
import { ANONYMOUS, type Principal, principalDigest } from "../../../src/principal/principal.ts";

const base = { anonymous: false, issuer: "i", subject: "s", groups: [], scopes: [] };

t.test("different principals have different digests", async (t) => {
  const principals: Principal[] = [
    ANONYMOUS,
    base,
    { ...base, issuer: "i/" },
    { ...base, issuer: "a|b", subject: "c" },
    { ...base, issuer: "a", subject: "b|c" },
    { ...base, issuer: 'a","b', subject: "c" },
    { ...base, issuer: "a", subject: 'b","c' },
    { ...base, client: "" },
    { ...base, tenant: "" },
    { ...base, client: "null" },
    { ...base, client: "x" },
    { ...base, tenant: "x" },
    { ...base, subject: "\ud800" },
    { ...base, subject: "\ud801" },
    { ...base, subject: "\ufffd" },
    { ...base, subject: "é" },
    { ...base, subject: "e\u0301" },
    { ...base, anonymous: true },
  ];
  t.equal(new Set(principals.map(principalDigest)).size, principals.length);
  for (const principal of principals) t.match(principalDigest(principal), /^[A-Za-z0-9_-]{43}$/);
});

t.test("groups and scopes may change between rounds", async (t) => {
  t.equal(principalDigest(base), principalDigest({ ...base, groups: ["g"], scopes: ["s"] }));
});

t.test("property: equal digests mean equal identity", async () => {
  const part = fc.string({ unit: fc.constantFrom('"', ",", "|", "\\", "n", "\u0000"), maxLength: 4 });
  const identity = fc.record(
    { issuer: part, subject: part, client: part, tenant: part },
    { requiredKeys: ["issuer", "subject"] },
  );
  fc.assert(
    fc.property(identity, identity, (a, b) => {
      const same = JSON.stringify(Object.entries(a).sort()) === JSON.stringify(Object.entries(b).sort());
      return same === (principalDigest({ ...base, ...a }) === principalDigest({ ...base, ...b }));
    }),
  );
});
