import { createHmac } from "node:crypto";
import { inspect } from "node:util";
import t from "tap";
import { createAuthenticator } from "../../../src/principal/authenticators.ts";
import { ANONYMOUS } from "../../../src/principal/principal.ts";
import {
  type IssuerSettings,
  issuerSettings,
  RESOURCE,
  recordingLog,
  refusalOf,
} from "../../support/authentication.ts";
import { AUDIENCE, type SigningKey, sign, signingKey } from "../../support/issuer.ts";
import { authorized } from "../../support/presented.ts";

const A = "https://idp-a.example";
const B = "https://idp-b.example";
const NOW = 1_800_000_000;
const [keyA, keyB, stranger] = await Promise.all([signingKey(), signingKey(), signingKey()]);
const [rsa, plain] = await Promise.all([signingKey("RS256"), signingKey("ES256", null)]);
const FILES = new Map<string, unknown>([
  ["a.json", { keys: [keyA.publicJwk, rsa.publicJwk] }],
  ["b.json", { keys: [keyB.publicJwk] }],
]);

const fromFile = (file: string, settings: Partial<IssuerSettings> = {}) => ({ jwks: { file }, ...settings });

function setUp(settingsA: Partial<IssuerSettings> = {}, files: Map<string, unknown> = FILES) {
  const issuers = [issuerSettings(A, fromFile("a.json", settingsA)), issuerSettings(B, fromFile("b.json"))];
  const clock = { seconds: NOW };
  const authenticator = createAuthenticator(
    { mode: "required", issuers },
    { log: recordingLog(), jwksFiles: files, now: () => clock.seconds * 1000 },
  );
  t.teardown(() => authenticator.close?.());
  const ask = async (token: string, resource = RESOURCE) =>
    (await authenticator.authenticate(authorized(`Bearer ${token}`), resource)).principal;
  return { ask, clock, authenticator };
}

const claims = (more: Record<string, unknown> = {}) => ({
  iss: A,
  sub: "u-1001",
  aud: AUDIENCE,
  iat: NOW,
  exp: NOW + 300,
  ...more,
});
const segment = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");

t.test("an honest token gives its principal", async (t) => {
  const { ask } = setUp({
    claims: {
      subject: "sub",
      client: ["client_id", "azp"],
      groups: "groups",
      scope: ["scope"],
      tenant: "tid",
    },
  });
  const more = { azp: "app", groups: "staff", scope: "a b", tid: "t1" };
  t.same(await ask(await sign(claims(more), keyA)), {
    anonymous: false,
    issuer: A,
    subject: "u-1001",
    client: "app",
    tenant: "t1",
    groups: ["staff"],
    scopes: ["a", "b"],
  });
  for (const typ of ["at+jwt", "AT+JWT", "application/at+jwt", "JWT", "jwt", undefined]) {
    t.equal((await ask(await sign(claims(), keyA, { header: { typ } }))).subject, "u-1001", String(typ));
  }
  t.equal((await ask(await sign(claims(), rsa))).subject, "u-1001", "RS256");
  t.equal(
    (await ask(await sign(claims({ aud: ["x", AUDIENCE] }), keyA))).subject,
    "u-1001",
    "one of several",
  );
});

