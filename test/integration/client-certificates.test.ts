/** Callers known by their client certificate, on the gateway's own TLS listener. */

import { createHash, X509Certificate } from "node:crypto";
import { once } from "node:events";
import { copyFile, rename, writeFile } from "node:fs/promises";
import { connect } from "node:tls";
import t, { type Test } from "tap";
import { type Authority, type Certificate, createAuthority, hasOpenssl } from "../support/certificates.ts";
import { startGateway, type TestGateway } from "../support/gateway.ts";
import { startIssuer } from "../support/issuer.ts";
import { type ClientTls, keptAlive, secureCall } from "../support/secure-client.ts";
import { type Script, startUpstream } from "../support/upstream.ts";
import { asksOnce, DONE, holding, retryOf, stateOf, TRANSFER } from "./rounds.ts";

const skip = (await hasOpenssl()) ? false : "needs openssl";
const REFUSED = { status: 401, json: { error: { data: { reason: "invalid_client_certificate" } } } };
const DAY = 86_400_000;

interface Scene {
  readonly gateway: TestGateway;
  readonly upstream: Awaited<ReturnType<typeof startUpstream>>;
  readonly authority: Authority;
  /** The file with the authorities, which tests replace. */
  readonly bundle: string;
  readonly trust: Pick<ClientTls, "ca">;
  readonly server: Record<string, unknown>;
}

async function open(
  t: Test,
  more: Record<string, unknown> = {},
  subject = "san.uri",
  script: Script = asksOnce,
): Promise<Scene> {
  const authority = await createAuthority(t, { subject: "/CN=clients" });
  const site = await createAuthority(t, { subject: "/CN=site" });
  const own = await site.issue({ names: ["DNS:gateway.test"], usage: "serverAuth" });
  const bundle = `${authority.certFile}.bundle`;
  await copyFile(authority.certFile, bundle);
  const upstream = await startUpstream(script);
  t.teardown(() => upstream.close());
  const server = {
    listen: "127.0.0.1:0",
    publicUrl: "https://gateway.test",
    tls: { cert: { file: own.certFile }, key: { file: own.keyFile }, clientCa: { file: bundle } },
  };
  const gateway = await startGateway(upstream.url, {
    server,
    authentication: { clientCertificates: { subject } },
    ...more,
  });
  t.teardown(() => gateway.close(0));
  return { gateway, upstream, authority, bundle, server, trust: { ca: site.cert } };
}

const shown = ({ cert, key }: Certificate): ClientTls => ({ cert, key });

/** Puts another text in place of a file, at once. */
async function replace(file: string, text: string): Promise<void> {
  await writeFile(`${file}.draft`, text);
  await rename(`${file}.draft`, file);
}

t.test("a whole round trip, bound to the owner of the certificate", { skip }, async (t) => {
  const { gateway, upstream, authority, trust } = await open(t);
  const alice = await authority.issue({ names: ["URI:spiffe://example.org/alice"] });
  const again = await authority.issue({ names: ["URI:spiffe://example.org/alice"] });
  const mallory = await authority.issue({ names: ["URI:spiffe://example.org/mallory"] });
  const state = stateOf(await secureCall(gateway.url, TRANSFER, { ...trust, ...shown(alice) }));
  t.match(gateway.audit.at(-1)?.principal, {
    issuer: "client-certificates",
    subject: "spiffe://example.org/alice",
  });
  const before = upstream.arrived.length;
  t.match(await secureCall(gateway.url, retryOf(state), { ...trust, ...shown(mallory) }), {
    status: 400,
    json: { error: { data: { reason: "invalid_request_state" } } },
  });
  t.equal(gateway.audit.at(-1)?.cause, "principal");
  t.match(await secureCall(gateway.url, retryOf(state), trust), { status: 401 });
  t.equal(upstream.arrived.length, before, "nothing of others went up");
  t.match(
    (await secureCall(gateway.url, retryOf(state), { ...trust, ...shown(again) })).json.result,
    JSON.parse(DONE),
    "a renewed certificate is the same caller",
  );
});

