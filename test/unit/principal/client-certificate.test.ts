import t from "tap";
import type { Certificate } from "../../../src/certificates/certificate.ts";
import type { DistinguishedName, SubjectAltNames } from "../../../src/certificates/names.ts";
import { parseAuthorization } from "../../../src/principal/bearer.ts";
import { createCertificateAuthenticator } from "../../../src/principal/client-certificate.ts";
import type { Resource } from "../../../src/principal/principal.ts";
import { presented } from "../../support/presented.ts";

type Terms = Parameters<typeof createCertificateAuthenticator>[0];

const RESOURCE: Resource = { url: "https://g/mcp", audiences: undefined, metadataUrl: "https://g/m" };
const CN = "2.5.4.3";
const OU = "2.5.4.11";

type Part = readonly [type: string, text: string | undefined];

const subject = (...parts: readonly Part[]): DistinguishedName =>
  parts.map(([type, text]) => [{ type, text, value: Buffer.from("0500", "hex") }]);

/** Only what names are read from; whether it is good was judged before. */
const certificate = (names: Partial<SubjectAltNames>, name: DistinguishedName = []): Certificate =>
  ({ altNames: { uri: [], dns: [], email: [], ...names }, subject: name }) as unknown as Certificate;

function judge(terms: Partial<Terms> & Pick<Terms, "subject">, shown: Certificate | undefined) {
  const authenticator = createCertificateAuthenticator({ issuer: "certificates", ...terms });
  const peer = { address: "192.0.2.1", ...(shown === undefined ? {} : { certificate: shown }) };
  const credentials = { presented: presented({}, { peer }), authorization: parseAuthorization(undefined) };
  if (!authenticator.claims(credentials, RESOURCE)) return undefined;
  try {
    const identity = authenticator.authenticate(credentials, RESOURCE);
    return identity instanceof Promise ? undefined : identity.principal;
  } catch (error) {
    return (error as Error).message;
  }
}

const nameOf = (terms: Partial<Terms> & Pick<Terms, "subject">, shown: Certificate): string | undefined => {
  const judged = judge(terms, shown);
  return typeof judged === "object" ? judged.subject : judged;
};

t.test("exactly one name", async (t) => {
  const two = { uri: ["urn:a", "urn:b"], dns: ["a.example", "b.example"], email: ["a@b.example"] };
  t.equal(nameOf({ subject: "san.email" }, certificate(two)), "a@b.example");
  for (const kind of ["san.uri", "san.dns"] as const) {
    t.equal(nameOf({ subject: kind }, certificate(two)), "certificate_names", kind);
    t.equal(nameOf({ subject: kind }, certificate({})), "certificate_no_name", kind);
  }
  t.equal(nameOf({ subject: "san.dns", pattern: "a.*" }, certificate(two)), "a.example");
  t.equal(nameOf({ subject: "san.dns", pattern: "*.example" }, certificate(two)), "certificate_names");
  t.equal(nameOf({ subject: "san.dns", pattern: "c.*" }, certificate(two)), "certificate_no_name");
  t.equal(
    nameOf({ subject: "san.dns", pattern: "A.*" }, certificate(two)),
    "certificate_no_name",
    "byte for byte",
  );
  t.equal(nameOf({ subject: "san.dns" }, certificate({ dns: ["*.example"] })), "certificate_no_name");
  t.equal(nameOf({ subject: "san.dns" }, certificate({ dns: ["a.example", "*.example"] })), "a.example");
  // The same name twice is still two.
  t.equal(nameOf({ subject: "san.uri" }, certificate({ uri: ["urn:a", "urn:a"] })), "certificate_names");
  t.equal(judge({ subject: "san.uri" }, undefined), undefined, "nothing shown is nothing claimed");
});

t.test("names of the subject", async (t) => {
  const named = (...parts: readonly Part[]) => certificate({}, subject(...parts));
  t.equal(nameOf({ subject: "subject.cn" }, named([CN, "a"], [OU, "b"])), "a");
  t.equal(nameOf({ subject: "subject.cn" }, named([CN, "a"], [CN, "b"])), "certificate_names");
  t.equal(nameOf({ subject: "subject.cn" }, named([CN, "a"], [CN, undefined])), "certificate_no_name");
  t.equal(nameOf({ subject: "subject.cn" }, named([OU, "b"])), "certificate_no_name");
  t.equal(nameOf({ subject: "subject" }, named([OU, "b"], [CN, "a,OU=c"])), "CN=a\\,OU=c,OU=b");
  t.equal(nameOf({ subject: "subject" }, named()), "certificate_no_name");
  t.equal(nameOf({ subject: "subject" }, named([CN, undefined])), "certificate_no_name");
  // An alternative name does not stand in for the subject, nor the other way.
  t.equal(nameOf({ subject: "subject.cn" }, certificate({ dns: ["a"] })), "certificate_no_name");
  t.equal(nameOf({ subject: "san.dns" }, named([CN, "a.example"])), "certificate_no_name");
});

t.test("SPIFFE IDs of one trust domain", async (t) => {
  const terms = { subject: "san.uri", trustDomain: "td.example" } as const;
  for (const id of [
    "spiffe://td.example/a",
    "spiffe://td.example/ns/x/sa/Y_.-1",
    "spiffe://td.example/a/...",
    "spiffe://td.example/.a",
  ]) {
    t.equal(nameOf(terms, certificate({ uri: [id] })), id);
  }
  for (const id of [
    ...["spiffe://td.example", "spiffe://td.example/", "spiffe://td.example/a/", "spiffe://td.example//a"],
    ...[
      "spiffe://td.example/.",
      "spiffe://td.example/a/../b",
      "spiffe://td.example/a?b",
      "spiffe://td.example/a#b",
    ],
    ...[
      "spiffe://td.example:8080/a",
      "spiffe://a@td.example/a",
      "SPIFFE://td.example/a",
      "spiffe://TD.example/a",
    ],
    ...[
      "spiffe://other.example/a",
      "spiffe://td.example.evil/a",
      "spiffe://evil/td.example/a",
      "spiffe://td.example/%61",
    ],
    ...["https://td.example/a", "spiffe:/td.example/a", "xspiffe://td.example/a", ""],
  ]) {
    t.equal(nameOf(terms, certificate({ uri: [id] })), "certificate_trust_domain", id);
  }
  const beside = { uri: ["spiffe://td.example/a", "https://a.example/"] };
  t.equal(nameOf(terms, certificate(beside)), "certificate_names", "one URI in all, whatever it is");
  t.equal(nameOf({ ...terms, pattern: "spiffe://*" }, certificate(beside)), "certificate_names");
  t.equal(
    nameOf({ ...terms, pattern: "*/b" }, certificate({ uri: ["spiffe://td.example/a"] })),
    "certificate_no_name",
  );
});

t.test("who it is then", async (t) => {
  const shown = certificate({ uri: ["urn:a"] }, subject([OU, "ops"], [OU, "dev"], [OU, "ops"]));
  t.same(judge({ subject: "san.uri" }, shown), {
    ...{ anonymous: false, issuer: "certificates", subject: "urn:a", groups: [], scopes: [] },
  });
  t.match(judge({ subject: "san.uri", groups: "subject.ou" }, shown), { groups: ["ops", "dev"] });
  const unreadable = certificate({ uri: ["urn:a"] }, subject([OU, "ops"], [OU, undefined]));
  t.equal(judge({ subject: "san.uri", groups: "subject.ou" }, unreadable), "certificate_groups");
});