t.test("a token that fails in any way gets one answer", async (t) => {
  const { ask } = setUp();
  const token = await sign(claims(), keyA);
  const [head = "", body = "", signature = ""] = token.split(".");
  const hmac = (input: string) =>
    createHmac("sha256", JSON.stringify(keyA.publicJwk)).update(input).digest("base64url");
  const hs = `${segment({ alg: "HS256", kid: keyA.kid })}.${body}`;
  const signed = (
    more: Record<string, unknown>,
    key: SigningKey = keyA,
    header: Record<string, unknown> = {},
  ) => sign(claims(more), key, { header });
  const attacks: [name: string, token: string, detail: string][] = [
    ["alg none", `${segment({ alg: "none" })}.${body}.`, "algorithm"],
    ["alg None", `${segment({ alg: "None" })}.${body}.${signature}`, "algorithm"],
    ["public key as MAC secret", `${hs}.${hmac(hs)}`, "algorithm"],
    ["alg as array", `${segment({ alg: ["ES256"] })}.${body}.${signature}`, "algorithm"],
    ["no signature", `${head}.${body}.`, "signature"],
    ["another body", `${head}.${segment(claims({ sub: "u-2002" }))}.${signature}`, "signature"],
    ["another key under a known id", await signed({}, stranger, { kid: keyA.kid }), "signature"],
    ["unknown key id", await signed({}, stranger), "unknown_key"],
    [
      "key in the header",
      await signed({}, stranger, { jwk: stranger.publicJwk, kid: keyA.kid }),
      "signature",
    ],
    ["issuer B's key for issuer A", await signed({}, keyB), "unknown_key"],
    ["issuer B's key and name, A's kid", await signed({ iss: B }, keyA), "unknown_key"],
    ["unknown issuer", await signed({ iss: "https://evil.example" }, stranger), "unknown_issuer"],
    ["issuer with a slash", await signed({ iss: `${A}/` }), "unknown_issuer"],
    ["issuer as array", await signed({ iss: [A] }), "unknown_issuer"],
    ["no issuer", await signed({ iss: undefined }), "unknown_issuer"],
    ["inherited name as issuer", await signed({ iss: "constructor" }), "unknown_issuer"],
    ["other audience", await signed({ aud: "https://gateway.example/other" }), "audience"],
    ["audience with a slash", await signed({ aud: `${AUDIENCE}/` }), "audience"],
    ["audience as prefix", await signed({ aud: "https://gateway.example" }), "audience"],
    ["no audience", await signed({ aud: undefined }), "audience"],
    ["empty audience list", await signed({ aud: [] }), "audience"],
    ["expired", await signed({ exp: NOW - 30 }), "expired"],
    ["no expiry", await signed({ exp: undefined }), "expiry"],
    ["expiry as text", await signed({ exp: "9999999999" }), "expiry"],
    ["not yet", await signed({ nbf: NOW + 31 }), "not_yet"],
    ["issued in the future", await signed({ iat: NOW + 61 }), "issued_in_future"],
    ["no subject", await signed({ sub: undefined }), "missing_subject"],
    ["empty subject", await signed({ sub: "" }), "subject_claim"],
    ["numeric subject", await signed({ sub: 1001 }), "subject_claim"],
    ["lone surrogate", await signed({ sub: "\ud800" }), "subject_claim"],
    ["bound to a certificate", await signed({ cnf: { "x5t#S256": "x" } }), "confirmation_claim"],
    ["bound to a DPoP key", await signed({ cnf: { jkt: "A".repeat(43) } }), "proof_not_checked"],
    ["cnf null", await signed({ cnf: null }), "confirmation_claim"],
    ["a DPoP proof", await signed({}, keyA, { typ: "dpop+jwt" }), "type"],
    ["a logout token", await signed({}, keyA, { typ: "logout+jwt" }), "type"],
    ["unknown critical header", await signed({}, keyA, { crit: ["x"], x: 1 }), "critical_header"],
    ["key id as number", await signed({}, keyA, { kid: 1 }), "malformed"],
    ["two parts", `${head}.${body}`, "malformed"],
    ["five parts", `${head}.a.b.c.d`, "malformed"],
    ["not base64", `a.b.c`, "malformed"],
    ["body is an array", `${head}.${segment([])}.${signature}`, "malformed"],
    ["header is null", `${segment(null)}.${body}.${signature}`, "malformed"],
    [
      "body is no UTF-8",
      `${head}.${Buffer.from([0x22, 0xff, 0x22]).toString("base64url")}.${signature}`,
      "malformed",
    ],
  ];
  const challenges = new Set<string | undefined>();
  for (const [name, attack, detail] of attacks) {
    const refusal = await refusalOf(ask(attack));
    t.same([refusal.code, refusal.detail], ["unauthorized", detail], name);
    challenges.add(refusal.headers["www-authenticate"]);
  }
  t.equal(challenges.size, 1, "no oracle");
  t.match(
    [...challenges][0],
    /^Bearer error="invalid_token", error_description="[^"]+", resource_metadata="/,
  );
  t.equal((await ask(token)).subject, "u-1001", "the honest token still works");
});

