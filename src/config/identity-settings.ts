/** The settings of callers who bring no token: a certificate of their own, or the word of whoever stands in front. */
import * as z from "zod";
import { ALGORITHMS } from "./algorithms.ts";
import { duration, field, fileRef, glob, httpUrl, label, oneOf, path, some, text } from "./fields.ts";
import { type NetworkFault, networkFault } from "./networks.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/** Where in a certificate the name of its holder is looked for. */
export const CERTIFICATE_SUBJECTS = ["san.uri", "san.dns", "san.email", "subject.cn", "subject"] as const;

const NETWORK_FAULTS: Readonly<Record<NetworkFault, string>> = {
  malformed: "is not an address or network",
  zone: "has a zone, which is another one on each machine",
  mapped: "is IPv4 in IPv6",
  host_bits: "has bits behind its prefix",
  everybody: "is everybody",
};

/** The address of a proxy, or a network of them. */
function proxyNetwork() {
  return field<string>("an IP address or a network such as 10.0.0.0/8 or fd00::/8", (given, refuse) => {
    const fault = networkFault(given);
    return fault === undefined ? given : refuse(NETWORK_FAULTS[fault]);
  });
}

/** Headers that mean something else already, here or on the way. */
const TAKEN =
  /^(host|connection|keep-alive|te|trailer|upgrade|expect|date|range|cookie|set-cookie|authorization|dpop|origin|referer|via|forwarded|last-event-id|user-agent|traceparent|tracestate|transfer-encoding|accept|(accept|content|mcp|proxy|sec|access-control|if)-.*|x-forwarded-(for|host|port|proto|prefix|server))$/;

/** The name of a header in which a proxy says who is calling. */
function identityHeader() {
  return field<string>(
    "a header name of letters, digits and - that means nothing else, such as x-forwarded-user",
    (given, refuse) => {
      const name = given.toLowerCase();
      // Some servers read _ and - as the same: only one of the two may stand in a name.
      if (!/^[a-z][a-z0-9-]{0,127}$/.test(name)) return refuse("is not a header name of that kind");
      return TAKEN.test(name) ? refuse("is a header with a meaning of its own") : name;
    },
  );
}

const from = () => some(proxyNetwork()).describe("Addresses of the proxies, as the gateway sees them.");

const proxiedCertificate = z.strictObject({
  name: identityHeader().describe("The header."),
  format: z
    .enum(["rfc9440", "nginx", "envoy"])
    .describe(
      "How the certificate stands in it: Client-Cert of RFC 9440, $ssl_client_escaped_cert of nginx, x-forwarded-client-cert of Envoy.",
    ),
  from: from(),
  verified: z
    .enum(["byGateway", "byProxy"])
    .default("byGateway")
    .describe(
      "Who judges the certificate: the gateway, by ca; or the proxy, whose word is then taken for it.",
    ),
  ca: fileRef().exactOptional().describe("PEM file with the authorities of clients."),
});

/** `authentication.clientCertificates`. */
export const clientCertificates = z.strictObject({
  issuer: label()
    .prefault("client-certificates")
    .describe(
      "What such callers have as issuer, in policies and in the audit log. No issuer of tokens has it.",
    ),
  subject: z
    .enum(CERTIFICATE_SUBJECTS)
    .describe("Which name in the certificate is the caller's subject. Exactly one must fit."),
  trustDomain: text("a SPIFFE trust domain", 255)
    .exactOptional()
    .describe("With san.uri: the one URI is a SPIFFE ID of this trust domain."),
  pattern: glob().exactOptional().describe("Pattern of the names that count. Default: any."),
  groups: z
    .enum(["subject.ou"])
    .exactOptional()
    .describe("Where groups come from: the organizational units of the subject. Default: nobody has any."),
  header: proxiedCertificate
    .exactOptional()
    .describe("Take the certificate from the header of a proxy that ends TLS."),
});

const claimName = text("the name of a claim, or a dotted path to one", 128);

const assertion = z.strictObject({
  header: identityHeader().prefault("x-sealgate-assertion").describe("The header, with the JWT alone."),
  issuer: httpUrl({ query: false }).describe("The exact iss. No issuer of tokens has it."),
  audiences: some(text("an audience"))
    .exactOptional()
    .describe("Audiences accepted. Default: the resource URL of the route."),
  jwks: oneOf(
    {
      url: httpUrl({ query: true }).describe("Where the key set is fetched."),
      file: path().describe("JSON file with the key set."),
    },
    "{ url: URL } or { file: PATH }",
  ).describe("The keys that assertions are signed with."),
  algorithms: some(z.enum(ALGORITHMS))
    .default(["ES256", "EdDSA", "Ed25519"])
    .describe("Signature algorithms accepted."),
  clockTolerance: duration(0, 5 * MINUTE)
    .prefault("30s")
    .describe("Leeway for exp and nbf."),
  maxLifetime: duration(5 * SECOND, 60 * MINUTE)
    .prefault("10m")
    .describe("Longest time from iat to exp. Both must be there."),
  claims: z
    .strictObject({
      subject: claimName.prefault("sub").describe("Claim with the subject."),
      client: some(claimName)
        .prefault(["client_id", "azp"])
        .describe("Claims with the client, first hit wins."),
      groups: claimName.prefault("groups").describe("Claim with the groups."),
      scope: some(claimName).prefault(["scope", "scp"]).describe("Claims with the scopes, first hit wins."),
      tenant: claimName.prefault("tenant").describe("Claim with the tenant."),
    })
    .prefault({})
    .describe("Which claims say who is calling. The defaults are those that a gateway of this kind sends."),
  from: some(proxyNetwork())
    .exactOptional()
    .describe("Addresses it may come from. Default: any, since it is signed."),
});

const headers = z.strictObject({
  issuer: label().describe("What such callers have as issuer. No issuer of tokens has it."),
  from: from(),
  user: identityHeader().describe("Header with the subject."),
  client: identityHeader().exactOptional().describe("Header with the client."),
  tenant: identityHeader().exactOptional().describe("Header with the tenant."),
  groups: identityHeader().exactOptional().describe("Header with the groups, separated by commas."),
  proxyCertificate: z
    .strictObject({
      subject: z.enum(CERTIFICATE_SUBJECTS).describe("Which name in the proxy's certificate is looked at."),
      names: some(glob()).describe("Patterns of names that proxies have."),
    })
    .exactOptional()
    .describe(
      "Take these headers only on a connection with such a client certificate, by server.tls.clientCa.",
    ),
});

/** `authentication.forwarded`. */
export const forwarded = z.strictObject({
  assertion: assertion.exactOptional().describe("A signed JWT of a gateway in front."),
  headers: headers
    .exactOptional()
    .describe("Plain headers of a proxy in front: whoever can send from its address can be anybody."),
});
