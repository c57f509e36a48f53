/** Client certificates that a proxy in front has seen, and says in a header: three spellings, who may, and who judges. */
import { createHash, X509Certificate } from "node:crypto";
import t, { type Test } from "tap";
import { type Authority, type Certificate, createAuthority, hasOpenssl } from "../support/certificates.ts";
import { sendFrom } from "../support/from-address.ts";
import { PUBLIC_URL, startGateway } from "../support/gateway.ts";
import { startUpstream } from "../support/upstream.ts";
import { asksOnce, DONE, retryOf, stateOf, TRANSFER } from "./rounds.ts";

const skip = (await hasOpenssl()) ? false : "needs openssl";
const PROXY = "127.0.0.2";
const ELSEWHERE = "127.0.0.1";
const FORGED = { status: 400, json: { error: { data: { reason: "untrusted_header" } } } };
const REFUSED = { status: 401, json: { error: { data: { reason: "invalid_client_certificate" } } } };

type Format = "rfc9440" | "nginx" | "envoy";
const NAMES = { rfc9440: "client-cert", nginx: "x-client-cert", envoy: "x-forwarded-client-cert" } as const;

async function open(t: Test, format: Format, authority: Authority, more: object = {}) {
  const upstream = await startUpstream(asksOnce);
  t.teardown(() => upstream.close());
  const header = { name: NAMES[format], format, from: [PROXY], ca: { file: authority.certFile }, ...more };
  const gateway = await startGateway(upstream.url, {
    server: { listen: "127.0.0.1:0", publicUrl: PUBLIC_URL, allowedHosts: ["gateway.test"] },
    authentication: { clientCertificates: { issuer: "devices", subject: "san.dns", header } },
  });
  t.teardown(() => gateway.close(0));
  const send = (value: string, { from = PROXY, message = TRANSFER, more = [] as string[] } = {}) =>
    sendFrom(gateway.url, from, [NAMES[format], value, ...more], message);
  return { gateway, upstream, send };
}

const der = ({ cert }: Certificate): Buffer => new X509Certificate(cert).raw;
const bytes = (certificate: Certificate): string => `:${der(certificate).toString("base64")}:`;
const escaped = ({ cert }: Certificate): string => encodeURIComponent(cert);
const hash = (certificate: Certificate): string =>
  createHash("sha256").update(der(certificate)).digest("hex");
const element = (certificate: Certificate): string =>
  `By=spiffe://td/gw;Hash=${hash(certificate)};Cert="${escaped(certificate)}";Subject="CN=\\"a, b\\";O=x";URI=spiffe://a;URI=spiffe://b`;
const WRITTEN = { rfc9440: bytes, nginx: escaped, envoy: element } as const;

const authority = skip === false ? await createAuthority(t, { subject: "/CN=devices" }) : undefined;

for (const format of ["rfc9440", "nginx", "envoy"] as const) {
  t.test(`${format}: a round trip, and who else tries`, { skip }, async (t) => {
    if (authority === undefined) return;
    const { gateway, upstream, send } = await open(t, format, authority);
    const write = WRITTEN[format];
    const [one, two, late, other] = await Promise.all([
      authority.issue({ names: ["DNS:one.example", "URI:urn:x"] }),
      authority.issue({ names: ["DNS:two.example"] }),
      authority.issue({ names: ["DNS:one.example"], notAfter: "20240101000000Z" }),
      createAuthority(t, { subject: "/CN=devices" }).then((made) =>
        made.issue({ names: ["DNS:one.example"] }),
      ),
    ]);
    const state = stateOf(await send(write(one)));
    t.match(gateway.audit.at(-1)?.principal, { issuer: "devices", subject: "one.example" });
    const before = upstream.arrived.length;
    t.match(await send(write(one), { from: ELSEWHERE, message: retryOf(state) }), FORGED);
    t.match(await send(write(two), { message: retryOf(state) }), { status: 400 });
    t.equal(gateway.audit.at(-1)?.cause, "principal");
    t.match(await send(write(late)), REFUSED);
    t.equal(gateway.audit.at(-1)?.cause, "certificate_expired");
    t.match(await send(write(other)), REFUSED);
    t.equal(gateway.audit.at(-1)?.cause, "certificate_untrusted");
    for (const value of [
      "x",
      write(one).slice(0, 200),
      `${write(one)},${write(two)}`,
      `${write(one)}, ${write(one)}`,
      write(one).replace("MII", "MI!"),
    ]) {
      t.match(await send(value), REFUSED, value.slice(0, 40));
      t.equal(gateway.audit.at(-1)?.cause, "certificate_malformed");
    }
    t.match(await send(write(one), { more: [NAMES[format], write(two)] }), FORGED, "twice");
    t.match(await send(write(one), { more: [NAMES[format].replaceAll("-", "_"), write(two)] }), FORGED);
    t.match(await send(""), { status: 401 }, "an empty one is none");
    t.equal(gateway.audit.at(-1)?.cause, "no_token");
    t.equal(upstream.arrived.length, before);
    t.match((await send(write(one), { message: retryOf(state) })).json.result, JSON.parse(DONE));
  });
}

t.test("what comes between the client's certificate and its authority", { skip }, async (t) => {
  if (authority === undefined) return;
  const between = await authority.below();
  const leaf = await between.issue({ names: ["DNS:one.example"] });
  const rfc = await open(t, "rfc9440", authority);
  const chained = ["Client-Cert-Chain", `${bytes(between)}, ${bytes(authority)}`];
  t.match(await rfc.send(bytes(leaf)), REFUSED);
  t.equal((await rfc.send(bytes(leaf), { more: chained })).status, 200);
  t.match(await rfc.send(bytes(leaf), { from: ELSEWHERE, more: chained }), FORGED);
  t.match(await rfc.send("", { from: ELSEWHERE, more: chained }), FORGED, "the chain alone, too");
  const envoy = await open(t, "envoy", authority);
  const chain = encodeURIComponent(leaf.cert + between.cert);
  t.match(await envoy.send(`Cert="${escaped(leaf)}"`), REFUSED);
  t.equal((await envoy.send(`Cert="${escaped(leaf)}";Chain="${chain}"`)).status, 200);
  t.match(await envoy.send(`Hash=${hash(between)};Cert="${escaped(leaf)}";Chain="${chain}"`), REFUSED);
});

t.test("verified by the proxy: its word for the path, the clock for the time", { skip }, async (t) => {
  if (authority === undefined) return;
  const { gateway, send } = await open(t, "nginx", authority, { verified: "byProxy", ca: undefined });
  const stranger = await createAuthority(t);
  const leaf = await stranger.issue({ names: ["DNS:one.example"] });
  t.equal((await send(escaped(leaf))).status, 200);
  t.match(await send(escaped(leaf), { from: ELSEWHERE }), FORGED, "not by others");
  const late = await stranger.issue({ names: ["DNS:one.example"], notAfter: "20240101000000Z" });
  t.match(await send(escaped(late)), REFUSED);
  gateway.clock.now = Date.parse("2019-01-01");
  t.match(await send(escaped(leaf)), REFUSED);
  t.equal(gateway.audit.at(-1)?.cause, "certificate_not_yet");
});
