/**
 * Scopes: a call that lacks one is told everything it needs, at once, and nothing of it happens: nothing goes up, no state is
 * spent. What policy hides is no more visible by it.
 */
import t from "tap";
import { type CallOptions, type Message, PUBLIC_URL, type Reply, startGateway } from "../support/gateway.ts";
import { createTaskServer, DECLARED } from "../support/task-server.ts";
import { result, startUpstream } from "../support/upstream.ts";
import { ASK, DONE, setScene, TRANSFER } from "./scene.ts";

const aud = `${PUBLIC_URL}/mcp`;
const METADATA = `${PUBLIC_URL}/.well-known/oauth-protected-resource/mcp`;
const AUTHORIZATION = {
  default: "allow",
  policies: [
    { id: "hidden", effect: "deny", tools: ["note_secret", "wipe", "plain_secret"] },
    { id: "hidden-files", effect: "deny", resources: ["file:///private/*"] },
    {
      id: "small",
      effect: "deny",
      tools: ["transfer"],
      arguments: [{ path: "/amount", range: { min: 1000 } }],
    },
  ],
  scopes: [
    { tools: ["transfer"], requires: ["bank:read", "bank:write"] },
    { tools: ["note_*"], requires: ["notes"] },
    { tools: ["wipe"], requires: ["admin"] },
    { methods: ["resources/*"], resources: ["file:///*"], requires: ["files"] },
    { methods: ["notifications/*"], requires: ["notify"] },
    { methods: ["completion/complete"], prompts: ["greet"], requires: ["complete"] },
    { methods: ["x/closed"], requires: ["x"] },
  ],
  scopeIncludes: { "bank:admin": ["bank:write"], "bank:write": ["bank:read"] },
};
const scene = await setScene(t, {
  users: true,
  script: (arrived, response) => {
    const params = arrived.json?.params;
    const asks = params?.name === "transfer" && params?.requestState === undefined;
    if (arrived.json?.id === undefined) response.writeHead(202).end();
    else result(arrived, response, asks ? ASK : DONE);
  },
  sections: (url, { issuer, jwksUrl }) => ({
    authentication: { issuers: [{ issuer, jwks: { url: jwksUrl }, requiredScopes: ["mcp"] }] },
    authorization: AUTHORIZATION,
    routes: [{ path: "/mcp", upstream: { url }, legacy: "pass" }],
  }),
});
const { gateway, issuer } = scene;
const token = (scope: string, sub = "u-1001") => issuer.token({ sub, aud, scope });
const tool = (name: string, args: object = { amount: 1 }): Message => ({
  method: "tools/call",
  params: { name, arguments: args },
});
const read = (uri: string): Message => ({ method: "resources/read", params: { uri } });

/** Status, and what the challenge says. */
function told(reply: Reply): object {
  const challenge = String(reply.headers["www-authenticate"] ?? "");
  const part = (name: string) => new RegExp(`[ ,]${name}="([^"]*)"`).exec(challenge)?.[1];
  const [error, scope, resource] = [part("error"), part("scope"), part("resource_metadata")];
  return { status: reply.status, error, scope, resource };
}
const lacks = (scope: string) => ({ status: 403, error: "insufficient_scope", scope, resource: METADATA });

