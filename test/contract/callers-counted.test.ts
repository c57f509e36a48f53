/** Callers counted in Redis by two gateways, in every way to set Redis up; and in each gateway alone while Redis is away. */
import t from "tap";
import { OpenRounds } from "../../src/allowance/open-rounds.ts";
import { SharedCounts } from "../../src/allowance/shared-counts.ts";
import { Windows } from "../../src/allowance/windows.ts";
import type { RedisTarget } from "../../src/redis/target.ts";
import { recordingLog } from "../support/authentication.ts";
import { ownRedis, type Teardown } from "../support/redis.ts";
import { KINDS, LIMIT_RIGHTS } from "../support/redis-kinds.ts";

const RATE = { points: 20, per: 3_600_000 };
const PATIENT_MS = 10_000;

/** What one gateway counts with. */
function gatewayOn(t: Teardown, target: RedisTarget, timeoutMs = PATIENT_MS) {
  const log = recordingLog();
  const shared = new SharedCounts({ target, keyPrefix: "sg:", log, timeoutMs });
  t.teardown(() => shared.close());
  return { log, shared, windows: new Windows(shared, Date.now), rounds: new OpenRounds(shared, Date.now) };
}

type Counting = ReturnType<typeof gatewayOn>;

/** How many of so many requests pass, taken by the gateways in turn, all at once. */
async function passed(gateways: readonly Counting[], caller: string, requests: number): Promise<number> {
  const waits = await Promise.all(
    Array.from({ length: requests }, (_, i) =>
      (gateways[i % gateways.length] as Counting).windows.count(RATE, caller, "requests"),
    ),
  );
  return waits.filter((ms) => ms === 0).length;
}

async function openFor({ rounds }: Counting, caller: string): Promise<number> {
  const view = rounds.look(caller);
  await view.ready;
  view.end();
  return view.count();
}

for (const [name, open] of Object.entries(KINDS)) {
  t.test(`${name}: two gateways share every count`, async (t) => {
    const { target, masters } = await open(t);
    // Those with the least rights have what single use needs, and nothing of this.
    for (const master of masters) {
      const users = (await master.command("ACL", "LIST")) as string[];
      if (users.some((user) => user.startsWith("user gate ")))
        await master.command("ACL", "SETUSER", "gate", ...LIMIT_RIGHTS);
    }
    const both = [gatewayOn(t, target), gatewayOn(t, target)];
    const [a, b] = both as [Counting, Counting];
    for (const caller of ["alice", "bob", "carol"])
      t.equal(await passed(both, caller, 60), RATE.points, caller);
    t.ok((await a.windows.count(RATE, "alice", "requests")) > 3_500_000, "told how long to wait");
    const exp = Math.floor(Date.now() / 1000) + 600;
    for (const chain of ["x", "y"]) a.rounds.opened("alice", { chain, exp }, true);
    b.rounds.opened("alice", { chain: "z", exp }, true);
    await openFor(b, "alice");
    t.equal(await openFor(a, "alice"), 3);
    b.rounds.closed("alice", "x");
    t.equal(await openFor(b, "alice"), 2);
    t.equal(await openFor(b, "bob"), 0);
    for (const { shared, log } of both) t.same([shared.away, log.lines], [false, []]);
  });
}

t.test("keys are few, bounded in length, expire, and name nobody", async (t) => {
  const server = await ownRedis(t);
  const a = gatewayOn(t, { url: server.url });
  await passed([a], "c".repeat(22), 500);
  const exp = Math.floor(Date.now() / 1000) + 600;
  a.rounds.opened("c".repeat(22), { chain: "x", exp }, true);
  await openFor(a, "c".repeat(22));
  const keys = (await server.command("KEYS", "*")) as string[];
  t.same(
    keys.sort(),
    ["open", "requests"].map((what) => `sg:limit:{${"c".repeat(22)}}:${what}`),
  );
  for (const key of keys) {
    const ms = Number(await server.command("PTTL", key));
    t.ok(ms > 0 && ms <= 3_600_000, `${key} ${ms}`);
  }
  const count = Number(await server.command("GET", keys.find((key) => key.endsWith("requests")) ?? ""));
  t.ok(count <= 500);
  const asked = count;
  await passed([a], "c".repeat(22), 500);
  t.equal(
    Number(await server.command("GET", keys[1] ?? "")),
    asked,
    "a flood is refused without asking Redis",
  );
});

