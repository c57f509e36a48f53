import t from "tap";
import { ConfigFileError } from "../../../src/config/config-file.ts";
import { loadConfig } from "../../../src/config/load.ts";
import { load, SOUND } from "./load-text.ts";

t.test("a sound file, with every default", async (t) => {
  const { problems, warnings, loaded } = await load(t, SOUND);
  t.same(problems, []);
  t.same(warnings, [
    "1:1 keys: is absent: states are sealed with a random key and do not outlive this process",
  ]);
  t.match(loaded?.config, {
    version: 1,
    server: {
      listen: { host: "127.0.0.1", port: 8080 },
      publicUrl: "http://127.0.0.1:8080",
      replicas: 1,
      allowedOrigins: [],
      trustedProxies: [],
      shutdownGrace: 25_000,
      limits: { body: 4_194_304, depth: 64, event: 1_048_576, inFlight: 1_024, streams: 4_096 },
    },
    authentication: {
      mode: "required",
      issuers: [
        {
          clockTolerance: 30_000,
          claims: { subject: "sub", client: ["client_id", "azp", "appid"], scope: ["scope", "scp"] },
          requiredScopes: [],
        },
      ],
    },
    envelope: {
      ttl: 600_000,
      audience: "http://127.0.0.1:8080",
      maxStateBytes: 65_536,
      maxSchemaBytes: 16_384,
      clockSkew: 60_000,
    },
    roundTrip: { maxRounds: 32, maxAge: 3_600_000, rejection: "error", answersWithoutState: "refuse" },
    redemption: { store: "memory", epoch: "on", eviction: "refuse" },
    capability: { allow: ["elicitation.form", "elicitation.url", "sampling", "roots"], tools: [] },
    authorization: { default: "deny" },
    routes: [
      {
        path: "/mcp",
        legacy: "refuse",
        upstream: { timeouts: { connect: 5_000, headers: 300_000, idle: 300_000 } },
        roundTrip: { maxRounds: 32 },
        capability: { tools: [] },
      },
    ],
    errors: { httpStatus: "spec" },
    audit: { sinks: [{ type: "stdout" }], arguments: false },
    log: { level: "info" },
  });
  for (const absent of ["admin", "redis", "keys"])
    t.notOk(Object.hasOwn(loaded?.config ?? {}, absent), absent);
});

t.test("overrides of a route replace, the rest comes from the top", async (t) => {
  const { loaded } = await load(
    t,
    `${SOUND}    roundTrip: { maxRounds: 30, rejection: tool-error }
    capability: { allow: [] }
roundTrip: { maxAge: 10m, maxRounds: 20 }
capability:
  allow: [roots]
  tools: [{ match: ["x*"], allow: [sampling] }]
`,
  );
  const route = loaded?.config.routes[0];
  t.same(route?.roundTrip, {
    maxRounds: 30,
    maxAge: 600_000,
    rejection: "tool-error",
    answersWithoutState: "refuse",
  });
  t.same(route?.capability, {
    allow: [],
    requires: [],
    tools: [{ match: ["x*"], allow: ["sampling"] }],
    url: {},
  });
});

t.test("legacy: pass by default only for anonymous use on loopback", async (t) => {
  const anonymous = SOUND.replace("  issuers:\n    - issuer: https://login.example.com", "  mode: anonymous");
  const server = "server: { listen: 0.0.0.0:80, publicUrl: 'https://a.example' }\n";
  const legacy = async (text: string) => (await load(t, text)).loaded?.config.routes[0]?.legacy;
  t.equal(await legacy(anonymous), "pass");
  t.equal(await legacy(`${anonymous}    legacy: refuse\n`), "refuse");
  t.equal(await legacy(anonymous + server), "refuse");
  t.equal(await legacy(SOUND), "refuse");
});

t.test("the store follows the redis section", async (t) => {
  const redis =
    "redis: { url: 'redis://127.0.0.1:6379/0' }\nkeys: { primary: a, ring: [{ id: a, secret: { env: K } }] }\n";
  const env = { K: "k".repeat(43) };
  t.equal((await load(t, SOUND + redis, {}, env)).loaded?.config.redemption.store, "redis");
  t.equal(
    (await load(t, `${SOUND}${redis}redemption: { store: memory }\n`, {}, env)).loaded?.config.redemption
      .store,
    "memory",
  );
});

