/** Settings of opaque and bound tokens: who is asked must be clear, and what is demanded possible. Each with its honest neighbour. */
import { generateKeyPairSync } from "node:crypto";
import t from "tap";
import { load, SOUND } from "./load-text.ts";

const entry = (
  more = "",
  issuer = "https://opaque.example.com",
  url = "https://opaque.example.com/introspect",
) =>
  `    - { issuer: "${issuer}", url: "${url}", client: { basic: { id: gw, secret: { env: S } } }${more} }\n`;
const AUTH = (text: string) => SOUND.replace("authorization:", `${text}authorization:`);
const INTROSPECTION = (...entries: string[]) => AUTH(`  introspection:\n${entries.join("")}`);
const ROUTE = (text: string, from = INTROSPECTION(entry())) =>
  from.replace('mcp" }\n', `mcp" }\n    authentication: ${text}\n`);
const SECOND = (more = "") => entry(more, "https://second.example.com");
const NO_ISSUER = (text: string) => text.replace("  issuers:\n    - issuer: https://login.example.com\n", "");

/** What is wrong; a configuration with it; what is said; the honest neighbour. */
const PROBLEMS: readonly (readonly [string, string, RegExp, string])[] = [
  [
    "an issuer twice",
    INTROSPECTION(entry(', tokenPrefixes: ["a_"]'), entry()),
    /introspection\[1\]\.issuer: is the same issuer as authentication\.introspection\[0\]\.issuer/,
    INTROSPECTION(entry(', tokenPrefixes: ["a_"]'), SECOND()),
  ],
  [
    "an endpoint over http",
    INTROSPECTION(entry("", "https://opaque.example.com", "http://opaque.example.com/introspect")),
    /introspection\[0\]\.url: is http: tokens and the gateway's secret cross the network in clear, allowed https/,
    INTROSPECTION(entry("", "https://opaque.example.com", "http://127.0.0.1:9/introspect")),
  ],
  [
    "two issuers whose tokens look alike",
    INTROSPECTION(entry(), SECOND()),
    /introspection\[1\]\.tokenPrefixes: is required and missing/,
    ROUTE('{ introspection: "https://second.example.com" }', INTROSPECTION(entry(), SECOND())),
  ],
  [
    "a prefix of another's",
    INTROSPECTION(entry(', tokenPrefixes: ["oat_", "ab"]'), SECOND(', tokenPrefixes: ["abc"]')),
    /introspection\[1\]\.tokenPrefixes\[0\]: begins with another/,
    INTROSPECTION(entry(', tokenPrefixes: ["oat_", "ab"]'), SECOND(', tokenPrefixes: ["ba"]')),
  ],
  [
    "the same prefix",
    INTROSPECTION(entry(', tokenPrefixes: ["ab"]'), SECOND(', tokenPrefixes: ["ab"]')),
    /introspection\[1\]\.tokenPrefixes\[0\]: begins with another .* or is the same/,
    INTROSPECTION(entry(', tokenPrefixes: ["ab"]'), SECOND()),
  ],
  [
    "a prefix that no token can have",
    INTROSPECTION(entry(', tokenPrefixes: ["a b"]')),
    /tokenPrefixes\[0\]: is not the start of a token/,
    INTROSPECTION(entry(', tokenPrefixes: ["a-b"]')),
  ],
  [
    "a kind that is not configured",
    ROUTE("{ accept: [jwt, certificate] }"),
    /routes\[0\]\.authentication\.accept\[1\]: is not configured in authentication, allowed jwt, introspection/,
    ROUTE("{ accept: [jwt, introspection] }"),
  ],
  [
    "a kind that is none",
    ROUTE("{ accept: [jtw] }"),
    /accept\[0\]: is not a known value, found "jtw", allowed jwt \| introspection \| certificate \| forwarded/,
    ROUTE("{ accept: [jwt] }"),
  ],
  [
    "a mistyped setting",
    INTROSPECTION(entry(", requiredScope: [a]")),
    /introspection\[0\]\.requiredScope: unknown setting, did you mean requiredScopes\?/,
    INTROSPECTION(entry(", requiredScopes: [a]")),
  ],
  [
    "a route with an issuer that is not introspected",
    ROUTE('{ introspection: "https://login.example.com" }'),
    /routes\[0\]\.authentication\.introspection: is no issuer of authentication\.introspection/,
    ROUTE('{ introspection: "https://opaque.example.com" }'),
  ],
  [
    "a route that names an issuer and does not accept its tokens",
    ROUTE('{ accept: [jwt], introspection: "https://opaque.example.com" }'),
    /authentication\.introspection: is of no use/,
    ROUTE('{ accept: [introspection], introspection: "https://opaque.example.com" }'),
  ],
  [
    "bound tokens that nobody can show",
    INTROSPECTION(entry(", senderConstrained: required")),
    /introspection\[0\]\.senderConstrained: is required, and no caller can show/,
    AUTH(`  dpop: {}\n  introspection:\n${entry(", senderConstrained: required")}`),
  ],
  [
    "symmetric proofs",
    AUTH("  dpop: { algorithms: [HS256] }\n"),
    /dpop\.algorithms\[0\]: is not a known value/,
    AUTH("  dpop: { algorithms: [ES256] }\n"),
  ],
  [
    "a client without a way to authenticate",
    AUTH('  introspection: [{ issuer: "https://o.example", url: "https://o.example/i", client: {} }]\n'),
    /client: holds neither basic nor post nor privateKeyJwt/,
    INTROSPECTION(entry()),
  ],
  [
    "nobody to ask",
    SOUND.replace("  issuers:\n    - issuer: https://login.example.com", "  issuers: []"),
    /names no issuer, while authentication\.mode is required/,
    NO_ISSUER(INTROSPECTION(entry())),
  ],
];