t.test("everything that is needed, at once, whatever of it is there", async (t) => {
  const cases: [scope: string, message: Message, needed: string][] = [
    ["mcp", TRANSFER, "mcp bank:read bank:write"],
    ["mcp bank:read", TRANSFER, "mcp bank:read bank:write"],
    ["mcp", tool("note_add"), "mcp notes"],
    ["mcp", read("file:///a"), "mcp files"],
    ["mcp", read("FILE:///%61"), "mcp files"],
    ["mcp", { id: null, method: "notifications/roots/list_changed" }, "mcp notify"],
    [
      "mcp",
      {
        method: "completion/complete",
        params: { ref: { type: "ref/prompt", name: "greet" }, argument: { name: "a", value: "b" } },
      },
      "mcp complete",
    ],
  ];
  for (const [scope, message, needed] of cases) {
    const before = scene.bytesUp();
    const reply = await gateway.call(message, { token: await token(scope) });
    t.same(told(reply), lacks(needed), `${scope}: ${JSON.stringify(message)}`);
    t.match(reply.json, { error: { code: -32600, data: { reason: "insufficient_scope" } } });
    t.match(gateway.audit.at(-1), {
      code: "insufficient_scope",
      cause: "scope",
      principal: { subject: "u-1001" },
    });
    t.equal(scene.bytesUp(), before);
    const held = await gateway.call(message, { token: await token(needed) });
    t.ok(held.status < 300, `${needed} is enough: ${held.body}`);
  }
  t.equal(
    (await gateway.call(TRANSFER, { token: await token("mcp bank:admin") })).status,
    200,
    "a broader one",
  );
});

t.test("the scopes of the issuer are missing: the challenge before the body says it all, too", async (t) => {
  const without = await token("other");
  t.same(told(await gateway.call(TRANSFER, { token: without })), lacks("mcp bank:read bank:write"));
  t.same(told(await gateway.call(read("file:///a"), { token: without })), lacks("mcp files"));
  t.same(told(await gateway.call({ method: "tools/list" }, { token: without })), lacks("mcp"));
  t.same(
    told(await gateway.call(tool("wipe"), { token: without })),
    told(await gateway.call(tool("nothing"), { token: without })),
    "what is hidden does not show",
  );
  const odd = { headers: { "mcp-name": "=?base64?////?=" }, token: without };
  t.same(told(await gateway.call(TRANSFER, odd)), lacks("mcp"), "a header that says nothing");
  t.match(told(await gateway.call(TRANSFER)), { status: 401, error: undefined, scope: "mcp" });
});

t.test("what is hidden answers like a name nobody has, with and without scopes", async (t) => {
  const unknown = scene.upstream.script;
  scene.upstream.script = (arrived, response) => {
    const message = `Unknown tool: ${arrived.json.params.name}`;
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ jsonrpc: "2.0", id: arrived.json.id, error: { code: -32602, message } }));
  };
  t.teardown(() => {
    scene.upstream.script = unknown;
  });
  const answer = async (name: string, scope: string): Promise<object> => {
    const reply = await gateway.call({ ...tool(name), id: 7 }, { token: await token(scope) });
    const { requestId: _, ...data } = reply.json.error.data ?? {};
    return { ...told(reply), error: { ...reply.json.error, data } };
  };
  for (const scope of ["mcp", "mcp notes", "mcp admin", "mcp notes admin"]) {
    t.same(await answer("note_secret", scope), await answer("note_nobody", scope), scope);
    t.same(await answer("wipe", scope), await answer("wipo", scope), scope);
    t.same(await answer("plain_secret", scope), await answer("plain_nobody", scope), scope);
  }
  t.match(await answer("wipe", "mcp"), { error: { message: "Unknown tool" } }, "no word of its scope");
});

t.test("arguments that are forbidden are told before scopes that would not help", async (t) => {
  const large = tool("transfer", { amount: 5_000 });
  const reply = await gateway.call(large, { token: await token("mcp") });
  t.equal(reply.json.error.data.reason, "arguments_forbidden");
});

t.test("a retry is asked again, and a 403 spends nothing", async (t) => {
  const full = await token("mcp bank:write");
  const state = await scene.ask(TRANSFER, { token: full });
  for (let attempt = 0; attempt < 3; attempt++) {
    const before = scene.bytesUp();
    const reply = await scene.retry(state, {}, { token: await token("mcp bank:read") });
    t.same(told(reply), lacks("mcp bank:read bank:write"));
    t.equal(scene.bytesUp(), before);
  }
  t.match((await scene.retry(state, {}, { token: full })).json, { result: { content: [{}] } });
  t.match((await scene.retry(state, {}, { token: full })).json, {
    error: { data: { reason: "already_redeemed" } },
  });
});

