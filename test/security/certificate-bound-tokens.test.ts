/** Tokens bound to a client certificate (RFC 8705): a token that was stolen is worth nothing on another connection. */
import { X509Certificate } from "node:crypto";
import t, { type Test } from "tap";
import { createAuthority, hasOpenssl } from "../support/certificates.ts";
import { startGateway } from "../support/gateway.ts";
import { startIntrospection } from "../support/introspection.ts";
import { startIssuer } from "../support/issuer.ts";
import { proofKey, prove } from "../support/proof.ts";
import { type ClientTls, secureCall } from "../support/secure-client.ts";
import { result, startUpstream } from "../support/upstream.ts";
import { DONE, TRANSFER } from "./scene.ts";

const skip = (await hasOpenssl()) ? false : "needs openssl";
const URL_ = "https://gateway.test/mcp";
process.env["SG_INTROSPECTION"] = "the-gateways-secret";

const thumbprint = (cert: string | Buffer): string =>
  Buffer.from(new X509Certificate(cert).fingerprint256.replaceAll(":", ""), "hex").toString("base64url");

async function open(t: Test, authentication: Record<string, unknown> = {}) {
  const authority = await createAuthority(t, { subject: "/CN=clients" });
  const site = await createAuthority(t, { subject: "/CN=site" });
  const own = await site.issue({ names: ["DNS:gateway.test"], usage: "serverAuth" });
  const issuer = await startIssuer();
  t.teardown(() => issuer.close());
  const server = await startIntrospection();
  t.teardown(() => server.close());
  const upstream = await startUpstream((arrived, response) => result(arrived, response, DONE));
  t.teardown(() => upstream.close());
  const gateway = await startGateway(upstream.url, {
    server: {
      listen: "127.0.0.1:0",
      publicUrl: "https://gateway.test",
      tls: {
        cert: { file: own.certFile },
        key: { file: own.keyFile },
        clientCa: { file: authority.certFile },
      },
    },
    authentication: {
      issuers: [{ issuer: issuer.issuer, jwks: { url: issuer.jwksUrl } }],
      introspection: [
        {
          issuer: issuer.issuer,
          url: server.url,
          client: { basic: { id: "gw", secret: { env: "SG_INTROSPECTION" } } },
        },
      ],
      dpop: {},
      ...authentication,
    },
  });
  t.teardown(() => gateway.close(0));
  const alice = await authority.issue({ names: ["URI:spiffe://example.org/alice"] });
  const mallory = await authority.issue({ names: ["URI:spiffe://example.org/mallory"] });
  const trust: ClientTls = { ca: site.cert };
  const as = ({ cert, key }: typeof alice): ClientTls => ({ ...trust, cert, key });
  const send = (headers: Record<string, string>, tls: ClientTls = trust) =>
    secureCall(gateway.url, TRANSFER, tls, { headers });
  const bearer = (token: string, tls: ClientTls = trust) => send({ authorization: `Bearer ${token}` }, tls);
  const refused = async (reply: ReturnType<typeof send>, detail: string) => {
    const before = upstream.arrived.length;
    t.match(await reply, { status: 401, json: { error: { data: { reason: "unauthorized" } } } }, detail);
    t.equal(gateway.audit.at(-1)?.cause, detail);
    t.equal(upstream.arrived.length, before);
  };
  const cnf = { "x5t#S256": thumbprint(alice.cert) };
  return { issuer, server, gateway, alice, mallory, as, trust, send, bearer, refused, cnf };
}

t.test("a bound token is good with its certificate, whoever says that it is bound", { skip }, async (t) => {
  const { issuer, server, gateway, alice, mallory, as, bearer, refused, cnf } = await open(t);
  const signed = await issuer.token({ aud: URL_, cnf });
  server.tokens.set("opaque", { sub: "u-1001", aud: URL_, cnf });
  for (const [token, kind] of [
    [signed, "jwt"],
    ["opaque", "introspection"],
  ] as const) {
    t.equal((await bearer(token, as(alice))).status, 200, kind);
    t.match(gateway.audit.at(-1), {
      authenticatedBy: kind,
      confirmedBy: ["certificate"],
      principal: { subject: "u-1001" },
    });
    await refused(bearer(token), "certificate_missing");
    await refused(bearer(token, as(mallory)), "certificate_mismatch");
    t.equal((await bearer(token, as(alice))).status, 200, `${kind}: still`);
  }
  t.equal((await bearer(await issuer.token({ aud: URL_ }))).status, 200, "a plain one needs none");
  t.equal((await bearer(await issuer.token({ aud: URL_ }), as(mallory))).status, 200, "and minds none");
});

t.test("a certificate in a header of the client's own is none", { skip }, async (t) => {
  const { issuer, alice, send, refused, cnf } = await open(t);
  const authorization = `Bearer ${await issuer.token({ aud: URL_, cnf })}`;
  const der = new X509Certificate(alice.cert).raw.toString("base64");
  const pem = encodeURIComponent(String(alice.cert));
  for (const headers of [
    { "client-cert": `:${der}:` },
    { "x-client-cert": pem },
    { "ssl-client-cert": pem },
    { "x-forwarded-client-cert": `Cert="${pem}"` },
    { "x-ssl-client-verify": "SUCCESS" },
  ]) {
    await refused(send({ authorization, ...headers } as Record<string, string>), "certificate_missing");
  }
});

