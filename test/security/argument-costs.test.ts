/** What tests of arguments may cost together: each thing is read once for all policies, and what is too much is unclear. */
import t from "tap";
import { createAuthorizer } from "../../src/authorization.ts";
import { type Config, SECTIONS } from "../../src/config/schema.ts";
import { scan } from "../../src/json/scan.ts";
import type { Principal } from "../../src/principal/principal.ts";

type Effect = "allow" | "deny";
const caller: Principal = { anonymous: false, issuer: "https://i.example", subject: "s", groups: Array.from({ length: 200 }, (_, i) => `gr\u00fcn-${i}`), scopes: [] }; // biome-ignore format: one value, one line

/** Decides a call under many policies with one test each, and counts how often an object and a text of it are read. */
function decide(effect: Effect, tests: readonly object[], args: string) {
  const policies = tests.map((test, i) => ({ id: `p${i}`, effect, tools: ["*"], arguments: [test] }));
  const section = { default: effect === "allow" ? "deny" : "allow", policies };
  const authorizer = createAuthorizer(SECTIONS.authorization.parse(section) as Config["authorization"]);
  const doc = scan(Buffer.from(args), { bytes: 8 << 20, depth: 64 });
  const reads = { objects: 0, texts: 0 };
  const members = doc.members.bind(doc);
  const string = doc.string.bind(doc);
  const counted: Pick<typeof doc, "members" | "string"> = {
    members(node) {
      reads.objects += 1;
      return members(node);
    },
    string(node) {
      reads.texts += 1;
      return string(node);
    },
  };
  Object.assign(doc, counted);
  const target = { kind: "tool", name: "x" } as const;
  const given = { method: "tools/call", target, arguments: { doc, node: doc.root } };
  const decision = authorizer.decide(caller, given);
  t.same(authorizer.explain(caller, given).decision, decision, "explained alike");
  return { allowed: decision.allowed, reads: { objects: reads.objects / 2, texts: reads.texts / 2 } };
}

const both = (tests: readonly object[], args: string): readonly boolean[] =>
  (["allow", "deny"] as const).map((effect) => decide(effect, tests, args).allowed);
const times = <T>(count: number, one: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => one(index));

t.test("an object is read once, whatever the places and policies", async (t) => {
  const args = `{${times(5_000, (i) => `"k${i}":1`).join(",")},"a":{"b":"y"}}`;
  const tests = times(40, (i) => ({ path: i % 2 === 0 ? `/k${i}x` : `/a/b${i}`, equals: "x" }));
  t.same(decide("deny", tests, args), { allowed: true, reads: { objects: 2, texts: 0 } });
});

t.test("a text is read once, whatever it is compared with", async (t) => {
  const args = JSON.stringify({ a: ["gr\u00fcn", "gr\u00fcn-201"] });
  const tests = ["x*?", "*y?", "z*"].map((glob) => ({ path: "/a", glob }));
  const claims = times(10, () => ({ path: "/a", claim: "groups" }));
  const values = times(10, (i) => ({ path: "/a", oneOf: times(20, (j) => `v${i}${j}`) }));
  const { allowed, reads } = decide("deny", [...tests, ...claims, ...values], args);
  t.ok(allowed);
  t.same(reads, { objects: 1, texts: 2 });
});

const patterns = ["*x?y*", "*abc*"];
const long = "ab d".repeat(15_000);
const stacked = `a${"\u0301\u0316".repeat(15)}`.repeat(1_000);
/** What is too much, and so neither allowed nor let past a deny. */
const TOO_MUCH: Readonly<Record<string, readonly [tests: readonly object[], args: string]>> = {
  "long texts and many patterns": [times(20, () => ({ path: "/a", glob: patterns })), JSON.stringify({ a: times(64, () => long) })], // biome-ignore format: one case, one line
  "long patterns": [times(20, () => ({ path: "/a", glob: `*${"?".repeat(200)}b*` })), JSON.stringify({ a: times(64, () => long) })], // biome-ignore format: one case, one line
  "texts full of marks": [[{ path: "/a", claim: "groups" }], JSON.stringify({ a: times(64, () => stacked) })],
  "keys full of marks": [[{ path: `/${"p".repeat(300)}`, equals: "x" }], JSON.stringify(Object.fromEntries(times(700, (i) => [`${stacked.slice(0, 1_000)}${i}`, 1])))], // biome-ignore format: one case, one line
  "a key with a heap of marks": [[{ path: "/abcdefghij", present: false }, { path: "/abcdefghij", equals: "x" }], JSON.stringify({ [`a${"\u0301\u0316".repeat(16)}`]: 1 })], // biome-ignore format: one case, one line
  "many values in lists": [times(300, () => ({ path: "/a", oneOf: times(50, (j) => `v${j}`) })), JSON.stringify({ a: times(9_000, () => "q") })], // biome-ignore format: one case, one line
  "many places behind lists": [times(300, (i) => ({ path: `/a/b/c${i}`, equals: "x" })), JSON.stringify({ a: times(9_000, () => ({ b: [{}] })) })], // biome-ignore format: one case, one line
  "long numbers": [times(20, () => ({ path: "/a", range: { min: 1, max: 5 } })), `{"a":[${times(64, () => "1".repeat(60_000)).join(",")}]}`], // biome-ignore format: one case, one line
};

for (const [name, [tests, args]] of Object.entries(TOO_MUCH)) {
  t.test(name, async (t) => t.same(both(tests, args), [false, false]));
}

t.test("honest: large arguments are judged to the end", async (t) => {
  const body = JSON.stringify({ a: long, b: "x" });
  t.ok(decide("deny", times(20, () => ({ path: "/a", glob: patterns })), body).allowed); // biome-ignore format: one case, one line
  t.ok(decide("allow", [...times(20, () => ({ path: "/a", glob: patterns })), { path: "/b", equals: "x" }], body).allowed); // biome-ignore format: one case, one line
  t.notOk(decide("deny", [...times(20, () => ({ path: "/a", glob: patterns })), { path: "/b", equals: "x" }], body).allowed); // biome-ignore format: one case, one line
  const rows = JSON.stringify({ a: times(9_000, (i) => ({ id: i, name: `gr\u00fcn ${i}` })) });
  t.ok(decide("deny", times(20, (i) => ({ path: "/a/name", equals: `x${i}` })), rows).allowed); // biome-ignore format: one case, one line
  t.ok(decide("allow", [{ path: "/a/name", glob: "gr\u00fcn *" }], rows).allowed);
  const wide = `{${times(300_000, (i) => `"k${i}":1`).join(",")},"a":"x"}`;
  t.ok(decide("allow", [{ path: "/a", equals: "x" }], wide).allowed);
});
