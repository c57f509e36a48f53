/** Mistakes of one section do not hide others: what can be read is checked, and what cannot raises no ghosts. */
import t from "tap";
import * as z from "zod";
import { prune } from "../../../src/config/prune.ts";
import { load, SOUND } from "./load-text.ts";

t.test("what is left keeps its places", async (t) => {
  const schema = z.strictObject({
    list: z.array(
      z.strictObject({
        id: z.string(),
        on: z.boolean().default(false),
        tags: z.array(z.string()).min(1).optional(),
      }),
    ),
    name: z.string().default("x"),
  });
  const written = {
    name: 5,
    list: [
      { id: 1 },
      { id: "b", on: "no", odd: 1 },
      { id: "c" },
      {},
      { id: "e", tags: ["s", 1, "t"] },
      { id: "f", tags: [1] },
    ],
  };
  const rest = prune(schema, written);
  t.same(rest?.data, {
    name: "x",
    list: [
      { id: "b", on: false },
      { id: "c", on: false },
      { id: "e", on: false, tags: ["s", "t"] },
      { id: "f", on: false },
    ],
  });
  t.same(rest?.original(["list", 1, "id"]), ["list", 2, "id"]);
  t.same(rest?.original(["list", 2, "tags", 1]), ["list", 4, "tags", 2]);
  t.same(rest?.original(["list", 3, "tags"]), ["list", 5, "tags"]);
  const lost = (...path: (string | number)[]) => rest?.lost(path);
  for (const path of [
    ["name"],
    ["list"],
    ["list", 0],
    ["list", 0, "on"],
    ["list", 1],
    ["list", 1, "tags"],
    ["list", 5, "tags"],
  ])
    t.equal(lost(...path), true, path.join("."));
  for (const path of [
    ["list", 2],
    ["list", 2, "tags"],
    ["list", 4, "id"],
    ["list", 5, "id"],
  ])
    t.equal(lost(...path), false, path.join("."));
  t.equal(written.name, 5, "what was written is left alone");
  t.equal(prune(schema, "text"), undefined);
  t.equal(prune(schema, { name: "x" }), undefined, "what is required at the top leaves nothing");
});

t.test("other mistakes of a section, and of entries beside and around the broken one", async (t) => {
  const { problems, warnings } = await load(
    t,
    `version: 1
authentication:
  issuers:
    - issuer: https://a.example
      clockTolerance: 30
    - issuer: https://a.example
authorization:
  polices: []
  policies:
    - { id: a, effect: alow, methods: [tool/call] }
    - { id: a, effect: deny, tools: 5 }
    - { id: b, effect: deny, tools: ["^x"], why: none }
    - { id: b, effect: deny }
    - { id: b }
routes:
  - path: /mcp
    upstream: { url: "http://127.0.0.1:3001/mcp", timeouts: { connect: 5 }, tls: {} }
  - path: /mcp
    legacy: maybe
    upstream: { url: "http://127.0.0.1:8080/mcp" }
keys:
  primary: c
  ring: [{ id: a, secret: { env: NONE } }, { id: a, secrt: x }]
`,
  );
  const starts = [
    "5:23 authentication.issuers[0].clockTolerance: has the wrong type",
    "6:15 authentication.issuers[1].issuer: is the same issuer as authentication.issuers[0].issuer in line 4",
    "8:3 authorization.polices: unknown setting, did you mean policies?",
    "10:24 authorization.policies[0].effect: is not a known value",
    "11:13 authorization.policies[1].id: is the same id as authorization.policies[0].id in line 10",
    "11:37 authorization.policies[1].tools: has the wrong type",
    "12:45 authorization.policies[2].why: unknown setting",
    "13:13 authorization.policies[3].id: is the same id as authorization.policies[2].id in line 12",
    "14:7 authorization.policies[4].effect: is required and missing",
    "14:13 authorization.policies[4].id: is the same id as",
    "17:72 routes[0].upstream.timeouts.connect: has the wrong type",
    "17:82 routes[0].upstream.tls: needs an https",
    "18:11 routes[1].path: is the same path as routes[0].path in line 16",
    "19:13 routes[1].legacy: is not a known value",
    "20:22 routes[1].upstream.url: is the gateway's own server.listen",
    "23:34 keys.ring[0].secret.env: the environment variable NONE is not set",
    "23:50 keys.ring[1].id: is the same id as keys.ring[0].id in line 23",
    "23:53 keys.ring[1].secrt: unknown setting, did you mean secret?",
  ];
  const said = problems.map((line, index) => (line.startsWith(starts[index] ?? "?") ? starts[index] : line));
  t.same(said.sort(), starts.sort());
  t.match(
    warnings.filter((line) => line.includes("policies")),
    [/^12:38 .*policies\[2\]\.tools\[0\]: holds \^/, /^13:7 .*policies\[3\]: denies everything/],
  );
});

