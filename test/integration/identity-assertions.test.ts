/** Identity assertions: a server that verifies them with the gateway's published keys, on every kind of message and through a rotation. */
import { generateKeyPairSync } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { createRemoteJWKSet, decodeJwt, decodeProtectedHeader, type JWTPayload, jwtVerify } from "jose";
import t, { type Test } from "tap";
import { PUBLIC_URL, startGateway, type TestGateway } from "../support/gateway.ts";
import { startIssuer } from "../support/issuer.ts";
import { type Arrived, startUpstream } from "../support/upstream.ts";
import { asksOnce, retryOf, stateOf, TRANSFER } from "./rounds.ts";

const pem = (): string =>
  String(generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "pem" }));
const p256 = (): string =>
  String(
    generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ type: "pkcs8", format: "pem" }),
  );
const KEY_SET = "/.well-known/jwks.json";
const aud = `${PUBLIC_URL}/mcp`;

interface Scene {
  readonly gateway: TestGateway;
  readonly upstream: Awaited<ReturnType<typeof startUpstream>>;
  readonly token: (claims?: Record<string, unknown>) => Promise<string>;
  /** What the server made of each request's assertion: its claims, or why it is none. */
  readonly verified: (JWTPayload | string)[];
  /** The keys that it starts with. */
  readonly first: Readonly<Record<string, string>>;
  /** The section, with these keys; the first one signs unless told otherwise. */
  assertions(keys: Readonly<Record<string, string>>, primary?: string): Promise<Record<string, unknown>>;
  readonly routes: (assertion?: object) => unknown[];
}

/** A server that takes nobody's word but the gateway's, by the keys it publishes. */
async function setUp(
  t: Test,
  assertion: object = {},
  sections: Record<string, unknown> = {},
): Promise<Scene> {
  const verified: (JWTPayload | string)[] = [];
  let find: ReturnType<typeof createRemoteJWKSet> | undefined;
  const upstream = await startUpstream(async (arrived, response) => {
    find ??= createRemoteJWKSet(new URL(KEY_SET, gateway.url), { cooldownDuration: 0 });
    const [, jwt = ""] = /^Bearer (.+)$/.exec(arrived.headers.authorization ?? "") ?? [];
    const currentDate = new Date(gateway.clock.now);
    const claims = await jwtVerify(jwt, find, {
      ...{ issuer: PUBLIC_URL, audience: upstream.url, typ: "at+jwt", currentDate },
      requiredClaims: ["exp", "iat", "jti"],
    }).then(
      ({ payload }) => payload,
      (error: Error & { code?: string }) => error.code ?? error.message,
    );
    verified.push(claims);
    if (typeof claims === "string") response.writeHead(401).end();
    else if (arrived.method === "GET") response.writeHead(200, { "content-type": "text/event-stream" }).end();
    else if (arrived.method === "DELETE") response.writeHead(204).end();
    else if (arrived.json?.id === undefined) response.writeHead(202).end();
    else await asksOnce(arrived, response);
  });
  t.teardown(() => upstream.close());
  const issuer = await startIssuer();
  t.teardown(() => issuer.close());
  const folder = t.testdir({});
  const put = async (keys: Readonly<Record<string, string>>): Promise<void> => {
    for (const [id, text] of Object.entries(keys)) await writeFile(`${folder}/${id}`, text, { mode: 0o600 });
  };
  const section = (keys: Readonly<Record<string, string>>, primary = Object.keys(keys)[0]) => ({
    primary,
    ring: Object.keys(keys).map((id) => ({ id, key: { file: `${folder}/${id}` } })),
  });
  const routes = (more: object = assertion): unknown[] => [
    { path: "/mcp", legacy: "pass", upstream: { url: upstream.url, credential: { assertion: more } } },
  ];
  const first = { one: pem() };
  await put(first);
  const gateway = await startGateway(upstream.url, {
    authentication: {
      issuers: [
        { issuer: issuer.issuer, jwks: { url: issuer.jwksUrl }, claims: { groups: "groups", tenant: "tid" } },
      ],
    },
    admin: { listen: "127.0.0.1:0" },
    assertions: section(first),
    routes: routes(),
    ...sections,
  });
  t.teardown(() => gateway.close(0));
  return {
    gateway,
    upstream,
    verified,
    first,
    token: (claims = {}) => issuer.token({ sub: "u-1001", aud, client_id: "app", ...claims }),
    async assertions(keys, primary) {
      await put(keys);
      return section(keys, primary);
    },
    routes,
  };
}

