import t from "tap";
import { load, SOUND } from "./load-text.ts";

/** The sound configuration with more in `authentication`. */
const WITH = (text: string, more = "") =>
  `${SOUND.replace("authentication:\n", `authentication:\n${text.replace(/^/gm, "  ").trimEnd()}\n`)}${more}`;
const CERTIFICATES = (text: string) => `clientCertificates: { subject: san.uri, ${text} }\n`;
const HEADER = (text: string) =>
  CERTIFICATES(`header: { name: client-cert, format: rfc9440, from: [10.0.0.1], ${text} }`);
const BY_PROXY = HEADER("verified: byProxy");
const PLAIN = (text: string) =>
  `forwarded: { headers: { issuer: front, from: [10.0.0.1], user: x-user, ${text} } }\n`;
const ASSERTION = (text: string) =>
  `forwarded: { assertion: { issuer: "https://front.example", jwks: { url: "https://front.example/jwks" }, ${text} } }\n`;

/** What is wrong; the start of the message; the honest neighbour. */
const PROBLEMS: [string, string, RegExp, string][] = [
  [
    "certificates from nowhere",
    WITH(CERTIFICATES("")),
    /clientCertificates: has no place that/,
    WITH(BY_PROXY),
  ],
  ["nobody to judge them", WITH(HEADER("")), /header\.ca: is required and missing/, WITH(BY_PROXY)],
  [
    "a trust domain of a host name",
    WITH(BY_PROXY.replace("san.uri", "san.dns, trustDomain: example.org")),
    /trustDomain: is for subject: san\.uri only/,
    WITH(BY_PROXY.replace("san.uri", "san.uri, trustDomain: example.org")),
  ],
  [
    "a trust domain that is a URI",
    WITH(BY_PROXY.replace("san.uri", "san.uri, trustDomain: 'spiffe://example.org'")),
    /trustDomain: is no SPIFFE trust domain/,
    WITH(BY_PROXY.replace("san.uri", "san.uri, trustDomain: example.org")),
  ],
  [
    "a proxy's certificate that can never be shown",
    WITH(PLAIN("proxyCertificate: { subject: san.dns, names: [proxy.example] }")),
    /proxyCertificate: can never be shown/,
    WITH(PLAIN("client: x-client")),
  ],
  [
    "one name for certificates and headers",
    WITH(BY_PROXY.replace("{ subject", "{ issuer: front, subject") + PLAIN("")),
    /forwarded\.headers\.issuer: is the issuer of other callers too/,
    WITH(BY_PROXY + PLAIN("")),
  ],
  [
    "the issuer of tokens for assertions",
    WITH(ASSERTION("").replace('https://front.example"', 'https://login.example.com"')),
    /assertion\.issuer: is the issuer of other callers too/,
    WITH(ASSERTION("")),
  ],
  [
    "one header for two things",
    WITH(PLAIN("client: X-User")),
    /headers\.client: is a header with another meaning/,
    WITH(PLAIN("client: X-Client")),
  ],
  [
    "the chain of another header",
    WITH(BY_PROXY + PLAIN("client: client-cert-chain")),
    /headers\.client: is a header with another meaning/,
    WITH(BY_PROXY.replace("rfc9440", "nginx") + PLAIN("client: client-cert-chain")),
  ],
  [
    "nobody forwarded",
    WITH("forwarded: {}\n"),
    /forwarded: holds neither assertion nor headers/,
    WITH(PLAIN("")),
  ],
  [
    "from everybody",
    WITH(PLAIN("").replace("10.0.0.1", "0.0.0.0/0")),
    /from\[0\]: is everybody/,
    WITH(PLAIN("")),
  ],
  ["from a zone", WITH(PLAIN("").replace("10.0.0.1", "'fe80::1%eth0'")), /has a zone/, WITH(PLAIN(""))],
  [
    "from more than was meant",
    WITH(PLAIN("").replace("10.0.0.1", "10.0.0.1/8")),
    /has bits behind its prefix/,
    WITH(PLAIN("").replace("10.0.0.1", "10.0.0.0/8")),
  ],
  ...["Authorization", "x_user", "mcp-name", "x-forwarded-for", "cookie", "x-user:", "accept-x"].map(
    (name): [string, string, RegExp, string] => [
      `${name} as a header`,
      WITH(PLAIN(`client: "${name}"`)),
      /headers\.client: is (a header with a meaning of its own|not a header name of that kind)/,
      WITH(PLAIN("client: x-forwarded-client")),
    ],
  ),
];

