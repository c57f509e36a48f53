/** What a replica knows of the store: which values count, which win, and what is put back. */
import t from "tap";
import { loadKeyring } from "../../../src/keyring.ts";
import type { Entry, Revocation } from "../../../src/overrides/entry.ts";
import { Ledger } from "../../../src/overrides/ledger.ts";
import { AHEAD_SECONDS, makeRemoval, TTL_MS } from "../../../src/overrides/orders.ts";
import { readEntry, type Signing, signEntry } from "../../../src/overrides/signature.ts";
import { grant, NOW, revocation, SECOND } from "./entries.ts";

const key = (id: string) => ({ id, secret: Buffer.alloc(32, id) });
const signing = (primary: string, ...others: string[]): Signing => ({
  ring: loadKeyring([primary, ...others].map(key), primary),
  audience: "https://gateway.example",
});
const OURS = signing("a");
const STRANGER = signing("z");

const allow = grant({ capability: ["roots"] });
const deny = grant({ effect: "deny", tool: "x" });
const hit = revocation({ route: "/mcp" });

/** A store, as pairs of what lies in it. */
const store = (by: Signing, ...entries: Entry[]): [string, string][] =>
  entries.map((entry) => [entry.id, signEntry(by, entry, NOW)]);
const inForce = (ledger: Ledger, now = NOW): Entry[] => ledger.live(now).map(({ entry }) => entry);

