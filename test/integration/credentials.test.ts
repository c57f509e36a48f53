/** What goes up in headers: the gateway's own credential, the mirrored headers, the trace; nothing else of the caller's. */
import t, { type Test } from "tap";
import { mirrored, PUBLIC_URL, startGateway } from "../support/gateway.ts";
import { startIssuer } from "../support/issuer.ts";
import { startUpstream } from "../support/upstream.ts";
import { asksOnce, retryOf, sendAs, stateOf, TRANSFER, textOf } from "./rounds.ts";

const SECRET = "upstream-secret-4711";
const TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
/** All that an upstream may see of a modern call without a credential. */
const PLAIN = [
  ...["accept", "accept-encoding", "connection", "content-length", "content-type", "host"],
  ...["mcp-method", "mcp-name", "mcp-protocol-version"],
];

async function open(t: Test, credential?: Record<string, unknown>, sections: Record<string, unknown> = {}) {
  const upstream = await startUpstream(asksOnce);
  t.teardown(() => upstream.close());
  const settings = { url: upstream.url, ...(credential === undefined ? {} : { credential }) };
  const routes = [{ path: "/mcp", upstream: settings, legacy: "pass" }];
  const gateway = await startGateway(upstream.url, { ...sections, routes });
  t.teardown(() => gateway.close(0));
  return { gateway, upstream };
}

const HOSTILE = {
  ...{
    authorization: "Bearer caller-token",
    cookie: "sid=1",
    "proxy-authorization": "Basic eA==",
    "x-api-key": "caller",
  },
  ...{
    connection: "x-named, close",
    "x-named": "1",
    te: "trailers",
    "keep-alive": "timeout=9",
    "proxy-connection": "x",
  },
  ...{ "x-forwarded-for": "1.2.3.4", forwarded: "for=1.2.3.4", via: "1.1 x", "x-real-ip": "1.2.3.4" },
  ...{ "mcp-session-id": "s-1", "last-event-id": "e-1", "user-agent": "caller/1", "accept-language": "de" },
  ...{ "mcp-unknown": "1", "x-http-method-override": "GET", "accept-encoding": "gzip", origin2: "x" },
};

t.test("without a credential nothing of the caller's goes up but what the protocol mirrors", async (t) => {
  const { gateway, upstream } = await open(t);
  await sendAs(gateway, "1", TRANSFER, { headers: HOSTILE });
  const [arrived] = upstream.arrived;
  t.same(Object.keys(arrived?.headers ?? {}).sort(), PLAIN);
  t.match(arrived?.headers, {
    host: new URL(upstream.url).host,
    accept: "application/json, text/event-stream",
    "accept-encoding": "identity",
    "mcp-method": "tools/call",
    "mcp-name": "transfer",
    "mcp-protocol-version": "2026-07-28",
  });
  t.notMatch(JSON.stringify(arrived?.rawHeaders), /caller|1\.2\.3\.4|s-1|e-1/);
});

t.test("the upstream's own credential, from a file or the environment", async (t) => {
  process.env["SEALGATE_TEST_CREDENTIAL"] = SECRET;
  const file = `${t.testdir({ secret: `${SECRET}\n` })}/secret`;
  for (const [credential, name, value] of [
    [{ bearer: { file } }, "authorization", `Bearer ${SECRET}`],
    [{ bearer: { env: "SEALGATE_TEST_CREDENTIAL" } }, "authorization", `Bearer ${SECRET}`],
    [{ header: { name: "X-Api-Key", value: { file } } }, "x-api-key", SECRET],
  ] as const) {
    const { gateway, upstream } = await open(t, credential);
    const state = stateOf(await sendAs(gateway, "1", TRANSFER, { headers: HOSTILE }));
    await sendAs(gateway, "2", retryOf(state), { headers: HOSTILE });
    await sendAs(gateway, "3", { method: "tools/list" }, { headers: HOSTILE });
    await gateway.send({
      headers: {
        ...mirrored(TRANSFER),
        "mcp-protocol-version": "2025-06-18",
        authorization: "Bearer caller-token",
      },
      body: '{"jsonrpc":"2.0","id":4,"method":"ping"}',
    });
    t.equal(upstream.arrived.length, 4);
    for (const { headers, rawHeaders } of upstream.arrived) {
      t.equal(headers[name], value);
      t.notMatch(JSON.stringify(rawHeaders), /caller/);
    }
    const seen = gateway.logged() + JSON.stringify(gateway.audit);
    t.notMatch(seen, SECRET);
    t.notMatch(seen, "caller-token");
  }
});