for (const [what, wrong, message, right] of PROBLEMS) {
  t.test(what, async (t) => {
    const { problems } = await load(t, wrong);
    t.equal(problems.length, 1, problems.join("\n"));
    t.match(problems[0], message);
    t.same((await load(t, right)).problems, [], "the honest neighbour");
  });
}

t.test("without an issuer of tokens there may be others to ask", async (t) => {
  const only = (text: string) => WITH(text).replace(/ {2}issuers:\n.*\n/, "");
  t.same((await load(t, only(BY_PROXY))).problems, []);
  t.same((await load(t, only(PLAIN("")))).problems, []);
  t.match((await load(t, only("mode: required\n"))).problems.join(), /names no issuer/);
});

t.test("a list may not hold everybody, in however many pieces", async (t) => {
  const problems = async (...from: string[]) =>
    (await load(t, WITH(PLAIN("").replace("[10.0.0.1]", `["${from.join('", "')}"]`)))).problems;
  for (const from of [
    ["0.0.0.0/1", "128.0.0.0/1"],
    ["128.0.0.0/1", "10.0.0.1", "64.0.0.0/2", "0.0.0.0/2"],
    ["0.0.0.0/1", "128.0.0.0/2", "192.0.0.0/3"],
    ["::/1", "8000::/1"],
    ["2000::/3"],
    ["fd00::1", "3000::/4", "2000::/4"],
  ]) {
    t.match(
      await problems(...from),
      [/forwarded\.headers\.from: holds everybody, all entries together/],
      from.join(),
    );
  }
  for (const from of [
    ["0.0.0.0/1", "128.0.0.0/2", "192.0.0.0/4"],
    ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"],
    ["2000::/4"],
  ]) {
    t.same(await problems(...from), [], from.join());
  }
  const trusting = async (proxies: string) =>
    (await load(t, `${SOUND}server: { trustedProxies: ${proxies} }\n`)).warnings.join();
  t.match(await trusting('["0.0.0.0/0"]'), /server\.trustedProxies: hold everybody/);
  t.match(await trusting('["0.0.0.0/1", "128.0.0.0/1"]'), /server\.trustedProxies: hold everybody/);
  t.notMatch(await trusting('["10.0.0.0/8", "fd00::/8"]'), /hold everybody/);
  const header = BY_PROXY.replace("[10.0.0.1]", "[2000::/3]");
  t.match((await load(t, WITH(header))).problems, [/clientCertificates\.header\.from: holds everybody/]);
  const assertion = ASSERTION("from: [2000::/3]");
  t.match((await load(t, WITH(assertion))).problems, [/assertion\.from: holds everybody/]);
});

t.test("all problems at once", async (t) => {
  const { problems } = await load(t, WITH(HEADER("") + PLAIN("client: x-user, tenant: x-user")));
  t.equal(problems.length, 3, problems.join("\n"));
});

t.test("what works and weakens something", async (t) => {
  const warned = async (text: string) => (await load(t, text)).warnings.join("\n");
  t.match(await warned(WITH(HEADER("verified: byProxy, ca: { file: none.pem }"))), /header\.ca: is not used/);
  t.match(await warned(WITH(ASSERTION("").replace('url: "https', 'url: "http'))), /jwks\.url: is http/);
  t.notMatch(await warned(WITH(ASSERTION("") + BY_PROXY)), /clientCertificates|forwarded/);
});