const legacyHeaders = (token: string, more: Record<string, string> = {}): Record<string, string> => ({
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
  "mcp-protocol-version": "2025-06-18",
  "mcp-session-id": "s-1",
  authorization: `Bearer ${token}`,
  ...more,
});

t.test("every kind of message says who is calling, and none has the caller's token", async (t) => {
  const { gateway, upstream, token, verified } = await setUp(t, { claims: ["groups", "scopes"] });
  const caller = await token({ groups: ["staff"], scope: "files:read", tid: "t-1" });
  const own = { token: caller };
  const state = stateOf(await gateway.call(TRANSFER, own));
  t.equal((await gateway.call(retryOf(state), own)).status, 200);
  t.equal((await gateway.call({ method: "tools/list" }, own)).status, 200);
  t.equal((await gateway.call({ id: null, method: "notifications/roots/list_changed" }, own)).status, 202);
  upstream.script = wrap(upstream.script, "subscriptions/listen");
  await gateway.call({ method: "subscriptions/listen", params: { notifications: {} } }, own);
  const ping = '{"jsonrpc":"2.0","id":4,"method":"ping"}';
  t.equal((await gateway.send({ headers: legacyHeaders(caller), body: ping })).status, 200);
  t.equal((await gateway.send({ method: "GET", headers: legacyHeaders(caller) })).status, 200);
  t.equal((await gateway.send({ method: "DELETE", headers: legacyHeaders(caller) })).status, 204);
  t.equal(verified.length, 8);
  for (const claims of verified) {
    t.match(claims, {
      ...{ sub: /^http:\/\/127\.0\.0\.1:\d+#u-1001$/, client_id: "app", tenant: "t-1" },
      ...{ groups: ["staff"], scope: "files:read", sub_id: { format: "iss_sub", sub: "u-1001" } },
    });
  }
  for (const part of caller.split(".").slice(1))
    t.notOk(JSON.stringify(upstream.arrived.map(shown)).includes(part));
  for (const record of gateway.audit) t.equal(record.credential, "assertion");
});

const shown = ({ rawHeaders, body }: Arrived): unknown => [rawHeaders, body];
/** A server that ends this method's stream at once. */
function wrap(script: Awaited<ReturnType<typeof startUpstream>>["script"], method: string): typeof script {
  return async (arrived, response) => {
    if (arrived.json?.method !== method) return script(arrived, response);
    // Judged as the rest, and answered as a stream.
    const end = response.end.bind(response);
    Object.assign(response, { writeHead: () => response, end: () => end() });
    response.setHeader("content-type", "text/event-stream");
    return script(arrived, response);
  };
}

t.test("one assertion serves for half of its life; another caller has another", async (t) => {
  const { gateway, upstream, token } = await setUp(t, { lifetime: "20s" });
  const sent = (): string => upstream.arrived.at(-1)?.headers.authorization ?? "";
  const call = async (sub: string): Promise<string> => {
    await gateway.call({ method: "tools/list" }, { token: await token({ sub, ...times }) });
    return sent();
  };
  const iat = Math.floor(gateway.clock.now / 1000);
  const times = { iat, exp: iat + 3600 };
  const first = await call("u-1");
  const { iat: from = 0, exp = 0, jti } = decodeJwt(first.slice(7));
  t.equal(exp - from, 20);
  gateway.clock.now += 9_000;
  t.equal(await call("u-1"), first);
  t.not(await call("u-2"), first);
  gateway.clock.now += 1_001;
  const second = await call("u-1");
  t.not(decodeJwt(second.slice(7)).jti, jti);
  const text = await (await fetch(`${gateway.adminUrl}/metrics`)).text();
  for (const [outcome, count] of [
    ["obtained", 3],
    ["reused", 1],
  ] as const)
    t.match(
      text,
      `sealgate_upstream_credentials_total{route="/mcp",kind="assertion",outcome="${outcome}"} ${count}`,
    );
});

t.test("in a header of its own it stands alone; a copy of the caller's does not go up", async (t) => {
  const { gateway, upstream, token } = await setUp(t, { header: "X-Sealgate-Assertion", subject: "plain" });
  await gateway.call(
    { method: "tools/list" },
    { token: await token(), headers: { "x-sealgate-assertion": "forged" } },
  );
  const headers = upstream.arrived[0]?.headers;
  t.equal(headers?.authorization, undefined);
  t.equal(decodeJwt(String(headers?.["x-sealgate-assertion"])).sub, "u-1001");
});

t.test("without identity: refused before the server hears of it, or said so", async (t) => {
  const anonymous = { authentication: { mode: "anonymous" } };
  const sends = await setUp(t, { anonymous: "send" }, anonymous);
  t.equal((await sends.gateway.call(TRANSFER)).status, 200);
  t.match(sends.verified[0], { anonymous: true, sub: undefined });
  const { gateway, verified, routes } = await setUp(
    t,
    { anonymous: "send" },
    {
      authentication: {
        mode: "anonymous",
        issuers: [{ issuer: "http://127.0.0.1:1", jwks: { url: "http://127.0.0.1:1" } }],
      },
    },
  );
  await gateway.configure({ routes: routes({ anonymous: "refuse" }) });
  const reply = await gateway.call(TRANSFER);
  t.match(reply, { status: 403, json: { error: { data: { reason: "identity_required" } } } });
  t.equal(verified.length, 0);
  t.match(gateway.audit.at(-1), { code: "identity_required", cause: "anonymous", credential: "assertion" });
});

t.test(
  "the key set: public, cacheable, under any name of the gateway, and only where something signs",
  async (t) => {
    const { gateway } = await setUp(t);
    const get = { method: "GET", path: KEY_SET, headers: { host: "gateway.internal:8080" } };
    const reply = await gateway.send(get);
    t.equal(reply.status, 200);
    t.equal(reply.headers["cache-control"], "max-age=300");
    t.match(reply.headers["content-type"], /^application\/json/);
    t.strictSame(Object.keys(reply.json.keys[0]).sort(), ["alg", "crv", "kid", "kty", "use", "x"]);
    t.equal((await gateway.send({ ...get, method: "POST" })).status, 421, "of the keys nothing but reading");
    t.equal((await gateway.send({ ...get, path: `${KEY_SET}/` })).status, 421);
    const without = await startGateway("http://127.0.0.1:1/mcp");
    t.teardown(() => without.close(0));
    t.equal((await without.send({ method: "GET", path: KEY_SET })).status, 404);
  },
);

t.test("a rotation loses no request, also one that is on its way", async (t) => {
  const { gateway, upstream, assertions, token, verified, first } = await setUp(t);
  const keys = { ...first, two: p256() };
  const sign = async (): Promise<unknown> => {
    gateway.clock.now += 31_000;
    const iat = Math.floor(gateway.clock.now / 1000);
    await gateway.call({ method: "tools/list" }, { token: await token({ iat, exp: iat + 60 }) });
    return decodeProtectedHeader(upstream.arrived.at(-1)?.headers.authorization?.slice(7) ?? "")["alg"];
  };
  t.equal(await sign(), "EdDSA");
  t.ok(await gateway.configure({ assertions: await assertions(keys, "one") }), "added");
  t.equal(await sign(), "EdDSA", "published, and not signing yet");
  // One that is under way keeps what it was judged by.
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  const { promise: reached, resolve: reach } = Promise.withResolvers<void>();
  const script = upstream.script;
  upstream.script = async (arrived, response) => {
    reach();
    await held;
    return script(arrived, response);
  };
  const iat = Math.floor(gateway.clock.now / 1000);
  const under = gateway.call(
    { method: "tools/list" },
    { token: await token({ sub: "u-3", iat, exp: iat + 60 }) },
  );
  await reached;
  t.ok(await gateway.configure({ assertions: await assertions(keys, "two") }), "promoted");
  release();
  t.equal((await under).status, 200);
  upstream.script = script;
  t.equal(await sign(), "ES256");
  t.ok(await gateway.configure({ assertions: await assertions({ two: keys.two }) }), "removed");
  t.equal(await sign(), "ES256");
  t.same(
    verified.filter((one) => typeof one === "string"),
    [],
  );
  t.equal((await gateway.send({ method: "GET", path: KEY_SET })).json.keys.length, 1);
  const warning = /signed by a key that was not published before/;
  t.notMatch(gateway.logged(), warning);
  t.ok(await gateway.configure({ assertions: await assertions({ three: pem() }) }), "all at once");
  t.match(gateway.logged(), warning);
});

t.test(
  "a 401 of the server drops the assertion: the next request has another, and none is sent again",
  async (t) => {
    const { gateway, upstream, token } = await setUp(t);
    const honest = upstream.script;
    const own = { token: await token() };
    await gateway.call({ method: "tools/list" }, own);
    upstream.script = (_arrived, response) => void response.writeHead(401).end();
    const reply = await gateway.call({ method: "tools/list" }, own);
    t.match(reply, { status: 502, json: { error: { data: { reason: "upstream_unauthorized" } } } });
    t.equal(upstream.arrived.length, 2, "sent once");
    upstream.script = honest;
    await gateway.call({ method: "tools/list" }, own);
    const [first, second, third] = upstream.arrived.map(({ headers }) => headers.authorization);
    t.equal(first, second);
    t.not(third, second);
  },
);
