import t from "tap";
import { DiscoveryError, discoverKeySet, discoveryUrls } from "../../../src/principal/discovery.ts";
import { DocumentError } from "../../../src/principal/document.ts";

const ISSUER = "https://idp.example/tenant";
const [OAUTH, OIDC, OIDC_APPENDED] = [
  "https://idp.example/.well-known/oauth-authorization-server/tenant",
  "https://idp.example/.well-known/openid-configuration/tenant",
  "https://idp.example/tenant/.well-known/openid-configuration",
];

/** A reader of fixed documents: an error is thrown, what is missing is a 404. */
function reader(documents: Record<string, unknown>) {
  const asked: string[] = [];
  return {
    asked,
    close() {},
    async read(url: string, trusted: boolean): Promise<unknown> {
      asked.push(url);
      t.equal(trusted, true, "the issuer's own host is the operator's word");
      const document = documents[url] ?? new DocumentError("status");
      if (document instanceof Error) throw document;
      return document;
    },
  };
}

t.test("documents are looked for where RFC 8414 and OpenID Connect put them", async (t) => {
  t.same(discoveryUrls(ISSUER), [OAUTH, OIDC, OIDC_APPENDED]);
  t.same(discoveryUrls("https://idp.example"), [
    "https://idp.example/.well-known/oauth-authorization-server",
    "https://idp.example/.well-known/openid-configuration",
  ]);
  t.same(discoveryUrls("https://idp.example/"), discoveryUrls("https://idp.example"));
  t.same(
    discoveryUrls("https://idp.example/t/")[2],
    "https://idp.example/t/.well-known/openid-configuration",
  );
});

t.test("the first document that is the issuer's own wins", async (t) => {
  const good = { issuer: ISSUER, jwks_uri: "https://idp.example/keys" };
  for (const documents of [
    { [OAUTH]: good },
    { [OIDC]: good },
    { [OIDC_APPENDED]: good },
    { [OAUTH]: { ...good, issuer: "https://idp.example/other" }, [OIDC]: good },
    { [OAUTH]: new DocumentError("json"), [OIDC]: good },
    { [OAUTH]: [], [OIDC]: "x", [OIDC_APPENDED]: good },
  ]) {
    const location = await discoverKeySet(ISSUER, reader(documents));
    t.same(location, { url: "https://idp.example/keys", trusted: true });
  }
});

t.test("a document of another issuer is not used", async (t) => {
  for (const issuer of [
    `${ISSUER}/`,
    "https://idp.example",
    "https://IDP.example/tenant",
    undefined,
    [ISSUER],
  ]) {
    const documents = { [OAUTH]: { issuer, jwks_uri: "https://idp.example/keys" } };
    await t.rejects(discoverKeySet(ISSUER, reader(documents)), new DiscoveryError("issuer_mismatch"));
  }
  const inherited = { [OAUTH]: Object.create({ issuer: ISSUER, jwks_uri: "https://idp.example/keys" }) };
  await t.rejects(discoverKeySet(ISSUER, reader(inherited)), new DiscoveryError("issuer_mismatch"));
});

t.test("a host that is down is asked once", async (t) => {
  const down = reader({ [OAUTH]: new DocumentError("unreachable") });
  await t.rejects(discoverKeySet(ISSUER, down), new DocumentError("unreachable"));
  t.equal(down.asked.length, 1);
  await t.rejects(discoverKeySet(ISSUER, reader({})), new DiscoveryError("no_document"));
});

t.test("only URLs that we may follow", async (t) => {
  const table: [issuer: string, jwksUri: unknown, expected: { trusted: boolean } | undefined][] = [
    ["https://idp.example", "https://idp.example/keys", { trusted: true }],
    ["https://idp.example", "https://idp.example:8443/keys", { trusted: true }],
    ["https://idp.example", "https://keys.example/keys", { trusted: false }],
    ["https://idp.example", "https://127.0.0.1/keys", { trusted: false }],
    ["https://idp.example", "http://idp.example/keys", undefined],
    ["https://idp.example", "http://127.0.0.1/keys", undefined],
    ["https://idp.example", "http://keys.example/keys", undefined],
    ["https://idp.example", "file:///etc/passwd", undefined],
    ["https://idp.example", "data:application/json,{}", undefined],
    ["https://idp.example", "https://u:p@idp.example/keys", undefined],
    ["https://idp.example", "/keys", undefined],
    ["https://idp.example", undefined, undefined],
    ["https://idp.example", ["https://idp.example/keys"], undefined],
    ["http://127.0.0.1:9000", "http://127.0.0.1:9000/keys", { trusted: true }],
    ["http://127.0.0.1:9000", "http://localhost:9001/keys", { trusted: true }],
    ["http://127.0.0.1:9000", "http://10.0.0.1/keys", undefined],
    ["http://127.0.0.1:9000", "http://127.0.0.1.evil.example/keys", undefined],
    ["http://idp:8080", "http://idp:8080/keys", { trusted: true }],
    ["http://idp:8080", "http://redis:6379/keys", undefined],
  ];
  for (const [issuer, jwksUri, expected] of table) {
    const [first = ""] = discoveryUrls(issuer);
    const found = discoverKeySet(issuer, reader({ [first]: { issuer, jwks_uri: jwksUri } }));
    if (expected === undefined) await t.rejects(found, new DiscoveryError("jwks_uri"), String(jwksUri));
    else t.match(await found, expected, String(jwksUri));
  }
});
