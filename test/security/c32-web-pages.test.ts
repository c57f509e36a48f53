/** C32: a web page drives the gateway, by its Origin or by a rebound name. */
import t from "tap";
import { rawExchange, statuses } from "./raw.ts";
import { answers, DONE, passes, refuses, request, setScene } from "./scene.ts";

const APP = "https://app.example";
const scene = await setScene(t, {
  users: true,
  script: answers(DONE),
  sections: (url, { issuer, jwksUrl }) => ({
    server: {
      listen: "127.0.0.1:0",
      publicUrl: "http://gateway.test",
      allowedHosts: ["127.0.0.1", "gateway.test"],
      allowedOrigins: [APP, "http://localhost:5173"],
    },
    authentication: { issuers: [{ issuer, jwks: { url: jwksUrl } }] },
    routes: [{ path: "/mcp", upstream: { url }, legacy: "pass" }],
  }),
});
const like = { method: "tools/call", params: { name: "x" } };
const body = request('"name":"x"');
const FOREIGN = [
  "https://evil.example",
  "https://app.example.evil.example",
  "https://evilapp.example",
  "https://app.example:8443",
  "http://app.example",
  "https://APP.example",
  "https://app.example/",
  "https://app.example.",
  "https://user@app.example",
  "https://app.example, https://evil.example",
  "https://app.example https://evil.example",
  "http://gateway.test",
  "http://127.0.0.1",
  "http://localhost",
  "http://localhost:5174",
  "null",
  "file://",
  "*",
  "",
];

t.test("403 for every Origin that is not exactly on the list, before anything is read", async (t) => {
  for (const origin of FOREIGN) {
    for (const [bytes, headers] of [
      [body, {}],
      ["no json", {}],
      [body, { authorization: "Bearer nonsense" }],
      [body, { "content-type": "text/plain" }],
      [body, { "mcp-protocol-version": "2025-06-18", "mcp-method": undefined, "mcp-name": undefined }],
    ] as const) {
      const fetches = scene.issuer.jwksFetches;
      const sent = () => scene.raw(bytes, like, { ...headers, origin });
      const reply = await refuses(t, scene, sent, { status: 403, reason: "forbidden_origin" });
      for (const name of Object.keys(reply.headers)) t.notMatch(name, /^(access-control|www-authenticate)/);
      t.equal(scene.issuer.jwksFetches, fetches, "no token was looked at");
    }
    const preflight = { origin, "access-control-request-method": "POST" };
    const reply = await scene.gateway.send({ method: "OPTIONS", headers: preflight });
    t.equal(reply.status, 403);
    t.notMatch(JSON.stringify(reply.headers), /access-control/);
  }
});

t.test("another Host is refused, whatever the Origin", async (t) => {
  for (const host of [
    "evil.example",
    "evil.example:3000",
    "gateway.test.evil.example",
    "gateway.test.",
    "gateway.test@evil.example",
    "evil.example#gateway.test",
    "127.0.0.1.nip.io",
    "127.1",
    "2130706433",
    "[::1]",
    "localhost",
  ]) {
    for (const origin of [undefined, APP, `http://${host}`]) {
      await refuses(t, scene, () => scene.raw(body, like, { host, origin }), { status: 421 });
    }
  }
  for (const line of ["Host: \r\n", "Host:\r\n"]) {
    const text = await rawExchange(
      scene.gateway.url,
      `GET /mcp HTTP/1.1\r\n${line}Connection: close\r\n\r\n`,
    );
    t.same(statuses(text), [421]);
  }
  t.same(statuses(await rawExchange(scene.gateway.url, "GET /mcp HTTP/1.0\r\n\r\n")), [421]);
  t.same(statuses(await rawExchange(scene.gateway.url, "GET /mcp HTTP/1.1\r\n\r\n")), [400]);
  const metadata = { method: "GET", path: "/.well-known/oauth-protected-resource/mcp" };
  for (const method of ["GET", "HEAD", "OPTIONS"]) {
    const reply = await scene.gateway.send({ ...metadata, method, headers: { host: "evil.example" } });
    t.equal(reply.status, 421);
    t.equal(reply.headers["access-control-allow-origin"], undefined);
  }
  t.equal((await scene.gateway.send(metadata)).status, 200);
});

t.test("honest: no Origin, and the origins on the list", async (t) => {
  for (const host of ["gateway.test", "GATEWAY.test", "gateway.test:8080", "127.0.0.1"]) {
    await passes(t, scene, () => scene.raw(body, like, { host }));
  }
  for (const origin of [APP, "http://localhost:5173"]) {
    const good = await scene.raw(body, like, { origin });
    t.equal(good.status, 200);
    const refused = await scene.raw(body, like, { origin, authorization: undefined });
    t.equal(refused.status, 401);
    for (const { headers } of [good, refused]) {
      t.equal(headers["access-control-allow-origin"], origin);
      t.match(headers["access-control-expose-headers"], /WWW-Authenticate/);
      t.match(headers.vary, /Origin/);
      t.equal(headers["access-control-allow-credentials"], undefined);
    }
    const preflight = {
      origin,
      "access-control-request-method": "POST",
      "access-control-request-headers": "authorization, mcp-param-x, x-evil",
    };
    const before = scene.bytesUp();
    const reply = await scene.gateway.send({ method: "OPTIONS", headers: preflight });
    t.equal(reply.status, 204);
    t.equal(reply.headers["access-control-allow-origin"], origin);
    t.match(reply.headers["access-control-allow-headers"], /authorization.*mcp-param-x/);
    t.notMatch(reply.headers["access-control-allow-headers"], /x-evil/);
    t.equal(scene.bytesUp(), before);
  }
});

t.test(
  "honest: the origin of the gateway itself, of the Host that is addressed and of no other",
  async (t) => {
    for (const [host, origin, status] of [
      ["gateway.test", "http://gateway.test", 200],
      ["127.0.0.1:8080", "http://127.0.0.1:8080", 200],
      ["gateway.test", "https://gateway.test", 403],
      ["gateway.test", "http://gateway.test:8080", 403],
      ["127.0.0.1:8080", "http://127.0.0.1:8081", 403],
    ] as const)
      t.equal((await scene.raw(body, like, { host, origin })).status, status, `${origin} at ${host}`);
  },
);

t.test("requests that a page can send without a preflight do nothing", async (t) => {
  for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]) {
    const headers = { host: "gateway.test", "content-type": type, authorization: `Bearer ${scene.owner}` };
    await refuses(t, scene, () => scene.gateway.send({ headers, body }), { status: 415 });
  }
  for (const method of ["GET", "HEAD"]) {
    const reply = await scene.gateway.send({
      method,
      path: "/mcp?jsonrpc=2.0&method=tools/call",
      headers: { origin: "https://evil.example" },
    });
    t.equal(reply.status, 403);
  }
});
