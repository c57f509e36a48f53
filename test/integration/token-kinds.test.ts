/** Kinds of tokens through a whole gateway: per route, with one principal, in audit and metrics, and across a reload. */
import { writeFile } from "node:fs/promises";
import t from "tap";
import { exchange, PUBLIC_URL, startGateway } from "../support/gateway.ts";
import { startIntrospection } from "../support/introspection.ts";
import { startIssuer } from "../support/issuer.ts";
import { proofKey, prove } from "../support/proof.ts";
import { CLIENT, startTokenServer } from "../support/token-server.ts";
import { startUpstream } from "../support/upstream.ts";
import { asksOnce, retryOf, stateOf, TRANSFER } from "./rounds.ts";

const issuer = await startIssuer();
t.teardown(() => issuer.close());
const server = await startIntrospection();
t.teardown(() => server.close());
const upstream = await startUpstream(asksOnce);
t.teardown(() => upstream.close());
const folder = t.testdir({ secret: "first-secret\n" });
const introspection = {
  issuer: issuer.issuer,
  url: server.url,
  client: { basic: { id: "gw", secret: { file: `${folder}/secret` } } },
};
const authentication = {
  issuers: [{ issuer: issuer.issuer, jwks: { url: issuer.jwksUrl } }],
  introspection: [introspection],
  dpop: { nonce: "required" },
};
const audiences = () => [`${PUBLIC_URL}/mcp`];
const gateway = await startGateway(upstream.url, {
  authentication,
  admin: { listen: "127.0.0.1:0" },
  routes: [
    { path: "/mcp", upstream: { url: upstream.url } },
    {
      path: "/signed",
      upstream: { url: upstream.url },
      audiences: audiences(),
      authentication: { accept: ["jwt"] },
    },
    {
      path: "/opaque",
      upstream: { url: upstream.url },
      audiences: audiences(),
      authentication: { accept: ["introspection"] },
    },
  ],
});
t.teardown(() => gateway.close(0));
const aud = `${PUBLIC_URL}/mcp`;
const alice = { sub: "alice", aud, client_id: "app" };
server.tokens.set("opaque-alice", alice);
const signed = await issuer.token(alice);

t.test("a route takes the kinds that it accepts", async (t) => {
  const list = { method: "tools/list" };
  for (const [path, token, status] of [
    ["/mcp", signed, 200],
    ["/mcp", "opaque-alice", 200],
    ["/signed", signed, 200],
    ["/signed", "opaque-alice", 401],
    ["/opaque", "opaque-alice", 200],
    ["/opaque", signed, 401],
  ] as const) {
    const reply = await gateway.call(list, { path, token });
    t.equal(reply.status, status, `${path} ${token.slice(0, 6)}`);
    if (status === 401) t.equal(gateway.audit.at(-1)?.cause, "unknown_kind");
  }
});

t.test(
  "one person by two kinds is one principal if issuer, subject, client and tenant are equal",
  async (t) => {
    server.tokens.set("opaque-other-app", { ...alice, client_id: "app2" });
    server.tokens.set("opaque-no-app", { sub: "alice", aud });
    const state = stateOf(await gateway.call(TRANSFER, { token: signed }));
    for (const token of ["opaque-other-app", "opaque-no-app"]) {
      const reply = await gateway.call(retryOf(state), { token });
      t.equal(reply.json?.error?.data?.reason, "invalid_request_state", token);
      t.equal(gateway.audit.at(-1)?.cause, "principal");
    }
    const reply = await gateway.call(retryOf(state), { token: "opaque-alice" });
    t.equal(reply.json?.result?.resultType, "complete");
    t.match(gateway.audit.at(-1), {
      authenticatedBy: "introspection",
      principal: { subject: "alice", client: "app" },
    });
  },
);

