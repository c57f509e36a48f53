/** Browsers: preflight before authentication, headers exposed on refusals too, metadata readable from anywhere. */
import t from "tap";
import { exchange, mirrored, PUBLIC_URL, startGateway } from "../support/gateway.ts";
import { startIssuer } from "../support/issuer.ts";
import { startUpstream } from "../support/upstream.ts";
import { answers, DONE, sendAs, TRANSFER } from "./rounds.ts";

const APP = "https://app.example";
const EVIL = "https://evil.example";
const METADATA = "/.well-known/oauth-protected-resource/mcp";

const upstream = await startUpstream(answers(DONE));
t.teardown(() => upstream.close());
const issuer = await startIssuer();
t.teardown(() => issuer.close());
const gateway = await startGateway(upstream.url, {
  server: {
    listen: "127.0.0.1:0",
    publicUrl: PUBLIC_URL,
    allowedHosts: ["127.0.0.1"],
    allowedOrigins: [APP],
    limits: { body: "1KiB" },
  },
  authentication: { issuers: [{ issuer: issuer.issuer, jwks: { url: issuer.jwksUrl } }] },
  authorization: { default: "allow" },
});
t.teardown(() => gateway.close(0));
const token = await issuer.token({ aud: `${PUBLIC_URL}/mcp` });
const split = (value: unknown): string[] =>
  String(value)
    .toLowerCase()
    .split(/\s*,\s*/);

const preflight = (origin: string | undefined, asked = "authorization", path = "/mcp") =>
  gateway.send({
    method: "OPTIONS",
    path,
    headers: {
      ...(origin === undefined ? {} : { origin }),
      "access-control-request-method": "POST",
      "access-control-request-headers": asked,
    },
  });

t.test("a preflight is answered without a token", async (t) => {
  const reply = await preflight(
    APP,
    "authorization,content-type,mcp-method,mcp-param-Region,x-secret,mcp-param-a b",
  );
  t.equal(reply.status, 204);
  t.equal(reply.body, "");
  t.equal(reply.headers["access-control-allow-origin"], APP);
  t.equal(reply.headers["access-control-allow-credentials"], undefined, "no cookies are used");
  const allowed = split(reply.headers["access-control-allow-headers"]);
  for (const name of [
    ...["authorization", "content-type", "accept", "mcp-protocol-version", "mcp-method", "mcp-name"],
    ...["mcp-session-id", "last-event-id", "mcp-param-region"],
  ]) {
    t.ok(allowed.includes(name), name);
  }
  t.notOk(allowed.includes("x-secret"), "only what the gateway understands");
  t.notOk(allowed.some((name) => name.includes(" ")));
  t.ok(split(reply.headers["access-control-allow-methods"]).includes("post"));
  t.ok(split(reply.headers["vary"]).includes("origin"));
  t.equal(upstream.arrived.length, 0);
  t.match(gateway.audit.at(-1), { outcome: "preflight" });
});

t.test("a preflight from elsewhere is refused and not readable", async (t) => {
  for (const origin of [
    EVIL,
    "null",
    `${APP}.evil.example`,
    "http://app.example",
    `${APP}:444`,
    APP.toUpperCase(),
  ]) {
    const reply = await preflight(origin);
    t.equal(reply.status, 403, origin);
    t.equal(reply.json.error.data.reason, "forbidden_origin");
    t.equal(reply.headers["access-control-allow-origin"], undefined);
  }
});

t.test("OPTIONS that is no preflight is a method like any other", async (t) => {
  const reply = await gateway.send({ method: "OPTIONS", headers: { origin: APP } });
  t.equal(reply.status, 405);
  t.equal(reply.headers["allow"], "POST");
});

t.test("answers are readable by an allowed page, and so are refusals", async (t) => {
  const authorization = `Bearer ${token}`;
  const big = { ...TRANSFER, params: { ...TRANSFER.params, pad: "x".repeat(2000) } };
  const rows = [
    [200, TRANSFER, { authorization }],
    [401, TRANSFER, {}],
    [401, TRANSFER, { authorization: "Bearer forged" }],
    [400, TRANSFER, { authorization, "mcp-name": "other" }],
    [413, big, { authorization }],
    [406, TRANSFER, { authorization, accept: "text/html" }],
  ] as const;
  for (const [status, message, headers] of rows) {
    const reply = await sendAs(gateway, "1", message, { headers: { origin: APP, ...headers } });
    t.equal(reply.status, status);
    t.equal(reply.headers["access-control-allow-origin"], APP);
    t.ok(split(reply.headers["vary"]).includes("origin"));
    const exposed = split(reply.headers["access-control-expose-headers"]);
    for (const name of ["www-authenticate", "x-request-id", "mcp-session-id", "retry-after"])
      t.ok(exposed.includes(name), name);
    if (status === 401) t.match(reply.headers["www-authenticate"], /resource_metadata="[^"]+"/);
  }
});

t.test("no Origin, no CORS headers; another Origin never reaches the upstream, token or not", async (t) => {
  const before = upstream.arrived.length;
  const none = await gateway.call(TRANSFER, { token });
  t.equal(none.status, 200);
  t.equal(none.headers["access-control-allow-origin"], undefined);
  for (const origin of [EVIL, "null", ""]) {
    const reply = await gateway.call(TRANSFER, { token, headers: { origin } });
    t.equal(reply.status, 403, origin);
    t.equal(reply.headers["access-control-allow-origin"], undefined);
  }
  t.equal(upstream.arrived.length, before + 1);
});

