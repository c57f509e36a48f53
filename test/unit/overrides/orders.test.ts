/** What operators may order, what becomes of it, and what is no entry. */
import t from "tap";
import { MAX_ENTRY_BYTES, parseEntry, printEntry } from "../../../src/overrides/entry.ts";
import {
  lifetimesOf,
  makeGrant,
  makeRemoval,
  makeRevocation,
  OrderRefused,
  parseGrantOrder,
  parseRevocationOrder,
  TTL_MS,
} from "../../../src/overrides/orders.ts";
import { grant, NOW, newId, revocation, SECOND } from "./entries.ts";

const principal = { issuer: "https://id.example", subject: "alice" };
const by = "ops";
const LIFETIMES = { skewSeconds: 60, chainSeconds: 4_000 };

t.test("orders that are in order, and each with one thing wrong", async (t) => {
  for (const target of [
    { chain: newId() },
    { principal },
    { principal: { ...principal, client: "c", tenant: "t" } },
    { route: "/" },
  ])
    t.match(parseRevocationOrder({ by, target }), { target });
  for (const [target, said] of [
    [{}, /exactly one of/],
    [{ chain: newId(), route: "/mcp" }, /exactly one of/],
    [{ chain: `${newId()}x` }, /22 characters/],
    [{ route: "mcp" }, /its path/],
    [{ principal: { subject: "alice" } }, /issuer and subject/],
    [{ principal: { ...principal, role: "x" } }, /issuer and subject/],
    [{ principal: { ...principal, subject: "a\u0000" } }, /issuer and subject/],
  ] as const)
    t.throws(() => parseRevocationOrder({ by, target }), { message: said }, JSON.stringify(target));
  t.throws(() => parseRevocationOrder({ by, target: { route: "/" }, bornBefore: 0 }), OrderRefused);
  for (const bad of [null, [], "x", 7, undefined]) t.throws(() => parseRevocationOrder(bad), OrderRefused);

  const allow = { by, effect: "allow", capability: ["roots"] };
  t.match(parseGrantOrder(allow), allow);
  t.match(parseGrantOrder({ by, effect: "deny", principal }), { principal });
  for (const [change, said] of [
    [{ effect: "maybe" }, /allow or deny/],
    [{ capability: undefined, tool: "x" }, /needed to allow/],
    [{ capability: ["tasks"] }, /elicitation.form/],
    [{ capability: [] }, /list of/],
    [{ ttl: 0 }, /from 1s/],
    [{ ttl: Number.NaN }, /from 1s/],
    [{ ttl: TTL_MS.most + 1 }, /from 1s/],
    [{ reason: "x".repeat(257) }, /256/],
    [{ reason: "two\nlines" }, /256/],
    [{ by: "" }, /by is/],
    [{ tool: "" }, /pattern/],
    [{ group: "\ud800" }, /group/],
    [{ until: 1 }, /not known/],
  ] as const) {
    const entries = Object.entries({ ...allow, ...change }).filter(([, value]) => value !== undefined);
    t.throws(() => parseGrantOrder(Object.fromEntries(entries)), { message: said }, JSON.stringify(change));
  }
  t.throws(() => parseGrantOrder({ by, effect: "deny" }), { message: /at least one of/ });
  t.doesNotThrow(() => parseGrantOrder({ ...allow, ttl: TTL_MS.most, reason: "x".repeat(256) }));
});

t.test("a message about an order quotes nothing of it", async (t) => {
  const secret = "hunter2-hunter2";
  for (const order of [{ [secret]: 1 }, { by, target: { [secret]: secret } }, { by, target: secret }]) {
    const error = t.throws(() => parseRevocationOrder(order), OrderRefused);
    t.notMatch(String(error), secret);
  }
});

t.test("a revocation covers what clocks and the time of setting it leave open", async (t) => {
  const making = { id: newId(), now: NOW + 999 };
  const first = makeRevocation({ by, target: { route: "/" } }, making, 0, LIFETIMES);
  // Set within a second after `now`, by a gateway whose clock is ahead by the skew.
  t.equal(first.bornBefore, SECOND + 1 + 60 + 1);
  t.equal(first.until, (first.bornBefore + 4_000) * 1000);
  const second = makeRevocation({ by, target: { route: "/" } }, making, first.bornBefore, LIFETIMES);
  t.equal(second.bornBefore, first.bornBefore + 1, "also chains begun in spite of the first are hit");
});

t.test("grants end, sooner than denials", async (t) => {
  const making = { id: newId(), now: NOW };
  t.equal(makeGrant({ by, effect: "allow", capability: ["roots"] }, making).until, NOW + TTL_MS.allow);
  t.equal(makeGrant({ by, effect: "deny", tool: "x" }, making).until, NOW + TTL_MS.deny);
  t.equal(makeGrant({ by, effect: "deny", tool: "x", ttl: 5_000 }, making).until, NOW + 5_000);
  const entry = grant({});
  t.same(makeRemoval(entry, by, NOW), { kind: "removal", id: entry.id, setAt: NOW, until: entry.until, by });
});

t.test("a revocation is kept as long as the longest chain", async (t) => {
  const roundTrip = (maxAge: number) => ({ roundTrip: { maxAge } });
  const envelope = { ttl: 600_000, clockSkew: 1_500 };
  t.same(lifetimesOf({ envelope, routes: [roundTrip(1_000), roundTrip(3_600_000)] }), {
    skewSeconds: 2,
    chainSeconds: 3_600 + 2 + 300,
  });
  t.equal(lifetimesOf({ envelope, routes: [roundTrip(1_000)] }).chainSeconds, 600 + 2 + 300);
});

t.test("entries are read as they are printed, and nothing else is", async (t) => {
  const entries = [
    revocation({ principal: { ...principal, client: "c" } }, { reason: "leaked “key”" }),
    grant({ effect: "deny", tool: "*", capability: ["roots"], group: "g", route: "/mcp" }),
    makeRemoval(grant({}), by, NOW),
  ];
  for (const entry of entries) {
    t.same(parseEntry(printEntry(entry)), entry);
    for (const change of [
      { kind: "other" },
      { id: "short" },
      { id: `${newId().slice(0, 21)}B` },
      { until: "soon" },
      { until: 1.5 },
      { setAt: -1 },
      { by: "\u001b[2J" },
      { extra: true },
      { reason: "x".repeat(MAX_ENTRY_BYTES) },
    ])
      t.equal(
        parseEntry(JSON.stringify({ ...entry, ...change })),
        undefined,
        JSON.stringify(change).slice(0, 40),
      );
  }
  const [hit] = entries;
  for (const change of [{ bornBefore: "now" }, { bornBefore: 1e300 }, { target: {} }, { effect: "allow" }])
    t.equal(parseEntry(JSON.stringify({ ...hit, ...change })), undefined);
  for (const text of ["", "{", "null", "[]", '"x"', "{}", "{}x"]) t.equal(parseEntry(text), undefined, text);
});