t.test("every problem at once, sorted by place", async (t) => {
  const { problems } = await load(
    t,
    `version: 2
server:
  listen: 8080
  public_url: https://x.example
  limits: { body: 4MB, bdoy: 1MiB }
admin:
authentication: { mode: requird }
routes:
  - path: /mcp/
    legacy: true
envelope: { ttl: 600 }
unheard: {}
__proto__: { x: 1 }
`,
  );
  t.same(problems, [
    "1:10 version: is not a known value, found 2, allowed 1",
    "3:11 server.listen: has the wrong type, found 8080, allowed host:port such as 127.0.0.1:8080, 0.0.0.0:8080 or [::1]:8080",
    "4:3 server.public_url: unknown setting, did you mean publicUrl?",
    '5:19 server.limits.body: is not a size, found "4MB", allowed a size with its unit (512B, 16KiB, 4MiB) from 1KiB to 64MiB',
    "5:24 server.limits.bdoy: unknown setting, did you mean body?",
    "6:1 admin: is empty, allowed a mapping",
    '7:25 authentication.mode: is not a known value, found "requird", allowed required | anonymous',
    "9:5 routes[0].upstream: is required and missing, allowed a mapping",
    '9:11 routes[0].path: must not end with /, found "/mcp/", allowed a path such as /mcp or /team/mcp: letters, digits, - . _ ~, no slash at the end; or / alone',
    "10:13 routes[0].legacy: is not a known value, found true, allowed refuse | pass",
    "11:18 envelope.ttl: has the wrong type, found 600, allowed a duration with its unit (500ms, 10s, 5m, 1h) from 1s to 24h",
    ...["12:1 unheard", "13:1 __proto__"].map(
      (at) =>
        `${at}: unknown setting, allowed version, server, admin, redis, authentication, keys, assertions, envelope, roundTrip, redemption, capability, authorization, rules, limits, routes, errors, audit, log, telemetry`,
    ),
  ]);
});

t.test("mistakes between settings, and in files, are found beside those of a broken section", async (t) => {
  const { problems } = await load(
    t,
    `${SOUND}  - path: /mcp
    upstream: { url: "http://127.0.0.1:3001/mcp" }
log: { level: loud }
keys: { primary: b, ring: [{ id: a, secret: { file: nowhere } }] }
`,
  );
  t.match(problems, [
    /^10:11 routes\[1\]\.path: is the same path/,
    /^12:15 log\.level/,
    /^13:18 keys\.primary/,
    /^13:53 keys\.ring\[0\]\.secret\.file: the file does not exist/,
  ]);
});

t.test("what an entry refers to is looked for also if something else in the entry is wrong", async (t) => {
  const text = (bearer: string, env: string) => `${SOUND}  - path: /sound
    upstream: { url: "http://127.0.0.1:3002/mcp" }
  - path: /broken/
    upstream:
      url: http://127.0.0.1:3003/mcp
      credential: { bearer: { file: ${bearer} } }
      tls: { ca: { file: there } }
      tsl: { ca: { file: nowhere } }
  - path: /typed
    upstream:
      url: 3
      credential: { header: { name: x-key, value: { env: ${env} } } }
`;
  const files = { there: "x" };
  const { problems } = await load(t, text("nowhere", "SG_NOT_SET"), files);
  t.match(problems, [
    /^12:11 routes\[2\]\.path: must not end with \//,
    /^15:37 routes\[2\]\.upstream\.credential\.bearer\.file: the file does not exist/,
    /^17:7 routes\[2\]\.upstream\.tsl: unknown setting, did you mean tls\?/,
    /^20:12 routes\[3\]\.upstream\.url/,
    /^21:58 routes\[3\]\.upstream\.credential\.header\.value\.env: the environment variable SG_NOT_SET is not set/,
  ]);
  t.equal(problems.length, 5);
  const honest = await load(t, text("there", "SG_SET"), files, { SG_SET: "a secret" });
  t.equal(honest.problems.length, 3, "what is there is no problem, whatever is in it");
});

t.test("a file that cannot be read is one line", async (t) => {
  const folder = t.testdir({ inside: {} });
  await t.rejects(
    loadConfig(`${folder}/none.yaml`, {}),
    new ConfigFileError(`cannot read ${folder}/none.yaml: no such file`),
  );
  await t.rejects(loadConfig(`${folder}/inside`, {}), /it is a folder/);
});
