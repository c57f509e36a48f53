/** Revisions before 2026-07-28 on a route with `legacy: pass`: byte-true but for lists; and what `refuse` says. */
import t, { type Test } from "tap";
import { type Reply, startGateway, type TestGateway } from "../support/gateway.ts";
import { type Script, startUpstream, type TestUpstream } from "../support/upstream.ts";

const HEADERS = { "content-type": "application/json", accept: "application/json, text/event-stream" };
const SESSION = "s-4711";
const INITIALIZE =
  '{ "jsonrpc" : "2.0", "method":"initialize", "id":"i\\u0031","params":{"protocolVersion":"2025-06-18","capabilities":{},"x":[1.10,12345678901234567890,"\\u00e9"]} }';
const HIDDEN = {
  authorization: { default: "allow", policies: [{ id: "no", effect: "deny", tools: ["admin_*"] }] },
};
const TOOLS =
  '{ "jsonrpc":"2.0","id":7, "result":{"tools":[ {"name":"admin_wipe"}, {"name":"add","x":1.0} ] } }';
const SHOWN = '{ "jsonrpc":"2.0","id":7, "result":{"tools":[ {"name":"add","x":1.0} ] } }';

async function open(t: Test, script: Script, sections: Record<string, unknown> = {}, legacy = "pass") {
  const upstream = await startUpstream(script);
  t.teardown(() => upstream.close());
  const routes = [{ path: "/mcp", upstream: { url: upstream.url }, legacy }];
  const gateway = await startGateway(upstream.url, { ...sections, routes });
  t.teardown(() => gateway.close(0));
  const post = (body: string, headers: Record<string, string> = {}): Promise<Reply> =>
    gateway.send({ headers: { ...HEADERS, ...headers }, body });
  return { gateway, upstream, post };
}

const answer =
  (status: number, type: string | undefined, body: string, headers: Record<string, string> = {}): Script =>
  (_arrived, response) => {
    response
      .writeHead(status, { ...(type === undefined ? {} : { "content-type": type }), ...headers })
      .end(body);
  };
const json = (body: string, status = 200) => answer(status, "application/json", body);
const session = (gateway: TestGateway, method: string, headers: Record<string, string> = {}) =>
  gateway.send({ method, headers: { accept: "text/event-stream", "mcp-session-id": SESSION, ...headers } });
const last = ({ arrived }: TestUpstream) => arrived.at(-1);

t.test("a request goes up and its answer comes down byte for byte, with the session's headers", async (t) => {
  const back =
    '{"id":"i1" , "result":{"protocolVersion":"2025-06-18","n":1.10,"_meta":{}},"jsonrpc":"2.0"}\n';
  const { upstream, post } = await open(
    t,
    answer(200, "application/json", back, { "mcp-session-id": SESSION, "x-powered-by": "x" }),
  );
  const reply = await post(INITIALIZE, {
    "mcp-session-id": "s-1",
    "mcp-protocol-version": "2025-06-18",
    "last-event-id": "e-1",
    traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    authorization: "Bearer caller",
    cookie: "a=b",
    "mcp-method": "tools/call",
    "mcp-param-region": "eu",
  });
  t.equal(last(upstream)?.body, INITIALIZE);
  t.equal(reply.body, back);
  t.equal(reply.headers["mcp-session-id"], SESSION);
  t.equal(reply.headers["x-powered-by"], undefined);
  const { headers = {} } = last(upstream) ?? {};
  t.match(headers, { "mcp-session-id": "s-1", "mcp-protocol-version": "2025-06-18", "last-event-id": "e-1" });
  t.match(headers["traceparent"], /^00-/);
  for (const name of ["authorization", "cookie", "mcp-method", "mcp-param-region"])
    t.notOk(name in headers, name);
});

t.test("what a session says without expecting an answer: 202, byte for byte", async (t) => {
  const messages = [
    '{"jsonrpc":"2.0","method":"notifications/initialized"}',
    '{"jsonrpc":"2.0","id":0,"result":{"action":"accept", "content":{"n":1.0}}}',
    '{"jsonrpc":"2.0","id":"q","error":{"code":-1,"message":"no"}}',
  ];
  const { gateway, upstream, post } = await open(t, answer(202, undefined, ""));
  for (const [index, body] of messages.entries()) {
    // A server may put a media type on a body that it does not send.
    if (index === 2) upstream.script = json("", 202);
    const reply = await post(body);
    t.equal(reply.status, 202);
    t.equal(reply.body, "");
    t.equal(last(upstream)?.body, body);
    t.match(gateway.audit.at(-1), { outcome: "accepted", era: "legacy" });
  }
});

t.test("the server's own errors keep their status and bytes", async (t) => {
  for (const status of [200, 400, 404, 500]) {
    const body = `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request: no session"}}`;
    const { post } = await open(t, json(body, status));
    const reply = await post(INITIALIZE);
    t.equal(reply.status, status);
    t.equal(reply.body, body);
  }
});

t.test(
  "a session that is gone is 404, however the server says it: that makes clients start a new one",
  async (t) => {
    for (const script of [
      answer(404, "text/plain", "SECRET"),
      answer(404, undefined, ""),
      answer(404, "text/html", "x"),
    ]) {
      const { gateway, post } = await open(t, script);
      const replies = [
        await post(INITIALIZE),
        await session(gateway, "DELETE"),
        await session(gateway, "GET"),
      ];
      for (const reply of replies) {
        t.equal(reply.status, 404);
        t.notMatch(reply.body, /SECRET/);
        t.type(reply.json.error.code, "number");
      }
    }
  },
);

