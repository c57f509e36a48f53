/** Credentials of servers that cannot work, and those that work and weaken something; each beside one that is in order. */
import { generateKeyPairSync } from "node:crypto";
import t, { type Test } from "tap";
import { load, SOUND } from "./load-text.ts";

const pemOf = (key: ReturnType<typeof generateKeyPairSync>["privateKey"], passphrase?: string): string =>
  String(
    key.export({
      type: "pkcs8",
      format: "pem",
      ...(passphrase && { cipher: "aes-256-cbc", passphrase }),
    } as never),
  );
const ed = generateKeyPairSync("ed25519").privateKey;
const p256 = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
const FILES = {
  ed: pemOf(ed),
  ed2: pemOf(ed),
  p256: pemOf(p256),
  p384: pemOf(generateKeyPairSync("ec", { namedCurve: "P-384" }).privateKey),
  rsa: pemOf(generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey),
  short: pemOf(generateKeyPairSync("rsa", { modulusLength: 1024 }).privateKey),
  locked: pemOf(ed, "passphrase"),
  text: "no-key-at-all",
  secret: "client-secret",
};

const RING = "[{ id: a, key: { file: ed } }, { id: b, key: { file: p256 } }]";
const ASSERTIONS = `assertions: { primary: a, ring: ${RING} }\n`;
const CLIENT = "client: { basic: { id: gw, secret: { file: secret } } }";
const ENDPOINT = "endpoint: https://login.example.com/token";
const ANONYMOUS = "  mode: anonymous\n";
const OPEN = SOUND.replace("  issuers:\n    - issuer: https://login.example.com\n", ANONYMOUS);
const TWO = SOUND.replace(
  "login.example.com\n",
  "login.example.com\n    - issuer: https://other.example.com\n",
);
const route = (credential: string, base = SOUND): string =>
  base.replace('3001/mcp" }', `3001/mcp", credential: { ${credential} } }`);
const assertion = (more = "", base = SOUND): string => route(`assertion: { ${more} }`, base) + ASSERTIONS;
const exchange = (more = "audience: [up]", base = SOUND): string =>
  route(`exchange: { ${ENDPOINT}, ${CLIENT}, ${more} }`, base);

async function said(t: Test, text: string) {
  const { problems, warnings } = await load(t, text, FILES);
  const bare = (lines: readonly string[]): string[] => lines.map((line) => line.replace(/^\S+ /, ""));
  const isOurs = (line: string): boolean => !line.startsWith("keys: is absent");
  return { problems: bare(problems), warnings: bare(warnings).filter(isOurs) };
}

const AT = "routes[0].upstream.credential";
const SOUND_ONES = {
  assertion: assertion(),
  "assertion, plain, of one issuer": assertion("subject: plain"),
  "assertion of the anonymous": assertion("anonymous: send", OPEN),
  exchange: exchange(),
  "exchange by scope": exchange("scope: [read]"),
  "client credentials": route(
    `clientCredentials: { ${ENDPOINT}, ${CLIENT}, resource: ["https://up.example/"] }`,
  ),
  "client credentials for the anonymous": route(
    `clientCredentials: { ${ENDPOINT}, ${CLIENT}, scope: [a] }`,
    OPEN,
  ),
  "an RSA key for a client": exchange("scope: [a]").replace(
    CLIENT,
    "client: { privateKeyJwt: { id: gw, key: { file: rsa } } }",
  ),
  "an endpoint on loopback": exchange().replace(ENDPOINT, "endpoint: http://127.0.0.1:9000/token"),
};

for (const [name, text] of Object.entries(SOUND_ONES)) {
  t.test(`in order: ${name}`, async (t) => {
    const { problems, warnings } = await said(t, text);
    t.same(problems, []);
    t.same(
      warnings.filter((line) => line.includes("credential") || line.includes("assertions")),
      [],
    );
  });
}

