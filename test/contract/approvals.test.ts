/**
 * One suite for both shelves of approvals, with two replicas on each: what is remembered and for whom, whose word counts, and that of
 * two at once exactly one gets what there is once.
 */
import t, { type Test } from "tap";
import { createMemoryShelf } from "../../src/approval/memory-shelf.ts";
import { createRedisShelf } from "../../src/approval/redis-shelf.ts";
import type { Shelf } from "../../src/approval/shelf.ts";
import {
  type ApprovalReplica,
  approvedAt,
  callOf,
  person,
  policyOf,
  questionOf,
  replicaOn,
  ringOf,
} from "../support/approvals.ts";
import { anyRedis } from "../support/redis.ts";

interface Pair {
  readonly a: ApprovalReplica;
  readonly b: ApprovalReplica;
  readonly shelf: Shelf;
  readonly now: () => number;
}

const redis = await anyRedis(t);
let prefixes = 0;

const KINDS: Readonly<Record<string, (t: Test) => Pair>> = {
  memory() {
    // One process has one shelf, however many configurations it goes through.
    const now = () => Date.now();
    const shelf = createMemoryShelf(now);
    return { a: replicaOn(shelf, now), b: replicaOn(shelf, now), shelf, now };
  },
  redis(t) {
    const now = () => Date.now();
    const prefix = `${redis.keyPrefix}${prefixes++}:`;
    const open = () => {
      const shelf = createRedisShelf({ url: redis.url }, prefix);
      t.teardown(() => shelf.close());
      return shelf;
    };
    const shelf = open();
    return { a: replicaOn(shelf, now), b: replicaOn(open(), now), shelf, now };
  },
};

const alice = person("alice");
const bob = person("bob");
const carol = person("carol", { groups: ["finance"] });

