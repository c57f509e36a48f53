/** Policies that test arguments, through the whole gateway: visible in lists, refused by name, judged again on every retry. */
import t, { type Test } from "tap";
import { startGateway } from "../support/gateway.ts";
import { AUDIENCE, startIssuer } from "../support/issuer.ts";
import { result, startUpstream } from "../support/upstream.ts";
import { asksOnce, YES } from "./rounds.ts";

const LISTS: Readonly<Record<string, string>> = {
  "tools/list": '{"resultType":"complete","tools":[{"name":"transfer"},{"name":"read"},{"name":"secret"}]}',
  "prompts/list": '{"resultType":"complete","prompts":[{"name":"brief"}]}',
};

async function scene(t: Test, policies: readonly object[], more: Readonly<Record<string, unknown>> = {}) {
  const upstream = await startUpstream((arrived, response) => {
    const list = LISTS[arrived.json?.method];
    return list === undefined ? asksOnce(arrived, response) : result(arrived, response, list);
  });
  t.teardown(() => upstream.close());
  const gateway = await startGateway(upstream.url, {
    authorization: { default: "deny", policies: policies.map((one, index) => ({ id: `p${index}`, ...one })) },
    ...more,
  });
  t.teardown(() => gateway.close(0));
  return {
    gateway,
    upstream,
    call: (name: string, args: unknown, method = "tools/call") =>
      gateway.call({ method, params: { name, ...(args === undefined ? {} : { arguments: args }) } }),
  };
}

t.test("an allow with tests: seen in lists, used with what it allows, and with nothing else", async (t) => {
  const { gateway, upstream, call } = await scene(t, [
    { effect: "allow", tools: ["transfer"], arguments: [{ path: "/amount", range: { min: 1, max: 100 } }] },
    { effect: "allow", prompts: ["brief"], arguments: [{ path: "/topic", glob: "news-*" }] },
  ]);
  const list = await gateway.call({ method: "tools/list" });
  t.same(list.json.result.tools, [{ name: "transfer" }]);
  t.same((await gateway.call({ method: "prompts/list" })).json.result.prompts, [{ name: "brief" }]);
  t.match((await call("transfer", { amount: 50 })).json.result, { resultType: "input_required" });
  t.match((await call("brief", { topic: "news-1" }, "prompts/get")).json.result, {
    resultType: "input_required",
  });
  const before = upstream.arrived.length;
  for (const args of [
    { amount: 101 },
    { amount: "50" },
    {},
    undefined,
    { Amount: 50 },
    { amount: [50, 101] },
    { amount: null },
  ]) {
    const refused = await call("transfer", args);
    t.equal(refused.status, 403, JSON.stringify(args));
    t.match(refused.json.error, {
      code: -32602,
      message: "Policy does not allow these arguments",
      data: { reason: "arguments_forbidden" },
    });
  }
  t.match((await call("brief", { topic: "x" }, "prompts/get")).json.error.data, {
    reason: "arguments_forbidden",
  });
  t.match((await call("read", { amount: 50 })).json.error.data, { reason: "unknown_tool" });
  t.equal(upstream.arrived.length, before, "nothing of it reached the server");
  t.match(gateway.audit.at(-2), { code: "arguments_forbidden", cause: "policy", policy: "(default)" });
});

t.test("a deny with tests: no spelling evades it, and what it does not mean passes", async (t) => {
  const { gateway, upstream, call } = await scene(t, [
    { effect: "allow", tools: ["*"] },
    { effect: "deny", tools: ["read"], arguments: [{ path: "/path", glob: "/etc/*" }] },
  ]);
  t.equal((await gateway.call({ method: "tools/list" })).json.result.tools.length, 3, "still seen");
  t.match((await call("read", { path: "/home/x" })).json.result, { resultType: "input_required" });
  t.match((await call("transfer", { path: "/etc/x" })).json.result, { resultType: "input_required" });
  t.match((await call("read", {})).json.result, { resultType: "input_required" });
  const before = upstream.arrived.length;
  for (const args of [
    { path: "/etc/passwd" },
    { PATH: "/etc/x" },
    { path: ["/home", "/etc/x"] },
    { path: { toString: 1 } },
    { path: null },
    [],
    "x",
    null,
  ]) {
    const refused = await call("read", args);
    t.match(
      refused.json.error?.data?.reason,
      /^(arguments_forbidden|invalid_params|invalid_request)$/,
      JSON.stringify(args),
    );
  }
  const twice = await gateway.send({
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream", "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "read" },
    body: '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read","arguments":{"path":"/home","path":"/etc/x"}}}',
  }); // biome-ignore format: one request
  t.equal(twice.json.error.data.reason, "parse_error");
  t.equal(upstream.arrived.length, before, "nothing of it reached the server");
});

t.test("a retry is judged by who asks now; what is refused costs nothing", async (t) => {
  const issuer = await startIssuer();
  t.teardown(issuer.close);
  const { gateway, upstream } = await scene(
    t,
    [
      { effect: "allow", tools: ["transfer"], arguments: [{ path: "/owner", claim: "subject" }] },
      { effect: "allow", principal: { groups: ["chiefs"] }, tools: ["transfer"] },
    ],
    {
      authentication: {
        issuers: [{ issuer: issuer.issuer, audiences: [AUDIENCE], claims: { groups: "groups" } }],
      },
    },
  );
  const chief = await issuer.token({ groups: ["chiefs"] });
  const plain = await issuer.token({ groups: [] });
  const params = { name: "transfer", arguments: { owner: "somebody" } };
  const first = await gateway.call({ method: "tools/call", params }, { token: chief });
  const { requestState } = first.json.result;
  t.match(requestState, /^sg1\./);
  const again = { ...params, requestState, inputResponses: YES };
  const before = upstream.arrived.length;
  const refused = await gateway.call({ method: "tools/call", params: again }, { token: plain });
  t.equal(refused.json.error.data.reason, "arguments_forbidden");
  t.equal(upstream.arrived.length, before);
  const done = await gateway.call({ method: "tools/call", params: again }, { token: chief });
  t.match(done.json.result, { resultType: "complete" }, "not spent by the refusal");
  const own = { name: "transfer", arguments: { owner: "u-1001" } };
  t.match((await gateway.call({ method: "tools/call", params: own }, { token: plain })).json.result, {
    resultType: "input_required",
  });
});

t.test("older traffic is judged by its arguments, too", async (t) => {
  const upstream = await startUpstream((arrived, response) =>
    result(arrived, response, '{"content":[{"type":"text","text":"done"}]}'),
  );
  t.teardown(() => upstream.close());
  const gateway = await startGateway(upstream.url, {
    authorization: {
      policies: [{ id: "a", effect: "allow", tools: ["t"], arguments: [{ path: "/n", equals: 1 }] }],
    },
    routes: [{ path: "/mcp", upstream: { url: upstream.url }, legacy: "pass" }],
  });
  t.teardown(() => gateway.close(0));
  const send = (n: number) =>
    gateway.send({
      headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: { name: "t", arguments: { n } },
      }),
    });
  t.match((await send(1)).json.result.content, [{ text: "done" }]);
  t.equal((await send(2)).json.error.data.reason, "arguments_forbidden");
  t.equal(upstream.arrived.length, 1);
});