t.test("bound to a certificate and a key: both must hold", { skip }, async (t) => {
  const { issuer, alice, mallory, as, trust, send, bearer, refused, cnf } = await open(t);
  const key = await proofKey();
  const token = await issuer.token({ aud: URL_, cnf: { ...cnf, jkt: key.thumbprint } });
  const proved = async (tls: ClientTls) =>
    send(
      { authorization: `DPoP ${token}`, dpop: await prove(key, { token, url: URL_, now: Date.now() }) },
      tls,
    );
  t.equal((await proved(as(alice))).status, 200);
  await refused(proved(trust), "certificate_missing");
  await refused(proved(as(mallory)), "certificate_mismatch");
  await refused(bearer(token, as(alice)), "bound_as_bearer");
  const onlyCertificate = await issuer.token({ aud: URL_, cnf });
  const dpop = await prove(key, { token: onlyCertificate, url: URL_, now: Date.now() });
  await refused(send({ authorization: `DPoP ${onlyCertificate}`, dpop }, as(alice)), "proof_for_unbound");
});

t.test("where certificates say who calls, a token beside one must be bound to it", { skip }, async (t) => {
  const scene = await open(t, { clientCertificates: { subject: "san.uri" } });
  const { issuer, gateway, alice, as, trust, bearer, send, refused, cnf } = scene;
  t.equal((await send({}, as(alice))).status, 200);
  t.match(gateway.audit.at(-1), { authenticatedBy: "certificate" });
  await refused(bearer(await issuer.token({ aud: URL_ }), as(alice)), "ambiguous");
  t.equal((await bearer(await issuer.token({ aud: URL_, cnf }), as(alice))).status, 200);
  t.match(gateway.audit.at(-1), { authenticatedBy: "jwt", principal: { subject: "u-1001" } });
  await refused(bearer(await issuer.token({ aud: URL_, exp: 1 }), as(alice)), "expired");
  await refused(send({ authorization: "Basic dTpw" }, as(alice)), "token_scheme");
  t.equal((await bearer(await issuer.token({ aud: URL_ }), trust)).status, 200);
});

t.test("an issuer whose tokens must be bound", { skip }, async (t) => {
  const issuer = await startIssuer();
  t.teardown(() => issuer.close());
  const settings = { issuer: issuer.issuer, jwks: { url: issuer.jwksUrl }, senderConstrained: "required" };
  const { alice, as, bearer, refused, cnf } = await open(t, {
    issuers: [settings],
    introspection: undefined,
  });
  await refused(bearer(await issuer.token({ aud: URL_ })), "unbound");
  await refused(bearer(await issuer.token({ aud: URL_ }), as(alice)), "unbound");
  t.equal((await bearer(await issuer.token({ aud: URL_, cnf }), as(alice))).status, 200);
});

t.test(
  "a certificate that a listed proxy has seen counts like one of the connection",
  { skip },
  async (t) => {
    const authority = await createAuthority(t, { subject: "/CN=clients" });
    const issuer = await startIssuer();
    t.teardown(() => issuer.close());
    const upstream = await startUpstream((arrived, response) => result(arrived, response, DONE));
    t.teardown(() => upstream.close());
    const header = { name: "client-cert", format: "rfc9440", ca: { file: authority.certFile } };
    const startAt = async (from: string) => {
      const gateway = await startGateway(upstream.url, {
        authentication: {
          issuers: [{ issuer: issuer.issuer, jwks: { url: issuer.jwksUrl }, audiences: [URL_] }],
          clientCertificates: { subject: "san.uri", header: { ...header, from: [from] } },
        },
      });
      t.teardown(() => gateway.close(0));
      return gateway;
    };
    const [listed, elsewhere] = await Promise.all([startAt("127.0.0.1"), startAt("10.9.8.7")]);
    const alice = await authority.issue({ names: ["URI:spiffe://example.org/alice"] });
    const mallory = await authority.issue({ names: ["URI:spiffe://example.org/mallory"] });
    const shown = ({ cert }: typeof alice) => ({
      "client-cert": `:${new X509Certificate(cert).raw.toString("base64")}:`,
    });
    const token = await issuer.token({ aud: URL_, cnf: { "x5t#S256": thumbprint(alice.cert) } });
    const call = (gateway: typeof listed, headers: Record<string, string> = {}) =>
      gateway.call(TRANSFER, { token, headers });
    t.equal((await call(listed, shown(alice))).status, 200);
    t.match(listed.audit.at(-1), { authenticatedBy: "jwt", confirmedBy: ["certificate"] });
    t.equal((await call(listed, shown(mallory))).status, 401);
    t.equal(listed.audit.at(-1)?.cause, "certificate_mismatch");
    t.equal((await call(listed)).status, 401);
    t.equal(listed.audit.at(-1)?.cause, "certificate_missing");
    const forged = await call(elsewhere, shown(alice));
    t.not(forged.status, 200, "from somebody who is not listed it is nothing");
    t.equal(elsewhere.audit.at(-1)?.outcome, "refused");
  },
);