t.test("a revoked token is refused when its answer is old, also in the middle of a round trip", async (t) => {
  server.tokens.set("short", alice);
  const state = stateOf(await gateway.call(TRANSFER, { token: "short" }));
  server.tokens.delete("short");
  gateway.clock.now += 30_000;
  const reply = await gateway.call(retryOf(state), { token: "short" });
  t.equal(reply.status, 401);
  t.equal(gateway.audit.at(-1)?.cause, "inactive");
});

t.test("an endpoint that is down is 503 and never 401", async (t) => {
  server.behaviour = "status-500";
  const reply = await gateway.call(TRANSFER, { token: "opaque-new" });
  t.match(reply, { status: 503, json: { error: { data: { reason: "issuer_unavailable" } } } });
  t.equal(reply.headers["www-authenticate"], undefined);
  t.equal(gateway.audit.at(-1)?.cause, "introspection_status");
  server.behaviour = "ok";
});

t.test("a nonce of the gateway, asked for once and then good", async (t) => {
  const key = await proofKey();
  const token = await issuer.token({ ...alice, cnf: { jkt: key.thumbprint } });
  const made = (claims = {}) => prove(key, { token, url: aud, now: gateway.clock.now, claims });
  const send = async (proof: string) =>
    gateway.call(TRANSFER, { headers: { authorization: `DPoP ${token}`, dpop: proof } });
  for (const claims of [{}, { nonce: "A".repeat(35) }, { nonce: "" }]) {
    const reply = await send(await made(claims));
    t.equal(reply.status, 401);
    t.match(reply.headers["www-authenticate"], /^DPoP error="use_dpop_nonce"/);
    t.match(reply.headers["dpop-nonce"], /^[A-Za-z0-9_-]{35}$/);
  }
  const nonce = (await send(await made())).headers["dpop-nonce"];
  const good = await made({ nonce });
  t.equal((await send(good)).status, 200);
  t.equal((await send(good)).headers["dpop-nonce"], undefined, "a replay is no question of nonces");
  t.equal((await send(await made({ nonce }))).status, 200, "and the nonce serves again");
  gateway.clock.now += 301_000;
  const late = await send(
    await prove(key, { token: await issuer.token(), url: aud, now: gateway.clock.now }),
  );
  t.equal(late.status, 401);
});

t.test("an opaque token that is bound to a key needs its proof, too", async (t) => {
  const key = await proofKey();
  server.tokens.set("opaque-bound", { ...alice, token_type: "DPoP", cnf: { jkt: key.thumbprint } });
  const send = async (claims = {}) => {
    const options = { token: "opaque-bound", url: aud, now: gateway.clock.now, claims };
    return gateway.call(TRANSFER, {
      headers: { authorization: "DPoP opaque-bound", dpop: await prove(key, options) },
    });
  };
  const nonce = (await send()).headers["dpop-nonce"];
  t.equal((await send({ nonce })).status, 200);
  t.match(gateway.audit.at(-1), { authenticatedBy: "introspection", confirmedBy: ["dpop"] });
  t.equal((await gateway.call(TRANSFER, { token: "opaque-bound" })).status, 401);
  t.equal(gateway.audit.at(-1)?.cause, "bound_as_bearer");
});

t.test("another secret is taken up, and the old one is not used again", async (t) => {
  await writeFile(`${folder}/secret`, "second-secret\n");
  t.equal(await gateway.configure({}), true);
  server.tokens.set("after", alice);
  t.equal((await gateway.call(TRANSFER, { token: "after" })).status, 200);
  const [, pair = ""] = (server.calls.at(-1)?.headers.authorization ?? "").split(" ");
  t.equal(Buffer.from(pair, "base64").toString(), "gw:second-secret");
  t.notMatch(gateway.logged(), /(first|second)-secret|opaque-alice/);
});