t.test("a verified caller's token stays here too", async (t) => {
  const issuer = await startIssuer();
  t.teardown(() => issuer.close());
  const { gateway, upstream } = await open(t, undefined, {
    authentication: { issuers: [{ issuer: issuer.issuer, jwks: { url: issuer.jwksUrl } }] },
  });
  const token = await issuer.token({ aud: `${PUBLIC_URL}/mcp` });
  const reply = await gateway.call(TRANSFER, { token });
  t.equal(reply.status, 200);
  t.equal(upstream.arrived[0]?.headers.authorization, undefined);
  for (const part of token.split(".")) {
    t.notOk(JSON.stringify(upstream.arrived).includes(part));
    t.notOk((gateway.logged() + JSON.stringify(gateway.audit) + reply.body).includes(part));
  }
});

t.test(
  "an upstream that refuses the credential: 502, its challenge stays here, on every kind of message",
  async (t) => {
    const { gateway, upstream } = await open(t, undefined);
    const notification = { method: "notifications/roots/list_changed" };
    for (const status of [401, 403]) {
      upstream.script = (_arrived, response) => {
        const headers = { "www-authenticate": 'Bearer realm="inner"', "content-type": "application/json" };
        response
          .writeHead(status, headers)
          .end('{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"inner"}}');
      };
      const legacy = { "content-type": "application/json", accept: "application/json, text/event-stream" };
      for (const reply of [
        await gateway.call(TRANSFER),
        await gateway.call({ method: "tools/list" }),
        await gateway.call({ id: null, ...notification }),
        await gateway.send({ headers: legacy, body: '{"jsonrpc":"2.0","id":1,"method":"ping"}' }),
        await gateway.send({ method: "GET", headers: { accept: "text/event-stream" } }),
      ]) {
        t.match(reply, {
          status: 502,
          json: { error: { code: -32603, data: { reason: "upstream_unauthorized" } } },
        });
        t.equal(reply.headers["www-authenticate"], undefined);
        t.notMatch(reply.body, /inner/);
      }
    }
  },
);

t.test("trace context and Mcp-Param headers go up as they came", async (t) => {
  const { gateway, upstream } = await open(t);
  const params = {
    "mcp-param-region": "us-west1",
    "mcp-param-text": "=?base64?SGk=?=",
    "mcp-param-empty": "",
  };
  await sendAs(gateway, "1", TRANSFER, { headers: { traceparent: TRACE, tracestate: "a=1,b=2", ...params } });
  t.match(upstream.arrived[0]?.headers, { traceparent: TRACE, tracestate: "a=1,b=2", ...params });
});

t.test("a name that no header can hold goes up encoded, and only once", async (t) => {
  const { gateway, upstream } = await open(t);
  for (const name of ["gr\u00fc\u00df dich", " padded ", "=?base64?eA==?=", "caf\u00e9\u{1f600}"]) {
    const encoded = `=?base64?${Buffer.from(name).toString("base64")}?=`;
    const message = { method: "tools/call", params: { name } };
    const reply = await gateway.send({
      headers: { ...mirrored(message), "mcp-name": encoded },
      body: textOf("1", message),
    });
    t.equal(reply.status, 200, reply.body);
    const arrived = upstream.arrived.at(-1);
    t.equal(arrived?.headers["mcp-name"], encoded);
    t.equal(arrived?.json.params.name, name);
  }
});

t.test("headers of the upstream do not come down", async (t) => {
  const { gateway, upstream } = await open(t);
  upstream.script = (arrived, response) => {
    response.writeHead(200, {
      ...{
        "content-type": "application/json",
        "set-cookie": "a=b",
        server: "inner/1",
        "x-request-id": "theirs",
      },
      ...{
        "access-control-allow-origin": "*",
        "www-authenticate": "Basic",
        "cache-control": "public",
        via: "inner",
      },
    });
    response.end(`{"jsonrpc":"2.0","id":${arrived.json.id},"result":{"tools":[]}}`);
  };
  const { headers } = await gateway.call({ method: "tools/list" });
  const names = Object.keys(headers).sort();
  t.same(names, ["cache-control", "connection", "content-length", "content-type", "date", "x-request-id"]);
  t.equal(headers["cache-control"], "no-store");
  t.match(headers["x-request-id"], /^[0-9a-f-]{36}$/);
});