t.test(
  "a refusal after a good signature tells audit whose token it was, and before it nothing",
  async (t) => {
    const { ask } = setUp();
    const owner = { issuer: A, subject: "u-1001", client: "app" };
    const signed: [name: string, more: Record<string, unknown>, principal: Record<string, unknown>][] = [
      ["audience", { aud: "x" }, owner],
      ["no audience", { aud: undefined }, owner],
      ["expired", { exp: NOW - 30 }, owner],
      ["no expiry", { exp: undefined }, owner],
      ["not yet", { nbf: NOW + 31 }, owner],
      ["issued in the future", { iat: NOW + 61 }, owner],
      ["bound to a key", { cnf: { jkt: "x" } }, owner],
      ["no client", { exp: NOW - 30, azp: undefined }, { issuer: A, subject: "u-1001" }],
      ["no subject", { sub: undefined }, { issuer: A, client: "app" }],
      ["numeric subject", { sub: 1 }, { issuer: A, client: "app" }],
      ["odd client", { azp: ["x"] }, { issuer: A, subject: "u-1001" }],
      ["long", { exp: 1, sub: "s".repeat(300) }, { ...owner, subject: `${"s".repeat(256)}…` }],
    ];
    for (const [name, more, principal] of signed) {
      const refusal = await refusalOf(ask(await sign(claims({ azp: "app", ...more }), keyA)));
      t.equal(refusal.code, "unauthorized", name);
      t.same(refusal.context, { principal }, name);
      t.same(refusal.data, {}, "and the client nothing");
    }
    const strange = { ...stranger, kid: keyA.kid };
    for (const token of [
      await sign(claims({ exp: NOW - 30, azp: "app" }), strange),
      await sign(claims({ aud: "x" }), stranger),
      await sign(claims({ iss: "https://evil.example" }), stranger),
      await sign(claims(), keyA, { header: { typ: "dpop+jwt" } }),
      "a.b.c",
    ]) {
      t.same((await refusalOf(ask(token))).context, {});
    }
    const scoped = setUp({ requiredScopes: ["mcp"] });
    const lacking = await refusalOf(scoped.ask(await sign(claims({ azp: "app" }), keyA)));
    t.same([lacking.code, lacking.context], ["insufficient_scope", { principal: owner }]);
  },
);

t.test("leeway at both ends", async (t) => {
  const { ask } = setUp();
  t.ok(await ask(await sign(claims({ exp: NOW - 29 }), keyA)));
  t.ok(await ask(await sign(claims({ nbf: NOW + 30, iat: NOW + 60 }), keyA)));
  const strict = setUp({ clockTolerance: 0 });
  t.equal((await refusalOf(strict.ask(await sign(claims({ exp: NOW }), keyA)))).detail, "expired");
  t.ok(await strict.ask(await sign(claims({ exp: NOW + 1 }), keyA)));
});

t.test("an algorithm that is not listed is refused though its key is published", async (t) => {
  const { ask } = setUp({ algorithms: ["ES256"] });
  t.equal((await refusalOf(ask(await sign(claims(), rsa)))).detail, "algorithm");
});

t.test("two issuers, one subject: two principals", async (t) => {
  const { ask } = setUp();
  const a = await ask(await sign(claims({ sub: "1001" }), keyA));
  const b = await ask(await sign(claims({ sub: "1001", iss: B }), keyB));
  t.same([a.issuer, b.issuer], [A, B]);
});

