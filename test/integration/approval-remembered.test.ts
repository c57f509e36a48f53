/** Approvals that are remembered, over two replicas and one Redis; what the server carries out, and what is asked, is counted. */
import t, { type Test } from "tap";
import type { CallOptions, Message, TestGateway } from "../support/gateway.ts";
import { until } from "../support/until.ts";
import { PAY, questionIn, reply, type Scene, setScene, yes } from "./approvers.ts";
import { ask, set } from "./operators.ts";

const POLICY = { id: "ask", effect: "approve", tools: ["transfer"], approval: { remember: "15m" } };
const OTHER: Message = { ...PAY, params: { ...PAY.params, arguments: { to: "acct-9", amount: 51 } } };

const isAsked = async (gateway: TestGateway, who: CallOptions, message = PAY): Promise<boolean> =>
  (await gateway.call(message, who)).json.result.resultType === "input_required";

/** Approves once, and waits until that is remembered. */
async function approve({ a, b, alice }: Scene, content: object = {}, message = PAY): Promise<void> {
  const done = await reply(a, questionIn(await a.call(message, alice)), alice, yes(content), message);
  if (done.json.result?.resultType !== "complete") throw new Error(done.body);
  await until(async () => (await ask(b, "/v1/approvals")).json.remembered.length > 0);
}

t.test("asked once, and run each time; on both replicas, for these arguments and this caller", async (t) => {
  const scene = await setScene(t, [POLICY]);
  const { a, b, alice, bob, otherAlice, runs } = scene;
  await approve(scene);
  t.equal(runs(), 1);
  for (const gateway of [a, b]) t.equal(await isAsked(gateway, alice), false);
  t.equal(runs(), 3, "each call runs once");
  const { body } = await ask(b, "/metrics", { token: undefined });
  t.match(body, /^sealgate_approvals_total\{policy="ask",outcome="remembered"\} 1$/m);
  const [first] = a.audit;
  t.match(b.audit.at(-1), {
    outcome: "complete",
    approval: { policies: ["ask"], remembered: first?.chain },
  });
  t.not(b.audit.at(-1)?.chain, first?.chain, "it is a call of its own");
  t.equal(await isAsked(b, alice, OTHER), true, "other arguments");
  t.equal(await isAsked(b, bob), true, "somebody else");
  t.equal(await isAsked(b, otherAlice), true, "the same name at another issuer");
  t.equal(runs(), 3);
});

t.test("any arguments, where policy says so; of this tool", async (t) => {
  const any = {
    ...POLICY,
    tools: ["transfer", "refund"],
    approval: { remember: { for: "15m", arguments: "any" } },
  };
  const scene = await setScene(t, [any]);
  await approve(scene);
  const { b, alice } = scene;
  t.equal(await isAsked(b, alice, OTHER), false);
  t.equal(await isAsked(b, alice, { ...PAY, params: { ...PAY.params, name: "refund" } }), true);
});

t.test("never where a policy that matches always asks", async (t) => {
  const large = { id: "large", effect: "approve", tools: ["transfer"], approval: { always: true } };
  const scene = await setScene(t, [POLICY, large]);
  const { a, b, alice, runs } = scene;
  for (const gateway of [a, b, a]) {
    const question = questionIn(await gateway.call(PAY, alice));
    t.match((await reply(gateway, question, alice)).json, { result: { resultType: "complete" } });
  }
  t.equal(runs(), 3);
  t.same((await ask(b, "/v1/approvals")).json.remembered, [], "nothing is kept for the other either");
});