t.test("what has expired is not open, and a set goes with its last chain", async (t) => {
  const server = await ownRedis(t);
  const a = gatewayOn(t, { url: server.url });
  const now = Math.floor(Date.now() / 1000);
  a.rounds.opened("alice", { chain: "old", exp: now - 1 }, true);
  a.rounds.opened("alice", { chain: "new", exp: now + 600 }, true);
  t.equal(await openFor(a, "alice"), 1);
  a.rounds.closed("alice", "new");
  t.equal(await openFor(a, "alice"), 0);
  t.same(await server.command("KEYS", "*"), []);
});

t.test(
  "Redis is killed in the middle: each gateway counts alone by the same limit, and says so once",
  async (t) => {
    const server = await ownRedis(t);
    const both = [1, 2].map(() => gatewayOn(t, { url: server.url }, 250));
    t.equal(await passed(both, "alice", 10), 10);
    await server.stop("SIGKILL");
    for (const one of both) t.equal(await passed([one], "alice", 60), RATE.points, "never without a limit");
    for (const { shared, log } of both) {
      t.ok(shared.away);
      t.match(log.lines, [{ level: "warn", message: /each gateway counts alone/ }]);
      t.equal(log.lines.length, 1);
    }
    const exp = Math.floor(Date.now() / 1000) + 600;
    const [a, b] = both as [Counting, Counting];
    a.rounds.opened("alice", { chain: "x", exp }, true);
    t.same([await openFor(a, "alice"), await openFor(b, "alice")], [1, 0]);
    await server.start();
    // Callers of whom nothing is known: one of them finds out that Redis is back.
    let tries = 0;
    while (both.some(({ shared }) => shared.away)) {
      for (const { windows } of both) await windows.count(RATE, `x${tries}`, "requests");
      tries += 1;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    t.equal(await passed(both, "bob", 60), RATE.points, "together again");
    for (const { log } of both) t.match(log.lines.at(-1), { level: "info", message: /again/ });
  },
);

t.test("Redis that is there and does not answer: a few wait a little, all others not at all", async (t) => {
  const server = await ownRedis(t);
  const a = gatewayOn(t, { url: server.url }, 50);
  t.equal(await passed([a], "alice", 1), 1);
  server.pause();
  t.equal(await passed([a], "bob", 60), RATE.points);
  t.ok(a.shared.away);
  let waited = 0;
  const began = performance.now();
  for (let i = 0; i < 2_000; i++) {
    await a.windows.count(RATE, `c${i}`, "requests");
    waited += 1;
  }
  t.equal(waited, 2_000);
  t.comment(`2,000 counts in ${Math.round(performance.now() - began)} ms`);
  server.resume();
});

t.test("a user without the rights: counted alone, and the log says what is wrong", async (t) => {
  const server = await ownRedis(t);
  await server.command("ACL", "SETUSER", "gate", "on", ">pw", "~sg:*", "-@all", "+eval", "+evalsha", "+info");
  const a = gatewayOn(t, { url: server.url, username: "gate", password: "pw" });
  t.equal(await passed([a], "alice", 60), RATE.points);
  t.match(a.log.lines, [{ level: "warn", fields: { reason: "unauthorized" } }]);
  t.notMatch(JSON.stringify(a.log.lines), /pw"/);
});

t.test("a master that is one no more: its link is left, and counting goes on alone meanwhile", async (t) => {
  const [server, other] = [await ownRedis(t), await ownRedis(t)];
  const a = gatewayOn(t, { url: server.url });
  t.equal(await passed([a], "alice", 5), 5);
  await server.command("REPLICAOF", "127.0.0.1", String(other.port));
  t.equal(await passed([a], "bob", 60), RATE.points);
  t.match(a.log.lines, [{ level: "warn", fields: { reason: "not_master" } }]);
  await server.command("REPLICAOF", "NO", "ONE");
  let tries = 0;
  while (a.shared.away) {
    await a.windows.count(RATE, `x${tries++}`, "requests");
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  t.equal(await passed([a], "carol", 60), RATE.points);
});

t.test("a key of another kind in the way, and scripts that a server has forgotten", async (t) => {
  const server = await ownRedis(t);
  const a = gatewayOn(t, { url: server.url });
  await server.command("HSET", "sg:limit:{alice}:requests", "f", "v");
  await server.command("SET", "sg:limit:{alice}:open", "x");
  t.equal(await passed([a], "alice", 60), RATE.points, "counted alone");
  t.equal(await openFor(a, "alice"), 0);
  t.match(a.log.lines[0], { level: "warn", fields: { reason: "error" } });
  while (a.shared.away) {
    await a.windows.count(RATE, `x${Math.random()}`, "requests");
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await server.command("SCRIPT", "FLUSH");
  t.equal(await passed([a], "bob", 60), RATE.points);
  t.notOk(a.shared.away);
});