t.test("audiences: the route's, else the issuer's, else the resource; also for a cached token", async (t) => {
  const { ask } = setUp({ audiences: ["api://a"] });
  const forIssuer = await sign(claims({ aud: "api://a" }), keyA);
  const forRoute = await sign(claims({ aud: "api://route" }), keyA);
  const forResource = await sign(claims(), keyA);
  const route = { ...RESOURCE, audiences: ["api://route"] };
  t.ok(await ask(forIssuer));
  t.equal((await refusalOf(ask(forIssuer, route))).detail, "audience");
  t.equal((await refusalOf(ask(forIssuer, { ...RESOURCE, audiences: [AUDIENCE] }))).detail, "audience");
  t.ok(await ask(forRoute, route));
  t.equal((await refusalOf(ask(forRoute))).detail, "audience");
  t.equal((await refusalOf(ask(forResource))).detail, "audience");
  t.equal((await refusalOf(ask(forResource, { ...RESOURCE, audiences: [] }))).detail, "audience");
  t.ok(await ask(await sign(claims({ iss: B }), keyB)), "issuer B has none of its own");
});

t.test("a token is known until it expires and not a moment longer", async (t) => {
  const { ask, clock } = setUp({ clockTolerance: 0 });
  const token = await sign(claims(), keyA);
  const first = await ask(token);
  t.equal(await ask(token), first, "the very same principal");
  clock.seconds = NOW + 299;
  t.equal(await ask(token), first);
  clock.seconds = NOW + 300;
  t.equal((await refusalOf(ask(token))).detail, "expired");
});

t.test("within its leeway an expired token is verified each time", async (t) => {
  const { ask, clock } = setUp();
  const token = await sign(claims(), keyA);
  const first = await ask(token);
  clock.seconds = NOW + 310;
  const late = await ask(token);
  t.same(late, first);
  t.not(late, first);
});

t.test("keys without key ids: each that fits is tried", async (t) => {
  const other = await signingKey("ES256", null);
  const files = new Map<string, unknown>([
    ...FILES,
    ["a.json", { keys: [other.publicJwk, plain.publicJwk] }],
  ]);
  const { ask } = setUp({}, files);
  t.equal((await ask(await sign(claims(), plain))).subject, "u-1001");
  t.equal((await refusalOf(ask(await sign(claims(), { ...stranger, kid: undefined })))).detail, "signature");
  t.equal((await refusalOf(ask(await sign(claims({ aud: "x" }), plain)))).detail, "audience");
});

t.test("required scopes: all of them, named at once", async (t) => {
  const { ask, authenticator } = setUp({ requiredScopes: ["mcp", "notes:read"] });
  t.ok(await ask(await sign(claims({ scope: "notes:read x mcp" }), keyA)));
  t.ok(await ask(await sign(claims({ scp: ["mcp", "notes:read"] }), keyA)));
  for (const scope of [undefined, "", "mcp", "mcp notes:READ", "mcp,notes:read"]) {
    const refusal = await refusalOf(ask(await sign(claims({ scope }), keyA)));
    t.equal(refusal.code, "insufficient_scope");
    t.match(refusal.headers["www-authenticate"], / scope="mcp notes:read", resource_metadata=/);
  }
  const none = await refusalOf(authenticator.authenticate(authorized(undefined), RESOURCE));
  t.equal(none.detail, "no_token");
  t.match(none.headers["www-authenticate"], /^Bearer scope="mcp notes:read", resource_metadata="[^"]+"$/);
});

t.test("a key that jose will not use is a bad token and leaves a cause", async (t) => {
  const odd = { ...keyA.publicJwk, x: Buffer.alloc(32, 0xff).toString("base64url") };
  const { ask } = setUp({}, new Map([...FILES, ["a.json", { keys: [odd] }]]));
  const refusal = await refusalOf(ask(await sign(claims(), keyA)));
  t.same([refusal.code, refusal.detail], ["unauthorized", "unverifiable"]);
  t.ok(refusal.cause);
});

