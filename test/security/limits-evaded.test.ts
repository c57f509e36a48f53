/** A caller who wants more than a limit gives: other tokens, other addresses, other headers, other kinds of message. */
import t, { type Test } from "tap";
import { mirrored, PUBLIC_URL, type Reply, startGateway, type TestGateway } from "../support/gateway.ts";
import { startIssuer } from "../support/issuer.ts";
import { startUpstream } from "../support/upstream.ts";
import { answers, asksOnce, request, TRANSFER, YES } from "./scene.ts";

const LIST = { method: "tools/list" };
const POINTS = 5;
const limits = { perPrincipal: { requests: { points: POINTS, per: "1h" } } };
const server = (more: Record<string, unknown> = {}) => ({
  server: { listen: "127.0.0.1:0", publicUrl: PUBLIC_URL, allowedHosts: ["127.0.0.1"], ...more },
});

const issuer = await startIssuer();
t.teardown(() => issuer.close());
const AUD = `${PUBLIC_URL}/mcp`;
const authentication = {
  issuers: [
    {
      issuer: issuer.issuer,
      jwks: { url: issuer.jwksUrl },
      claims: { client: ["client_id"], tenant: "tid" },
    },
  ],
};

async function open(t: Test, sections: Record<string, unknown>, script = answers('{"tools":[]}')) {
  const upstream = await startUpstream(script);
  t.teardown(() => upstream.close());
  const gateway = await startGateway(upstream.url, { limits, ...sections });
  t.teardown(() => gateway.close(0));
  return { gateway, upstream };
}

/** Sends in turn; tells how many were served, and expects each other one to be refused for the limit. */
async function served(t: Test, calls: readonly (() => Promise<Reply>)[]): Promise<number> {
  let count = 0;
  for (const call of calls) {
    const reply = await call();
    if (reply.status === 200) count += 1;
    else t.match(reply, { status: 429, json: { error: { data: { reason: "rate_limited" } } } });
  }
  return count;
}

const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i));
const from = (gateway: TestGateway, headers: Record<string, string>) => () => gateway.call(LIST, { headers });

t.test("many tokens of one person, in many clients, are one caller", async (t) => {
  const { gateway, upstream } = await open(t, { authentication });
  const tokens = await Promise.all(
    times(3 * POINTS, (i) =>
      issuer.token({
        aud: AUD,
        ...{ sub: "alice", jti: `t-${i}`, client_id: `client-${i}`, scope: `s${i}`, iat: 1_000_000 + i },
      }),
    ),
  );
  t.equal(
    await served(
      t,
      tokens.map((token) => () => gateway.call(LIST, { token })),
    ),
    POINTS,
  );
  t.equal(upstream.arrived.length, POINTS);
  const bob = await issuer.token({ aud: AUD, sub: "bob", client_id: "client-1" });
  t.equal((await gateway.call(LIST, { token: bob })).status, 200, "another person in the same client");
});

t.test("X-Forwarded-For from anybody changes nothing", async (t) => {
  const { gateway, upstream } = await open(t, server());
  const names = [
    "x-forwarded-for",
    "forwarded",
    "x-real-ip",
    "cf-connecting-ip",
    "true-client-ip",
    "client-ip",
  ];
  const calls = times(40, (i) =>
    from(gateway, {
      [names[i % names.length] ?? ""]: i % 2 === 0 ? `198.51.100.${i}` : `for=198.51.100.${i}`,
    }),
  );
  t.equal(await served(t, calls), POINTS);
  t.equal(upstream.arrived.length, POINTS);
});

t.test(
  "behind a trusted proxy only the address it saw counts, not what the client wrote before it",
  async (t) => {
    const { gateway } = await open(t, server({ trustedProxies: ["127.0.0.1"] }));
    const calls = times(20, (i) => from(gateway, { "x-forwarded-for": `203.0.113.${i}, 198.51.100.7` }));
    t.equal(await served(t, calls), POINTS);
    const other = from(gateway, { "x-forwarded-for": "198.51.100.7, 198.51.100.8" });
    t.equal((await other()).status, 200, "another address");
  },
);