for (const [kind, open] of Object.entries(KINDS)) {
  t.test(`${kind}: remembered for the same arguments, by the same caller, of the same tool`, async (t) => {
    const { a, b, now } = open(t);
    const policies = [policyOf({ remember: "15m" })];
    const call = callOf(alice, { path: "/a" });
    t.equal(await a.approvals.recall(policies, call), undefined);
    const at = approvedAt(now());
    const until = await a.approvals.remember(policies, call, at);
    t.ok(until !== undefined && until - now() > 14 * 60_000);
    t.match(await b.approvals.recall(policies, call), {
      policies: ["ask"],
      chain: at.chain,
      chains: [{ chain: at.chain, chainIat: at.chainIat }],
    });
    t.ok(
      await b.approvals.recall(policies, callOf(alice, {}, { text: '{ "p\\u0061th" : "/a" }' })),
      "other spelling",
    );
    const others = {
      "other arguments": callOf(alice, { path: "/b" }),
      "more arguments": callOf(alice, { path: "/a", force: true }),
      "another caller": callOf(bob, { path: "/a" }),
      "the same subject of another issuer": callOf(person("alice", { issuer: "https://other" }), {
        path: "/a",
      }),
      "another client": callOf(person("alice", { client: "web" }), { path: "/a" }),
      "another tenant": callOf(person("alice", { tenant: "t" }), { path: "/a" }),
      "another route": callOf(alice, { path: "/a" }, { route: "/other" }),
      "another upstream": callOf(alice, { path: "/a" }, { upstream: "http://127.0.0.1:9/other" }),
      "another tool": callOf(alice, { path: "/a" }, { target: { kind: "tool", name: "delete_files" } }),
      "a prompt": callOf(alice, { path: "/a" }, { target: { kind: "prompt", name: "delete_file" } }),
      "another method": callOf(alice, { path: "/a" }, { method: "prompts/get" }),
    };
    for (const [name, other] of Object.entries(others))
      t.equal(await b.approvals.recall(policies, other), undefined, name);
    const changed = {
      "another time": [policyOf({ remember: "16m" })],
      "a message": [policyOf({ remember: "15m", message: "Really?" })],
      "another id": [policyOf({ remember: "15m" }, "ask2")],
      "a selector": [{ ...policyOf({ remember: "15m" }), tools: ["*"] }],
      "one policy more": [...policies, policyOf({ remember: "15m" }, "too")],
      "one that always asks": [...policies, policyOf({ always: true }, "too")],
    };
    for (const [name, other] of Object.entries(changed))
      t.equal(await b.approvals.recall(other, call), undefined, name);
  });

  t.test(`${kind}: any arguments, where policy says so; each policy for itself`, async (t) => {
    const { a, b, now } = open(t);
    const any = policyOf({ remember: { for: "15m", arguments: "any" } });
    const same = policyOf({ remember: "15m" }, "same");
    await a.approvals.remember([any, same], callOf(alice, { path: "/a" }), approvedAt(now()));
    t.ok(await b.approvals.recall([any], callOf(alice, { path: "/b" })), "other arguments");
    t.ok(await b.approvals.recall([any, same], callOf(alice, { path: "/a" })));
    t.equal(await b.approvals.recall([any, same], callOf(alice, { path: "/b" })), undefined);
    t.equal(
      await b.approvals.recall([any], callOf(alice, { path: "/a" }, { target: { kind: "tool", name: "x" } })),
      undefined,
      "another tool",
    );
  });

  t.test(`${kind}: nothing is remembered that policy always asks, nor for anybody unknown`, async (t) => {
    const { a, now } = open(t);
    const call = callOf(alice, { path: "/a" });
    for (const settings of [{}, { always: true }, { quorum: {} }]) {
      const policies = [policyOf(settings), policyOf({ remember: "15m" }, "other")];
      t.equal(await a.approvals.remember(policies, call, approvedAt(now())), undefined);
      t.equal(await a.approvals.recall(policies, call), undefined);
      t.equal(await a.approvals.recall([policyOf({ remember: "15m" }, "other")], call), undefined);
    }
    const nobody = callOf({ anonymous: true, issuer: "", subject: "", groups: [], scopes: [] });
    const policies = [policyOf({ remember: "15m" })];
    t.equal(await a.approvals.remember(policies, nobody, approvedAt(now())), undefined);
    t.equal(await a.approvals.recall(policies, nobody), undefined);
  });

  t.test(`${kind}: remembered as long as it was said, and no more of one caller than fit`, async (t) => {
    const { a, now } = open(t);
    const policies = [policyOf({ remember: "1s" })];
    await a.approvals.remember(policies, callOf(alice), approvedAt(now()));
    const [held] = await a.approvals.listRemembered();
    t.ok(held !== undefined && held.until - held.entry.approvedAt === 1_000);
    const long = [policyOf({ remember: "1h" })];
    const kept = await Promise.all(
      Array.from({ length: 260 }, (_, n) =>
        a.approvals.remember(long, callOf(bob, { n }), approvedAt(now())),
      ),
    );
    t.equal(kept.filter((until) => until !== undefined).length, 256);
    t.ok(await a.approvals.remember(long, callOf(alice), approvedAt(now())), "others have their own room");
    t.ok(await a.approvals.remember(long, callOf(bob, { n: 0 }), approvedAt(now())), "again, in its place");
  });

  t.test(`${kind}: a rotation of keys forgets nothing, another ring or audience knows nothing`, async (t) => {
    const { a, b, shelf, now } = open(t);
    const policies = [policyOf({ remember: "15m" })];
    const call = callOf(alice, { path: "/a" });
    await a.approvals.remember(policies, call, approvedAt(now()));
    b.ring = ringOf("second", "first");
    t.ok(await b.approvals.recall(policies, call));
    await b.approvals.remember(policies, call, approvedAt(now()));
    b.ring = ringOf("second");
    t.ok(await b.approvals.recall(policies, call));
    b.ring = ringOf("third");
    t.equal(await b.approvals.recall(policies, call), undefined);
    const foreign = replicaOn(shelf, now, { audience: "https://other.example" });
    t.equal(await foreign.approvals.recall(policies, call), undefined);
  });

  t.test(`${kind}: forgotten, it is revoked`, async (t) => {
    const { a, b, now } = open(t);
    const policies = [policyOf({ remember: "15m" })];
    const call = callOf(alice, { path: "/a" });
    const at = approvedAt(now());
    await a.approvals.remember(policies, call, at);
    const [held] = await b.approvals.listRemembered();
    t.match(held?.entry, { policy: "ask", principal: { subject: "alice" }, target: "delete_file" });
    t.equal(await b.approvals.forget("A".repeat(22), "op"), undefined);
    t.ok(await b.approvals.forget(held?.entry.id ?? "", "op"));
    t.equal(await a.approvals.recall(policies, call), undefined);
    t.ok(b.overrides.isRevoked(at, alice, "/files"), "no copy of it comes back");
  });

  t.test(`${kind}: a call waits for a second person, who makes the same call`, async (t) => {
    const { a, b, now } = open(t);
    const policies = [policyOf({ quorum: {} })];
    const call = callOf(alice, { path: "/a" });
    const question = questionOf(policies, call);
    const at = approvedAt(now());
    t.equal(await b.approvals.waitingFor(policies, callOf(bob, { path: "/a" })), undefined);
    const first = await a.approvals.standing(policies, call, question, at);
    t.match(first, { outcome: "waiting", missing: 1 });
    t.match(await b.approvals.standing(policies, call, question, at), { outcome: "waiting", missing: 1 });
    for (const [name, other] of Object.entries({
      "the requester": call,
      "the requester by another client": callOf(person("alice", { client: "web" }), { path: "/a" }),
      "other arguments": callOf(bob, { path: "/b" }),
      "another route": callOf(bob, { path: "/a" }, { route: "/other" }),
      "another tool": callOf(bob, { path: "/a" }, { target: { kind: "tool", name: "x" } }),
      "somebody unknown": callOf(
        { anonymous: true, issuer: "", subject: "", groups: [], scopes: [] },
        { path: "/a" },
      ),
    }))
      t.equal(await b.approvals.waitingFor(policies, other), undefined, name);
    const bobs = callOf(bob, { path: "/a" });
    const waiting = await b.approvals.waitingFor(policies, bobs);
    t.match(waiting, { requester: { subject: "alice", client: "cli" } });
    const id = waiting?.id ?? "";
    t.equal(await b.approvals.vote(id, policies, call, true, approvedAt(now())), "own");
    t.equal(
      await b.approvals.vote(id, policies, callOf(bob, { path: "/b" }), true, approvedAt(now())),
      "closed",
    );
    t.equal(await b.approvals.vote(id, policies, bobs, true, approvedAt(now())), "approved");
    t.equal(await b.approvals.vote(id, policies, bobs, true, approvedAt(now())), "approved", "twice is once");
    t.equal(await b.approvals.waitingFor(policies, bobs), undefined, "he has said it");
    t.match(await a.approvals.standing(policies, call, question, at), {
      outcome: "met",
      approvers: [{ subject: "bob" }],
    });
    t.match(await b.approvals.standing(policies, call, question, at), { outcome: "met" }, "the same state");
    t.match(
      await b.approvals.standing(policies, call, question, { ...at, jti: "B".repeat(22) }),
      { outcome: "waiting" },
      "another state has no votes",
    );
  });

  t.test(`${kind}: keys rotated while a call waits`, async (t) => {
    const { a, b, now } = open(t);
    const policies = [policyOf({ quorum: { principals: 3 } })];
    const call = callOf(alice, { path: "/a" });
    const question = questionOf(policies, call);
    const at = approvedAt(now());
    await a.approvals.standing(policies, call, question, at);
    b.ring = ringOf("second", "first");
    const id = (await b.approvals.waitingFor(policies, callOf(bob, { path: "/a" })))?.id ?? "";
    t.equal(
      await b.approvals.vote(id, policies, callOf(bob, { path: "/a" }), true, approvedAt(now())),
      "approved",
    );
    t.match(await b.approvals.standing(policies, call, question, at), { outcome: "waiting", missing: 1 });
    a.ring = ringOf("second", "first");
    t.ok(await a.approvals.decide(id, true, "op"));
    for (const one of [a, b]) one.ring = ringOf("second", "first");
    t.match(await b.approvals.standing(policies, call, question, at), { outcome: "met" });
    t.match(await a.approvals.standing(policies, call, question, at), { outcome: "met" });
    t.match(await a.approvals.standing(policies, call, question, approvedAt(now())), { outcome: "waiting" });
  });

  t.test(`${kind}: two states of one caller, and one set of votes`, async (t) => {
    const { a, b, now } = open(t);
    const policies = [policyOf({ quorum: {} })];
    const call = callOf(alice, { path: "/a" });
    const question = questionOf(policies, call);
    const states = Array.from({ length: 8 }, () => approvedAt(now()));
    await a.approvals.standing(policies, call, question, states[0] ?? approvedAt(now()));
    const [entry] = await b.approvals.listWaiting();
    t.ok(await b.approvals.decide(entry?.id ?? "", true, "op"));
    const came = await Promise.all(
      states.map((at, n) => (n % 2 === 0 ? a : b).approvals.standing(policies, call, question, at)),
    );
    t.equal(came.filter(({ outcome }) => outcome === "met").length, 1);
  });

  t.test(
    `${kind}: as many as policy wants, of whom it takes, and every one of several policies`,
    async (t) => {
      const { a, b, now } = open(t);
      const policies = [
        policyOf({ quorum: { principals: 3 } }),
        policyOf({ quorum: { from: { groups: ["finance"] } } }, "money"),
      ];
      const call = callOf(alice, { sum: 5 });
      const question = questionOf(policies, call);
      const at = approvedAt(now());
      t.match(await a.approvals.standing(policies, call, question, at), { missing: 2 });
      const id = (await b.approvals.listWaiting())[0]?.id ?? "";
      const says = (who: typeof alice) =>
        b.approvals.vote(id, policies, callOf(who, { sum: 5 }), true, approvedAt(now()));
      t.equal(await says(bob), "approved");
      t.match(await a.approvals.standing(policies, call, question, at), { missing: 1 });
      t.equal(await says(person("bob", { client: "web" })), "approved");
      t.match(await a.approvals.standing(policies, call, question, at), { missing: 1 }, "the same person");
      t.equal(await says(person("dave")), "approved");
      t.match(await a.approvals.standing(policies, call, question, at), { missing: 1 }, "nobody of finance");
      t.equal(await says(carol), "approved");
      t.match(await a.approvals.standing(policies, call, question, at), { outcome: "met" });
    },
  );

  t.test(`${kind}: who may not approve is asked for his own call`, async (t) => {
    const { a, b, now } = open(t);
    const policies = [policyOf({ quorum: { from: { groups: ["finance"] } } })];
    const call = callOf(alice, { sum: 5 });
    await a.approvals.standing(policies, call, questionOf(policies, call), approvedAt(now()));
    const id = (await b.approvals.listWaiting())[0]?.id ?? "";
    t.equal(await b.approvals.waitingFor(policies, callOf(bob, { sum: 5 })), undefined);
    t.equal(
      await b.approvals.vote(id, policies, callOf(bob, { sum: 5 }), true, approvedAt(now())),
      "not_eligible",
    );
    t.equal((await b.approvals.waitingFor(policies, callOf(carol, { sum: 5 })))?.id, id);
  });

  t.test(`${kind}: the same subject of another issuer is another person`, async (t) => {
    const { a, b, now } = open(t);
    const policies = [policyOf({ quorum: {} })];
    const call = callOf(alice, { sum: 5 });
    await a.approvals.standing(policies, call, questionOf(policies, call), approvedAt(now()));
    const other = callOf(person("alice", { issuer: "https://other" }), { sum: 5 });
    const id = (await b.approvals.waitingFor(policies, other))?.id ?? "";
    t.equal(await b.approvals.vote(id, policies, other, true, approvedAt(now())), "approved");
  });

  t.test(`${kind}: a no is a no, whatever was said before; asked anew it waits anew`, async (t) => {
    const { a, b, now } = open(t);
    const policies = [policyOf({ quorum: { principals: 3 } })];
    const call = callOf(alice, { sum: 5 });
    const question = questionOf(policies, call);
    const at = approvedAt(now());
    await a.approvals.standing(policies, call, question, at);
    const id = (await b.approvals.listWaiting())[0]?.id ?? "";
    t.equal(
      await b.approvals.vote(id, policies, callOf(bob, { sum: 5 }), true, approvedAt(now())),
      "approved",
    );
    t.equal(
      await b.approvals.vote(id, policies, callOf(bob, { sum: 5 }), false, approvedAt(now())),
      "denied",
    );
    t.equal(
      await b.approvals.vote(id, policies, callOf(carol, { sum: 5 }), true, approvedAt(now())),
      "closed",
    );
    t.match(await a.approvals.standing(policies, call, question, at), {
      outcome: "denied",
      by: { subject: "bob" },
    });
    t.equal((await b.approvals.listWaiting()).length, 0);
    const again = await a.approvals.standing(policies, call, question, approvedAt(now()));
    t.match(again, { outcome: "waiting", missing: 2 }, "without what was said before");
  });

  t.test(`${kind}: operators have one word together, and may say no`, async (t) => {
    const { a, b, now } = open(t);
    const policies = [policyOf({ quorum: { principals: 3, from: { groups: ["finance"] } } })];
    const call = callOf(alice, { token: "s3cret-s3cret", sum: 5 });
    const question = questionOf(policies, call);
    const at = approvedAt(now());
    await a.approvals.standing(policies, call, question, at);
    const [entry] = await b.approvals.listWaiting();
    t.match(entry, { code: "0BADC0DE", needs: { ask: 3 }, requester: { subject: "alice" } });
    t.match(entry?.message, /token: \(hidden\)/);
    t.notMatch(JSON.stringify(entry), /s3cret/);
    const id = entry?.id ?? "";
    t.match(await b.approvals.decide(id, true, "one"), { counts: true });
    t.match(await a.approvals.decide(id, true, "two"), {
      counts: false,
      entry: { votes: [{ by: { operator: "one" } }] },
    });
    t.match(await a.approvals.standing(policies, call, question, at), { outcome: "waiting", missing: 1 });
    t.equal(await a.approvals.decide("A".repeat(22), true, "one"), undefined);
    t.ok(await a.approvals.decide(id, false, "two"));
    t.match(await b.approvals.standing(policies, call, question, at), {
      outcome: "denied",
      by: { operator: "two" },
    });
    t.equal(await a.approvals.decide(id, true, "one"), undefined, "it is over");
  });

  t.test(`${kind}: votes at once are all counted`, async (t) => {
    const { a, b, now } = open(t);
    const policies = [policyOf({ quorum: { principals: 5 } })];
    const call = callOf(alice, { sum: 5 });
    const question = questionOf(policies, call);
    const at = approvedAt(now());
    await a.approvals.standing(policies, call, question, at);
    const id = (await b.approvals.listWaiting())[0]?.id ?? "";
    await Promise.all(
      ["b", "c", "d", "e"].map((name, n) =>
        (n % 2 === 0 ? a : b).approvals.vote(
          id,
          policies,
          callOf(person(name), { sum: 5 }),
          true,
          approvedAt(now()),
        ),
      ),
    );
    t.match(await a.approvals.standing(policies, call, question, at), { outcome: "met" });
  });

  t.test(`${kind}: the word of who was revoked since counts no more`, async (t) => {
    const { a, b, now } = open(t);
    const policies = [policyOf({ quorum: {} })];
    const call = callOf(alice, { sum: 5 });
    const question = questionOf(policies, call);
    const at = approvedAt(now());
    await a.approvals.standing(policies, call, question, at);
    const id = (await b.approvals.listWaiting())[0]?.id ?? "";
    await b.approvals.vote(id, policies, callOf(bob, { sum: 5 }), true, approvedAt(now()));
    const { issuer, subject } = bob;
    await a.overrides.revoke({ target: { principal: { issuer, subject } }, by: "op" });
    t.match(await a.approvals.standing(policies, call, question, at), { outcome: "waiting", missing: 1 });
  });

  t.test(
    `${kind}: who was revoked and comes back may say it again; who is not needed takes nobody's place`,
    async (t) => {
      const { a, b, now } = open(t);
      const policies = [
        policyOf({ quorum: {} }),
        policyOf({ quorum: { principals: 3, from: { groups: ["finance"] } } }, "money"),
      ];
      const call = callOf(alice, { sum: 5 });
      const question = questionOf(policies, call);
      const at = approvedAt(now() - 10_000);
      await a.approvals.standing(policies, call, question, at);
      const id = (await b.approvals.listWaiting())[0]?.id ?? "";
      for (let n = 0; n < 70; n++)
        t.equal(
          await b.approvals.vote(id, policies, callOf(person(`p${n}`), { sum: 5 }), true, approvedAt(now())),
          "approved",
        );
      const [entry] = await b.approvals.listWaiting();
      t.match(entry?.votes, [{ by: { subject: "p0" } }]);
      t.equal(entry?.votes.length, 1, "one of them was needed");
      const others = callOf(person("p99"), { sum: 5 });
      t.equal(await b.approvals.waitingFor(policies, others), undefined, "nobody is asked who is not");
      for (const subject of ["carol", "dave"]) {
        const who = person(subject, { groups: ["finance"] });
        t.ok(await b.approvals.waitingFor(policies, callOf(who, { sum: 5 })));
        t.equal(
          await b.approvals.vote(id, policies, callOf(who, { sum: 5 }), true, approvedAt(now())),
          "approved",
        );
      }
      await a.overrides.revoke({
        target: { principal: { issuer: "https://idp.example", subject: "dave" } },
        by: "op",
      });
      t.match(await a.approvals.standing(policies, call, question, at), { missing: 1 });
    },
  );

  t.test(`${kind}: of one caller no more wait than fit`, async (t) => {
    const { a, now } = open(t);
    const policies = [policyOf({ quorum: {} })];
    const came: string[] = [];
    for (let n = 0; n < 21; n++) {
      const call = callOf(alice, { n });
      came.push(
        (await a.approvals.standing(policies, call, questionOf(policies, call), approvedAt(now()))).outcome,
      );
    }
    t.same(came, [...Array<string>(20).fill("waiting"), "full"]);
    const call = callOf(bob, { n: 0 });
    t.match(await a.approvals.standing(policies, call, questionOf(policies, call), approvedAt(now())), {
      outcome: "waiting",
    });
  });
}