t.test("keys that should not be in a file show at start", async (t) => {
  const weak = { ...rsa.publicJwk, n: Buffer.alloc(128, 0xff).toString("base64url") };
  for (const key of [weak, { ...rsa.publicJwk, d: "AQAB" }, { kty: "oct", k: "c2VjcmV0" }, "key"]) {
    t.throws(() => setUp({}, new Map([...FILES, ["a.json", { keys: [rsa.publicJwk, key] }]])), /not used/);
  }
});

t.test("no refusal carries the token, or more of its claims than whose it is", async (t) => {
  const { ask } = setUp();
  const token = await sign(claims({ sub: "canary-subject", email: "canary-email", exp: NOW - 3600 }), keyA);
  const refusal = await refusalOf(ask(token));
  const shown = inspect({ ...refusal, stack: refusal.stack, context: {} }, { depth: 9, showHidden: true });
  t.notMatch(shown, /canary/);
  const text = inspect(refusal, { depth: 9, showHidden: true });
  t.notMatch(text, /canary-email/);
  t.notOk(text.includes(token.split(".")[2] ?? token));
});

t.test("what is no bearer token", async (t) => {
  const { authenticator } = setUp();
  for (const header of ["Basic dTpw", "DPoP a.b.c", ""]) {
    const refusal = await refusalOf(authenticator.authenticate(authorized(header), RESOURCE));
    t.same([refusal.code, refusal.detail], ["unauthorized", "token_scheme"]);
    t.notMatch(refusal.headers["www-authenticate"], /error=/);
  }
  const refusal = await refusalOf(authenticator.authenticate(authorized('Bearer a"b'), RESOURCE));
  t.match(refusal.headers["www-authenticate"], /error="invalid_token"/);
});

t.test("anonymous mode is asked for", async (t) => {
  const deps = { log: recordingLog(), jwksFiles: FILES, now: () => NOW * 1000 };
  const open = createAuthenticator({ mode: "anonymous", issuers: [] }, deps);
  t.equal((await open.authenticate(authorized(undefined), RESOURCE)).principal, ANONYMOUS);
  t.equal(
    (await open.authenticate(authorized("Bearer whatever"), RESOURCE)).principal,
    ANONYMOUS,
    "a token nobody can judge changes nothing",
  );
  t.equal(open.ready(), true);
  const mixed = createAuthenticator(
    { mode: "anonymous", issuers: [issuerSettings(A, fromFile("a.json"))] },
    deps,
  );
  t.equal((await mixed.authenticate(authorized(undefined), RESOURCE)).principal, ANONYMOUS);
  t.equal(
    (await mixed.authenticate(authorized(`Bearer ${await sign(claims(), keyA)}`), RESOURCE)).principal
      .subject,
    "u-1001",
  );
  const bad = await refusalOf(
    mixed.authenticate(authorized(`Bearer ${await sign(claims(), stranger)}`), RESOURCE),
  );
  t.equal(bad.code, "unauthorized", "a bad token is not silently nobody");
});

t.test("mistakes show at start", async (t) => {
  const start = (issuers: IssuerSettings[], files = FILES) =>
    createAuthenticator({ mode: "required", issuers }, { log: recordingLog(), jwksFiles: files });
  t.throws(() => start([]), /issuer/);
  t.throws(() => start([issuerSettings(A), issuerSettings(A)]), /twice/);
  t.throws(() => start([issuerSettings(A, { algorithms: ["HS256"] as never })]), /HS256/);
  t.throws(() => start([issuerSettings(A, { algorithms: [] })]), /algorithm/);
  t.throws(() => start([issuerSettings(A, fromFile("missing.json"))]));
  t.throws(() => start([issuerSettings(A, fromFile("a.json"))], new Map([["a.json", { keys: "x" }]])));
});