t.test("a subscription needs what reading its resources needs", async (t) => {
  const listen: Message = {
    method: "subscriptions/listen",
    params: { notifications: { resourceSubscriptions: ["note:a", "file:///a"] } },
  };
  t.same(told(await gateway.call(listen, { token: await token("mcp") })), lacks("mcp files"));
  const hidden = { notifications: { resourceSubscriptions: ["file:///private/a"] } };
  const unknown = { notifications: { resourceSubscriptions: ["file:///nobody/a"] } };
  for (const params of [hidden, unknown]) {
    t.same(
      told(await gateway.call({ ...listen, params }, { token: await token("mcp") })),
      lacks("mcp files"),
    );
  }
});

t.test("messages of older revisions need the same", async (t) => {
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  const send = async (scope: string) =>
    gateway.send({
      headers: { ...headers, authorization: `Bearer ${await token(scope)}` },
      body: JSON.stringify({ jsonrpc: "2.0", id: 3, ...tool("note_add") }),
    });
  t.same(told(await send("mcp")), lacks("mcp notes"));
  t.equal((await send("mcp notes")).status, 200);
});

t.test("errors.httpStatus ok: a 403 stays one, since clients act on it", async (t) => {
  t.ok(await gateway.configure({ errors: { httpStatus: "ok" } }));
  t.same(
    told(await gateway.call(TRANSFER, { token: await token("mcp") })),
    lacks("mcp bank:read bank:write"),
  );
  t.ok(await gateway.configure({ errors: {} }));
});

t.test("a reload changes what is needed, for rounds under way as well, and who has what", async (t) => {
  const full = await token("mcp bank:write");
  const admin = await token("mcp bank:admin");
  const state = await scene.ask(TRANSFER, { token: full });
  const scopes = [{ tools: ["transfer"], requires: ["bank:sign"] }];
  t.ok(await gateway.configure({ authorization: { ...AUTHORIZATION, scopes, scopeIncludes: undefined } }));
  t.same(told(await scene.retry(state, {}, { token: full })), lacks("mcp bank:sign"));
  t.same(told(await gateway.call(TRANSFER, { token: admin })), lacks("mcp bank:sign"));
  t.ok(
    await gateway.configure({
      authorization: { ...AUTHORIZATION, scopes, scopeIncludes: { "bank:write": ["bank:sign", "mcp"] } },
    }),
  );
  t.match((await scene.retry(state, {}, { token: full })).json, { result: { content: [{}] } });
  const only = await token("bank:write");
  t.equal((await gateway.call(TRANSFER, { token: only })).status, 200, "the issuer's scopes can be included");
  t.ok(await gateway.configure({ authorization: AUTHORIZATION }));
});

t.test("the first challenge says what to start with, and nothing that an issuer may not know", async (t) => {
  const { authentication } = {
    authentication: {
      issuers: [
        { issuer: issuer.issuer, jwks: { url: issuer.jwksUrl }, requiredScopes: ["mcp", "ours"] },
        { issuer: "https://other.example", requiredScopes: ["mcp", "theirs"] },
      ],
    },
  };
  const route = { path: "/mcp", upstream: { url: scene.upstreamUrl } };
  for (const [metadata, scope] of [
    [undefined, "mcp"],
    [{ issuers: [issuer.issuer] }, "mcp ours"],
    [{ scopes: ["mcp", "files"] }, "mcp files"],
    [{ scopes: [] }, undefined],
  ] as const) {
    const one = await startGateway(scene.upstreamUrl, {
      authentication,
      routes: [{ ...route, ...(metadata === undefined ? {} : { metadata }) }],
    });
    t.match(told(await one.call(TRANSFER)), { status: 401, scope });
    const document = await one.send({ method: "GET", path: new URL(METADATA).pathname });
    t.same(document.json.scopes_supported?.join(" "), scope, "the document says the same");
    const lacking = await one.call(TRANSFER, { token: await token("mcp") });
    t.same(told(lacking), lacks("mcp ours"), "once the issuer is known its own are named");
    await one.close(0);
  }
});

