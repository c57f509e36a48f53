/** Overrides of several replicas on one real Redis: effective everywhere, through flushes, outages, planted entries. */
import t from "tap";
import type { Ask } from "../../src/config/schema.ts";
import type { OverridesDesk } from "../../src/overrides/overrides.ts";
import { signEntry } from "../../src/overrides/signature.ts";
import type { Principal } from "../../src/principal/principal.ts";
import { openOverrides, signingWith } from "../support/overrides.ts";
import { ownRedis } from "../support/redis.ts";
import { until } from "../support/until.ts";

const KEY = "sg:{overrides}";
const ALICE: Principal = { anonymous: false, issuer: "i", subject: "alice", groups: [], scopes: [] };
const OLD = { chain: "A".repeat(22), chainIat: 1 };
const YES = { by: "t", effect: "allow", capability: ["sampling"] } as const;
const NO = { by: "t", effect: "deny", capability: ["roots"] } as const;
const ROUTE = { by: "t", target: { route: "/mcp" } } as const;

const asks = (desk: OverridesDesk): string[] =>
  [...desk.asks(new Set<Ask>(["roots"]), { principal: ALICE, route: "/mcp", tool: "x" })].sort();
const isRevoked = (desk: OverridesDesk): boolean => desk.isRevoked(OLD, ALICE, "/mcp");

t.test("what one replica sets holds on the others, and on one that starts later", async (t) => {
  const { url } = await ownRedis(t);
  const [a, b] = [await openOverrides(t, url), await openOverrides(t, url)];
  const revocation = await a.revoke(ROUTE);
  t.ok(isRevoked(a), "at once where it was set");
  await until(() => isRevoked(b));
  const grant = await b.grant(YES);
  const denial = await a.grant(NO);
  await until(() => asks(a).join() === "sampling" && asks(b).join() === "sampling");
  const c = await openOverrides(t, url);
  t.same(asks(c), ["sampling"]);
  t.ok(isRevoked(c));
  t.same(
    c.list().map(({ id }) => id),
    [revocation.id, grant.id, denial.id],
  );
  await c.remove("grant", denial.id, "t");
  await until(() => asks(a).join() === "roots,sampling");
  t.equal(a.firstBirth(ALICE, "/mcp"), revocation.bornBefore);
});

t.test("after a flush replicas put back what they know, removals too", async (t) => {
  const redis = await ownRedis(t);
  const [a, b] = [await openOverrides(t, redis.url), await openOverrides(t, redis.url)];
  await a.revoke(ROUTE);
  const grant = await a.grant(YES);
  await a.grant(NO);
  const saved = await redis.command("HGET", KEY, grant.id);
  await a.remove("grant", grant.id, "t");
  await b.refresh();
  await redis.command("FLUSHALL");
  await until(async () => (await redis.command("HLEN", KEY)) === 4);
  await a.close();
  await b.close();
  const c = await openOverrides(t, redis.url);
  t.ok(isRevoked(c));
  t.same(asks(c), []);
  t.equal(c.list().length, 2);
  t.test("and a copy of what was removed does not come back", async (t) => {
    await redis.command("FLUSHALL");
    await redis.command("HSET", KEY, grant.id, String(saved), "version", "planted");
    await until(async () => (await redis.command("HGET", KEY, grant.id)) !== saved);
    const d = await openOverrides(t, redis.url);
    t.same(asks(d), []);
    t.ok(isRevoked(d));
  });
});

t.test("Redis away: revocations and denials stay, grants lapse; back: all as before", async (t) => {
  const redis = await ownRedis(t);
  const a = await openOverrides(t, redis.url, { grantsLapseMs: 1_000 });
  await a.revoke(ROUTE);
  await a.grant(YES);
  await a.grant(NO);
  t.same(asks(a), ["sampling"]);
  redis.pause();
  await until(() => asks(a).length === 0);
  t.ok(isRevoked(a));
  t.ok((a.status().ageSeconds ?? 0) > 1);
  await t.rejects(a.grant(YES), { name: "OverridesUnavailable" });
  redis.resume();
  await until(() => asks(a).join() === "sampling");
  await redis.stop("SIGKILL");
  await until(() => a.lines.some(({ message }) => message.startsWith("overrides cannot be read")));
  t.ok(isRevoked(a));
  await redis.start();
  await until(() => a.lines.some(({ message }) => message === "overrides written back"));
  const c = await openOverrides(t, redis.url);
  t.same(asks(c), ["sampling"], "an empty Redis was filled again");
  t.ok(isRevoked(c));
});