for (const [name, text, expected] of [
  [
    "an assertion that nothing signs",
    route("assertion: {}"),
    `${AT}.assertion: needs the section assertions, with the keys that sign`,
  ],
  [
    "plain subjects of two issuers",
    assertion("subject: plain", TWO),
    `${AT}.assertion.subject: is plain, while more than one issuer vouches for callers: two people of one subject would be one to the server, allowed qualified`,
  ],
  [
    "an assertion that refuses everybody",
    assertion("", OPEN),
    `${AT}.assertion: refuses callers without identity, while authentication knows no other, allowed anonymous: send`,
  ],
  [
    "a primary that is not there",
    assertion().replace("primary: a", "primary: c"),
    "assertions.primary: is not the id of a key in assertions.ring",
  ],
  [
    "an issuer whose tokens are taken",
    assertion().replace("primary: a", "issuer: https://login.example.com, primary: a"),
    "assertions.issuer: is an issuer whose word is taken here: what servers are told could come back as a caller's, allowed another one",
  ],
  [
    "a public URL that is such an issuer",
    `${assertion()}server: { publicUrl: "https://login.example.com" }\n`,
    "assertions.issuer: is an issuer whose word is taken here: what servers are told could come back as a caller's, allowed another one",
  ],
  [
    "one key twice",
    assertion().replace("file: p256", "file: ed2"),
    "assertions.ring[1].key: is the private key of another entry of the ring, allowed one entry per key",
  ],
  ...(["p384", "rsa"] as const).map(
    (file) =>
      [
        `a key of ${file}`,
        assertion().replace("file: p256", `file: ${file}`),
        "assertions.ring[1].key.file: the secret is a private key of another kind, allowed a PEM private key without passphrase: EC P-256, Ed25519",
      ] as const,
  ),
  ...(["locked", "text"] as const).map(
    (file) =>
      [
        `a key that is ${file}`,
        assertion().replace("file: p256", `file: ${file}`),
        "assertions.ring[1].key.file: the secret is no private key, allowed a PEM private key without passphrase: EC P-256, Ed25519",
      ] as const,
  ),
  [
    "an RSA key that is too short",
    exchange().replace(CLIENT, "client: { privateKeyJwt: { id: gw, key: { file: short } } }"),
    `${AT}.exchange.client.privateKeyJwt.key.file: the secret is a private key of another kind, allowed a PEM private key without passphrase: EC P-256, Ed25519, RSA of 2048 bits or more`,
  ],
  [
    "an exchange of tokens that nobody has",
    exchange(undefined, OPEN),
    `${AT}.exchange: exchanges tokens of callers, while authentication names no issuer of tokens`,
  ],
  [
    "a public endpoint over http",
    exchange().replace(ENDPOINT, "endpoint: http://login.example.com/token"),
    `${AT}.exchange.endpoint: is http on a public host, allowed https`,
  ],
  [
    "no secret",
    exchange().replace("file: secret", "file: none"),
    `${AT}.exchange.client.basic.secret.file: the file does not exist (a relative path starts at the folder of the configuration file)`,
  ],
  [
    "two credentials",
    route(`bearer: { file: secret }, exchange: { ${ENDPOINT}, ${CLIENT} }`),
    `${AT}: holds bearer and exchange at once, allowed { bearer: … } or { header: { name, value } } with the secret as { file } or { env }, { assertion }, { exchange } or { clientCredentials }`,
  ],
  [
    "a header of the protocol",
    assertion("header: mcp-name"),
    `${AT}.assertion.header: is a header the gateway sets itself, found a text (not shown), allowed a header name that the gateway does not set itself, such as x-api-key`,
  ],
] as const) {
  t.test(`a problem: ${name}`, async (t) => {
    const { problems } = await said(t, text);
    t.equal(problems.length, 1);
    t.same(problems.map(normal), [expected].map(normal));
  });
}

/** The parts of a message, in whatever order: this is not the test of their form. */
const normal = (line: string): string[] => line.split(", ").sort();

for (const [name, text, expected] of [
  ["keys that sign nothing", SOUND + ASSERTIONS, /^assertions: signs nothing/],
  [
    "a token that may be good anywhere",
    exchange("header: authorization"),
    /exchange: names no audience, resource or scope/,
  ],
  [
    "an endpoint over http inside",
    exchange().replace(ENDPOINT, "endpoint: http://10.0.0.7/token"),
    /exchange\.endpoint: is http: tokens and secrets cross the network in clear/,
  ],
  [
    "callers without a token",
    exchange(undefined, SOUND.replace("  issuers", `${ANONYMOUS}  issuers`)),
    /exchange: is for callers with a token/,
  ],
] as const) {
  t.test(`a warning: ${name}`, async (t) => {
    const { problems, warnings } = await said(t, text);
    t.same(problems, []);
    t.ok(
      warnings.some((line) => expected.test(line)),
      warnings.join("\n"),
    );
  });
}

t.test("all at once, and nothing of a secret among it", async (t) => {
  const text = `${route(`exchange: { endpoint: "http://login.example.com/t", ${CLIENT.replace("file: secret", "file: none")} }`, OPEN)}assertions: { primary: c, ring: [{ id: a, key: { file: text } }] }\n`;
  const { problems, warnings } = await said(t, text);
  t.equal(problems.length, 5, problems.join("\n"));
  t.notMatch([...problems, ...warnings].join("\n"), /no-key-at-all|client-secret|PRIVATE/);
});