t.test("a GET stream: every event with its id and retry; the cursor goes up", async (t) => {
  const events = [
    'id: e-8\nretry: 500\ndata: {"jsonrpc":"2.0","method":"notifications/message","params":{"n":1.10}}\n\n',
    'id: e-9\ndata: {"jsonrpc":"2.0","id":3,"method":"elicitation/create","params":{"message":"Sure?"}}\n\n',
    "id: e-10\ndata:\n\n",
  ];
  const { gateway, upstream } = await open(t, answer(200, "text/event-stream", events.join("")));
  const reply = await session(gateway, "GET", { "last-event-id": "e-7" });
  t.equal(reply.status, 200);
  t.equal(reply.body.replaceAll("event: message\n", "").replaceAll("data: \n", "data:\n"), events.join(""));
  t.match(last(upstream), { method: "GET", headers: { "last-event-id": "e-7", "mcp-session-id": SESSION } });
  t.match(gateway.audit.at(-1), { outcome: "stream", era: "legacy" });
});

t.test("DELETE ends a session, whatever form the server's yes has", async (t) => {
  for (const script of [
    answer(200, undefined, ""),
    answer(204, undefined, ""),
    answer(200, undefined, "", { "content-length": "0" }),
    answer(200, undefined, "", { "transfer-encoding": "chunked" }),
    answer(200, "application/json", ""),
    answer(200, "text/plain", "OK"),
  ]) {
    const { gateway, upstream } = await open(t, script);
    const reply = await session(gateway, "DELETE");
    t.ok(reply.status === 200 || reply.status === 204, `${reply.status} ${reply.body}`);
    t.equal(reply.body, "");
    t.match(last(upstream), { method: "DELETE", headers: { "mcp-session-id": SESSION } });
  }
  const { gateway } = await open(t, answer(405, undefined, ""));
  for (const method of ["GET", "DELETE"]) t.equal((await session(gateway, method)).status, 405);
});

t.test("lists are filtered in a body, in an event, and in an event replayed on another stream", async (t) => {
  const list = '{"jsonrpc":"2.0","id":7,"method":"tools/list"}';
  const event = `id: e-1\ndata: ${TOOLS}\n\n`;
  const body = await open(t, json(TOOLS), HIDDEN);
  t.equal((await body.post(list)).body, SHOWN);
  const stream = await open(t, answer(200, "text/event-stream", event), HIDDEN);
  t.equal((await stream.post(list)).body, `event: message\nid: e-1\ndata: ${SHOWN}\n\n`);
  t.equal((await session(stream.gateway, "GET")).body, `event: message\nid: e-1\ndata: ${SHOWN}\n\n`);
  const other = '{"jsonrpc":"2.0","id":7,"method":"prompts/list"}';
  t.equal((await body.post(other)).body, SHOWN, "the members decide, not what was asked");
  const open_ = await open(t, json(TOOLS));
  t.equal((await open_.post(list)).body, TOOLS, "byte for byte where nothing is hidden");
});

t.test("a hidden tool is not called", async (t) => {
  const { upstream, post } = await open(t, json('{"jsonrpc":"2.0","id":7,"result":{}}'), HIDDEN);
  const call = (name: string) =>
    post(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"${name}"}}`);
  t.match(await call("admin_wipe"), { json: { id: 7, error: { code: -32602, message: "Unknown tool" } } });
  t.equal(upstream.arrived.length, 0);
  t.match(await call("add"), { status: 200, json: { result: {} } });
});

t.test("a server that mixes the eras is not believed", async (t) => {
  for (const result of [
    '{"resultType":"input_required","requestState":"inner"}',
    '{"inputRequests":{"a":{}}}',
    '{"tools":[],"requestState":null}',
  ]) {
    const text = `{"jsonrpc":"2.0","id":7,"result":${result}}`;
    for (const script of [
      json(text),
      answer(200, "text/event-stream", `data: ${text}\n\n`),
      json(`[${text}]`),
    ]) {
      const { post } = await open(t, script);
      const reply = await post('{"jsonrpc":"2.0","id":7,"method":"tools/list"}');
      t.match(reply.json, { id: 7, error: { data: { reason: "upstream_fault" } } }, text);
      t.notMatch(reply.body, /inner|inputRequests/);
    }
  }
});

t.test("refuse: what to set, what is served, what was asked; no session methods", async (t) => {
  const { gateway, upstream, post } = await open(t, json("{}"), {}, "refuse");
  for (const headers of [{}, { "mcp-protocol-version": "2025-06-18" }]) {
    const reply = await post(INITIALIZE, headers);
    t.equal(reply.status, 400);
    t.match(reply.body, /"id":"i\\u0031"/);
    t.match(reply.json.error, {
      code: -32022,
      message: /MCP-Protocol-Version nor params\._meta names it.*versionNegotiation.*legacy: pass/,
      data: { supported: ["2026-07-28"], requested: "2025-06-18", reason: "legacy_refused" },
    });
  }
  for (const method of ["GET", "DELETE"]) {
    const reply = await session(gateway, method);
    t.match(reply, { status: 405, headers: { allow: "POST" } });
  }
  t.equal(upstream.arrived.length, 0);
});

t.test("pass: a session method of the modern revision is no session method", async (t) => {
  const { gateway, upstream } = await open(t, json("{}"));
  for (const method of ["GET", "DELETE"]) {
    for (const version of ["2026-07-28", "2026-01-01", "x"])
      t.equal((await session(gateway, method, { "mcp-protocol-version": version })).status, 405, version);
  }
  t.equal(upstream.arrived.length, 0);
});
