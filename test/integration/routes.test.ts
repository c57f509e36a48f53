/** Several routes in one process: what belongs to one is nothing on the other, and each has settings of its own. */
import t, { type Test } from "tap";
import { PUBLIC_URL, type Reply, startGateway } from "../support/gateway.ts";
import { startIssuer } from "../support/issuer.ts";
import { startUpstream } from "../support/upstream.ts";
import { asksAlways, asksOnce, isRetry, retryOf, stateOf, TRANSFER } from "./rounds.ts";

interface Two {
  readonly a?: Record<string, unknown>;
  readonly b?: Record<string, unknown>;
  readonly sections?: Record<string, unknown>;
  readonly script?: typeof asksOnce;
}

/** Two routes, `/a` and `/b/mcp`, each with an upstream of its own. */
async function open(t: Test, { a = {}, b = {}, sections = {}, script = asksOnce }: Two) {
  const first = await startUpstream(script);
  const second = await startUpstream(script);
  t.teardown(() => Promise.all([first.close(), second.close()]));
  const { upstream: upstreamA, ...routeA } = a as { upstream?: object };
  const { upstream: upstreamB, ...routeB } = b as { upstream?: object };
  const gateway = await startGateway("", {
    ...sections,
    routes: [
      { path: "/a", upstream: { url: first.url, ...upstreamA }, ...routeA },
      { path: "/b/mcp", upstream: { url: second.url, ...upstreamB }, ...routeB },
    ],
  });
  t.teardown(() => gateway.close(0));
  const on = (path: string, message = TRANSFER, options = {}): Promise<Reply> =>
    gateway.call(message, { path, ...options });
  return { gateway, first, second, on };
}
const reason = ({ json }: Reply): unknown => json.error?.data.reason;

t.test("each path has its upstream; other paths have none", async (t) => {
  const { first, second, on, gateway } = await open(t, {});
  await on("/a");
  t.same([first.arrived.length, second.arrived.length], [1, 0]);
  await on("/b/mcp");
  t.same([first.arrived.length, second.arrived.length], [1, 1]);
  t.same(
    gateway.audit.map(({ route }) => route),
    ["/a", "/b/mcp"],
  );
  for (const path of ["/", "/mcp", "/a/", "/A", "/a/mcp", "/b", "/b/mcp/x", "/b%2fmcp"])
    t.equal((await on(path)).status, 404, path);
  await on("/a?x=1");
  t.same(
    [first.arrived.length, second.arrived.length],
    [2, 1],
    "a query is not part of the path and not passed on",
  );
});

t.test("a state of one route is nothing on the other, and not spent there", async (t) => {
  const { first, second, on, gateway } = await open(t, {});
  for (const [own, other] of [
    ["/a", "/b/mcp"],
    ["/b/mcp", "/a"],
  ] as const) {
    const state = stateOf(await on(own));
    const before = first.arrived.length + second.arrived.length;
    t.equal(reason(await on(other, retryOf(state))), "invalid_request_state");
    t.equal(gateway.audit.at(-1)?.cause, "route");
    t.equal(first.arrived.length + second.arrived.length, before);
    t.equal((await on(own, retryOf(state))).status, 200);
  }
});

t.test("nor where both routes have the same upstream", async (t) => {
  const upstream = await startUpstream(asksOnce);
  t.teardown(() => upstream.close());
  const routes = ["/a", "/b"].map((path) => ({ path, upstream: { url: upstream.url } }));
  const gateway = await startGateway("", { routes });
  t.teardown(() => gateway.close(0));
  const state = stateOf(await gateway.call(TRANSFER, { path: "/a" }));
  t.equal(reason(await gateway.call(retryOf(state), { path: "/b" })), "invalid_request_state");
  t.equal((await gateway.call(retryOf(state), { path: "/a" })).status, 200);
});

t.test("a route that was given another upstream does not take the states of before", async (t) => {
  const key = `${t.testdir({ key: "k".repeat(43) })}/key`;
  const keys = { primary: "k", ring: [{ id: "k", secret: { file: key } }] };
  const one = await startUpstream(asksOnce);
  const two = await startUpstream(asksOnce);
  t.teardown(() => Promise.all([one.close(), two.close()]));
  const before = await startGateway(one.url, { keys });
  const state = stateOf(await before.call(TRANSFER));
  await before.close(0);
  const after = await startGateway(two.url, { keys });
  t.teardown(() => after.close(0));
  t.equal(reason(await after.call(retryOf(state))), "invalid_request_state");
  t.equal(after.audit.at(-1)?.cause, "upstream");
  t.equal(two.arrived.length, 0);
});

t.test("a token for one route is nothing on the other, unless its audiences say so", async (t) => {
  const issuer = await startIssuer();
  t.teardown(() => issuer.close());
  const { on, second } = await open(t, {
    a: { audiences: ["urn:a", "urn:both"] },
    sections: { authentication: { issuers: [{ issuer: issuer.issuer, jwks: { url: issuer.jwksUrl } }] } },
  });
  const b = `${PUBLIC_URL}/b/mcp`;
  for (const [aud, onA, onB] of [
    ["urn:a", 200, 401],
    [b, 401, 200],
    [["urn:both", b], 200, 200],
    [`${PUBLIC_URL}/a`, 401, 401],
    [PUBLIC_URL, 401, 401],
    [`${b}/`, 401, 401],
  ] as const) {
    const token = await issuer.token({ aud });
    t.equal((await on("/a", TRANSFER, { token })).status, onA, `${aud} on /a`);
    const reply = await on("/b/mcp", TRANSFER, { token });
    t.equal(reply.status, onB, `${aud} on /b/mcp`);
    if (onB === 401) {
      const expected = `${PUBLIC_URL}/.well-known/oauth-protected-resource/b/mcp`;
      t.ok(String(reply.headers["www-authenticate"]).includes(`resource_metadata="${expected}"`));
    }
  }
  t.equal(second.arrived.length, 2);
});