t.test("a signature is for one text, one key and one audience", async (t) => {
  const value = signEntry(OURS, allow, NOW);
  t.match(readEntry(OURS, allow.id, value), { entry: allow, authentic: true });
  t.match(readEntry(signing("b", "a"), allow.id, value), { authentic: true }, "any key of the ring");
  t.match(readEntry(STRANGER, allow.id, value), { authentic: false });
  t.match(readEntry({ ...OURS, audience: "https://other.example" }, allow.id, value), { authentic: false });
  t.match(readEntry(OURS, allow.id, value.replace('"roots"', '"sampling"')), { authentic: false });
  const later = value.replaceAll(String(allow.until), String(allow.until + 1));
  t.match(readEntry(OURS, allow.id, later), { authentic: false });
  t.equal(
    readEntry(OURS, allow.id, value.replace(String(allow.until), "1")),
    undefined,
    "two times of expiry",
  );
  t.equal(readEntry(OURS, deny.id, value), undefined, "under the id of another");
  for (const bad of [
    "",
    "x",
    value.slice(1),
    value.replace(".", ""),
    `${value} `,
    value.replace(/\{.*/, "{}"),
  ])
    t.equal(readEntry(OURS, allow.id, bad), undefined, bad.slice(0, 20));
});

t.test("unsigned: what forbids counts, what allows or takes back does not", async (t) => {
  const ledger = new Ledger();
  t.equal(ledger.take(store(STRANGER, allow, deny, hit), OURS, NOW), 1);
  t.same(inForce(ledger), [deny, hit]);
  t.equal(ledger.take(store(STRANGER, makeRemoval(deny, "x", NOW), hit), OURS, NOW), 1);
  t.same(inForce(ledger), [deny, hit]);
  const forever = grant({ effect: "deny", tool: "x", until: NOW + TTL_MS.most + 1 });
  t.equal(new Ledger().take(store(STRANGER, forever), OURS, NOW), 1, "nobody orders one for so long");
  t.equal(ledger.take(store(OURS, makeRemoval(deny, "x", NOW), hit), OURS, NOW), 0);
  t.match(inForce(ledger), [{ kind: "removal" }, hit], "a signed removal takes an unsigned denial back");
});

t.test("what is signed is not lost to what is not, and is put back", async (t) => {
  const ledger = new Ledger();
  ledger.take(store(OURS, allow, deny, hit), OURS, NOW);
  t.same(ledger.owed(OURS, NOW, false), []);
  const weaker = grant({ ...deny, tool: "nothing" });
  const planted: [string, string][] = [...store(STRANGER, weaker), [hit.id, "rubbish"]];
  t.equal(ledger.take(planted, OURS, NOW), 1);
  t.same(inForce(ledger), [allow, deny, hit]);
  t.same(
    ledger.owed(OURS, NOW, false),
    store(OURS, allow, deny, hit).map(([id, value]) => {
      return { id, value, instead: planted.find(([other]) => other === id)?.[1] ?? "", signed: true };
    }),
  );
});

t.test("a removal stays a removal, whatever comes back", async (t) => {
  const ledger = new Ledger();
  const removal = makeRemoval(allow, "x", NOW);
  ledger.take(store(OURS, allow), OURS, NOW);
  ledger.take(store(OURS, removal), OURS, NOW);
  ledger.take(store(OURS, allow), OURS, NOW);
  t.same(inForce(ledger), [removal]);
  t.match(ledger.owed(OURS, NOW, false), [{ id: allow.id, value: signEntry(OURS, removal, NOW) }]);
  t.same(ledger.owed(OURS, removal.until, false), [], "until the grant would have expired");
});

t.test("what has expired is neither taken, nor kept, nor put back", async (t) => {
  const ledger = new Ledger();
  ledger.take(store(OURS, allow), OURS, NOW);
  t.notOk(ledger.sweep(NOW));
  t.same(ledger.take([], OURS, allow.until), 0);
  t.same(ledger.owed(OURS, allow.until, true), []);
  t.ok(ledger.sweep(allow.until));
  t.equal(ledger.find(allow.id), undefined);
  ledger.take(store(OURS, allow), OURS, allow.until);
  t.equal(ledger.find(allow.id), undefined);
});

t.test(
  "a rotation of keys: signed again with the one that seals, without a fight between replicas",
  async (t) => {
    const [before, after] = [signing("a", "b"), signing("b", "a")];
    const stored = new Map(store(before, allow, hit));
    const [early, late] = [new Ledger(), new Ledger()];
    const settle = (ledger: Ledger, by: Signing, signsAgain: boolean): number => {
      ledger.take(stored, by, NOW);
      const owed = ledger.owed(by, NOW, signsAgain);
      for (const { id, value } of owed) stored.set(id, value);
      return owed.length;
    };
    t.equal(settle(early, after, true), 2);
    t.equal(settle(late, before, false), 0, "who has not promoted yet leaves it");
    t.equal(settle(early, after, true), 0);
    t.equal(settle(late, after, true), 0);
    const removed = signing("b");
    t.equal(settle(early, removed, true), 0);
    const fresh = new Ledger();
    t.equal(fresh.take(stored, removed, NOW), 0);
    t.same(inForce(fresh), [allow, hit], "good without the key that is gone");
  },
);

t.test(
  "a key that leaves at once takes no denial with it, and what a replica knows it signs again",
  async (t) => {
    const stored = new Map(store(OURS, allow, deny));
    const [running, started] = [new Ledger(), new Ledger()];
    running.take(stored, OURS, NOW);
    const next = signing("b");
    t.equal(started.take(stored, next, NOW), 1);
    t.same(inForce(started), [deny]);
    running.take(stored, next, NOW);
    for (const { id, value } of running.owed(next, NOW, true)) stored.set(id, value);
    t.equal(started.take(stored, next, NOW), 0);
    t.same(inForce(started).length, 2);
  },
);

t.test("the newest birth that a chain can have, for what is to be revoked", async (t) => {
  const ledger = new Ledger();
  const [alice, bob] = ["alice", "bob"].map((subject) => ({ principal: { issuer: "i", subject } }));
  const newest = (target: Revocation["target"] = { route: "/mcp" }) => ledger.newest(target, NOW);
  t.equal(newest(), 0);
  const taken = revocation(
    { principal: { issuer: "i", subject: "alice", client: "c" } },
    { bornBefore: SECOND + 9 },
  );
  ledger.take(store(OURS, hit, taken, allow), OURS, NOW);
  t.equal(newest(), SECOND + 9, "a caller's chains are a route's too");
  t.equal(newest({ chain: "A".repeat(22) }), SECOND + 9);
  t.equal(newest(alice), SECOND + 9, "in whatever client");
  t.equal(newest(bob), SECOND, "not by what somebody else's were dated by");
  t.equal(newest({ route: "/" }), SECOND + 9);
  ledger.take(store(OURS, hit, makeRemoval(taken, "x", NOW)), OURS, NOW);
  t.equal(newest(), SECOND + 9, "also once that was taken back");
  const chain = revocation({ chain: "A".repeat(22) }, { bornBefore: SECOND + 30 });
  const far = revocation({ route: "/mcp" }, { bornBefore: SECOND + AHEAD_SECONDS.most + 1 });
  ledger.take(store(OURS, chain, far), OURS, NOW);
  t.equal(newest(), SECOND + 9, "one chain dates no other, and nothing is dated so far ahead");
});

t.test("unsigned revocations date chains by little", async (t) => {
  const ledger = new Ledger();
  const at = (ahead: number) => revocation({ route: "/mcp" }, { bornBefore: SECOND + ahead });
  const [near, far] = [at(AHEAD_SECONDS.unsigned), at(AHEAD_SECONDS.unsigned + 1)];
  t.equal(ledger.take(store(STRANGER, near, far), OURS, NOW), 1);
  t.same(inForce(ledger), [near]);
  t.equal(ledger.newest({ route: "/mcp" }, NOW), near.bornBefore, "what has dated chains is passed");
});

t.test("a grant that was taken back with a key that is not known stays away", async (t) => {
  const removal = makeRemoval(allow, "x", NOW);
  const [gone] = store(STRANGER, removal);
  const [back] = store(OURS, allow);
  const denial = grant({ effect: "deny", tool: "x", id: allow.id });
  if (gone === undefined || back === undefined) throw new Error("nothing stored");
  for (const order of [
    [back, gone],
    [gone, back],
    [gone],
    [back, gone, back, ...store(STRANGER, denial), back],
  ]) {
    const ledger = new Ledger();
    for (const pair of order) ledger.take([pair], OURS, NOW);
    const counting = inForce(ledger).filter(({ kind }) => kind === "grant");
    t.notOk(
      counting.some((entry) => "effect" in entry && entry.effect === "allow"),
      String(order.length),
    );
  }
  const ledger = new Ledger();
  for (const pair of [back, gone]) ledger.take([pair], OURS, NOW);
  t.same(ledger.owed(OURS, NOW, true), [], "nor is it written over");
  ledger.take([], OURS, NOW);
  t.match(ledger.owed(OURS, NOW, true), [{ value: gone[1], instead: "", signed: false }]);
  ledger.take([back], OURS, NOW);
  t.match(ledger.owed(OURS, NOW, true), [{ value: gone[1], instead: back[1] }], "for those who start later");
  ledger.take(store(OURS, removal), OURS, NOW);
  t.match(ledger.live(NOW), [{ entry: removal, authentic: true }]);
});

t.test("what nobody has signed is taken out of a full store, and nothing else", async (t) => {
  const ledger = new Ledger();
  ledger.take(store(OURS, hit), OURS, NOW);
  const strange: [string, string][] = [...store(STRANGER, deny, allow), ["x", "junk"]];
  const overwritten: [string, string][] = [[hit.id, "junk"], ...strange];
  t.same(
    ledger.dropStrangers(overwritten, OURS),
    strange.map(([id]) => id),
  );
  ledger.take(overwritten, OURS, NOW);
  t.same(
    ledger.dropStrange(),
    strange.map(([id]) => id),
    "what is put back is not taken out",
  );
  ledger.take([], OURS, NOW);
  t.match(
    ledger.owed(OURS, NOW, false),
    [{ id: hit.id, signed: true }],
    "and what is not does not come back",
  );
  t.same(inForce(ledger), [hit, deny], "though it forbids as before");
});

t.test("a value is judged once, until keys change or time has passed", async (t) => {
  let macs = 0;
  const ring = Object.create(OURS.ring, {
    find: {
      value: (id: Uint8Array) => {
        macs += 1;
        return OURS.ring.find(id);
      },
    },
  }) as Signing["ring"];
  const counting = { ...OURS, ring };
  const ledger = new Ledger();
  const values = [...store(OURS, hit), ...store(STRANGER, allow, deny)];
  ledger.take(values, counting, NOW);
  t.equal(macs, 3);
  const { changes } = ledger;
  t.equal(ledger.take(values, counting, NOW), 1);
  t.equal(macs, 3);
  t.equal(ledger.changes, changes);
  ledger.forgetVerdicts();
  t.equal(ledger.take(values, counting, NOW), 1);
  t.equal(macs, 5, "but what is signed stays so");
});
