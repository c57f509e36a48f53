/** Claims of identity assertions: one subject for one principal, none for two; nobody is called as the anonymous are. */
import { generateKeyPairSync } from "node:crypto";
import fc from "fast-check";
import { createLocalJWKSet, decodeProtectedHeader, jwtVerify } from "jose";
import t from "tap";
import { ANONYMOUS, type Principal } from "../../../src/principal/principal.ts";
import { type AssertionTerms, assertionClaims, assertionSource } from "../../../src/upstream/assertion.ts";
import { openAssertionSigner } from "../../../src/upstream/assertion-keys.ts";

const TERMS: AssertionTerms = {
  ...{ issuer: "https://gw.example", audience: "https://up.example/mcp", lifetime: 60_000 },
  ...{ subject: "qualified", claims: [], anonymous: "refuse", header: "authorization" },
};
const ALICE: Principal = {
  ...{ anonymous: false, issuer: "https://idp.example", subject: "alice", client: "app", tenant: "t1" },
  ...{ groups: ["staff", "a b"], scopes: ["read", "write"] },
};
const pemOf = (kind: "ed25519" | "ec"): Buffer => {
  const { privateKey } =
    kind === "ec" ? generateKeyPairSync("ec", { namedCurve: "P-256" }) : generateKeyPairSync("ed25519");
  return Buffer.from(privateKey.export({ type: "pkcs8", format: "pem" }));
};

t.test("what they say", async (t) => {
  t.same(assertionClaims(ALICE, TERMS), {
    ...{ iss: "https://gw.example", aud: "https://up.example/mcp", sub: "https://idp.example#alice" },
    sub_id: { format: "iss_sub", iss: "https://idp.example", sub: "alice" },
    ...{ client_id: "app", tenant: "t1" },
  });
  const plain = assertionClaims(ALICE, { ...TERMS, subject: "plain", claims: ["groups", "scopes"] });
  t.match(plain, { sub: "alice", groups: ["staff", "a b"], scope: "read write" });
  t.same(assertionClaims(ANONYMOUS, TERMS), {
    ...{ iss: "https://gw.example", aud: "https://up.example/mcp", anonymous: true },
  });
});

t.test("qualified subjects of different principals differ", async (t) => {
  const issuer = fc.webUrl();
  const subject = fc.string({ unit: "binary" });
  fc.assert(
    fc.property(issuer, subject, issuer, subject, (iss1, sub1, iss2, sub2) => {
      const of = (iss: string, sub: string) =>
        assertionClaims({ ...ALICE, issuer: iss, subject: sub }, TERMS).sub;
      return (of(iss1, sub1) === of(iss2, sub2)) === (iss1 === iss2 && sub1 === sub2);
    }),
  );
  t.throws(() => assertionClaims({ ...ALICE, issuer: "a#b" }, TERMS), { code: "credential_fault" });
});

t.test("each kind of key signs, under the thumbprint of its public half", async (t) => {
  for (const [kind, alg] of [
    ["ec", "ES256"],
    ["ed25519", "EdDSA"],
  ] as const) {
    const keys = [
      { id: "a", pem: pemOf(kind) },
      { id: "b", pem: pemOf("ec") },
    ];
    const signer = await openAssertionSigner(keys, "a");
    const token = await signer.sign({ iss: "x", aud: "y" });
    const { kid, ...header } = decodeProtectedHeader(token);
    t.same(header, { alg, typ: "at+jwt" });
    t.equal(signer.keySet.keys.length, 2);
    t.equal(signer.keySet.keys[0]?.kid, kid);
    for (const key of signer.keySet.keys) t.notOk("d" in key, "public halves only");
    await jwtVerify(token, createLocalJWKSet({ keys: [...signer.keySet.keys] }), { audience: "y" });
    t.equal(
      (await openAssertionSigner(keys.toReversed(), "b")).keySet.keys[1]?.kid,
      kid,
      "by key, not by place",
    );
  }
  await t.rejects(openAssertionSigner([{ id: "a", pem: pemOf("ec") }], "b"));
});

t.test("used again for half of its life, and never for another principal", async (t) => {
  let now = 1_000_000_000_000;
  const signer = await openAssertionSigner([{ id: "a", pem: pemOf("ed25519") }], "a");
  const counted: string[] = [];
  const source = assertionSource(TERMS, {
    signer,
    now: () => now,
    count: (outcome) => counted.push(outcome),
  });
  const value = async (principal: Principal) =>
    (await source.for({ principal, accessToken: undefined }))?.value;
  const first = await value(ALICE);
  now += 29_999;
  t.equal(await value({ ...ALICE, groups: [] }), first, "groups are not in it");
  for (const other of [
    { subject: "bob" },
    { issuer: "https://other.example" },
    { client: "b" },
    { tenant: "t2" },
  ])
    t.not(await value({ ...ALICE, ...other }), first);
  now += 1;
  t.not(await value(ALICE), first);
  t.same(counted, ["obtained", "reused", ...Array(5).fill("obtained")]);
});

t.test("the anonymous: refused, or sent as what they are", async (t) => {
  const signer = await openAssertionSigner([{ id: "a", pem: pemOf("ed25519") }], "a");
  const parts = { signer, now: Date.now, count: () => undefined };
  const anonymous = { principal: ANONYMOUS, accessToken: undefined };
  t.throws(() => assertionSource(TERMS, parts).for(anonymous), { code: "identity_required" });
  const sends = assertionSource({ ...TERMS, anonymous: "send", header: "x-id" }, parts);
  const { header, value } = (await sends.for(anonymous)) ?? { header: "", value: "" };
  t.equal(header, "x-id");
  const { payload } = await jwtVerify(value, createLocalJWKSet({ keys: [...signer.keySet.keys] }));
  t.match(payload, { anonymous: true, sub: undefined, sub_id: undefined });
});

t.test("one that no server would take is refused", async (t) => {
  const signer = await openAssertionSigner([{ id: "a", pem: pemOf("ed25519") }], "a");
  const source = assertionSource(
    { ...TERMS, claims: ["groups"] },
    { signer, now: Date.now, count: () => undefined },
  );
  const principal = { ...ALICE, groups: [...Array(500)].map((_, index) => `group-${index}`) };
  await t.rejects(async () => source.for({ principal, accessToken: undefined }), {
    code: "credential_fault",
    detail: "assertion_too_large",
  });
  t.ok(await source.for({ principal: ALICE, accessToken: undefined }));
});
