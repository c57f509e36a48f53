/** Token exchange (RFC 8693) and client credentials: what the token endpoint is asked, what goes up, how long, and when it fails. */
import { generateKeyPairSync } from "node:crypto";
import { decodeJwt, type JWK } from "jose";
import t, { type Test } from "tap";
import { type CallOptions, PUBLIC_URL, startGateway } from "../support/gateway.ts";
import { startIntrospection } from "../support/introspection.ts";
import { sign, signingKey, startIssuer } from "../support/issuer.ts";
import { CLIENT, startTokenServer, subjectOf } from "../support/token-server.ts";
import { startUpstream } from "../support/upstream.ts";
import { asksOnce, retryOf, stateOf, TRANSFER } from "./rounds.ts";

const aud = `${PUBLIC_URL}/mcp`;
process.env["SG_CLIENT_SECRET"] = CLIENT.secret;
const secret = { env: "SG_CLIENT_SECRET" };
const basic = { basic: { id: CLIENT.id, secret } };

type Setting = (endpoint: string) => object;
const exchange =
  (more: object = {}): Setting =>
  (endpoint) => ({ exchange: { endpoint, client: basic, audience: ["upstream"], ...more } });

async function setUp(t: Test, setting: Setting = exchange(), more: { readonly clientKey?: JWK } = {}) {
  const upstream = await startUpstream(asksOnce);
  t.teardown(() => upstream.close());
  const issuer = await startIssuer();
  t.teardown(() => issuer.close());
  const server = await startTokenServer(t, issuer.jwksUrl, more);
  const gateway = await startGateway(upstream.url, {
    admin: { listen: "127.0.0.1:0" },
    authentication: { issuers: [{ issuer: issuer.issuer, jwks: { url: issuer.jwksUrl } }] },
    routes: [
      { path: "/mcp", legacy: "pass", upstream: { url: upstream.url, credential: setting(server.endpoint) } },
    ],
  });
  t.teardown(() => gateway.close(0));
  const token = (claims: Record<string, unknown> = {}): Promise<string> => {
    const iat = Math.floor(gateway.clock.now / 1000);
    return issuer.token({ sub: "u-1001", aud, iat, exp: iat + 3600, ...claims });
  };
  const list = (token: string, options: CallOptions = {}) =>
    gateway.call({ method: "tools/list" }, { token, ...options });
  return { gateway, upstream, issuer, server, token, list };
}

t.test("the caller's token goes to the token endpoint, and the one it gives goes up", async (t) => {
  const { gateway, upstream, server, token } = await setUp(
    t,
    exchange({ resource: ["https://up.example/mcp"], scope: ["read", "write"], audience: ["a", "b"] }),
  );
  const caller = await token();
  const state = stateOf(await gateway.call(TRANSFER, { token: caller }));
  t.equal((await gateway.call(retryOf(state), { token: caller })).status, 200);
  t.equal(server.requests.length, 1, "one exchange for both rounds");
  const [{ form, headers } = { form: new URLSearchParams(), headers: {} }] = server.requests;
  t.same(
    [...form].filter(([name]) => name !== "subject_token"),
    [
      ["grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"],
      ["subject_token_type", "urn:ietf:params:oauth:token-type:access_token"],
      ["requested_token_type", "urn:ietf:params:oauth:token-type:access_token"],
      ["audience", "a"],
      ["audience", "b"],
      ["resource", "https://up.example/mcp"],
      ["scope", "read write"],
    ],
  );
  t.equal(form.get("subject_token"), caller);
  t.match(headers["content-type"], /^application\/x-www-form-urlencoded/);
  for (const { headers, rawHeaders } of upstream.arrived) {
    t.equal(headers.authorization, `Bearer ${server.granted[0]}`);
    t.notOk(JSON.stringify(rawHeaders).includes(caller));
  }
  for (const record of gateway.audit) t.equal(record.credential, "exchange");
});

