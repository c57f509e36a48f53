/**
 * Whoever can write to the Redis of approvals, and has no key: makes nothing up, reads nothing, moves nothing, and makes nothing last.
 * What they put back is what was there once, and no longer than it was to be. With Redis away nothing is remembered and nobody's word
 * counts, and nobody is told that something went wrong with the call itself.
 */
import t, { type Test } from "tap";
import { createRedisShelf } from "../../src/approval/redis-shelf.ts";
import { Refusal } from "../../src/errors.ts";
import { approvedAt, callOf, person, policyOf, questionOf, replicaOn, ringOf } from "../support/approvals.ts";
import { type OwnRedis, ownRedis } from "../support/redis.ts";

const REMEMBERED = "sg:{approvals}remembered";
const WAITING = "sg:{approvals}waiting";
const alice = person("alice");
const bob = person("bob");
const remembering = [policyOf({ remember: "15m" })];
const quorum = [policyOf({ quorum: {} })];
const now = () => Date.now();

function open(t: Test, redis: OwnRedis) {
  const shelf = createRedisShelf({ url: redis.url }, "sg:");
  t.teardown(() => shelf.close());
  return replicaOn(shelf, now);
}

async function only(redis: OwnRedis, key: string): Promise<readonly [name: string, text: string]> {
  const [name, text] = (await redis.command("HGETALL", key)) as string[];
  return [name ?? "", text ?? ""];
}