t.test("a question that is under way when the configuration changes is answered", async (t) => {
  const gate = Promise.withResolvers<void>();
  server.gate = gate.promise;
  server.tokens.set("opaque-waiting", alice);
  const before = server.calls.length;
  const waiting = gateway.call({ method: "tools/list" }, { token: "opaque-waiting" });
  while (server.calls.length === before) await new Promise((resolve) => setImmediate(resolve));
  const changed = { ...authentication, introspection: [{ ...introspection, cache: "10s" }] };
  t.equal(await gateway.configure({ authentication: changed }), true);
  gate.resolve();
  t.equal((await waiting).status, 200);
  t.equal((await gateway.call({ method: "tools/list" }, { token: "opaque-waiting" })).status, 200);
  t.equal(server.calls.length, before + 2, "what was remembered under other settings does not count");
});

t.test("metrics count kinds and answers, with bounded labels", async (t) => {
  const { body } = await exchange(gateway.adminUrl ?? "", { path: "/metrics", method: "GET" });
  t.match(body, /sealgate_authentications_total\{route="\/mcp",kind="jwt",confirmed_by="dpop"\} 2/);
  t.match(body, /sealgate_authentications_total\{route="\/opaque",kind="introspection",confirmed_by=""\} 1/);
  t.match(body, /sealgate_introspections_total\{outcome="status"\} 1/);
  t.match(body, /sealgate_refusals_total\{route="\/mcp",code="unauthorized",cause="proof_nonce"\}/);
  t.notMatch(body, /opaque-|alice/);
});

t.test(
  "a token that is bound to a key is exchanged like any other, and its proof goes nowhere",
  async (t) => {
    process.env["SG_EXCHANGE"] = CLIENT.secret;
    const exchanger = await startTokenServer(t, issuer.jwksUrl);
    const client = { basic: { id: CLIENT.id, secret: { env: "SG_EXCHANGE" } } };
    const exchange = { endpoint: exchanger.endpoint, client, audience: ["upstream"] };
    const exchanging = await startGateway(upstream.url, {
      authentication: { issuers: authentication.issuers, dpop: {} },
      routes: [{ path: "/mcp", upstream: { url: upstream.url, credential: { exchange } } }],
    });
    t.teardown(() => exchanging.close(0));
    const key = await proofKey();
    const token = await issuer.token({ ...alice, cnf: { jkt: key.thumbprint } });
    const dpop = await prove(key, { token, url: aud, now: Date.now() });
    const headers = { authorization: `DPoP ${token}`, dpop };
    t.equal((await exchanging.call({ method: "tools/list" }, { headers })).status, 200);
    const [request] = exchanger.requests;
    t.equal(request?.form.get("subject_token"), token);
    t.equal(request?.headers["dpop"], undefined);
    t.equal(upstream.arrived.at(-1)?.headers.authorization, `Bearer ${exchanger.granted[0]}`);
    t.equal(upstream.arrived.at(-1)?.headers["dpop"], undefined);
  },
);

t.test("a scope that a call needs is asked for in the scheme of the caller", async (t) => {
  const scoped = await startGateway(upstream.url, {
    authentication: { issuers: authentication.issuers, dpop: { algorithms: ["ES256"] } },
    authorization: { default: "allow", scopes: [{ methods: ["tools/call"], requires: ["write"] }] },
  });
  t.teardown(() => scoped.close(0));
  const key = await proofKey();
  const token = await issuer.token({ ...alice, cnf: { jkt: key.thumbprint } });
  const dpop = await prove(key, { token, url: aud, now: Date.now() });
  const bound = await scoped.call(TRANSFER, { headers: { authorization: `DPoP ${token}`, dpop } });
  t.equal(bound.status, 403);
  t.match(
    bound.headers["www-authenticate"],
    /^DPoP error="insufficient_scope", .*scope="write", resource_metadata="[^"]+", algs="ES256"$/,
  );
  const plain = await scoped.call(TRANSFER, { token: signed });
  t.match(
    plain.headers["www-authenticate"],
    /^Bearer error="insufficient_scope", .*scope="write".*, DPoP algs="ES256"$/,
  );
});