t.test("one listener for both: with a token and without a certificate", { skip }, async (t) => {
  const issuer = await startIssuer();
  t.teardown(() => issuer.close());
  const issuers = [{ issuer: issuer.issuer, jwks: { url: issuer.jwksUrl } }];
  const { gateway, authority, trust, upstream } = await open(t, {
    authentication: { issuers, clientCertificates: { subject: "san.uri" } },
  });
  const token = await issuer.token({ sub: "u-1", aud: "https://gateway.test/mcp" });
  const headers = { authorization: `Bearer ${token}` };
  t.equal((await secureCall(gateway.url, TRANSFER, trust, { headers })).status, 200);
  t.match(gateway.audit.at(-1)?.principal, { issuer: issuer.issuer, subject: "u-1" });
  t.equal((await secureCall(gateway.url, TRANSFER, trust)).status, 401, "with neither nobody");
  const good = await authority.issue({ names: ["URI:spiffe://example.org/u-1"] });
  const both = await secureCall(gateway.url, TRANSFER, { ...trust, ...shown(good) }, { headers });
  t.equal(both.status, 401, "a token beside a certificate that it is not bound to");
  const bad = await authority.issue({ names: ["URI:spiffe://example.org/u-1"], usage: "serverAuth" });
  const beside = await secureCall(gateway.url, TRANSFER, { ...trust, ...shown(bad) }, { headers });
  t.match(beside, REFUSED, "a good token is no cover for a bad certificate");
  t.equal(upstream.arrived.length, 1);
});

t.test("a certificate that is not good is refused, never overlooked", { skip }, async (t) => {
  const { gateway, upstream, authority, trust } = await open(t, {
    authentication: { mode: "anonymous", clientCertificates: { subject: "san.uri" } },
  });
  const names = ["URI:spiffe://example.org/a"];
  const stranger = await createAuthority(t, { subject: "/CN=clients" });
  const expired = await authority.below({ notAfter: "20240101000000Z" });
  const cases: readonly (readonly [Certificate, string])[] = [
    [await authority.issue({ names, notAfter: "20240101000000Z" }), "certificate_expired"],
    [await authority.issue({ names, notBefore: "20980101000000Z" }), "certificate_not_yet"],
    [await authority.issue({ names, usage: "serverAuth" }), "certificate_purpose"],
    [await authority.issue({ names, extensions: ["keyUsage=keyEncipherment"] }), "certificate_purpose"],
    [await authority.issue({ names, extensions: ["1.2.3.4=critical,DER:0500"] }), "certificate_constraint"],
    [await stranger.issue({ names }), "certificate_untrusted"],
    [stranger, "certificate_authority"],
    [authority, "certificate_authority"],
    [await expired.issue({ names }), "certificate_untrusted"],
  ];
  for (const [certificate, cause] of cases) {
    const reply = await secureCall(gateway.url, TRANSFER, { ...trust, ...shown(certificate) });
    t.match(reply, REFUSED, cause);
    t.match(reply.headers, { connection: "close", "www-authenticate": /^Bearer resource_metadata=/ });
    t.equal(gateway.audit.at(-1)?.cause, cause);
  }
  t.equal(upstream.arrived.length, 0);
  t.equal(
    (await secureCall(gateway.url, TRANSFER, trust)).status,
    200,
    "without one anonymous, as asked for",
  );
  t.match(gateway.audit.at(-1)?.principal, { anonymous: true });
  const good = await authority.issue({ names });
  t.equal((await secureCall(gateway.url, TRANSFER, { ...trust, ...shown(good) })).status, 200);
});

t.test("certificates between the client's and the authority", { skip }, async (t) => {
  const { gateway, authority, trust } = await open(t);
  const names = ["URI:spiffe://example.org/a"];
  const between = await authority.below({ subject: "/CN=between" });
  const leaf = await between.issue({ names });
  const tls = { ...trust, key: leaf.key };
  t.equal((await secureCall(gateway.url, TRANSFER, { ...tls, cert: leaf.cert + between.cert })).status, 200);
  t.match(await secureCall(gateway.url, TRANSFER, { ...tls, cert: leaf.cert }), REFUSED);
  // Signed by a client's certificate: no authority.
  const narrow = await authority.below({ extensions: ["basicConstraints=critical,CA:TRUE,pathlen:0"] });
  const below = await narrow.below();
  const far = await below.issue({ names });
  const cert = far.cert + below.cert + narrow.cert;
  t.match(await secureCall(gateway.url, TRANSFER, { ...trust, key: far.key, cert }), REFUSED);
});