const GHOSTS: [name: string, text: string, said: RegExp[]][] = [
  [
    "a bad publicUrl is not a missing one",
    `${SOUND}server: { listen: "0.0.0.0:80", publicUrl: a }\n`,
    [/publicUrl: is not an origin/],
  ],
  [
    "nor is a mistyped one",
    `${SOUND}server: { listen: "0.0.0.0:80", public_url: "https://a.example" }\n`,
    [/did you mean publicUrl/],
  ],
  [
    "a bad issuer is not none",
    SOUND.replace("https://login.example.com", "login"),
    [/issuer: is not an http/],
  ],
  [
    "a bad mode is not the default",
    SOUND.replace("  issuers:\n    - issuer: https://login.example.com", "  mode: anonymos"),
    [/mode: is not a known value/],
  ],
  [
    "a bad ring holds no primary",
    `${SOUND}keys: { primary: a, ring: [{ id: a, secret: x }] }\n`,
    [/secret: has the wrong type/],
  ],
  [
    "a bad store is not the default",
    `${SOUND}server: { replicas: 2 }\nredemption: { store: rdis }\n`,
    [/store: is not a known value/],
  ],
  [
    "a bad password is not none",
    `${SOUND}redis: { url: "redis://127.0.0.1", username: a, password: b }\nredemption: { store: memory }\n`,
    [/password: has the wrong type/],
  ],
  [
    "a bad listener is not the default",
    `${SOUND}server: { listen: 80 }\nadmin: { listen: "127.0.0.1:8080" }\n`,
    [/server\.listen: has the wrong type/],
  ],
];

for (const [name, text, expected] of GHOSTS) {
  t.test(`no ghosts: ${name}`, async (t) => {
    const { problems } = await load(t, text);
    t.match(problems, expected, problems.join("\n"));
    t.equal(problems.length, expected.length, problems.join("\n"));
  });
}

t.test("no ghosts among warnings", async (t) => {
  const policies = (text: string) => SOUND.replace("[{ id: all, effect: allow }]", () => text);
  for (const [text, ghost] of [
    [policies("[{ id: a, effect: deny, tools: 5 }]"), /denies everything|allows nothing/],
    [policies("[{ id: a, effect: deny, tolls: [x] }]"), /denies everything/],
    [policies("[{ id: a, effect: alow }]"), /allows nothing/],
    [policies("[{ id: a, effect: allow, methods: [5], tools: [x] }]"), /never matches/],
    [
      policies("[{ id: a, effect: allow, principal: { groups: [g] } }]").replace(
        "login.example.com",
        "login.example.com\n      clams: { groups: g }",
      ),
      /never matches/,
    ],
  ] as const) {
    const { problems, warnings } = await load(t, text);
    t.equal(problems.length, 1);
    t.notMatch(warnings.join("\n"), ghost);
  }
});

t.test("a setting that stands twice hides nothing, and warnings come with problems", async (t) => {
  const { problems, warnings } = await load(
    t,
    `${SOUND}log: { level: info, level: loud }\nadmin: { listen: "0.0.0.0:9090" }\nruler: {}\n`,
  );
  t.match(problems, [
    /^10:21 log\.level: stands here twice, first in line 10$/,
    /^10:28 log\.level: is not a known value/,
    /^12:1 ruler: unknown setting/,
  ]);
  t.match(warnings, [/^1:1 keys: is absent/, /^11:18 admin\.listen: is an address that others/]);
});