t.test("kept for its caller and token, until shortly before it expires", async (t) => {
  const { gateway, upstream, server, token, list } = await setUp(t);
  const [alice, bob] = [await token({ sub: "alice" }), await token({ sub: "bob" })];
  server.lifetime = 100;
  for (const [bearer, exchanges] of [
    [alice, 1],
    [alice, 1],
    [bob, 2],
    [await token({ sub: "alice", jti: "another" }), 3],
  ] as const) {
    t.equal((await list(bearer)).status, 200);
    t.equal(server.requests.length, exchanges);
  }
  t.equal(subjectOf(upstream.arrived[2]?.headers.authorization), "bob");
  gateway.clock.now += 89_000;
  await list(alice);
  t.equal(server.requests.length, 3);
  gateway.clock.now += 1_001;
  await list(alice);
  t.equal(server.requests.length, 4, "in the last tenth of its life it is not handed out");
  const text = await (await fetch(`${gateway.adminUrl}/metrics`)).text();
  for (const line of ['outcome="obtained"} 4', 'outcome="reused"} 2']) {
    t.match(text, `sealgate_upstream_credentials_total{route="/mcp",kind="exchange",${line}`);
  }
});

t.test("never past the end of the caller's own token, and never when nobody says how long", async (t) => {
  const { gateway, server, token, list } = await setUp(t);
  const iat = Math.floor(gateway.clock.now / 1000);
  const short = await token({ iat, exp: iat + 20 });
  await list(short);
  gateway.clock.now += 19_000;
  await list(short);
  t.equal(server.requests.length, 1);
  gateway.clock.now += 5_000;
  t.equal((await list(short)).status, 200, "by the leeway of the issuer");
  t.equal(server.requests.length, 2, "but nothing is kept for it");
  gateway.clock.now += 60_000;
  t.equal((await list(short)).status, 401);
  t.equal(server.requests.length, 2);
  const opaque = { access_token: "opaque-token", expires_in: undefined };
  server.instead = () => opaque;
  const long = await token({ sub: "carol" });
  for (const count of [3, 4]) {
    t.equal((await list(long)).status, 200);
    t.equal(server.requests.length, count);
  }
  server.instead = () => ({ expires_in: 1e9 });
  await list(long);
  gateway.clock.now += 599_000;
  await list(long);
  t.equal(server.requests.length, 5);
  gateway.clock.now += 1_001;
  await list(long);
  t.equal(server.requests.length, 6, "ten minutes at most");
});

t.test("fifty at once cause one exchange; two callers two", async (t) => {
  const { server, token, list } = await setUp(t);
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  const { promise: both, resolve: reached } = Promise.withResolvers<void>();
  server.instead = async () => {
    if (server.requests.length === 2) reached();
    await held;
    return undefined;
  };
  const [alice, bob] = [await token({ sub: "alice" }), await token({ sub: "bob" })];
  const all = [...Array(50)].flatMap(() => [list(alice), list(bob)]);
  await both;
  release();
  t.same(new Set((await Promise.all(all)).map(({ status }) => status)), new Set([200]));
  t.equal(server.requests.length, 2);
});

t.test("a client that leaves does not take the exchange from those who wait with it", async (t) => {
  const { gateway, server, token, list } = await setUp(t);
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  const { promise: reached, resolve: reach } = Promise.withResolvers<void>();
  server.instead = async () => {
    reach();
    await held;
    return undefined;
  };
  const caller = await token();
  const leaving = new AbortController();
  const left = list(caller, { signal: leaving.signal }).catch((error: Error) => error.name);
  await reached;
  const stays = list(caller);
  leaving.abort();
  t.equal(await left, "AbortError");
  release();
  t.equal((await stays).status, 200);
  t.equal(server.requests.length, 1);
  t.ok(gateway.audit.some(({ outcome }) => outcome === "cancelled"));
});

