/** Warnings where many callers would be one principal, or one caller many; each with its honest neighbour. */
import t from "tap";
import { load, SOUND } from "./load-text.ts";

const CLAIMS = (text: string): string =>
  SOUND.replace("login.example.com", `login.example.com\n      claims: ${text}`);
const ANONYMOUS = SOUND.replace("  issuers:\n    - issuer: https://login.example.com", "  mode: anonymous");
const POLICIES = (...texts: string[]): string =>
  SOUND.replace(
    "[{ id: all, effect: allow }]",
    `[${texts.map((text, index) => `{ id: p${index}, ${text} }`).join(", ")}]`,
  );
const KEYS = "keys: { primary: a, ring: [{ id: a, secret: { env: K } }] }\n";

/** What; a configuration; what is said of principals. */
const CASES: readonly (readonly [string, string, readonly RegExp[]])[] = [
  ["honest", SOUND, []],
  ["no one's claims", CLAIMS("{ groups: realm_access.roles }"), []],
  ["a subject of another name", CLAIMS("{ subject: oid, tenant: tid }"), []],
  ["a subject that is part of a URL", CLAIMS('{ subject: "https://example.com/iss" }'), []],
  [
    "the client as the subject",
    CLAIMS("{ subject: azp }"),
    [/claims\.subject: is a claim that is the same for all users/],
  ],
  ["the client, by another name", CLAIMS("{ subject: client_id }"), [/claims\.subject: .*the same for all/]],
  ["the issuer as the subject", CLAIMS("{ subject: iss }"), [/claims\.subject: .*the same for all/]],
  ["the audience as the subject", CLAIMS("{ subject: aud }"), [/claims\.subject: .*the same for all/]],
  ["the tenant as the subject", CLAIMS("{ subject: tid }"), [/claims\.subject: .*the same for all/]],
  [
    "a token's id as the subject",
    CLAIMS("{ subject: jti }"),
    [/claims\.subject: is a claim that is new in each token/],
  ],
  [
    "a session as the client",
    CLAIMS("{ client: [azp, sid] }"),
    [/claims\.client\[1\]: is a claim that is new/],
  ],
  ["a time as the tenant", CLAIMS("{ tenant: iat }"), [/claims\.tenant: is a claim that is new/]],

  ["anonymous on this machine", ANONYMOUS, []],
  [
    "with a public address of this machine",
    `${ANONYMOUS}server: { publicUrl: "http://localhost:8080" }\n`,
    [],
  ],
  [
    "anonymous behind a tunnel",
    `${ANONYMOUS}server: { publicUrl: "https://mcp.example.com" }\n`,
    [
      /^\d+:\d+ authentication\.mode: is anonymous, while server\.publicUrl is an address of others: all callers are one/,
    ],
  ],
  [
    "anonymous behind a proxy",
    `${ANONYMOUS}server: { trustedProxies: [10.0.0.0/8] }\n`,
    [/authentication\.mode: is anonymous, while a proxy stands in front/],
  ],
  [
    "anonymous replicas",
    `${ANONYMOUS}server: { replicas: 2 }\nredis: { url: "redis://127.0.0.1" }\n${KEYS}`,
    [/authentication\.mode: is anonymous, while there is more than one replica/],
  ],
  [
    "anonymous and open: one warning, not two",
    `${ANONYMOUS}server: { listen: "0.0.0.0:8080", publicUrl: "https://mcp.example.com" }\n`,
    [/authentication\.mode: is anonymous on a listener that others can reach/],
  ],
  ["required behind a proxy", `${SOUND}server: { publicUrl: "https://mcp.example.com", replicas: 1 }\n`, []],

  [
    "one subject",
    POLICIES(
      "effect: allow, principal: { subjects: [front] }",
      "effect: allow, principal: { subjects: [front] }, tools: [a]",
    ),
    [/^\d+:\d+ authorization\.policies: allow one subject and nobody else/],
  ],
  ["two subjects", POLICIES("effect: allow, principal: { subjects: [front, back] }"), []],
  [
    "one and others",
    POLICIES("effect: allow, principal: { subjects: [front] }", "effect: allow, tools: [a]"),
    [],
  ],
  ["a pattern", POLICIES('effect: allow, principal: { subjects: ["front-*"] }'), []],
  ["one denied", POLICIES("effect: allow", "effect: deny, principal: { subjects: [front] }"), []],
  [
    "one, and all by default",
    POLICIES("effect: deny, principal: { subjects: [front] }").replace(
      "authorization:",
      "authorization:\n  default: allow",
    ),
    [],
  ],
];

for (const [what, text, expected] of CASES) {
  t.test(what, async (t) => {
    const { problems, warnings } = await load(t, text, {}, { K: "k".repeat(43) });
    t.same(problems, []);
    const said = warnings.filter((line) =>
      /authentication\.(mode|issuers\[0\]\.claims)|authorization\.policies:/.test(line),
    );
    t.match(said, expected);
    t.equal(said.length, expected.length, said.join("\n"));
  });
}
