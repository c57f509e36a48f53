/**
 * Approvals that need others, over two replicas and one Redis: what the server carries out is counted, nobody holds a connection open,
 * and nothing is spent while something is missing.
 */
import { join } from "node:path";
import t from "tap";
import { storyOf } from "../../src/audit/story.ts";
import { sealgate } from "../support/program.ts";
import { connectSdkClient, outcome } from "../support/sdk-client.ts";
import { until } from "../support/until.ts";
import { PAY, questionIn, reply, setScene, yes } from "./approvers.ts";
import { ask, commandConfig, KEY, TOKEN } from "./operators.ts";

const TWO = { id: "two", effect: "approve", tools: ["transfer"], approval: { quorum: {} } };
const pending = { json: { error: { code: -32603, data: { reason: "approval_pending", missing: 1 } } } };
const ran = { json: { result: { resultType: "complete" } } };

t.test("a second person, in a call of theirs on another replica", async (t) => {
  const scene = await setScene(t, [TWO]);
  const { a, b, alice, bob, runs } = scene;
  const own = questionIn(await a.call(PAY, alice));
  t.equal(own.key, "approval");
  const waits = await reply(a, own, alice);
  t.match(waits, pending);
  t.equal(waits.headers["retry-after"], "5");
  t.match(await reply(b, own, alice), pending, "nothing was spent, on either replica");
  t.equal(runs(), 0);

  const theirs = questionIn(await b.call(PAY, bob));
  t.match(theirs.key, /^approval\/[\w-]{22}$/);
  t.match(theirs.message, /^Approve this call of somebody else\? It runs as theirs; yours does not run\./);
  t.match(theirs.message, /asked for by: `alice` of `http/);
  t.notMatch(theirs.message, /s3cret/);
  const code = /Code: (\w+)$/;
  t.equal(code.exec(theirs.message)?.[1], code.exec(own.message)?.[1], "both see one code");
  const said = await reply(b, theirs, bob);
  t.match(said.json, { result: { isError: true, content: [{ type: "text" }] } });
  t.match(b.audit.at(-1), { approval: { waiting: theirs.key.slice(9), action: "accept" } });
  t.equal(runs(), 0, "his call is not sent on");

  t.match(await reply(a, own, alice), ran);
  t.equal(runs(), 1);
  t.match(a.audit.at(-1), { approval: { action: "accept", others: [{ subject: "bob" }] } });
  t.match((await reply(b, own, alice)).json, { error: { data: { reason: "already_redeemed" } } });
  t.match((await reply(b, theirs, bob)).json, { error: { data: { reason: "already_redeemed" } } });
  t.equal(runs(), 1);
  t.match(await reply(a, questionIn(await a.call(PAY, alice)), alice), pending, "one run for one yes");
});

t.test("who calls again finds the approvals that came meanwhile", async (t) => {
  const { a, b, alice, bob, runs } = await setScene(t, [TWO]);
  t.match(await reply(a, questionIn(await a.call(PAY, alice)), alice), pending);
  await reply(b, questionIn(await b.call(PAY, bob)), bob);
  t.match(await reply(b, questionIn(await b.call(PAY, alice)), alice), ran);
  t.equal(runs(), 1);
});

t.test("no, and neither", async (t) => {
  const { a, b, alice, bob, carol, runs } = await setScene(t, [TWO]);
  const own = questionIn(await a.call(PAY, alice));
  await reply(a, own, alice);
  const cancelled = questionIn(await b.call(PAY, bob));
  t.match((await reply(b, cancelled, bob, { action: "cancel" })).json, { result: { isError: true } });
  t.match(await reply(a, own, alice), pending, "who closes the question says nothing");
  const declined = questionIn(await b.call(PAY, carol));
  await reply(b, declined, carol, { action: "decline" });
  const refused = await reply(a, own, alice);
  t.match(refused.json, { result: { isError: true, content: [{ text: /did not/ }] } });
  t.match(a.audit.at(-1), { code: "approval_declined", cause: "denied" });
  t.match((await reply(a, own, alice, { action: "accept", content: { x: 1 } })).json, {
    error: { data: { reason: "already_redeemed" } },
  });
  t.equal(runs(), 0);
});

t.test("nobody approves for himself; the same name at another issuer is somebody else", async (t) => {
  const { a, b, alice, otherAlice, runs } = await setScene(t, [TWO]);
  const own = questionIn(await a.call(PAY, alice));
  await reply(a, own, alice);
  const again = questionIn(await b.call(PAY, alice));
  t.equal(again.key, "approval", "asked for a call of one's own");
  t.match(await reply(b, again, alice), pending);
  const other = questionIn(await b.call(PAY, otherAlice));
  t.match(other.key, /^approval\//);
  await reply(b, other, otherAlice);
  t.match(await reply(a, again, alice), ran);
  t.equal(runs(), 1);
  t.match(await reply(a, own, alice), pending, "the other state has no votes");
});

t.test(
  "only whom policy takes may approve; and of a question for one call nothing follows for another",
  async (t) => {
    const finance = { ...TWO, approval: { quorum: { from: { groups: ["finance"] } } } };
    const { a, b, alice, bob, carol, runs } = await setScene(t, [finance]);
    const own = questionIn(await a.call(PAY, alice));
    await reply(a, own, alice);
    t.equal(questionIn(await b.call(PAY, bob)).key, "approval");
    const other = { ...PAY, params: { ...PAY.params, arguments: { to: "acct-9", amount: 51 } } };
    t.equal(questionIn(await b.call(other, carol)).key, "approval", "another sum");
    const theirs = questionIn(await b.call(PAY, carol));
    t.match(theirs.key, /^approval\//);
    for (const attempt of [
      await reply(b, theirs, carol, yes(), other),
      await reply(b, theirs, bob),
      await reply(b, theirs, alice),
      await reply(b, { ...theirs, key: "approval" }, carol),
      await reply(b, { ...theirs, state: own.state }, carol),
      await reply(a, { ...own, state: theirs.state }, alice),
    ])
      t.match(attempt.json, { error: { data: { reason: /invalid_request_state|invalid_input_responses/ } } });
    t.equal(runs(), 0);
    await reply(b, theirs, carol);
    t.match(await reply(a, own, alice), ran);
  },
);

t.test("with the SDK's own clients, which make their calls anew", async (t) => {
  const { a, b, alice, bob, runs } = await setScene(t, [TWO]);
  const connect = async (gateway: typeof a, { token = "" }: typeof alice) => {
    const authProvider = { token: async () => token };
    const made = await connectSdkClient(`${gateway.url}/mcp`, { authProvider });
    t.teardown(() => made.client.close());
    return made;
  };
  const [hers, his] = [await connect(a, alice), await connect(b, bob)];
  const before = runs();
  const pay = (made: typeof hers) =>
    outcome(made.client.callTool({ name: "transfer", arguments: { to: "acct-9", amount: 50 } }));
  t.match(await pay(hers), { error: { data: { reason: "approval_pending" } } });
  t.match(await pay(his), { result: { isError: true } });
  t.match(his.asked, [{ message: /somebody else/ }]);
  t.equal(runs(), before);
  t.match(await pay(hers), { result: { content: [{ text: "done" }] } });
  t.equal(runs(), before + 1, "one run");
  t.match(await pay(hers), { error: { data: { reason: "approval_pending" } } });
  t.equal(runs(), before + 1);
});

t.test("a typed confirmation, of each of them", async (t) => {
  const typed = { ...TWO, approval: { quorum: {}, confirm: "{arguments.to}" } };
  const { a, b, alice, bob } = await setScene(t, [typed]);
  const own = questionIn(await a.call(PAY, alice));
  const wrong = { error: { data: { reason: "invalid_input_responses", field: "confirm" } } };
  t.match((await reply(a, own, alice, yes({ confirm: "acct-8" }))).json, wrong);
  t.match(a.audit.at(-1), { cause: "not_confirmed", approval: { policies: ["two"] } });
  t.match(await reply(a, own, alice, yes({ confirm: "acct-9" })), pending);
  const theirs = questionIn(await b.call(PAY, bob));
  t.match((await reply(b, theirs, bob)).json, wrong);
  await reply(b, theirs, bob, yes({ confirm: "acct-9" }));
  t.match(await reply(a, own, alice, yes({ confirm: "acct-9" })), ran);
});

t.test("the window is over", async (t) => {
  const short = { ...TWO, approval: { quorum: { within: "1s" } } };
  const { a, b, alice, bob, runs } = await setScene(t, [short]);
  const own = questionIn(await a.call(PAY, alice));
  t.match(await reply(a, own, alice), pending);
  const theirs = questionIn(await b.call(PAY, bob));
  await until(async () => {
    const { json } = await reply(a, own, alice);
    return json.error.data.reason === "invalid_request_state";
  });
  t.match(a.audit.at(-1), { cause: "expired" });
  await reply(b, theirs, bob);
  t.match(b.audit.at(-1), { cause: "closed" });
  t.match((await reply(a, own, alice)).json, { error: { data: { reason: "invalid_request_state" } } });
  t.equal(runs(), 0);
});

t.test("Redis killed in between: nothing runs, nothing is spent, and it goes on", async (t) => {
  const { a, b, alice, bob, redis, runs } = await setScene(t, [TWO], {
    redemption: { store: "redis", epoch: "off" },
  });
  const own = questionIn(await a.call(PAY, alice));
  t.match(await reply(a, own, alice), pending);
  await redis.stop("SIGKILL");
  t.match((await reply(a, own, alice)).json, { error: { data: { reason: "store_unavailable" } } });
  t.equal((await b.call(PAY, bob)).status, 503, "nobody knows whose call it is");
  await redis.start();
  await until(async () => (await reply(a, own, alice)).json.error?.data?.reason === "approval_pending");
  await until(async () => (await b.call(PAY, bob)).status === 200);
  const theirs = questionIn(await b.call(PAY, bob));
  await until(async () => (await reply(b, theirs, bob)).json.result !== undefined);
  // Marks have a link of their own, that comes back in its own time.
  let last = await reply(a, own, alice);
  await until(async () => {
    if (last.status !== 503) return true;
    last = await reply(a, own, alice);
    return false;
  });
  t.match(last, ran);
  t.equal(runs(), 1);
});

t.test("a changed policy forgets who approved what", async (t) => {
  const { a, b, alice, bob, runs, configure } = await setScene(t, [TWO]);
  const own = questionIn(await a.call(PAY, alice));
  await reply(a, own, alice);
  await reply(b, questionIn(await b.call(PAY, bob)), bob);
  await configure([{ ...TWO, approval: { quorum: {}, message: "Really pay?" } }]);
  t.match((await reply(a, own, alice)).json, { error: { data: { reason: "invalid_request_state" } } });
  t.match(await reply(a, questionIn(await a.call(PAY, alice)), alice), pending);
  t.equal(runs(), 0);
});

t.test("an operator, by the admin listener and by the command", async (t) => {
  const scene = await setScene(t, [TWO]);
  const { a, b, alice, redis, upstream, runs } = scene;
  const own = questionIn(await a.call(PAY, alice));
  await reply(a, own, alice);
  const list = await ask(b, "/v1/approvals");
  t.match(list.json, {
    remembered: [],
    waiting: [{ target: "transfer", principal: { subject: "alice" }, needs: { two: 2 }, approvedBy: [] }],
  });
  t.notMatch(list.body, /s3cret/);
  const { id, message } = list.json.waiting[0];
  t.equal(message, own.message);
  for (const [path, body, status] of [
    [`/v1/approvals/${id}`, { decision: "maybe" }, 400],
    [`/v1/approvals/${id}`, { decision: "approve", by: "" }, 400],
    [`/v1/approvals/${id}`, { decision: "approve", more: 1 }, 400],
    [`/v1/approvals/${id}`, [], 400],
    [`/v1/approvals/${"A".repeat(22)}`, { decision: "approve" }, 404],
    ["/v1/approvals/%00", { decision: "approve" }, 404],
  ] as const)
    t.equal((await ask(a, path, { body })).status, status, JSON.stringify(body));
  t.equal(
    (await ask(a, `/v1/approvals/${id}`, { body: { decision: "approve" }, token: "wrong" })).status,
    401,
  );
  t.match(await reply(a, own, alice), pending, "none of them counts");

  const config = commandConfig(redis.url, upstream.url);
  const folder = t.testdir({ "sealgate.yaml": config, key: KEY, token: TOKEN });
  const approve = (...args: string[]) => sealgate(["approve", ...args]);
  const here = ["--config", join(folder, "sealgate.yaml")];
  const there = ["--admin", String(a.adminUrl), "--token-file", join(folder, "token")];
  for (const where of [here, there]) {
    t.match(await approve(...where, "--list"), {
      code: 0,
      out: /^id +code +what +policies +missing +until\n.*transfer.* for `alice` of.* two +1 +\d/,
    });
    const shown = await approve(...where, "--show", id);
    t.match(shown, { code: 0, out: /^Approve this call\?\n- tool: `transfer`\n/ });
    t.match(shown.out, /Approved so far by: nobody else\nMissing: 1 more\n/);
    t.match(await approve(...where, "--yes", "A".repeat(22)), { code: 65 });
    t.match(await approve(...where, "--yes", id, "--list"), { code: 64 });
  }
  t.match(await approve(...here, "--yes", id, "--by", "ops"), {
    code: 0,
    out: /^approved .*\nnobody is missing: the call runs once its caller sends it again\n$/,
  });
  for (const where of [here, there])
    t.match(await approve(...where, "--yes", id, "--by", "zoe"), {
      code: 0,
      out: /\nthis adds nothing: all operators count as one person, and operator `ops` has approved it before\nnobody is missing/,
    });
  t.match(JSON.parse((await approve(...there, "--list", "--json")).out), [
    { approvedBy: [{ operator: "ops" }] },
  ]);
  t.match(await reply(a, own, alice), ran);
  t.equal(runs(), 1);
  t.match(a.audit.at(-1), { approval: { others: [{ operator: "ops" }] } });
  t.match(await approve(...there, "--list"), { code: 0, out: "", err: "no call waits for others\n" });

  const next = questionIn(await a.call(PAY, alice));
  await reply(a, next, alice);
  const nextId = (await ask(b, "/v1/approvals")).json.waiting[0].id;
  t.match(await approve(...there, "--no", nextId, "--by", "ops"), { code: 0, out: /^denied / });
  t.match(a.deeds.at(-1), {
    type: "admin",
    action: "deny",
    outcome: "done",
    entry: { id: nextId, by: "ops" },
  });
  t.notMatch(JSON.stringify([a.audit, a.deeds, b.deeds]), /acct-9|s3cret/, "no arguments on record");
  t.match(a.audit.at(-1), {
    code: "approval_pending",
    answers: ["accept"],
    approval: { policies: ["two"], action: "accept" },
  });
  t.match((await reply(a, next, alice)).json, {
    result: {
      isError: true,
      content: [{ text: /^This call needs approval .* another who had to approve it/ }],
    },
  });
  t.equal(runs(), 1);
  t.match(a.audit.at(-1), { cause: "denied", approval: { action: "accept", deniedBy: { operator: "ops" } } });
  const { chain = "" } = a.audit.at(-1) ?? {};
  const story = storyOf(chain, a.audit.filter((record) => record.chain === chain) as never, 0);
  t.match(story, /approval \(policy two, code [0-9A-F]{16}\): accept\n[\s\S]*denied by operator ops\n/);
});