t.test("what is remembered", async (t) => {
  const redis = await ownRedis(t);
  const { approvals } = open(t, redis);
  const call = callOf(alice, { path: "/a" });
  const honest = () => approvals.recall(remembering, call);
  await approvals.remember(remembering, call, approvedAt(now()));
  t.ok(await honest());
  const [name, text] = await only(redis, REMEMBERED);
  t.notMatch(text, /alice|"path|delete_file/, "nothing can be read");
  t.notMatch(name, /alice/);
  const [until, sealed] = text.split(" ") as [string, string];
  const later = String(Number(until) + 3_600_000);
  const middle = Math.floor(sealed.length / 2);
  const flipped = `${sealed.slice(0, middle)}${sealed[middle] === "A" ? "B" : "A"}${sealed.slice(middle + 1)}`;
  for (const [what, planted] of Object.entries({
    "made to last": `${later} ${sealed}`,
    changed: `${until} ${flipped}`,
    "in clear": `${later} {"policy":"ask"}`,
    empty: `${later} `,
    "no expiry": sealed,
    "an expiry of another spelling": `0${until} ${sealed}`,
    "too long": `${later} ${"A".repeat(30_000)}`,
    "bytes that are no text": `${later} sga1.\u0000`,
  })) {
    await redis.command("HSET", REMEMBERED, name, planted);
    // An expiry that means the same number is the same expiry.
    if (what === "an expiry of another spelling") t.ok(await honest(), what);
    else t.equal(await honest(), undefined, what);
  }
  await redis.command("HSET", REMEMBERED, name, text);
  t.ok(await honest(), "the honest one");

  const another = callOf(alice, { path: "/b" });
  await approvals.remember(remembering, another, approvedAt(now()));
  const names = (await redis.command("HKEYS", REMEMBERED)) as string[];
  const other = names.find((one) => one !== name) ?? "";
  await redis.command("HDEL", REMEMBERED, other);
  t.equal(await approvals.recall(remembering, another), undefined);
  await redis.command("HSET", REMEMBERED, other, text);
  t.equal(await approvals.recall(remembering, another), undefined, "moved to another call");
  await approvals.remember(remembering, another, approvedAt(now()));
  t.ok(await approvals.recall(remembering, another), "remembered over what was planted");
});

t.test("sealed by a ring of somebody else", async (t) => {
  const redis = await ownRedis(t);
  const [ours, theirs] = [open(t, redis), open(t, redis)];
  theirs.ring = ringOf("theirs");
  const call = callOf(alice, { path: "/a" });
  await ours.approvals.remember(remembering, call, approvedAt(now()));
  const [name] = await only(redis, REMEMBERED);
  await redis.command("DEL", REMEMBERED);
  await theirs.approvals.remember(remembering, call, approvedAt(now()));
  const [, text] = await only(redis, REMEMBERED);
  await redis.command("HSET", REMEMBERED, name, text);
  t.equal(await ours.approvals.recall(remembering, call), undefined);
});

t.test("put back after it was forgotten, or after everything of a caller was revoked", async (t) => {
  const redis = await ownRedis(t);
  const { approvals, overrides } = open(t, redis);
  const call = callOf(alice, { path: "/a" });
  const revoked = async () =>
    (await approvals.recall(remembering, call))?.chains.some((chain) =>
      overrides.isRevoked(chain, alice, "/files"),
    );
  await approvals.remember(remembering, call, approvedAt(now()));
  const [name, text] = await only(redis, REMEMBERED);
  t.equal(await revoked(), false);
  const [held] = await approvals.listRemembered();
  await approvals.forget(held?.entry.id ?? "", "op");
  t.equal(await revoked(), undefined, "gone");
  await redis.command("HSET", REMEMBERED, name, text);
  t.equal(await revoked(), true, "there, and revoked");
});

t.test("a call that waits", async (t) => {
  const redis = await ownRedis(t);
  const { approvals } = open(t, redis);
  const call = callOf(alice, { path: "/a", note: "for my eyes" });
  const question = questionOf(quorum, call);
  const at = approvedAt(now());
  const standing = () => approvals.standing(quorum, call, question, at);
  await standing();
  const [name, waiting] = await only(redis, WAITING);
  t.notMatch(waiting, /alice|my eyes/, "nothing can be read");
  const bobs = callOf(bob, { path: "/a", note: "for my eyes" });
  const id = (await approvals.waitingFor(quorum, bobs))?.id ?? "";
  await approvals.vote(id, quorum, bobs, true, approvedAt(now()));
  const [, voted] = await only(redis, WAITING);
  t.notSame(voted, waiting);

  // The votes of one call under the name of another.
  const other = callOf(alice, { path: "/b" });
  const otherQuestion = questionOf(quorum, other);
  const otherAt = approvedAt(now());
  await approvals.standing(quorum, other, otherQuestion, otherAt);
  const names = (await redis.command("HKEYS", WAITING)) as string[];
  const otherName = names.find((one) => one !== name) ?? "";
  await redis.command("HSET", WAITING, otherName, voted);
  t.match(await approvals.standing(quorum, other, otherQuestion, otherAt).catch(String), /store_unavailable/);
  await redis.command("HDEL", WAITING, otherName);
  t.match(await approvals.standing(quorum, other, otherQuestion, otherAt), { outcome: "waiting" });

  // Without what was said, and with it again: for the same state, which is spent once whatever lies here.
  await redis.command("HSET", WAITING, name, waiting);
  t.match(await standing(), { outcome: "waiting" });
  await redis.command("HSET", WAITING, name, voted);
  t.match(await standing(), { outcome: "met" });
  await redis.command("DEL", WAITING);
  t.match(await standing(), { outcome: "waiting" }, "a flush takes the votes with it");
});

t.test("a shelf that somebody has filled", async (t) => {
  const redis = await ownRedis(t);
  const { approvals } = open(t, redis);
  const call = callOf(alice, { path: "/a" });
  const junk = Array.from({ length: 10_000 }, (_, n) => [`${n}`.padEnd(45, "x"), "1 expired"]).flat();
  await redis.command("HSET", REMEMBERED, ...junk);
  t.ok(await approvals.remember(remembering, call, approvedAt(now())), "what has expired makes room");
  t.equal(await redis.command("HLEN", REMEMBERED), 1);
  const live = junk.map((part) => (part === "1 expired" ? `${now() + 60_000} junk` : part));
  await redis.command("HSET", REMEMBERED, ...live);
  t.ok(await approvals.recall(remembering, call), "nothing is pushed out");
  t.equal(await approvals.remember(remembering, callOf(bob), approvedAt(now())), undefined, "full");
  t.match(await approvals.listRemembered(), [{ entry: { principal: { subject: "alice" } } }]);
});

t.test("a hash that is none", async (t) => {
  const redis = await ownRedis(t);
  const { approvals, warnings } = open(t, redis);
  await redis.command("SET", REMEMBERED, "x");
  await redis.command("SET", WAITING, "x");
  const call = callOf(alice, { path: "/a" });
  t.equal(await approvals.recall(remembering, call), undefined);
  t.equal(await approvals.remember(remembering, call, approvedAt(now())), undefined);
  t.equal(warnings.length, 1, "told once");
  await t.rejects(approvals.standing(quorum, call, questionOf(quorum, call), approvedAt(now())), Refusal);
});

t.test("Redis killed in between", async (t) => {
  const redis = await ownRedis(t);
  const [a, b] = [open(t, redis), open(t, redis)];
  const call = callOf(alice, { path: "/a" });
  const question = questionOf(quorum, call);
  const at = approvedAt(now());
  await a.approvals.remember(remembering, call, at);
  await a.approvals.standing(quorum, call, question, at);
  const bobs = callOf(bob, { path: "/a" });
  const id = (await b.approvals.waitingFor(quorum, bobs))?.id ?? "";
  await redis.stop("SIGKILL");
  t.equal(await a.approvals.recall(remembering, call), undefined, "asked again");
  t.equal(await a.approvals.remember(remembering, call, at), undefined);
  for (const work of [
    () => a.approvals.standing(quorum, call, question, at),
    () => b.approvals.vote(id, quorum, bobs, true, approvedAt(now())),
    () => b.approvals.waitingFor(quorum, bobs),
    () => b.approvals.waiting(id, quorum, bobs),
  ])
    await t.rejects(async () => void (await work()), { code: "store_unavailable" });
  await redis.start();
  t.equal(await a.approvals.recall(remembering, call), undefined, "it came back empty");
  t.equal(await b.approvals.vote(id, quorum, bobs, true, approvedAt(now())), "closed");
  t.match(await a.approvals.standing(quorum, call, question, at), { outcome: "waiting", missing: 1 });
  const again = (await b.approvals.waitingFor(quorum, bobs))?.id ?? "";
  t.equal(await b.approvals.vote(again, quorum, bobs, true, approvedAt(now())), "approved");
  t.match(await a.approvals.standing(quorum, call, question, at), { outcome: "met" });
});

t.test("a replica of Redis vouches for nothing", async (t) => {
  const redis = await ownRedis(t);
  const { approvals } = open(t, redis);
  const call = callOf(alice, { path: "/a" });
  await approvals.remember(remembering, call, approvedAt(now()));
  await redis.command("REPLICAOF", "127.0.0.1", "1");
  t.equal(await approvals.recall(remembering, call), undefined);
  await redis.command("REPLICAOF", "NO", "ONE");
  t.ok(await approvals.recall(remembering, call));
});
