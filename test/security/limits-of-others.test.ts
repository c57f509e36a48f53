/** A caller who wants to use up what others may do, or to be counted as somebody else. */
import t, { type Test } from "tap";
import { asksOnce } from "../integration/rounds.ts";
import { PUBLIC_URL, startGateway } from "../support/gateway.ts";
import { startIssuer } from "../support/issuer.ts";
import { ownRedis } from "../support/redis.ts";
import { until } from "../support/until.ts";
import { startUpstream } from "../support/upstream.ts";
import { TRANSFER, YES } from "./scene.ts";

process.env["SG_OTHERS_KEY"] = "an operator's secret of more than 32 bytes";
const LIST = { method: "tools/list" };
const issuer = await startIssuer();
t.teardown(() => issuer.close());
const AUD = `${PUBLIC_URL}/mcp`;
const tokenOf = (sub: string, more: Record<string, unknown> = {}) => issuer.token({ aud: AUD, sub, ...more });

async function open(t: Test, perPrincipal: Record<string, unknown>, more: Record<string, unknown> = {}) {
  const redis = await ownRedis(t);
  const upstream = await startUpstream(asksOnce);
  t.teardown(() => upstream.close());
  const gateway = await startGateway(upstream.url, {
    authentication: {
      issuers: [{ issuer: issuer.issuer, jwks: { url: issuer.jwksUrl }, claims: { tenant: "tid" } }],
    },
    keys: { primary: "k", ring: [{ id: "k", secret: { env: "SG_OTHERS_KEY" } }] },
    redis: { url: redis.url },
    redemption: { store: "redis" },
    limits: { perPrincipal },
    ...more,
  });
  t.teardown(() => gateway.close(0));
  return { redis, upstream, gateway };
}

t.test("no subject is counted as another one", async (t) => {
  const { redis, gateway } = await open(t, { requests: { points: 1, per: "1h" } });
  const victim = await tokenOf("alice");
  const names = [
    "alice ",
    " alice",
    "Alice",
    "alice\u0000",
    "alice:requests",
    "alice:polls",
    "}:requests",
    "{alice}",
    'alice",null',
    '","alice',
    "*",
    "sg:limit:*",
    "a\r\nFLUSHALL\r\n",
    "аlice",
    "x".repeat(4_000),
  ];
  for (const name of names) {
    const token = await tokenOf(name);
    t.equal((await gateway.call(LIST, { token })).status, 200, JSON.stringify(name.slice(0, 20)));
    t.equal((await gateway.call(LIST, { token })).status, 429);
  }
  for (const tid of ["a", "b"]) {
    const token = await tokenOf("alice", { tid });
    t.equal((await gateway.call(LIST, { token })).status, 200, "the same name in another tenant");
    t.equal((await gateway.call(LIST, { token })).status, 429);
  }
  t.equal((await gateway.call(LIST, { token: victim })).status, 200, "and the one they were after");
  const keys = ((await redis.command("KEYS", "sg:limit:*")) as string[]).filter((key) => key !== "");
  t.equal(keys.length, names.length + 3);
  for (const key of keys) t.match(key, /^sg:limit:\{[ap]-[\w-]{22}\}:requests$/);
});

t.test("who has no token of somebody cannot use up what they may do", async (t) => {
  const { redis, upstream, gateway } = await open(t, { requests: { points: 2, per: "1h" }, concurrent: 2 });
  const good = await tokenOf("alice");
  const [head, body, signature = ""] = good.split(".");
  const forged = [
    `${head}.${body}.${signature.replace(/^../, (two) => (two === "AA" ? "BB" : "AA"))}`,
    `${head}.${body}.`,
    await issuer.token({ sub: "alice", aud: "https://elsewhere.example" }),
    await issuer.token({ sub: "alice", aud: AUD, exp: 1 }),
    await issuer.token({ sub: "alice", aud: AUD, iss: "https://other.example" }),
  ];
  for (let i = 0; i < 30; i++) {
    const reply = await gateway.call(LIST, { token: forged[i % forged.length] ?? "" });
    t.equal(reply.status, 401);
  }
  const claimed = { "x-forwarded-user": "alice", "x-sealgate-principal": "alice", "mcp-principal": "alice" };
  t.equal((await gateway.call(LIST, { headers: claimed })).status, 401);
  t.same(await redis.command("KEYS", "sg:limit:*"), [], "nobody was counted");
  for (let i = 0; i < 2; i++) t.equal((await gateway.call(LIST, { token: good })).status, 200);
  t.equal(upstream.arrived.length, 2);
});

t.test("a state of somebody else, brought or replayed, counts for who brings it", async (t) => {
  const { gateway } = await open(t, { requests: { points: 3, per: "1h" }, openRounds: 1 });
  const [alice, mallory] = await Promise.all([tokenOf("alice"), tokenOf("mallory")]);
  const state = (await gateway.call(TRANSFER, { token: alice })).json.result.requestState;
  const params = { ...TRANSFER.params, requestState: state, inputResponses: YES };
  const retry = (token: string) => gateway.call({ ...TRANSFER, params }, { token });
  for (let i = 0; i < 3; i++) t.equal((await retry(mallory)).status, 400);
  t.equal((await retry(mallory)).status, 429);
  t.equal((await gateway.call(TRANSFER, { token: mallory })).status, 429);
  t.equal((await retry(alice)).status, 200, "alice's answer still counts");
  await until(async () => (await gateway.call(TRANSFER, { token: alice })).status === 200);
});

t.test("open rounds of one caller are no other's", async (t) => {
  const { gateway } = await open(t, { openRounds: 1 });
  const [mallory, alice] = await Promise.all([tokenOf("mallory"), tokenOf("alice")]);
  t.equal((await gateway.call(TRANSFER, { token: mallory })).status, 200);
  for (let i = 0; i < 5; i++) t.equal((await gateway.call(TRANSFER, { token: mallory })).status, 429);
  t.equal((await gateway.call(TRANSFER, { token: alice })).status, 200);
});

t.test("many addresses without a token do not use up what people with one may do", async (t) => {
  const { gateway } = await open(
    t,
    { requests: { points: 1, per: "1h" } },
    {
      authentication: {
        mode: "anonymous",
        issuers: [{ issuer: issuer.issuer, jwks: { url: issuer.jwksUrl } }],
      },
      server: {
        listen: "127.0.0.1:0",
        publicUrl: PUBLIC_URL,
        allowedHosts: ["127.0.0.1"],
        trustedProxies: ["127.0.0.1"],
      },
    },
  );
  for (let i = 0; i < 200; i++) {
    const headers = { "x-forwarded-for": `2001:db8:${i.toString(16)}:1::1` };
    t.equal((await gateway.call(LIST, { headers })).status, 200);
    if (i % 20 === 0) t.equal((await gateway.call(LIST, { headers })).status, 429);
  }
  t.equal((await gateway.call(LIST, { token: await tokenOf("alice") })).status, 200);
});