t.test("resource metadata is readable from every origin, also by way of a preflight", async (t) => {
  for (const path of [METADATA, "/.well-known/oauth-protected-resource"]) {
    const reply = await gateway.send({ method: "GET", path, headers: { origin: EVIL } });
    t.equal(reply.status, 200);
    t.equal(reply.headers["access-control-allow-origin"], "*");
    t.match(reply.headers["content-type"], /^application\/json/);
    t.match(reply.json, { resource: `${PUBLIC_URL}/mcp`, authorization_servers: [issuer.issuer] });
    const asked = await preflight(EVIL, "mcp-protocol-version", path);
    t.equal(asked.status, 204);
    t.equal(asked.headers["access-control-allow-origin"], "*");
    t.match(asked.headers["access-control-allow-headers"], /\*|mcp-protocol-version/i);
    const wrong = await gateway.send({ method: "GET", path, headers: { host: "evil.example" } });
    t.equal(wrong.status, 421, "Host is checked here too");
  }
  const challenge = String((await gateway.call(TRANSFER)).headers["www-authenticate"]);
  t.equal(/resource_metadata="([^"]+)"/.exec(challenge)?.[1], `${PUBLIC_URL}${METADATA}`);
});

t.test("HEAD says what GET says, without the document; nothing else is served there", async (t) => {
  const read = await gateway.send({ method: "GET", path: METADATA });
  const head = await gateway.send({ method: "HEAD", path: METADATA, headers: { origin: EVIL } });
  t.same([head.status, head.body], [200, ""]);
  for (const name of ["content-type", "content-length", "cache-control", "access-control-allow-origin"])
    t.equal(head.headers[name], read.headers[name], name);
  for (const method of ["POST", "PUT", "DELETE"])
    t.equal((await gateway.send({ method, path: METADATA })).status, 404, method);
  for (const path of [
    `${METADATA}/`,
    `${METADATA}x`,
    `/x${METADATA}`,
    "/mcp/.well-known/oauth-protected-resource",
  ])
    t.equal((await gateway.send({ method: "GET", path })).status, 404, path);
  t.equal(
    (await gateway.send({ method: "GET", path: `${METADATA}?x=1` })).status,
    200,
    "clients keep a query",
  );
});

t.test("several routes: each its own document, and the bare path only where it is one of them", async (t) => {
  const bare = "/.well-known/oauth-protected-resource";
  const route = (path: string, more: object = {}) => ({ path, upstream: { url: upstream.url }, ...more });
  const several = async (...routes: object[]) => {
    const one = await startGateway(upstream.url, {
      authentication: { issuers: [{ issuer: issuer.issuer, jwks: { url: issuer.jwksUrl } }] },
      routes,
    });
    t.teardown(() => one.close(0));
    return async (path: string) => {
      const reply = await one.send({ method: "GET", path });
      return reply.status === 200 ? reply.json : reply.status;
    };
  };
  const two = await several(route("/a", { metadata: { name: "A", scopes: ["x"] } }), route("/team/b"));
  t.match(await two(`${bare}/a`), {
    resource: `${PUBLIC_URL}/a`,
    resource_name: "A",
    scopes_supported: ["x"],
  });
  t.match(await two(`${bare}/team/b`), { resource: `${PUBLIC_URL}/team/b`, resource_name: undefined });
  t.equal(await two(bare), 404, "it would name the wrong resource");
  const rooted = await several(route("/"), route("/a"));
  t.match(await rooted(bare), { resource: PUBLIC_URL });
  t.match(await rooted(`${bare}/a`), { resource: `${PUBLIC_URL}/a` });
});

t.test("with anonymous access there is no metadata to read", async (t) => {
  const open = await startGateway(upstream.url);
  t.teardown(() => open.close(0));
  const reply = await exchange(open.url, { method: "GET", path: METADATA, headers: mirrored(TRANSFER) });
  t.equal(reply.status, 404);
});

t.test("a route at the root of its host: both spellings of its URL are its audience", async (t) => {
  const one = await startGateway(upstream.url, {
    authentication: { issuers: [{ issuer: issuer.issuer, jwks: { url: issuer.jwksUrl } }] },
    routes: [
      { path: "/", upstream: { url: upstream.url } },
      { path: "/a", upstream: { url: upstream.url } },
    ],
  });
  t.teardown(() => one.close(0));
  for (const aud of [PUBLIC_URL, `${PUBLIC_URL}/`]) {
    const token = await issuer.token({ aud });
    t.equal((await one.call(TRANSFER, { token, path: "/" })).status, 200, aud);
    t.equal((await one.call(TRANSFER, { token, path: "/a" })).status, 401, "and of no other route");
  }
  const token = await issuer.token({ aud: `${PUBLIC_URL}/a` });
  t.equal((await one.call(TRANSFER, { token, path: "/" })).status, 401);
  t.equal((await one.call(TRANSFER, { token, path: "/a" })).status, 200);
  const slash = await issuer.token({ aud: `${PUBLIC_URL}/a/` });
  t.equal(
    (await one.call(TRANSFER, { token: slash, path: "/a" })).status,
    401,
    "elsewhere a slash is a difference",
  );
});