t.test("a connection that outlives the certificate, or an authority of its path", { skip }, async (t) => {
  const { gateway, authority, trust, upstream } = await open(t);
  const leaf = await authority.issue({ names: ["URI:spiffe://example.org/a"] });
  const agent = keptAlive({ ...trust, ...shown(leaf) });
  t.teardown(() => agent.destroy());
  const call = () => secureCall(gateway.url, TRANSFER, {}, { agent });
  const first = await call();
  t.equal(first.status, 200);
  gateway.clock.now = Date.parse("2099-12-31T23:59:59.500Z");
  const last = await call();
  t.equal(last.status, 200, "to the end of its last second");
  t.equal(last.socket, first.socket, "on one connection");
  gateway.clock.now += 500;
  t.match(await call(), REFUSED);
  t.equal(gateway.audit.at(-1)?.cause, "certificate_expired");
  gateway.clock.now = Date.parse("2019-12-31T00:00:00Z");
  t.match(await call(), REFUSED, "and before its first second");
  t.equal(upstream.arrived.length, 2);
});

t.test("an authority that was taken out counts no more, on no connection", { skip }, async (t) => {
  const { gateway, authority, bundle, trust, upstream, server } = await open(t);
  const other = await createAuthority(t, { subject: "/CN=others" });
  const alice = await authority.issue({ names: ["URI:spiffe://example.org/alice"] });
  const bob = await other.issue({ names: ["URI:spiffe://example.org/bob"] });
  const agent = keptAlive({ ...trust, ...shown(alice) });
  t.teardown(() => agent.destroy());
  const asAlice = () => secureCall(gateway.url, TRANSFER, {}, { agent });
  const first = await asAlice();
  const state = stateOf(first);
  t.match(await secureCall(gateway.url, TRANSFER, { ...trust, ...shown(bob) }), REFUSED);

  await replace(bundle, authority.cert + other.cert);
  t.ok(await gateway.configure({ server }));
  t.equal((await secureCall(gateway.url, TRANSFER, { ...trust, ...shown(bob) })).status, 200, "added");
  const kept = await asAlice();
  t.equal(kept.status, 200);
  t.equal(kept.socket, first.socket, "the one connection stays");

  await replace(bundle, other.cert);
  t.ok(await gateway.configure({ server }));
  const before = upstream.arrived.length;
  t.match(await secureCall(gateway.url, retryOf(state), {}, { agent }), REFUSED, "in the middle of a round");
  t.equal(gateway.audit.at(-1)?.cause, "certificate_untrusted");
  t.match(
    await secureCall(gateway.url, TRANSFER, { ...trust, ...shown(alice) }),
    REFUSED,
    "a new connection",
  );
  t.equal(upstream.arrived.length, before);

  await replace(bundle, "no authority\n");
  t.notOk(await gateway.configure({ server }), "a bundle without any is not taken up");
  t.equal((await secureCall(gateway.url, TRANSFER, { ...trust, ...shown(bob) })).status, 200);

  await replace(bundle, authority.cert);
  t.ok(await gateway.configure({ server }));
  const retry = await secureCall(gateway.url, retryOf(state), { ...trust, ...shown(alice) });
  t.match(retry.json.result, JSON.parse(DONE), "back in, the state is hers and unspent");
});

t.test("a stream ends with the authority that its caller was judged by", { skip }, async (t) => {
  const held = holding();
  const { gateway, authority, bundle, trust, server } = await open(t, {}, "san.uri", held.script);
  const other = await createAuthority(t, { subject: "/CN=others" });
  const alice = await authority.issue({ names: ["URI:spiffe://example.org/alice"] });
  const listen = { method: "subscriptions/listen" };
  const reply = secureCall(gateway.url, listen, { ...trust, ...shown(alice) });
  await held.next();
  await replace(bundle, other.cert);
  t.ok(await gateway.configure({ server }));
  t.match((await reply).body, /"reason":"configuration_changed"/);
});