for (const [what, text, message, honest] of PROBLEMS) {
  t.test(what, async (t) => {
    const { problems } = await load(t, text, {}, { S: "s3cret-4711" });
    t.ok(
      problems.some((line) => message.test(line)),
      problems.join("\n"),
    );
    t.notMatch(problems.join("\n"), /4711/);
    t.same((await load(t, honest, {}, { S: "s3cret-4711" })).problems, [], "the honest neighbour");
  });
}

t.test("a secret that is not there", async (t) => {
  const { problems } = await load(t, INTROSPECTION(entry()));
  t.match(problems, [
    /introspection\[0\]\.client\.basic\.secret\.env: the environment variable S is not set/,
  ]);
  const { loaded } = await load(t, INTROSPECTION(entry()), {}, { S: "s3cret" });
  t.equal(loaded?.secrets.introspectionSecrets?.get("https://opaque.example.com")?.toString(), "s3cret");
});

t.test("a key that signs for the gateway", async (t) => {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const pem = String(privateKey.export({ type: "pkcs8", format: "pem" }));
  const text = INTROSPECTION(entry()).replace(
    "basic: { id: gw, secret: { env: S } }",
    "privateKeyJwt: { id: gw, key: { file: k.pem } }",
  );
  const { problems, loaded } = await load(t, text, { "k.pem": pem });
  t.same(problems, []);
  t.equal(loaded?.secrets.introspectionSecrets?.size, 1);
  const other = await load(t, text, { "k.pem": "no key" });
  t.match(other.problems, [/introspection\[0\]\.client\.privateKeyJwt\.key/]);
});

t.test("warnings", async (t) => {
  const said = async (text: string) => (await load(t, text, {}, { S: "s" })).warnings.join("\n");
  t.match(
    await said(INTROSPECTION(entry("", "https://a.example", "http://10.0.0.1/i"))),
    /introspection\[0\]\.url: is http: tokens/,
  );
  t.match(await said(INTROSPECTION(entry(", claims: { subject: client_id }"))), /the same for all users/);
  const anonymous = INTROSPECTION(entry()).replace("authentication:", "authentication:\n  mode: anonymous");
  t.match(await said(anonymous), /authentication\.introspection: counts only for callers that bring a token/);
  const unused = NO_ISSUER(AUTH("  mode: anonymous\n  dpop: {}\n"));
  t.match(await said(unused), /authentication\.dpop: is not used/);
  t.notMatch(await said(AUTH("  dpop: {}\n")), /dpop/);
  const policy = (issuer: string) =>
    INTROSPECTION(entry()).replace(
      "[{ id: all, effect: allow }]",
      `[{ id: all, effect: allow, principal: { issuers: ["${issuer}"] } }]`,
    );
  t.notMatch(await said(policy("https://opaque.example.com")), /fits no issuer/);
  t.match(await said(policy("https://other.example.com")), /fits no issuer/);
  t.match(
    await said(ROUTE("{ accept: [jwt] }")),
    /authentication\.introspection: is not used: no route accepts introspection/,
  );
  t.match(await said(ROUTE("{ accept: [introspection] }")), /authentication\.issuers: is not used/);
  t.notMatch(await said(ROUTE("{ accept: [jwt, introspection] }")), /is not used/);
  const required = entry(", senderConstrained: required", "https://login.example.com");
  const bound = AUTH(`  dpop: {}\n  introspection:\n${required}`);
  t.match(await said(bound), /introspection\[0\]\.senderConstrained: is not the one of the same issuer/);
  const alike = bound.replace(
    "login.example.com\n",
    "login.example.com\n      senderConstrained: required\n",
  );
  t.notMatch(await said(alike), /senderConstrained/);
  const both = (claims: string) => INTROSPECTION(entry(`, claims: ${claims}`, "https://login.example.com"));
  t.match(
    await said(both("{ subject: username }")),
    /introspection\[0\]\.claims\.subject: is not the one of the same issuer/,
  );
  t.match(await said(both("{ tenant: tid }")), /introspection\[0\]\.claims\.tenant: is not the one/);
  t.match(await said(both("{ absentSubject: client }")), /claims\.absentSubject: is not the one/);
  t.notMatch(await said(both("{ absentSubject: refuse, client: [azp] }")), /is not the one/);
  t.notMatch(await said(INTROSPECTION(entry(", claims: { subject: username }"))), /is not the one/);
});
