/** DPoP (RFC 9449) through two gateways that share a Redis: what a thief of tokens, of proofs or of both can do with them. */
import { randomUUID } from "node:crypto";
import t, { type Test } from "tap";
import { type CallOptions, PUBLIC_URL, type Reply, startGateway } from "../support/gateway.ts";
import { startIssuer } from "../support/issuer.ts";
import { type ProofOptions, proofKey, prove } from "../support/proof.ts";
import { ownRedis } from "../support/redis.ts";
import { result, startUpstream } from "../support/upstream.ts";
import { asksOnce, DONE, TRANSFER, YES } from "./scene.ts";

const redis = await ownRedis(t);
const issuer = await startIssuer();
t.teardown(() => issuer.close());
const upstream = await startUpstream((arrived, response) =>
  arrived.json?.params?.name === "ask" ? asksOnce(arrived, response) : result(arrived, response, DONE),
);
t.teardown(() => upstream.close());
const folder = t.testdir({ key: "k".repeat(43) });
const sections = {
  keys: { primary: "k", ring: [{ id: "k", secret: { file: `${folder}/key` } }] },
  redis: { url: redis.url },
  redemption: { store: "redis" },
  authentication: { issuers: [{ issuer: issuer.issuer, jwks: { url: issuer.jwksUrl } }], dpop: {} },
  routes: [
    { path: "/mcp", upstream: { url: upstream.url } },
    { path: "/other", upstream: { url: upstream.url }, audiences: [`${PUBLIC_URL}/mcp`] },
  ],
};
const a = await startGateway(upstream.url, sections);
t.teardown(() => a.close(0));
const b = await startGateway(upstream.url, sections);
t.teardown(() => b.close(0));

const URL_ = `${PUBLIC_URL}/mcp`;
const [alice, thief] = await Promise.all([proofKey(), proofKey("EdDSA")]);
const tokenFor = (key: typeof alice, more: Record<string, unknown> = {}) =>
  issuer.token({ aud: URL_, sub: "alice", cnf: { jkt: key.thumbprint }, ...more });
const token = await tokenFor(alice);
const plain = await issuer.token({ aud: URL_, sub: "alice" });
const stolenByThief = await tokenFor(thief, { sub: "thief" });
const made = (more: Partial<ProofOptions> = {}, key = alice) =>
  prove(key, { token, url: URL_, now: Date.now(), ...more });

const send = (headers: CallOptions["headers"], gateway = a, more: CallOptions = {}): Promise<Reply> =>
  gateway.call(TRANSFER, { ...more, headers: { ...headers } });
const dpop = (proof: string, its = token) => ({ authorization: `DPoP ${its}`, dpop: proof });

async function refused(t: Test, reply: Reply, detail: string, gateway = a): Promise<void> {
  t.equal(reply.status, 401, detail);
  t.equal(gateway.audit.at(-1)?.cause, detail);
  t.equal(reply.json?.error?.data?.reason, "unauthorized");
}

t.test("an honest proof opens, on either replica, and never goes up", async (t) => {
  for (const gateway of [a, b]) {
    const proof = await made();
    const reply = await send(dpop(proof), gateway);
    t.equal(reply.status, 200);
    t.match(gateway.audit.at(-1), {
      authenticatedBy: "jwt",
      confirmedBy: ["dpop"],
      principal: { subject: "alice" },
    });
    const up = JSON.stringify(upstream.arrived.at(-1)?.headers);
    t.notMatch(up, /dpop|authorization/i);
    t.notOk(up.includes(proof.slice(0, 40)));
  }
  const lower = await send({ authorization: `dpop ${token}`, dpop: await made() });
  t.equal(lower.status, 200, "a scheme has no case");
});

