import t from "tap";
import { load, SOUND } from "./load-text.ts";

const K = "k".repeat(43);
const KEYS = "keys: { primary: a, ring: [{ id: a, secret: { env: K } }] }\n";
const REDIS = "redis: { url: 'redis://127.0.0.1' }\n";
const ROUTE = (path: string, more = "") =>
  `  - path: ${path}\n    upstream: { url: "http://127.0.0.1:3001/mcp" }\n${more}`;
const ISSUER = (text: string) => SOUND.replace("    - issuer: https://login.example.com", text);
const POLICIES = (text: string) => SOUND.replace("[{ id: all, effect: allow }]", text);
const UPSTREAM = (text: string) => SOUND.replace('{ url: "http://127.0.0.1:3001/mcp" }', text);
const ANONYMOUS = SOUND.replace("  issuers:\n    - issuer: https://login.example.com", "  mode: anonymous");

/** What is wrong; the place and start of the message; the honest neighbour. */
const PROBLEMS: [string, string, RegExp, string][] = [
  [
    "two routes at one path",
    SOUND + ROUTE("/mcp"),
    /^10:11 routes\[1\]\.path: is the same path as routes\[0\]\.path in line 8, allowed once$/,
    SOUND + ROUTE("/Mcp"),
  ],
  ["required without issuer", ISSUER("    []"), /^4:5 authentication\.issuers: names no issuer/, ANONYMOUS],
  [
    "required without section",
    SOUND.replace(/authentication:\n.*\n.*\n/, ""),
    /^1:1 authentication\.issuers: names no issuer/,
    SOUND,
  ],
  [
    "an issuer twice",
    ISSUER("    - issuer: https://a.example\n    - issuer: https://a.example"),
    /^5:15 .*is the same issuer/,
    ISSUER("    - issuer: https://a.example\n    - issuer: https://a.example/"),
  ],
  [
    "a public issuer over http",
    ISSUER("    - issuer: http://login.example.com"),
    /^4:15 .*is http on a public host, allowed https/,
    ISSUER("    - issuer: http://127.0.0.1:3002"),
  ],
  [
    "redis store without redis",
    `${SOUND}${KEYS}redemption: { store: redis }\n`,
    /redemption\.store: is redis, while there is no redis section/,
    `${SOUND}${KEYS}${REDIS}redemption: { store: redis }\n`,
  ],
  ["redis store without key", SOUND + REDIS, /^10:8 redis: needs a key/, SOUND + REDIS + KEYS],
  [
    "redis store, written out, without key",
    `${SOUND}${REDIS}redemption: { store: redis }\n`,
    /^11:22 redemption\.store: needs a key/,
    SOUND + REDIS + KEYS,
  ],
  [
    "memory store for two",
    `${SOUND}redemption: { store: memory }\nserver: { replicas: 2 }\n`,
    /^10:22 redemption\.store: is memory, while server\.replicas/,
    `${SOUND}redemption: { store: memory }\nserver: { replicas: 1 }\n`,
  ],
  [
    "memory store by default for two",
    `${SOUND}server: { replicas: 2 }\n`,
    /^10:21 server\.replicas: is more than 1 without a redis section/,
    `${SOUND}${REDIS}${KEYS}server: { replicas: 2 }\n`,
  ],
  [
    "an unknown primary",
    `${SOUND}keys: { primary: b, ring: [{ id: a, secret: { env: K } }] }\n`,
    /keys\.primary: is not the id/,
    SOUND + KEYS,
  ],
  [
    "a key id twice",
    `${SOUND}keys: { primary: a, ring: [{ id: a, secret: { env: K } }, { id: a, secret: { env: L } }] }\n`,
    /keys\.ring\[1\]\.id: is the same id/,
    `${SOUND}keys: { primary: a, ring: [{ id: a, secret: { env: K } }, { id: b, secret: { env: L } }] }\n`,
  ],
  [
    "admin on the same address",
    `${SOUND}admin: { listen: "127.0.0.1:8080" }\n`,
    /admin\.listen: is the address of server\.listen, found 127\.0\.0\.1:8080/,
    `${SOUND}admin: { listen: "127.0.0.1:9090" }\n`,
  ],
  [
    "admin on a wildcard of the same port",
    `${SOUND}admin: { listen: "0.0.0.0:8080" }\n`,
    /admin\.listen: is the address/,
    `${SOUND}admin: { listen: "127.0.0.1:0" }\n`,
  ],
  [
    "a console without a token",
    `${SOUND}admin: { listen: "127.0.0.1:9090", console: true }\n`,
    /admin\.console: is true without admin\.token, allowed true beside a token/,
    `${SOUND}admin: { listen: "127.0.0.1:9090", token: { env: K }, console: true }\n`,
  ],
  [
    "no public URL off loopback",
    `${SOUND}server: { listen: "0.0.0.0:8080" }\n`,
    /server\.publicUrl: is required and missing/,
    `${SOUND}server: { listen: "0.0.0.0:8080", publicUrl: "https://a.example" }\n`,
  ],
  [
    "no public URL without a port",
    `${SOUND}server: { listen: "127.0.0.1:0" }\n`,
    /server\.publicUrl: is required and missing/,
    `${SOUND}server: { listen: "127.0.0.1:0", publicUrl: "https://a.example" }\n`,
  ],
  [
    "TLS for plain Redis",
    `${SOUND}${KEYS}redis: { url: "redis://127.0.0.1", tls: {} }\n`,
    /redis\.tls: needs a rediss/,
    `${SOUND}${KEYS}redis: { url: "rediss://127.0.0.1", tls: {} }\n`,
  ],
  [
    "no way to Redis",
    `${SOUND}${KEYS}redis: { keyPrefix: "a:" }\n`,
    /redis: holds neither url, sentinels nor cluster, allowed one of them/,
    `${SOUND}${KEYS}redis: { cluster: { nodes: ["127.0.0.1:7000", "[::1]"] }, keyPrefix: "a:" }\n`,
  ],
  [
    "two ways to Redis",
    `${SOUND}${KEYS}redis: { url: "redis://127.0.0.1", cluster: { nodes: ["127.0.0.1:7000"] } }\n`,
    /redis: holds url and cluster at once, allowed one of them/,
    `${SOUND}${KEYS}redis: { sentinels: { name: m, nodes: ["127.0.0.1"] } }\n`,
  ],
  [
    "a Sentinel user without password",
    `${SOUND}${KEYS}redis: { sentinels: { name: m, nodes: ["127.0.0.1"], username: u } }\n`,
    /redis\.sentinels\.username: needs redis\.sentinels\.password/,
    `${SOUND}${KEYS}redis: { sentinels: { name: m, nodes: ["127.0.0.1"], username: u, password: { env: K } } }\n`,
  ],
  [
    "a hash tag in front of a Cluster's keys",
    `${SOUND}${KEYS}redis: { cluster: { nodes: ["127.0.0.1:7000"] }, keyPrefix: "{sg}:" }\n`,
    /redis\.keyPrefix: holds a \{/,
    `${SOUND}${KEYS}redis: { url: "redis://127.0.0.1:7000", keyPrefix: "{sg}:" }\n`,
  ],
  [
    "a Redis user without password",
    `${SOUND}${KEYS}redis: { url: "redis://127.0.0.1", username: u }\n`,
    /redis\.username: needs redis\.password/,
    `${SOUND}${KEYS}redis: { url: "redis://127.0.0.1", username: u, password: { env: K } }\n`,
  ],
  [
    "a policy id twice",
    POLICIES("[{ id: a, effect: allow }, { id: a, effect: deny }]"),
    /policies\[1\]\.id: is the same id/,
    POLICIES("[{ id: a, effect: allow }, { id: b, effect: deny }]"),
  ],
  [
    "the gateway behind itself",
    UPSTREAM('{ url: "http://localhost:8080/mcp" }'),
    /upstream\.url: is the gateway's own/,
    UPSTREAM('{ url: "http://localhost:8081/mcp" }'),
  ],
  [
    "TLS for a plain upstream",
    UPSTREAM('{ url: "http://a.internal/mcp", tls: {} }'),
    /upstream\.tls: needs an https/,
    UPSTREAM('{ url: "https://a.internal/mcp", tls: {} }'),
  ],
];

for (const [name, bad, message, good] of PROBLEMS) {
  t.test(`refused: ${name}`, async (t) => {
    const env = { K, L: "l".repeat(43) };
    const { problems } = await load(t, bad, {}, env);
    t.equal(problems.length, 1, problems.join("\n"));
    t.match(problems[0], message);
    t.same((await load(t, good, {}, env)).problems, []);
  });
}

const WARNINGS: [string, string, RegExp, string][] = [
  [
    "fewer rounds than clients take by themselves",
    `${SOUND}roundTrip: { maxRounds: 10 }\n`,
    /roundTrip\.maxRounds: is 10/,
    `${SOUND}roundTrip: { maxRounds: 11 }\n`,
  ],
  [
    "the same on a route",
    `${SOUND}    roundTrip: { maxRounds: 1 }\n`,
    /routes\[0\]\.roundTrip\.maxRounds: is 1/,
    `${SOUND}    roundTrip: { maxRounds: 12 }\n`,
  ],
  [
    "states that do not fit into a body",
    `${SOUND}envelope: { maxStateBytes: 64KiB }\nserver: { limits: { body: 64KiB } }\n`,
    /envelope\.maxStateBytes: is more than a request can bring back/,
    `${SOUND}envelope: { maxStateBytes: 64KiB }\nserver: { limits: { body: 128KiB } }\n`,
  ],
  ["no key", SOUND, /^1:1 keys: is absent/, SOUND + KEYS],
  [
    "a private issuer over http",
    ISSUER("    - issuer: http://idp.internal"),
    /is http: its keys can be replaced/,
    ISSUER("    - issuer: http://127.0.0.1"),
  ],
  [
    "keys over http",
    ISSUER("    - { issuer: 'https://a.example', jwks: { url: 'http://a.internal/k' } }"),
    /jwks\.url: is http/,
    ISSUER("    - { issuer: 'https://a.example', jwks: { url: 'https://a.internal/k' } }"),
  ],
  [
    "anonymous for others",
    `${ANONYMOUS}server: { listen: "0.0.0.0:80", publicUrl: "https://a.example" }\n`,
    /authentication\.mode: is anonymous on a listener/,
    ANONYMOUS,
  ],
  [
    "issuers nobody asks",
    SOUND.replace("  issuers", "  mode: anonymous\n  issuers"),
    /issuers: counts only for callers that bring a token/,
    SOUND,
  ],
  [
    "audiences for all routes",
    ISSUER("    - { issuer: 'https://a.example', audiences: [x] }") + ROUTE("/b"),
    /audiences: holds for every route/,
    ISSUER("    - { issuer: 'https://a.example', audiences: [x] }"),
  ],
  ["default allow", POLICIES("[]\n  default: allow"), /authorization\.default: is allow/, SOUND],
  ["nothing allowed", POLICIES("[]"), /authorization: allows nothing/, SOUND],
  [
    "groups nobody has",
    POLICIES("[{ id: a, effect: allow, principal: { groups: [g] } }]"),
    /groups: never matches/,
    ISSUER("    - { issuer: 'https://a.example', claims: { groups: g } }").replace(
      "effect: allow }",
      "effect: allow, principal: { groups: [g] } }",
    ),
  ],
  [
    "anonymous callers that never come",
    POLICIES("[{ id: a, effect: allow, principal: { anonymous: true } }]"),
    /anonymous: never matches/,
    POLICIES("[{ id: a, effect: allow, principal: { anonymous: false } }]"),
  ],
  [
    "legacy passed with tokens",
    `${SOUND}    legacy: pass\n`,
    /legacy: is pass: questions/,
    `${SOUND}    legacy: refuse\n`,
  ],
  [
    "answers forwarded",
    `${SOUND}roundTrip: { answersWithoutState: forward }\n`,
    /roundTrip\.answersWithoutState: is forward/,
    `${SOUND}roundTrip: { answersWithoutState: drop }\n`,
  ],
  [
    "answers forwarded on a route",
    `${SOUND}    roundTrip: { answersWithoutState: forward }\n`,
    /routes\[0\]\.roundTrip\.answersWithoutState: is forward/,
    SOUND,
  ],
  [
    "issuers that differ by a slash",
    ISSUER("    - issuer: https://a.example\n    - issuer: https://a.example/"),
    /authentication\.issuers\[0\]\.issuer: is another issuer here with a slash behind it/,
    ISSUER("    - issuer: https://a.example\n    - issuer: https://b.example/"),
  ],
  ["epoch off", `${SOUND}redemption: { epoch: off }\n`, /redemption\.epoch: is off/, SOUND],
  [
    "eviction accepted",
    `${SOUND}${KEYS}${REDIS}redemption: { eviction: accept }\n`,
    /redemption\.eviction: is accept/,
    SOUND,
  ],
  [
    "redis unused",
    `${SOUND}${KEYS}${REDIS}redemption: { store: memory }\n`,
    /redis: is not used/,
    SOUND + KEYS + REDIS,
  ],
  [
    "a Redis password in clear, in a Cluster",
    `${SOUND}${KEYS}redis: { cluster: { nodes: ["r.internal:7000"] }, password: { env: K } }\n`,
    /redis\.cluster: is not encrypted.*set redis\.tls/,
    `${SOUND}${KEYS}redis: { cluster: { nodes: ["r.internal:7000"] }, password: { env: K }, tls: {} }\n`,
  ],
  [
    "a password of Sentinels in clear",
    `${SOUND}${KEYS}redis: { sentinels: { name: m, nodes: ["r.internal"], password: { env: K } } }\n`,
    /redis\.sentinels\.password: is not encrypted.*set redis\.sentinels\.tls/,
    `${SOUND}${KEYS}redis: { sentinels: { name: m, nodes: ["r.internal"], password: { env: K }, tls: {} } }\n`,
  ],
  [
    "a Redis password in clear",
    `${SOUND}${KEYS}redis: { url: "redis://r.internal", password: { env: K } }\n`,
    /redis\.url: is not encrypted/,
    `${SOUND}${KEYS}redis: { url: "rediss://r.internal", password: { env: K } }\n`,
  ],
  [
    "a credential in clear",
    UPSTREAM('{ url: "http://a.internal/mcp", credential: { bearer: { env: K } } }'),
    /credential: crosses the network in clear/,
    UPSTREAM('{ url: "http://127.0.0.1/mcp", credential: { bearer: { env: K } } }'),
  ],
  [
    "an admin listener that others can reach",
    `${SOUND}admin: { listen: "0.0.0.0:9090" }\n`,
    /admin\.listen: is an address that others can reach: .* without a token, keep clients away$/,
    `${SOUND}admin: { listen: "127.0.0.1:9090" }\n`,
  ],
  [
    "an admin listener at a name",
    `${SOUND}admin: { listen: "gateway:9090" }\n`,
    /admin\.listen: is an address that others can reach/,
    `${SOUND}admin: { listen: "[::1]:9090" }\n`,
  ],
  [
    "a public http URL",
    `${SOUND}server: { publicUrl: "http://a.example" }\n`,
    /server\.publicUrl: is http/,
    `${SOUND}server: { publicUrl: "https://a.example" }\n`,
  ],
];

for (const [name, text, message, neighbour] of WARNINGS) {
  t.test(`warned about: ${name}`, async (t) => {
    const bad = await load(t, text, {}, { K });
    t.same(bad.problems, []);
    t.equal(bad.warnings.filter((line) => message.test(line)).length, 1, bad.warnings.join("\n"));
    const good = await load(t, neighbour, {}, { K });
    t.same(good.problems, []);
    t.same(
      good.warnings.filter((line) => message.test(line)),
      [],
    );
  });
}
