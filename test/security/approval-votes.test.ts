/**
 * Approvals of others that must not count: of who may not make the call, of before a revocation, and after a no. Two replicas, one Redis;
 * what the server carries out is counted.
 */
import t from "tap";
import { PAY, questionIn, reply, setScene } from "../integration/approvers.ts";
import { ask, set } from "../integration/operators.ts";
import type { Reply } from "../support/gateway.ts";

const TWO = { id: "two", effect: "approve", tools: ["trans*"], approval: { quorum: {} } };
const pending = { json: { error: { data: { reason: "approval_pending", missing: 1 } } } };
const ran = { json: { result: { resultType: "complete", content: [{ text: "done" }] } } };
const keyOf = (asked: Reply): string | undefined => Object.keys(asked.json?.result?.inputRequests ?? {})[0];

const DENIED = { id: "no", effect: "deny", principal: { subjects: ["bob"] }, tools: ["transfer"] };

t.test("who is denied the tool approves for nobody, and is not told that it waits", async (t) => {
  const { a, b, alice, bob, carol, runs } = await setScene(t, [TWO, DENIED]);
  const own = questionIn(await a.call(PAY, alice));
  t.match(await reply(a, own, alice), pending);
  for (const round of [1, 2]) {
    const asked = questionIn(await b.call(PAY, bob));
    t.equal(asked.key, "approval", "as about a name that nobody has");
    t.notMatch(asked.message, /alice|somebody else/);
    await reply(b, asked, bob);
    // The id of what waits is no way in either.
    const { id } = (await ask(a, "/v1/approvals")).json.waiting[0];
    await reply(b, { ...asked, key: `approval/${id}` }, bob);
    t.match(await reply(a, own, alice), pending, `after ${round}`);
  }
  const theirs = questionIn(await b.call(PAY, carol));
  t.match(theirs.key, /^approval\//, "who may make the call may approve it");
  await reply(b, theirs, carol);
  t.match(await reply(a, own, alice), ran);
  t.equal(runs(), 1);
});

t.test("who is denied these arguments is not asked at all", async (t) => {
  const denied = { ...DENIED, arguments: [{ path: "/to", equals: "acct-9" }] };
  const { a, b, alice, bob } = await setScene(t, [TWO, denied]);
  await reply(a, questionIn(await a.call(PAY, alice)), alice);
  t.match(await b.call(PAY, bob), {
    status: 403,
    json: { error: { data: { reason: "arguments_forbidden" } } },
  });
});

t.test("who was asked, and is denied before the answer, approves nothing", async (t) => {
  const { a, b, alice, bob, runs, configure } = await setScene(t, [TWO]);
  const own = questionIn(await a.call(PAY, alice));
  await reply(a, own, alice);
  const theirs = questionIn(await b.call(PAY, bob));
  await configure([TWO, { id: "no", effect: "deny", principal: { subjects: ["bob"] }, tools: ["transfer"] }]);
  t.match((await reply(b, theirs, bob)).json, { error: {} });
  t.match(await reply(a, own, alice), pending);
  t.equal(runs(), 0);
});

t.test("two who are denied are told of each other as where nobody has the name", async (t) => {
  const denied = { id: "no", effect: "deny", tools: ["transfer"], principal: { subjects: ["bob", "carol"] } };
  const { a, alice, bob, carol } = await setScene(t, [TWO, denied]);
  const seen = async (name: string) => {
    const message = { ...PAY, params: { ...PAY.params, name } };
    const first = questionIn(await a.call(message, bob));
    const waits = await reply(a, first, bob, undefined, message);
    const second = questionIn(await a.call(message, carol));
    return [first.key, waits.json.error?.data?.reason, second.key.replace(/[\w-]{22}$/, "ID")];
  };
  await reply(a, questionIn(await a.call(PAY, alice)), alice);
  t.same(await seen("transfer"), await seen("transform"));
});

t.test(
  "what was approved before its caller, its chain or its route was revoked is not for the next call",
  async (t) => {
    for (const what of ["principal", "chain", "route"]) {
      const { a, b, alice, bob, carol, runs, issuer } = await setScene(t, [TWO]);
      const own = questionIn(await a.call(PAY, alice));
      t.match(await reply(a, own, alice), pending);
      const { chain } = a.audit.at(-1) ?? {};
      await reply(b, questionIn(await b.call(PAY, bob)), bob);
      const { id } = (await ask(a, "/v1/approvals")).json.waiting[0];
      const target = { principal: { issuer, subject: "alice" }, chain, route: "/mcp" };
      await set(a, "revocations", { [what]: target[what as "chain"] });
      t.equal(keyOf(await a.call(PAY, carol)), "approval", "nobody is asked to approve it");
      t.same((await ask(a, "/v1/approvals")).json.waiting, []);
      t.equal((await ask(a, `/v1/approvals/${id}`, { body: { decision: "approve" } })).status, 404);
      const again = questionIn(await a.call(PAY, alice));
      t.match(await reply(a, again, alice), pending, `${what}: begins anew`);
      const old = await reply(a, own, alice);
      t.match(old.json, { error: { data: { reason: "invalid_request_state" } } });
      t.equal(runs(), 0);
      await reply(a, questionIn(await a.call(PAY, carol)), carol);
      t.match(await reply(a, again, alice), ran, "and runs on what is said now");
      t.equal(runs(), 1);
    }
  },
);

t.test("the word of who was revoked is gone from the list, and a new one counts at once", async (t) => {
  for (const what of ["principal", "chain"]) {
    const { a, b, alice, bob, runs, issuer } = await setScene(t, [
      { ...TWO, approval: { quorum: { principals: 3 } } },
    ]);
    const own = questionIn(await a.call(PAY, alice));
    await reply(a, own, alice);
    const begun = questionIn(await b.call(PAY, bob));
    await reply(b, begun, bob);
    const { chain } = b.audit.at(-1) ?? {};
    const { id } = (await ask(a, "/v1/approvals")).json.waiting[0];
    await ask(a, `/v1/approvals/${id}`, { body: { decision: "approve", by: "ops" } });
    const listed = async () => (await ask(a, "/v1/approvals")).json.waiting[0];
    t.match(await listed(), { missing: 0, approvedBy: [{ subject: "bob" }, { operator: "ops" }] });
    const target = { principal: { issuer, subject: "bob" }, chain };
    for (const gateway of [a, b]) await set(gateway, "revocations", { [what]: target[what as "chain"] });
    const { approvedBy, missing } = await listed();
    t.same([approvedBy, missing], [[{ operator: "ops" }], 1], what);
    t.match(await reply(a, own, alice), pending, "and does not count");
    await reply(b, begun, bob);
    t.match(await reply(a, own, alice), pending, "nor does one whose question is from before");
    await reply(b, questionIn(await b.call(PAY, bob)), bob);
    t.match(await listed(), { missing: 0 });
    t.match(await reply(a, own, alice), ran);
    t.equal(runs(), 1);
  }
});

t.test("a no of its own caller ends it, whatever the others have said", async (t) => {
  const { a, b, alice, bob, carol, runs } = await setScene(t, [TWO]);
  const own = questionIn(await a.call(PAY, alice));
  await reply(a, own, alice);
  await reply(b, questionIn(await b.call(PAY, bob)), bob);
  t.match((await reply(a, own, alice, { action: "decline" })).json, { result: { isError: true } });
  t.equal(keyOf(await b.call(PAY, carol)), "approval");
  t.same((await ask(b, "/v1/approvals")).json.waiting, []);
  const again = questionIn(await a.call(PAY, alice));
  t.match(await reply(a, again, alice), pending);
  t.equal(runs(), 0);
  // Who only closes it has said nothing, and the others' word stands.
  await reply(b, questionIn(await b.call(PAY, bob)), bob);
  await reply(a, again, alice, { action: "cancel" });
  t.match(await reply(b, questionIn(await b.call(PAY, alice)), alice), ran);
  t.equal(runs(), 1);
});
