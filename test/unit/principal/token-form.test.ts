import t from "tap";
import { isJwt, issuerOf, tokenKinds } from "../../../src/principal/token-form.ts";

const segment = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
const jwt = (iss: unknown, header: unknown = { alg: "ES256" }) =>
  `${segment(header)}.${segment({ iss })}.c2ln`;
const A = "https://a.example";
const B = "https://b.example";

t.test("what looks like a JWT", async (t) => {
  for (const token of [
    jwt(A),
    jwt(A, { alg: "none" }),
    `${segment({ alg: 1 })}.x.`,
    jwt(undefined),
    `${jwt(A)}=`,
    jwt(A).replace(".", "=."),
    `${segment({ alg: "ES256" })}..c2ln`,
    `${segment({ alg: "ES256" })}.a+b/.c~`,
  ]) {
    t.ok(isJwt(token), token);
  }
  for (const token of [
    "opaque",
    "a.b",
    "a.b.c",
    "a.b.c.d.e",
    `${jwt(A)}.x`,
    `.${jwt(A)}`,
    jwt(A, { typ: "JWT" }),
    jwt(A, [{ alg: "ES256" }]),
    jwt(A, null),
    `v1.${segment({ alg: "x" })}.x`,
  ]) {
    t.notOk(isJwt(token), token);
  }
});

t.test("an issuer is read where it can be", async (t) => {
  t.equal(issuerOf(jwt(A)), A);
  for (const token of [jwt(undefined), jwt([A]), jwt(null), `${segment({ alg: "x" })}.x.y`]) {
    t.equal(issuerOf(token), undefined, token);
  }
});

t.test("who judges which token", async (t) => {
  const table: [signed: string[], introspected: string[], token: string, kind: string][] = [
    [[A], [], "opaque", "jwt"],
    [[A], [], jwt(B), "jwt"],
    [[], [A], jwt(A), "introspection"],
    [[], [A], jwt(B), "introspection"],
    [[A], [A], jwt(A), "jwt"],
    [[A], [A], "opaque", "introspection"],
    [[A], [B], jwt(A), "jwt"],
    [[A], [B], jwt(B), "introspection"],
    [[A], [B], jwt("https://evil.example"), "jwt"],
    [[A], [B], jwt(undefined), "jwt"],
    [[A], [B], jwt([B]), "jwt"],
    [[A], [A, B], jwt(A), "jwt"],
    [[A], [A, B], jwt(B), "introspection"],
    [[A], [B], "a.b.c.d.e", "introspection"],
  ];
  for (const [signed, introspected, token, kind] of table) {
    t.equal(tokenKinds(signed, introspected)(token), kind, `${signed} ${introspected} ${token}`);
  }
});
