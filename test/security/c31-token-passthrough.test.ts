/** C31: what the caller brings for the gateway reaches the upstream, or the other way round. */
import t from "tap";
import { answers, DONE, passes, request, setScene } from "./scene.ts";

process.env["SG_UPSTREAM_TOKEN"] = "the-gateways-own-credential";
const own = () => ({ env: "SG_UPSTREAM_TOKEN" });
const scene = await setScene(t, {
  users: true,
  script: answers(DONE),
  sections: (url, { issuer, jwksUrl }) => ({
    authentication: { issuers: [{ issuer, jwks: { url: jwksUrl }, audiences: ["http://gateway.test/mcp"] }] },
    routes: [
      { path: "/mcp", upstream: { url }, legacy: "pass" },
      { path: "/bearer", upstream: { url, credential: { bearer: own() } }, legacy: "pass" },
      {
        path: "/header",
        upstream: { url, credential: { header: { name: "X-Api-Key", value: own() } } },
        legacy: "pass",
      },
    ],
  }),
});
const like = { method: "tools/call", params: { name: "x" } };
const BRINGS = {
  cookie: "sid=caller-secret",
  "x-api-key": "caller-secret",
  dpop: "caller-secret",
  "proxy-authorization": "Basic caller-secret",
  "x-auth-token": "caller-secret",
  "x-forwarded-authorization": "caller-secret",
  "x-user": "root",
  "x-real-ip": "127.0.0.1",
  "mcp-caller": "caller-secret",
  "x-amz-security-token": "caller-secret",
  referer: "https://caller-secret.example",
  origin: undefined,
  "user-agent": "caller-secret",
};
const ALLOWED =
  /^(host|connection|content-(type|length)|accept|accept-encoding|mcp-(protocol-version|method|name))$/;

for (const [path, credential] of [
  ["/mcp", []],
  ["/bearer", ["authorization", "Bearer the-gateways-own-credential"]],
  ["/header", ["x-api-key", "the-gateways-own-credential"]],
] as const) {
  t.test(`route ${path}: exactly the configured credential`, async (t) => {
    for (const [body, era] of [
      [request('"name":"x"'), {}],
      [
        '{"jsonrpc":"2.0","id":1,"method":"ping"}',
        { "mcp-protocol-version": "2025-06-18", "mcp-method": undefined, "mcp-name": undefined },
      ],
    ] as const) {
      const headers = Object.entries({
        ...{ "content-type": "application/json", accept: "application/json, text/event-stream" },
        ...{ "mcp-protocol-version": "2026-07-28", "mcp-method": like.method, "mcp-name": "x" },
        ...BRINGS,
        authorization: `Bearer ${scene.owner}`,
        ...era,
      }).filter((entry): entry is [string, string] => entry[1] !== undefined);
      const arrived = await passes(t, scene, () =>
        scene.gateway.send({ path, headers: Object.fromEntries(headers), body }),
      );
      const rest = Object.entries(arrived.headers).filter(([name]) => !ALLOWED.test(name));
      t.same(rest.flat(), credential);
      const all = JSON.stringify([arrived.rawHeaders, arrived.body]);
      t.notMatch(all, /caller-secret/);
      t.notOk(all.includes(scene.owner), "the caller's token did not go up");
    }
  });
}

t.test("headers of the upstream that are for the gateway stop there", async (t) => {
  const headers = {
    "content-type": "application/json",
    "set-cookie": ["sid=up; HttpOnly", "b=up"],
    "www-authenticate": 'Bearer realm="up"',
    server: "up/1.0",
    "x-powered-by": "up",
    location: "http://up.internal/",
    link: "<http://up.internal>; rel=preload",
    "access-control-allow-origin": "*",
    "access-control-allow-credentials": "true",
    "strict-transport-security": "max-age=0",
    "clear-site-data": '"*"',
    "x-request-id": "up",
    "cache-control": "public, max-age=600",
    "mcp-session-id": "up",
    via: "1.1 up",
  };
  for (const status of [200, 400]) {
    scene.upstream.script = (arrived, response) => {
      response.writeHead(status, headers);
      response.end(`{"jsonrpc":"2.0","id":${arrived.json.id},"result":${DONE}}`);
    };
    const reply = await scene.gateway.call(like, { token: scene.owner });
    t.notMatch(JSON.stringify(reply.headers), /\bup\b|public|access-control|clear-site|max-age/);
    t.equal(reply.headers["cache-control"], "no-store");
  }
});

t.test("a challenge or a redirect of the upstream is not the caller's", async (t) => {
  for (const [status, code] of [
    [401, 502],
    [403, 502],
    [407, 502],
    [301, 502],
    [302, 502],
    [307, 502],
  ] as const) {
    scene.upstream.script = (_arrived, response) => {
      response.writeHead(status, {
        "www-authenticate":
          'Bearer error="insufficient_scope", scope="admin", resource_metadata="http://evil.example"',
        location: "http://evil.example/mcp",
        "content-type": "text/html",
      });
      response.end("evil.example internals");
    };
    const before = scene.upstream.arrived.length;
    const reply = await scene.gateway.call(like, { token: scene.owner });
    t.equal(reply.status, code, String(status));
    t.equal(reply.headers["www-authenticate"], undefined);
    t.notMatch(JSON.stringify(reply), /evil\.example/);
    t.equal(scene.upstream.arrived.length, before + 1, "not followed, not repeated");
  }
});