t.test(
  "time: what is remembered ends, and nobody approves what was over; by the clock of the store",
  async (t) => {
    const clock = { now: 1_800_000_000_000 };
    const now = () => clock.now;
    const shelf = createMemoryShelf(now);
    const { approvals } = replicaOn(shelf, now);
    const remembering = [policyOf({ remember: "10m" })];
    const call = callOf(alice, { sum: 5 });
    await approvals.remember(remembering, call, approvedAt(now()));
    clock.now += 599_999;
    t.ok(await approvals.recall(remembering, call));
    clock.now += 1;
    t.equal(await approvals.recall(remembering, call), undefined);

    const policies = [policyOf({ quorum: { within: "2m" } })];
    const question = questionOf(policies, call);
    const at = approvedAt(now());
    await approvals.standing(policies, call, question, at);
    const id = (await approvals.listWaiting())[0]?.id ?? "";
    clock.now += 120_000;
    t.equal(await approvals.waitingFor(policies, callOf(bob, { sum: 5 })), undefined);
    t.equal(await approvals.vote(id, policies, callOf(bob, { sum: 5 }), true, approvedAt(now())), "closed");
    t.match(await approvals.standing(policies, call, question, at), { outcome: "expired" });
    t.match(await approvals.standing(policies, call, question, approvedAt(now())), { outcome: "waiting" });
  },
);

t.test("the time for others is never longer than the state of the call lives", async (t) => {
  const clock = { now: 1_800_000_000_000 };
  const now = () => clock.now;
  const { approvals } = replicaOn(createMemoryShelf(now), now);
  const policies = [policyOf({ quorum: { within: "1h" } })];
  const call = callOf(alice, { sum: 5 });
  await approvals.standing(policies, call, questionOf(policies, call), approvedAt(now(), { ttl: 60 }));
  const [entry] = await approvals.listWaiting();
  t.equal(entry?.deadline, clock.now + 60_000);
});
