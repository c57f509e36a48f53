/** Approvals on every kind of Redis, with the least rights that the documentation asks for. */
import t from "tap";
import { createRedisShelf } from "../../src/approval/redis-shelf.ts";
import { approvedAt, callOf, person, policyOf, questionOf, replicaOn } from "../support/approvals.ts";
import { KINDS } from "../support/redis-kinds.ts";

const WAITING = "sg:{approvals}waiting";
const now = () => Date.now();

for (const [name, open] of Object.entries(KINDS)) {
  t.test(name, async (t) => {
    const { target, ownerOf } = await open(t);
    const [a, b] = [0, 1].map(() => {
      const shelf = createRedisShelf(target, "sg:");
      t.teardown(() => shelf.close());
      return replicaOn(shelf, now).approvals;
    }) as [ReturnType<typeof replicaOn>["approvals"], ReturnType<typeof replicaOn>["approvals"]];
    const remembering = [policyOf({ remember: "15m" })];
    const quorum = [policyOf({ quorum: {} })];
    const call = callOf(person("alice"), { path: "/a" });
    const at = approvedAt(now());
    t.ok(await a.remember(remembering, call, at));
    t.ok(await b.recall(remembering, call));
    t.match(await a.standing(quorum, call, questionOf(quorum, call), at), { outcome: "waiting" });
    const theirs = callOf(person("bob"), { path: "/a" });
    const id = (await b.waitingFor(quorum, theirs))?.id ?? "";
    t.equal(await b.vote(id, quorum, theirs, true, approvedAt(now())), "approved");
    t.match(await a.standing(quorum, call, questionOf(quorum, call), at), { outcome: "met" });
    const [held] = await a.listRemembered();
    t.ok(await b.forget(held?.entry.id ?? "", "op"));
    t.equal(await a.recall(remembering, call), undefined);
    const ttl = Number(await ownerOf(WAITING).command("PTTL", WAITING));
    t.ok(ttl > 0 && ttl <= 26 * 3_600_000, "it ends by itself");
  });
}
