/** Limits per caller: what they come to for a route, and what is wrong with them; each with its honest neighbour. */
import t from "tap";
import { load, SOUND } from "./load-text.ts";

const LIMITS = (text: string): string => `${SOUND}limits: { perPrincipal: ${text} }\n`;
const ROUTE = (text: string): string =>
  SOUND.replace('mcp" }\n', `mcp" }\n    limits: { perPrincipal: ${text} }\n`);
const OFF = { concurrent: "off", streams: "off", openRounds: "off" };

t.test("off unless set; a route takes what it does not say from the top, and can lift it", async (t) => {
  const of = async (text: string) => (await load(t, text)).loaded?.config.routes[0]?.limits.perPrincipal;
  t.same(await of(SOUND), OFF);
  t.same(await of(LIMITS("{ requests: { points: 5, per: 1m }, concurrent: 2 }")), {
    ...OFF,
    requests: { points: 5, per: 60_000 },
    concurrent: 2,
  });
  t.same(await of(LIMITS("{ requests: { points: 5 } }")), { ...OFF, requests: { points: 5, per: 60_000 } });
  const both = `${ROUTE("{ requests: { points: off }, streams: 3 }")}limits: { perPrincipal: { requests: { points: 5, per: 1m }, openRounds: 7 } }\n`;
  const requests = { points: "off", per: 60_000 };
  t.same(await of(both), { ...OFF, requests, streams: 3, openRounds: 7 });
});

t.test("a window is whole seconds, for Redis counts in them", async (t) => {
  for (const make of [LIMITS, ROUTE]) {
    const { problems } = await load(t, make("{ requests: { points: 5, per: 1500ms } }"));
    t.match(problems, [/perPrincipal\.requests\.per: is no whole number of seconds, allowed/]);
    t.equal(problems.length, 1);
    t.same((await load(t, make("{ requests: { points: 5, per: 2000ms } }"))).problems, []);
  }
});

t.test("what cannot be", async (t) => {
  for (const text of [
    "{ requests: 5 }",
    "{ requests: { points: 0, per: 1m } }",
    "{ requests: { points: 1.5, per: 1m } }",
    "{ requests: { per: 1m } }",
    "{ requests: { points: 5, per: 1d } }",
    "{ requests: { points: 5, per: 500ms } }",
    "{ requests: { points: 5, per: 25h } }",
    "{ concurrent: 0 }",
    "{ streams: none }",
    "{ openRounds: 10001 }",
    "{ rounds: 5 }",
  ]) {
    const { problems } = await load(t, LIMITS(text));
    t.equal(problems.length, 1, `${text} ${problems}`);
  }
});

t.test("addresses behind a proxy that is not named are one caller", async (t) => {
  const anonymous = (server: string, limits = "{ requests: { points: 5, per: 1m } }"): string =>
    `${LIMITS(limits).replace("  issuers:\n    - issuer: https://login.example.com", "  mode: anonymous")}server: ${server}\n`;
  const warned = async (text: string) =>
    (await load(t, text)).warnings.filter((line) => /limits: count callers/.test(line)).length;
  t.equal(await warned(anonymous('{ publicUrl: "https://mcp.example.com" }')), 1);
  for (const text of [
    anonymous('{ publicUrl: "https://mcp.example.com", trustedProxies: [127.0.0.1] }'),
    anonymous('{ publicUrl: "http://localhost:8080" }'),
    anonymous('{ publicUrl: "https://mcp.example.com" }', "{ concurrent: 5 }"),
    `${LIMITS("{ requests: { points: 5, per: 1m } }")}server: { publicUrl: "https://mcp.example.com" }\n`,
  ])
    t.equal(await warned(text), 0);
});