t.test("a replica that never read anything knows nothing, and says so", async (t) => {
  const redis = await ownRedis(t);
  await redis.stop();
  const a = await openOverrides(t, redis.url);
  t.notOk(a.known());
  t.equal(a.status().ageSeconds, undefined);
  await t.rejects(a.revoke(ROUTE), { name: "OverridesUnavailable", message: /Redis/ });
  await redis.start();
  await until(() => a.known());
});

t.test("what is planted: grants do nothing, denials hold, rubbish is counted and dropped", async (t) => {
  const redis = await ownRedis(t);
  const a = await openOverrides(t, redis.url);
  const real = await a.grant(NO);
  const stranger = signingWith("z");
  const id = (letter: string) => `${letter.repeat(21)}A`;
  const base = { kind: "grant", setAt: Date.now(), until: Date.now() + 600_000, by: "x" } as const;
  const entries = [
    { ...base, id: id("b"), effect: "allow", capability: ["sampling"] },
    { ...base, id: id("c"), effect: "deny", capability: ["elicitation.form"] },
    { kind: "removal", id: real.id, setAt: base.setAt, until: real.until, by: "x" },
  ] as const;
  const before = await redis.command("HGET", KEY, real.id);
  const planted = entries.flatMap((entry) => [entry.id, signEntry(stranger, entry, Date.now())]);
  await redis.command("HSET", KEY, ...planted, "junk", "junk", id("d"), "{}", "version", "planted");
  await until(() => a.status().ignored === 2);
  t.same(
    [...a.asks(new Set<Ask>(["elicitation.form", "roots"]), { principal: ALICE, route: "/", tool: "x" })],
    [],
  );
  t.match(a.list(), [
    { id: real.id, signed: true },
    { id: id("c"), signed: false },
  ]);
  await until(async () => (await redis.command("HGET", KEY, real.id)) === before);
  t.equal(await redis.command("HEXISTS", KEY, "junk"), 0, "what is no entry is dropped when it is met");
  t.match(
    a.lines.filter(({ message }) => message.includes("do not count")),
    [{ fields: { ignored: 2 } }],
    "logged once",
  );
  t.notMatch(JSON.stringify(a.lines), /sampling|junk/);
  await a.remove("grant", id("c"), "t");
  t.same(
    a.list().map((entry) => entry.id),
    [real.id],
    "what holds unsigned can be taken back",
  );
});

t.test("a replica of Redis is not believed", async (t) => {
  const [master, copy] = [await ownRedis(t), await ownRedis(t)];
  await copy.command("REPLICAOF", "127.0.0.1", String(master.port));
  const a = await openOverrides(t, copy.url);
  t.notOk(a.known());
  t.match(a.lines, [{ fields: { reason: "not_master" } }]);
  await copy.command("REPLICAOF", "NO", "ONE");
  await until(() => a.known());
});

t.test("many operators at once: every order is carried out or refused", async (t) => {
  const { url } = await ownRedis(t);
  const desks = [await openOverrides(t, url), await openOverrides(t, url), await openOverrides(t, url)];
  const done = await Promise.all(desks.flatMap((desk) => [desk.revoke(ROUTE), desk.grant(NO)]));
  const births = done.flatMap((entry) => (entry.kind === "revocation" ? [entry.bornBefore] : []));
  t.equal(new Set(births).size, births.length, "no two revocations of the same share a birth");
  for (const desk of desks) {
    await desk.refresh();
    t.equal(desk.list().length, done.length);
  }
});

t.test("a rotation of keys, one replica after the other", async (t) => {
  const { url } = await ownRedis(t);
  let signing = signingWith("a");
  const a = await openOverrides(t, url, { signing: () => signing });
  await a.grant(YES);
  signing = signingWith("a", "b");
  signing = signingWith("b", "a");
  const later = await openOverrides(t, url, { signing: () => signingWith("b", "a") });
  t.same(asks(later), ["roots", "sampling"]);
  await until(() => later.lines.some(({ message }) => message === "overrides written back"));
  const last = await openOverrides(t, url, { signing: () => signingWith("b") });
  t.same(asks(last), ["roots", "sampling"]);
});

t.test("a clock that differs is told, once", async (t) => {
  const { url } = await ownRedis(t);
  let ahead = 3_600_000;
  const a = await openOverrides(t, url, { now: () => Date.now() + ahead });
  await a.refresh();
  await a.refresh();
  const told = () => a.lines.filter(({ message }) => message.startsWith("clock differs"));
  t.match(told(), [{ fields: { aheadSeconds: 3_600, skewSeconds: 60 } }]);
  t.equal(told().length, 1);
  ahead = 0;
  const b = await openOverrides(t, url, { now: () => Date.now() + 30_000 });
  t.same(
    b.lines.filter(({ message }) => message.startsWith("clock")),
    [],
  );
});