/** Everything that ends it. */
const ENDS: Readonly<Record<string, (scene: Scene, t: Test) => Promise<unknown>>> = {
  "the caller is revoked": ({ a, issuer }) =>
    set(a, "revocations", { principal: { issuer, subject: "alice" } }),
  "the route is revoked": ({ a }) => set(a, "revocations", { route: "/mcp" }),
  "its chain is revoked": ({ a }) => set(a, "revocations", { chain: a.audit[0]?.chain }),
  async "it is forgotten"({ a, b }) {
    const { id, chain } = (await ask(b, "/v1/approvals")).json.remembered[0];
    if (chain !== a.audit[0]?.chain) throw new Error("another chain");
    const done = await ask(a, `/v1/approvals/${id}`, { body: { decision: "forget", by: "ops" } });
    if (done.status !== 200) throw new Error(done.body);
  },
  "its policy changes": ({ configure }) => configure([{ ...POLICY, approval: { remember: "16m" } }]),
  "another policy asks, too": ({ configure }) =>
    configure([POLICY, { id: "more", effect: "approve", tools: ["*"], approval: { remember: "15m" } }]),
  "Redis loses it": ({ redis }) => redis.command("FLUSHALL"),
  async "Redis is away"({ redis }) {
    await redis.stop("SIGKILL");
  },
};

for (const [name, end] of Object.entries(ENDS)) {
  t.test(`asked again when ${name}`, async (t) => {
    const scene = await setScene(t, [POLICY]);
    await approve(scene);
    const { a, b, alice, runs } = scene;
    t.equal(await isAsked(b, alice), false);
    await end(scene, t);
    await until(async () => {
      const replies = [await a.call(PAY, alice), await b.call(PAY, alice)];
      return replies.every(({ json }) => json.result?.resultType === "input_required");
    });
    const before = runs();
    t.equal(await isAsked(a, alice), true);
    t.equal(runs(), before);
  });
}

t.test("asked again after a revocation, it is remembered again", async (t) => {
  const scene = await setScene(t, [POLICY]);
  await approve(scene);
  const { a, b, alice } = scene;
  await set(a, "revocations", { route: "/mcp" });
  await until(async () => (await isAsked(a, alice)) && (await isAsked(b, alice)));
  await approve(scene);
  await until(async () => !(await isAsked(b, alice)));
});

t.test(
  "fields are offered and on record with the answer, and nothing is made up for later calls",
  async (t) => {
    const fields = [
      { name: "reason", maxLength: 40, audit: true, offer: true },
      { name: "note", required: false },
    ];
    for (const offer of ["header", "meta"]) {
      const scene = await setScene(t, [{ ...POLICY, approval: { ...POLICY.approval, fields, offer } }]);
      const { a, b, alice, upstream } = scene;
      await approve(scene, { reason: "Zoë\nsaid so", note: "private" });
      const [first] = upstream.arrived;
      const header = `=?base64?${Buffer.from("Zoë\nsaid so").toString("base64")}?=`;
      const told = { policies: ["ask"], fields: { reason: "Zoë\nsaid so" } };
      t.equal(first?.headers["sealgate-approval-reason"], offer === "header" ? header : undefined);
      t.same(first?.json.params._meta["io.sealgate/approval"], offer === "meta" ? told : undefined);
      t.notMatch(JSON.stringify([first?.headers, first?.json]), /private/);
      const answered = a.audit.find(({ approval }) => approval?.action === "accept");
      t.same(answered?.approval?.fields, { reason: "Zoë\nsaid so" });
      t.notMatch(JSON.stringify(a.audit), /private/);
      const forged = {
        ...PAY,
        params: { ...PAY.params, _meta: { "io.sealgate/approval": { fields: { reason: "forged" } } } },
      };
      const headers = { "sealgate-approval-reason": "forged" };
      t.equal(await isAsked(b, { ...alice, headers }, PAY), false);
      t.notMatch(JSON.stringify([upstream.arrived.at(-1)?.headers, upstream.arrived.at(-1)?.json]), /forged/);
      await b.call(forged, { ...alice, headers });
      t.notMatch(JSON.stringify([upstream.arrived.at(-1)?.headers, upstream.arrived.at(-1)?.json]), /forged/);
    }
  },
);