t.test("a gateway that ends waits for no token endpoint, and nothing was spent", async (t) => {
  const { gateway, upstream, server, token } = await setUp(t);
  const state = stateOf(await gateway.call(TRANSFER, { token: await token() }));
  const { promise: reached, resolve: reach } = Promise.withResolvers<void>();
  server.instead = () => {
    reach();
    return "answered";
  };
  const waiting = gateway.call(retryOf(state), { token: await token({ jti: "another" }) });
  await reached;
  await gateway.close(0);
  t.match(await waiting, { status: 503, json: { error: { data: { reason: "shutting_down" } } } });
  t.equal(gateway.audit.at(-1)?.state, "opened");
  t.equal(upstream.arrived.length, 1);
});

t.test("clients: basic, post, and a signed JWT", async (t) => {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const file = `${t.testdir({ key: String(privateKey.export({ type: "pkcs8", format: "pem" })) })}/key`;
  const clientKey = publicKey.export({ format: "jwk" }) as JWK;
  for (const [client, more] of [
    [basic, {}],
    [{ post: { id: CLIENT.id, secret } }, {}],
    [{ privateKeyJwt: { id: CLIENT.id, key: { file } } }, { clientKey }],
  ] as const) {
    const { server, token, list } = await setUp(t, exchange({ client }), more);
    t.equal((await list(await token())).status, 200, String(Object.keys(client)));
    t.notMatch(String(server.requests[0]?.form), encodeURIComponent("basic"));
    t.equal(server.requests[0]?.headers.authorization !== undefined, "basic" in client);
  }
});

t.test("client credentials: one token for all callers, with or without one of their own", async (t) => {
  const { gateway, upstream, server, token, list } = await setUp(t, (endpoint) => ({
    clientCredentials: { endpoint, client: basic, scope: ["mcp"], header: "X-Upstream-Token" },
  }));
  await list(await token({ sub: "alice" }));
  await list(await token({ sub: "bob" }));
  t.equal(server.requests.length, 1);
  t.same(
    [...(server.requests[0]?.form ?? [])],
    [
      ["grant_type", "client_credentials"],
      ["scope", "mcp"],
    ],
  );
  for (const { headers } of upstream.arrived) {
    t.equal(headers.authorization, undefined);
    t.equal(headers["x-upstream-token"], server.granted[0]);
  }
  t.equal(gateway.audit.at(-1)?.credential, "client_credentials");
  server.instead = () => ({ status: 400, error: "invalid_grant" });
  gateway.clock.now += 400_000;
  const reply = await list(await token({ sub: "alice" }));
  t.match(reply, { status: 502, json: { error: { data: { reason: "credential_fault" } } } });
});

t.test(
  "a 401 of the server drops the token; what comes next has another, and nothing is sent again",
  async (t) => {
    const { upstream, server, token, list } = await setUp(t);
    const honest = upstream.script;
    const caller = await token();
    await list(caller);
    upstream.script = (_arrived, response) => void response.writeHead(401).end();
    t.equal((await list(caller)).status, 502);
    t.equal(upstream.arrived.length, 2);
    t.equal(server.requests.length, 1);
    upstream.script = (_arrived, response) => void response.writeHead(403).end();
    await list(caller);
    t.equal(server.requests.length, 2, "another token");
    upstream.script = honest;
    t.equal((await list(caller)).status, 200);
    t.equal(server.requests.length, 2, "a 403 is about more than the token");
    const [first, second, third] = upstream.arrived.map(({ headers }) => headers.authorization);
    t.equal(first, second);
    t.not(third, second);
  },
);

t.test("who is refused hears so, and asks the endpoint no more for a moment", async (t) => {
  const { gateway, upstream, server, token, list } = await setUp(t);
  const caller = await token();
  server.instead = () => ({ status: 400, error: "invalid_request", error_description: "u-1001 has left" });
  for (const _ of [1, 2, 3]) {
    const reply = await list(caller);
    t.match(reply, { status: 403, json: { error: { data: { reason: "credential_refused" } } } });
    t.equal(reply.headers["www-authenticate"], undefined);
    t.notMatch(JSON.stringify(reply), /has left/);
  }
  t.equal(server.requests.length, 1);
  t.equal(upstream.arrived.length, 0);
  t.equal(gateway.audit.at(-1)?.cause, "grant_invalid_request");
  server.instead = () => undefined;
  t.equal((await list(await token({ sub: "bob" }))).status, 200, "nobody else");
  gateway.clock.now += 5_000;
  t.equal((await list(caller)).status, 200);
});