t.test("all addresses of one IPv6 /64 are one caller, and so are all spellings of an address", async (t) => {
  const { gateway } = await open(t, server({ trustedProxies: ["127.0.0.1"] }));
  const hex = (i: number) => ((i * 7919) % 65_536).toString(16);
  const network = times(20, (i) =>
    from(gateway, { "x-forwarded-for": `2001:DB8:1:2:${hex(i)}:${hex(i + 1)}::${hex(i + 2)}` }),
  );
  t.equal(await served(t, network), POINTS);
  t.equal((await from(gateway, { "x-forwarded-for": "2001:db8:1:3::1" })()).status, 200, "the next /64");
  const spellings = [
    "198.51.100.9",
    "::ffff:198.51.100.9",
    "::ffff:c633:6409",
    "0:0:0:0:0:FFFF:198.51.100.9",
  ];
  const one = times(20, (i) => from(gateway, { "x-forwarded-for": spellings[i % spellings.length] ?? "" }));
  t.equal(await served(t, one), POINTS);
});

t.test(
  "no kind of message is free: notifications, what is forbidden, malformed, unknown, or refused by a rule",
  async (t) => {
    const { gateway, upstream } = await open(t, {
      authorization: { default: "allow", policies: [{ id: "no", effect: "deny", tools: ["secret"] }] },
    });
    const post = (body: string, headers: Record<string, string> = {}) =>
      gateway.send({ headers: { ...mirrored(LIST), ...headers }, body });
    const kinds: (() => Promise<Reply>)[] = [
      () => gateway.call({ id: null, method: "notifications/roots/list_changed" }),
      () => gateway.call({ method: "tools/call", params: { name: "secret" } }),
      () => post("{"),
      () => post(request("", "tools/list").replace(",}", "}"), { "mcp-method": "tools/call" }),
      () => gateway.call({ method: "no/such" }),
    ];
    t.equal(kinds.length, POINTS);
    for (const kind of kinds) t.not((await kind()).status, 429);
    for (const kind of [kinds[0], kinds[1], kinds[4]]) t.equal((await kind?.())?.status, 429);
    t.match(await gateway.call(LIST), { status: 429 });
    t.ok(upstream.arrived.length <= 2);
  },
);

t.test("state is no way around: garbage, other people's, spent, on methods that have none", async (t) => {
  const { gateway, upstream } = await open(t, { authentication }, asksOnce);
  const [alice, bob] = await Promise.all(["alice", "bob"].map((sub) => issuer.token({ aud: AUD, sub })));
  const foreign = (await gateway.call(TRANSFER, { token: bob ?? "" })).json.result.requestState;
  const token = alice ?? "";
  const before = upstream.arrived.length;
  const retry = (state: unknown, message = TRANSFER) =>
    gateway.call(
      { ...message, params: { ...message.params, requestState: state, inputResponses: YES } },
      { token },
    );
  const bad = ["sg1.AAAA", foreign, "", foreign, `${foreign}x`];
  for (const state of bad) t.equal((await retry(state)).status, 400);
  t.equal((await gateway.call(LIST, { token })).status, 429, "each of them counted");
  for (const state of [...bad, null, 7, {}]) t.equal((await retry(state)).status, 429, JSON.stringify(state));
  t.equal((await retry("sg1.AAAA", LIST as typeof TRANSFER)).status, 429);
  t.equal(upstream.arrived.length, before, "nothing went up");
  const honest = await gateway.call(
    { ...TRANSFER, params: { ...TRANSFER.params, requestState: foreign, inputResponses: YES } },
    { token: bob ?? "" },
  );
  t.equal(honest.status, 200, "and the owner's state was not spent by any of it");
});

t.test("a flood over many connections at once: what the server executes is the limit", async (t) => {
  const { gateway, upstream } = await open(t, { authentication });
  const token = await issuer.token({ aud: AUD, sub: "alice" });
  const replies = await Promise.all(times(300, () => gateway.call(LIST, { token })));
  t.equal(replies.filter(({ status }) => status === 200).length, POINTS);
  t.equal(upstream.arrived.length, POINTS);
});
