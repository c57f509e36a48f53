import t from "tap";
import { ClaimError } from "../../../src/principal/claims.ts";
import { splitBinding } from "../../../src/principal/confirmation.ts";

const bindingOf = (claims: Record<string, unknown>) => splitBinding(claims).binding;
const A = "A".repeat(43);
const B = `${"b".repeat(42)}8`;

t.test("what a token is bound to", async (t) => {
  t.equal(bindingOf({}), undefined);
  t.equal(bindingOf({ sub: "s", CNF: { jkt: A } }), undefined);
  t.same(bindingOf({ cnf: { jkt: A } }), { key: A });
  t.same(bindingOf({ cnf: { "x5t#S256": B } }), { certificate: B });
  t.same(bindingOf({ cnf: { "x5t#S256": B, jkt: A } }), { certificate: B, key: A });
});

t.test("what is read is taken out, and nothing else", async (t) => {
  const claims = { sub: "s", cnf: { jkt: A }, constructor: "c" };
  t.same(splitBinding(claims).rest, { sub: "s", constructor: "c" });
  t.same(claims.cnf, { jkt: A });
  const plain = { sub: "s" };
  t.equal(splitBinding(plain).rest, plain);
});

t.test("a binding that is not understood is refused, and none is skipped", async (t) => {
  for (const cnf of [
    null,
    undefined,
    {},
    [],
    [{ jkt: A }],
    "jkt",
    true,
    { jkt: "" },
    { jkt: 1 },
    { jkt: [A] },
    { jkt: null },
    { jkt: A.slice(1) },
    { jkt: `${A}A` },
    { jkt: `${A}=` },
    { jkt: `${"A".repeat(42)}B` },
    { jkt: `+${A.slice(1)}` },
    { "x5t#S256": "x" },
    { "x5t#s256": A },
    { x5t: A },
    { jwk: { kty: "EC" } },
    { kid: "k" },
    { jku: "https://evil.example" },
    { jwe: "x" },
    { jkt: A, kid: "k" },
    { jkt: A, "x5t#S256": null },
    JSON.parse(`{"__proto__":"${A}"}`),
    { constructor: A },
  ]) {
    t.throws(() => bindingOf({ cnf }), ClaimError, JSON.stringify(cnf));
  }
});