t.test("an unrelated change keeps what was exchanged; another client does not", async (t) => {
  const { gateway, upstream, server, token, list } = await setUp(t);
  const caller = await token();
  await list(caller);
  t.ok(await gateway.configure({ envelope: { ttl: "9m" } }));
  await list(caller);
  t.equal(server.requests.length, 1);
  const credential = exchange({ client: { post: { id: CLIENT.id, secret } } })(server.endpoint);
  const routes = [{ path: "/mcp", upstream: { url: upstream.url, credential } }];
  // One that waits for the endpoint meanwhile goes on under what it came under.
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  const { promise: reached, resolve: reach } = Promise.withResolvers<void>();
  server.instead = async () => {
    reach();
    await held;
    return undefined;
  };
  const waiting = list(await token({ sub: "bob" }));
  await reached;
  t.ok(await gateway.configure({ routes }));
  release();
  t.equal((await waiting).status, 200);
  t.equal(subjectOf(upstream.arrived.at(-1)?.headers.authorization), "bob");
  server.instead = () => undefined;
  await list(caller);
  t.equal(server.requests.length, 3);
  t.equal(decodeJwt(server.granted.at(-1) ?? "").sub, "u-1001");
});

t.test("callers by other ways: an opaque token is exchanged, the word of a proxy is not", async (t) => {
  const upstream = await startUpstream(asksOnce);
  t.teardown(() => upstream.close());
  const introspection = await startIntrospection();
  t.teardown(() => introspection.close());
  introspection.tokens.set("opaque-alice", { sub: "alice", aud });
  const server = await startTokenServer(t, "http://127.0.0.1:1/jwks");
  const granted = (sub: string) => async () => ({
    ...{ status: 200, error: undefined, error_description: undefined, token_type: "Bearer", expires_in: 60 },
    issued_token_type: "urn:ietf:params:oauth:token-type:access_token",
    access_token: await sign({ sub }, key),
  });
  const key = await signingKey();
  const gateway = await startGateway(upstream.url, {
    authentication: {
      introspection: [
        { issuer: "https://idp.example", url: introspection.url, client: structuredClone(basic) },
      ],
      forwarded: { headers: { issuer: "front", from: ["127.0.0.1"], user: "x-forwarded-user" } },
    },
    routes: [{ path: "/mcp", upstream: { url: upstream.url, credential: exchange()(server.endpoint) } }],
  });
  t.teardown(() => gateway.close(0));
  const list = (options: CallOptions) => gateway.call({ method: "tools/list" }, options);
  server.instead = granted("alice");
  t.equal((await list({ token: "opaque-alice" })).status, 200);
  t.equal(server.requests[0]?.form.get("subject_token"), "opaque-alice");
  t.equal(subjectOf(upstream.arrived[0]?.headers.authorization), "alice");
  const forwarded = await list({ headers: { "x-forwarded-user": "alice" } });
  t.match(forwarded, { status: 403, json: { error: { data: { reason: "identity_required" } } } });
  t.equal(gateway.audit.at(-1)?.cause, "no_token");
  introspection.tokens.set("opaque-bob", { sub: "bob", aud });
  t.equal((await list({ token: "opaque-bob" })).status, 403, "the token it gives is alice's");
  t.equal(gateway.audit.at(-1)?.cause, "grant_subject");
  t.equal(upstream.arrived.length, 1);
  // What the issuer takes back is not served from what was exchanged.
  introspection.tokens.delete("opaque-alice");
  gateway.clock.now += 59_000;
  t.equal((await list({ token: "opaque-alice" })).status, 401);
  t.equal(upstream.arrived.length, 1);
});