t.test("a handshake that was bad then is not good because an authority came later", { skip }, async (t) => {
  const { gateway, authority, bundle, trust, server } = await open(t);
  const other = await createAuthority(t, { subject: "/CN=others" });
  const bob = await other.issue({ names: ["URI:spiffe://example.org/bob"] });
  const { hostname, port } = new URL(gateway.url);
  // In 1.2 the client is done last, so that by then the gateway has judged its certificate.
  const socket = connect({
    ...{ host: hostname, port: Number(port), servername: "gateway.test", maxVersion: "TLSv1.2" },
    ...{ ...trust, ...shown(bob) },
  });
  t.teardown(() => socket.destroy());
  await once(socket, "secureConnect");
  await replace(bundle, authority.cert + other.cert);
  t.ok(await gateway.configure({ server }));
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });
  socket.write(
    `POST /mcp HTTP/1.1\r\nhost: gateway.test\r\naccept: application/json, text/event-stream\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
  const [answer] = await once(socket, "data");
  t.match(String(answer), /^HTTP\/1\.1 401 [\s\S]*invalid_client_certificate/);
  t.equal(gateway.audit.at(-1)?.cause, "certificate_handshake");
  t.equal((await secureCall(gateway.url, TRANSFER, { ...trust, ...shown(bob) })).status, 200, "a new one is");
});

t.test("no session is resumed, no connection renegotiated", { skip }, async (t) => {
  const { gateway, authority, trust } = await open(t);
  const leaf = await authority.issue({ names: ["URI:spiffe://example.org/a"] });
  const { hostname, port } = new URL(gateway.url);
  for (const maxVersion of ["TLSv1.2", "TLSv1.3"] as const) {
    const options = {
      ...{ host: hostname, port: Number(port), servername: "gateway.test", maxVersion },
      ...{ ...trust, ...shown(leaf) },
    };
    let session: Buffer | undefined;
    const speak = (resume: Buffer | undefined): Promise<boolean> =>
      new Promise((resolve, reject) => {
        const socket = connect({ ...options, ...(resume === undefined ? {} : { session: resume }) });
        socket.on("session", (given: Buffer) => {
          session = given;
        });
        let reused = false;
        socket.once("secureConnect", () => {
          reused = socket.isSessionReused();
        });
        socket.on("error", reject).on("close", () => resolve(reused));
        socket.on("data", () => socket.end());
        socket.write("GET / HTTP/1.1\r\nhost: gateway.test\r\nconnection: close\r\n\r\n");
      });
    t.equal(await speak(undefined), false);
    t.equal(await speak(session), false, `${maxVersion}: a fresh handshake`);
  }
  const refused = await new Promise<string>((resolve) => {
    const socket = connect({
      ...{ host: hostname, port: Number(port), servername: "gateway.test", maxVersion: "TLSv1.2" },
      ...{ ...trust, ...shown(leaf) },
    });
    socket.on("error", (error) => resolve(`error ${error.message}`)).on("close", () => resolve("closed"));
    socket.once("secureConnect", () =>
      socket.renegotiate({}, (error) =>
        resolve(error === null ? "renegotiated" : `refused ${error.message}`),
      ),
    );
  });
  t.not(refused, "renegotiated");
});

t.test("which authorities there are takes no restart, whether there are any does", { skip }, async (t) => {
  const { gateway, server } = await open(t);
  const { clientCa, ...tls } = server["tls"] as Record<string, unknown>;
  t.ok(clientCa);
  t.notOk(
    await gateway.configure({
      server: { ...server, tls },
      authentication: { mode: "anonymous" },
    }),
  );
  t.match(gateway.logged(), /server\.tls\.clientCa: has changed, which takes a restart/);
});

t.test("a certificate's caller outlives no day of its certificate", { skip }, async (t) => {
  const { gateway, authority, trust } = await open(t, {}, "subject.cn");
  const leaf = await authority.issue({ subject: "/CN=service-7/OU=a" });
  t.equal((await secureCall(gateway.url, TRANSFER, { ...trust, ...shown(leaf) })).status, 200);
  t.match(gateway.audit.at(-1)?.principal, { subject: "service-7" });
  gateway.clock.now += 100 * 365 * DAY;
  t.match(await secureCall(gateway.url, TRANSFER, { ...trust, ...shown(leaf) }), REFUSED);
});

t.test("a token that is bound to a certificate, beside that one and others", { skip }, async (t) => {
  const issuer = await startIssuer();
  t.teardown(() => issuer.close());
  const issuers = [{ issuer: issuer.issuer, jwks: { url: issuer.jwksUrl } }];
  for (const authentication of [{ issuers }, { issuers, clientCertificates: { subject: "san.uri" } }]) {
    const { gateway, authority, trust, upstream } = await open(t, { authentication });
    const mine = await authority.issue({ names: ["URI:spiffe://example.org/mine"] });
    const other = await authority.issue({ names: ["URI:spiffe://example.org/mine"] });
    const digest = createHash("sha256").update(new X509Certificate(mine.cert).raw).digest("base64url");
    const token = await issuer.token({ aud: "https://gateway.test/mcp", cnf: { "x5t#S256": digest } });
    const headers = { authorization: `Bearer ${token}` };
    const agent = keptAlive({ ...trust, ...shown(mine) });
    t.teardown(() => agent.destroy());
    const withMine = () => secureCall(gateway.url, TRANSFER, {}, { headers, agent });
    t.equal((await withMine()).status, 200);
    t.match(
      gateway.audit.at(-1)?.principal,
      { issuer: issuer.issuer, subject: "u-1001" },
      "the token says who",
    );
    t.equal(
      (await secureCall(gateway.url, TRANSFER, { ...trust, ...shown(other) }, { headers })).status,
      401,
    );
    t.equal((await secureCall(gateway.url, TRANSFER, trust, { headers })).status, 401, "a stolen one");
    gateway.clock.now = Date.parse("2100-01-02");
    t.equal((await withMine()).status, 401);
    t.equal(upstream.arrived.length, 1);
  }
});

t.test("plain headers of a proxy, only with the proxy's own certificate", { skip }, async (t) => {
  const headers = {
    ...{ issuer: "front", from: ["127.0.0.1"], user: "x-forwarded-user" },
    proxyCertificate: { subject: "san.dns", names: ["proxy-?.example"] },
  };
  const authentication = { clientCertificates: { subject: "san.dns" }, forwarded: { headers } };
  const { gateway, authority, trust, upstream } = await open(t, { authentication });
  const proxy = await authority.issue({ names: ["DNS:proxy-1.example"] });
  const call = (certificate: Certificate | undefined, user: string | undefined) =>
    secureCall(
      gateway.url,
      TRANSFER,
      { ...trust, ...(certificate && shown(certificate)) },
      user === undefined ? {} : { headers: { "x-forwarded-user": user } },
    );
  t.equal((await call(proxy, "alice")).status, 200);
  t.match(gateway.audit.at(-1)?.principal, { issuer: "front", subject: "alice" });
  for (const [names, cause] of [
    [["DNS:other.example"], "forwarded_proxy_certificate"],
    [["DNS:proxy-1.example", "DNS:proxy-2.example"], "forwarded_proxy_certificate"],
    [["URI:proxy-1.example"], "forwarded_proxy_certificate"],
  ] as const) {
    t.equal((await call(await authority.issue({ names }), "alice")).status, 401);
    t.equal(gateway.audit.at(-1)?.cause, cause);
  }
  t.equal((await call(undefined, "alice")).status, 401, "without one");
  t.equal((await call(proxy, undefined)).status, 401, "the proxy is nobody by its own certificate");
  t.equal(gateway.audit.at(-1)?.cause, "no_token");
  const late = await authority.issue({ names: ["DNS:proxy-1.example"], notAfter: "20240101000000Z" });
  t.match(await call(late, "alice"), REFUSED);
  t.equal(upstream.arrived.length, 1);
});