t.test("a proof is used once, by one of fifty at two replicas", async (t) => {
  const proof = await made();
  const before = upstream.arrived.length;
  const replies = await Promise.all(
    Array.from({ length: 50 }, (_, n) => send(dpop(proof), n % 2 === 0 ? a : b)),
  );
  t.equal(replies.filter(({ status }) => status === 200).length, 1);
  t.equal(upstream.arrived.length, before + 1, "one effect");
  await refused(t, await send(dpop(proof), b), "proof_replayed", b);
  const challenge = String((await send(dpop(proof))).headers["www-authenticate"]);
  t.match(challenge, /^DPoP error="invalid_dpop_proof", .*algs="/);
});

t.test("a proof that was refused is not spent, and nobody spends another's", async (t) => {
  const jti = randomUUID();
  const proof = await made({ claims: { jti } });
  await refused(t, await send(dpop(proof), a, { path: "/other" }), "proof_url");
  const twin = await made({ claims: { jti }, token: stolenByThief }, thief);
  t.equal((await send(dpop(twin, stolenByThief))).status, 200, "the thief's own, of the same id");
  t.equal((await send(dpop(proof))).status, 200);
});

t.test("a bound token is no bearer token, and a plain one is not made better by a proof", async (t) => {
  await refused(t, await send({ authorization: `Bearer ${token}` }), "bound_as_bearer");
  await refused(t, await send({ authorization: `Bearer ${token}`, dpop: await made() }), "bound_as_bearer");
  const bearer = await send({ authorization: `Bearer ${token}` });
  t.match(bearer.headers["www-authenticate"], /^Bearer error="invalid_token", .*, DPoP algs="/);
  await refused(t, await send(dpop(await made({ token: plain }), plain)), "proof_for_unbound");
  t.equal((await send({ authorization: `Bearer ${plain}` })).status, 200);
});

t.test("a token without its key, and proofs that belong to something else", async (t) => {
  await refused(t, await send({ authorization: `DPoP ${token}` }), "proof_missing");
  await refused(t, await send(dpop(await made({}, thief))), "proof_other_key");
  await refused(t, await send(dpop(await made({ token: plain }))), "proof_token");
  await refused(t, await send(dpop(await made({ method: "GET" }))), "proof_method");
  await refused(t, await send(dpop(await made({ now: a.clock.now - 91_000 }))), "proof_time");
  await refused(t, await send(dpop(await made({ now: a.clock.now + 61_000 }))), "proof_time");
  for (const htu of [
    `${URL_}/`,
    `${PUBLIC_URL}/MCP`,
    `${PUBLIC_URL}/other`,
    a.url,
    `${a.url}/mcp`,
    URL_.replace("http:", "https:"),
    URL_.replace("test", "test:8080"),
    `http://gateway.test@evil.example/mcp`,
  ]) {
    await refused(t, await send(dpop(await made({ claims: { htu } }))), "proof_url");
  }
  for (const htu of [`${URL_}?x=1`, "HTTP://GATEWAY.test:80/mcp", `${PUBLIC_URL}/%6Dcp`]) {
    t.equal((await send(dpop(await made({ claims: { htu } })))).status, 200, htu);
  }
});

t.test("keys and algorithms of the attacker's choice", async (t) => {
  const { jwk, privateJwk } = alice;
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const [, body = "", signature = ""] = (await made()).split(".");
  const head = (header: object) => `${part({ typ: "dpop+jwt", alg: "ES256", jwk, ...header })}.${body}`;
  await refused(t, await send(dpop(`${head({ alg: "none" })}.`)), "proof_malformed");
  await refused(t, await send(dpop(`${head({ alg: "none" })}.${signature}`)), "proof_algorithm");
  await refused(t, await send(dpop(`${head({ alg: "HS256" })}.${signature}`)), "proof_algorithm");
  await refused(t, await send(dpop(`${head({ jwk: thief.jwk })}.${signature}`)), "proof_other_key");
  await refused(t, await send(dpop(await made({ header: { jwk: privateJwk } }))), "proof_jwk");
  for (const name of ["jku", "x5u"]) {
    const header = { [name]: `${upstream.url}/keys`, jwk: undefined };
    const before = upstream.arrived.length;
    await refused(t, await send(dpop(await made({ header }))), "proof_header");
    t.equal(upstream.arrived.length, before, "nothing is fetched");
  }
  await refused(t, await send(dpop(await made({ header: { typ: "at+jwt" } }))), "proof_type");
  await refused(t, await send(dpop("x".repeat(8_193))), "proof_too_large");
});

t.test("two headers are none", async (t) => {
  const headers = (...proofs: string[]): string[] => [
    ...["authorization", `DPoP ${token}`],
    ...proofs.flatMap((proof) => ["DPoP", proof]),
    ...["content-type", "application/json", "accept", "application/json, text/event-stream"],
    ...["mcp-protocol-version", "2026-07-28", "mcp-method", "tools/call", "mcp-name", "transfer"],
    ...["host", "gateway.test"],
  ];
  const proof = await made();
  for (const proofs of [
    [proof, proof],
    [proof, await made()],
    ["", proof],
  ] as string[][]) {
    const reply = await a.send({ headers: headers(...proofs), body: "{}" });
    await refused(t, reply, "proof_malformed");
  }
  const one = await a.send({ headers: headers(proof), body: "{}" });
  t.not(one.status, 401, "the same with one");
});

t.test("a token elsewhere than in its header is none", async (t) => {
  for (const path of [
    `/mcp?access_token=${plain}`,
    `/mcp?token=${plain}`,
    `/mcp?Authorization=Bearer%20${plain}`,
  ]) {
    const reply = await a.call(TRANSFER, { path });
    t.equal(reply.status, 401);
    t.equal(a.audit.at(-1)?.cause, "no_token");
  }
  t.notMatch(a.logged(), plain.slice(-40));
});

t.test(
  "a chain is the same caller's whatever proof each round has; a thief's key is another token",
  async (t) => {
    const ask = { method: "tools/call", params: { name: "ask", arguments: {} } };
    const first = await a.call(ask, { headers: dpop(await made()) });
    const state = first.json?.result?.requestState;
    t.type(state, "string");
    const retry = { ...ask, params: { ...ask.params, requestState: state, inputResponses: YES } };
    const foreign = await b.call(retry, {
      headers: dpop(await made({ token: stolenByThief }, thief), stolenByThief),
    });
    t.equal(foreign.json?.error?.data?.reason, "invalid_request_state");
    const done = await b.call(retry, { headers: dpop(await made()) });
    t.equal(done.json?.result?.resultType, "complete");
  },
);

t.test(
  "what is used stays used when the configuration changes, and is forgotten by nobody's reload",
  async (t) => {
    const proof = await made();
    t.equal((await send(dpop(proof))).status, 200);
    await a.configure({ authentication: { ...sections.authentication, dpop: { maxAge: "2m" } } });
    await refused(t, await send(dpop(proof)), "proof_replayed");
  },
);

t.test("without Redis no proof is good, and none is called bad", async (t) => {
  await redis.stop();
  const reply = await send(dpop(await made()));
  t.equal(reply.status, 503);
  t.equal(reply.json?.error?.data?.reason, "issuer_unavailable");
  t.equal(a.audit.at(-1)?.cause, "replay_store");
  t.equal(reply.headers["www-authenticate"], undefined);
  t.equal((await send({ authorization: `Bearer ${plain}` })).status, 200, "plain tokens need none");
  await refused(t, await send(dpop(await made({}, thief))), "proof_other_key");
  await redis.start();
});