t.test("the metadata of each route names that route; the root form names none", async (t) => {
  const issuer = await startIssuer();
  t.teardown(() => issuer.close());
  const { gateway } = await open(t, {
    sections: { authentication: { issuers: [{ issuer: issuer.issuer, jwks: { url: issuer.jwksUrl } }] } },
  });
  const well = "/.well-known/oauth-protected-resource";
  for (const path of ["/a", "/b/mcp"]) {
    const reply = await gateway.send({ method: "GET", path: `${well}${path}` });
    t.equal(reply.json.resource, `${PUBLIC_URL}${path}`);
  }
  t.equal((await gateway.send({ method: "GET", path: well })).status, 404);
});

t.test("each upstream gets its own credential only", async (t) => {
  const { a, b } = { a: "credential-a", b: "credential-b" };
  const folder = t.testdir({ a, b });
  const { first, second, on } = await open(t, {
    a: { upstream: { credential: { bearer: { file: `${folder}/a` } } } },
    b: { upstream: { credential: { header: { name: "x-key", value: { file: `${folder}/b` } } } } },
  });
  await on("/a");
  await on("/b/mcp");
  t.match(first.arrived[0]?.headers, { authorization: `Bearer ${a}` });
  t.match(second.arrived[0]?.headers, { "x-key": b });
  t.notMatch(JSON.stringify(first.arrived), b);
  t.notMatch(JSON.stringify(second.arrived), a);
});

t.test("roundTrip by route: what a route does not say comes from the top", async (t) => {
  const { on, second } = await open(t, {
    sections: { roundTrip: { maxRounds: 11, rejection: "tool-error" } },
    b: { roundTrip: { maxRounds: 12, answersWithoutState: "drop" } },
    script: asksAlways,
  });
  t.match((await on("/a", retryOf("forged"))).json.result, { isError: true });
  t.match((await on("/b/mcp", retryOf("forged"))).json.result, { isError: true });
  const last = async (path: string, rounds: number): Promise<string> => {
    let state = stateOf(await on(path));
    for (let round = 2; round <= rounds; round++) state = stateOf(await on(path, retryOf(state)));
    return state;
  };
  t.equal(reason(await on("/a", retryOf(await last("/a", 11)))), "round_limit");
  t.equal(reason(await on("/b/mcp", retryOf(await last("/b/mcp", 12)))), "round_limit");
  const { requestState: _state, ...params } = retryOf("").params ?? {};
  t.match((await on("/a", { ...TRANSFER, params })).json.result, { isError: true });
  t.match(stateOf(await on("/b/mcp", { ...TRANSFER, params })), /^sg1\./);
  t.equal(second.arrived.filter(isRetry).length, 12, "answers without a state were dropped");
});

t.test("capability by route and by tool, on the way up and on the way down", async (t) => {
  const { on, first, second } = await open(t, {
    sections: { capability: { allow: ["elicitation.form", "roots"] } },
    b: {
      capability: {
        allow: ["roots"],
        tools: [
          { match: ["pay_*"], allow: ["elicitation.form"] },
          { match: ["*_any"], allow: [] },
        ],
      },
    },
  });
  const capabilities = { elicitation: { form: {} }, roots: {}, sampling: {} };
  const tool = (name: string) => ({ method: "tools/call", params: { name } });
  const declared = (arrived: typeof first.arrived) =>
    arrived.at(-1)?.json.params._meta["io.modelcontextprotocol/clientCapabilities"];
  t.match(stateOf(await on("/a", tool("x"), { capabilities })), /^sg1\./);
  t.same(declared(first.arrived), { elicitation: { form: {} }, roots: {} });
  for (const [name, allowed, left] of [
    ["x", false, { roots: {} }],
    ["pay_x", true, { elicitation: { form: {} } }],
    ["pay_any", true, { elicitation: { form: {} } }],
    ["x_any", false, {}],
    ["PAY_x", false, { roots: {} }],
  ] as const) {
    const reply = await on("/b/mcp", tool(name), { capabilities });
    t.equal(reason(reply), allowed ? undefined : "question_forbidden", name);
    t.same(declared(second.arrived), left, name);
    if (!allowed) t.notMatch(reply.body, /Sure/);
  }
  const prompt = await on("/b/mcp", { method: "prompts/get", params: { name: "pay_x" } }, { capabilities });
  t.equal(reason(prompt), "question_forbidden", "exceptions are for tools");
});

t.test("legacy by route", async (t) => {
  const { gateway } = await open(t, { a: { legacy: "pass" }, b: { legacy: "refuse" } });
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  const ping = (path: string) =>
    gateway.send({ path, headers, body: '{"jsonrpc":"2.0","id":1,"method":"ping"}' });
  t.equal((await ping("/a")).status, 200);
  t.equal(reason(await ping("/b/mcp")), "legacy_refused");
});