t.test("callers without a token are shown the way to one", async (t) => {
  const open = await startGateway(scene.upstreamUrl, {
    authentication: {
      mode: "anonymous",
      issuers: [{ issuer: issuer.issuer, jwks: { url: issuer.jwksUrl } }],
    },
    authorization: AUTHORIZATION,
  });
  t.teardown(() => open.close(0));
  t.same(told(await open.call(TRANSFER)), {
    status: 401,
    error: undefined,
    scope: "bank:read bank:write",
    resource: METADATA,
  });
  t.equal((await open.call(tool("plain"))).status, 200);
  t.equal((await open.call(TRANSFER, { token: await token("bank:write") })).status, 200);
  const document = await open.send({ method: "GET", path: new URL(METADATA).pathname });
  t.match(document.json, { resource: aud, authorization_servers: [issuer.issuer] });
});

t.test("tasks need what their tool needs, each time", async (t) => {
  const server = createTaskServer();
  const upstream = await startUpstream(server.script);
  const tasks = await startGateway(upstream.url, {
    authentication: { issuers: [{ issuer: issuer.issuer, jwks: { url: issuer.jwksUrl } }] },
    authorization: {
      default: "allow",
      scopes: [
        { methods: ["tools/call"], tools: ["report"], requires: ["report"] },
        { methods: ["tasks/cancel"], requires: ["cancel"] },
      ],
    },
    routes: [{ path: "/mcp", upstream: { url: upstream.url }, tasks: "pass" }],
  });
  t.teardown(async () => {
    await tasks.close(0);
    await upstream.close();
  });
  const call = async (message: Message, scope: string, options: CallOptions = {}) =>
    tasks.call(message, { capabilities: DECLARED, token: await token(scope), ...options });
  const created = await call(tool("report", { year: 2026 }), "report");
  const { taskId } = created.json.result;
  const about = (method: string, scope: string, sub?: string) =>
    (async () =>
      tasks.call(
        { method, params: { taskId } },
        { capabilities: DECLARED, token: await token(scope, sub), headers: { "mcp-name": taskId } },
      ))();
  const before = upstream.arrived.length;
  t.match(told(await about("tasks/get", "x")), { status: 403, scope: "report" });
  t.match(told(await about("tasks/cancel", "report")), { status: 403, scope: "cancel report" });
  const stranger = await about("tasks/get", "x", "u-2002");
  t.equal(stranger.headers["www-authenticate"], undefined, "a stranger learns nothing of another's task");
  t.equal(upstream.arrived.length, before);
  t.match((await about("tasks/get", "report")).json, { result: { taskId } });
});

t.test("lists show what the caller could get, unless told to show what is held", async (t) => {
  const list = '{"resultType":"complete","tools":[{"name":"note_add"},{"name":"plain"},{"name":"wipe"}]}';
  const listing = await startUpstream((arrived, response) => result(arrived, response, list));
  t.teardown(() => listing.close());
  const shown = async (lists: object): Promise<unknown> => {
    const one = await startGateway(listing.url, {
      authentication: { issuers: [{ issuer: issuer.issuer, jwks: { url: issuer.jwksUrl } }] },
      authorization: { ...AUTHORIZATION, ...lists },
    });
    const reply = await one.call({ method: "tools/list" }, { token: await token("mcp") });
    await one.close(0);
    const { tools, cacheScope } = reply.json.result;
    return { names: tools.map(({ name }: { name: string }) => name), cacheScope };
  };
  t.same(await shown({}), { names: ["note_add", "plain"], cacheScope: "private" });
  t.same(await shown({ scopedLists: "held" }), { names: ["plain"], cacheScope: "private" });
  t.same(await shown({ policies: [], scopedLists: "held" }), { names: ["plain"], cacheScope: "private" });
});
