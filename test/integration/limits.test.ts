/** What one caller may do, on one gateway: how a refusal looks, what counts and what does not, and that others do not notice. */
import t, { type Test } from "tap";
import { exchange, mirrored, type Reply, startGateway, type TestGateway } from "../support/gateway.ts";
import { openStream } from "../support/open-stream.ts";
import { createTaskServer, DECLARED } from "../support/task-server.ts";
import { until } from "../support/until.ts";
import { result, type Script, startUpstream, type TestUpstream } from "../support/upstream.ts";
import {
  asksAlways,
  asksOnce,
  holding,
  isRetry,
  retryOf,
  sendAs,
  stateOf,
  TRANSFER,
  textOf,
} from "./rounds.ts";

const LIST = { method: "tools/list" };
const per = "1h";

async function open(
  t: Test,
  perPrincipal: Record<string, unknown>,
  script: Script = asksOnce,
  more: Record<string, unknown> = {},
): Promise<{ gateway: TestGateway; upstream: TestUpstream }> {
  const upstream = await startUpstream(script);
  t.teardown(() => upstream.close());
  const gateway = await startGateway(upstream.url, { limits: { perPrincipal }, ...more });
  t.teardown(() => gateway.close(0));
  return { gateway, upstream };
}

const reasonOf = ({ json }: Reply): unknown => json?.error?.data?.reason;

t.test("the fourth of three: 429 in JSON-RPC with its own id, and nothing goes up", async (t) => {
  const { gateway, upstream } = await open(t, { requests: { points: 3, per } });
  for (let i = 0; i < 3; i++) t.equal((await gateway.call(LIST)).status, 200);
  const reply = await sendAs(gateway, '"my-id"', LIST);
  t.match(reply, {
    status: 429,
    json: { jsonrpc: "2.0", id: "my-id", error: { code: -32603, data: { reason: "rate_limited" } } },
  });
  t.match(reply.json.error.message, /limits\.perPrincipal\.requests/);
  const seconds = Number(reply.headers["retry-after"]);
  t.ok(seconds > 3_590 && seconds <= 3_600, `${seconds}`);
  t.equal(upstream.arrived.length, 3);
  t.match(gateway.audit.at(-1), { outcome: "refused", code: "rate_limited", cause: "caller_requests" });
});

t.test("errors.httpStatus: ok puts it into a 200, as all others", async (t) => {
  const errors = { httpStatus: "ok" };
  const { gateway } = await open(t, { requests: { points: 1, per } }, asksOnce, { errors });
  await gateway.call(LIST);
  t.match(await gateway.call(LIST), { status: 200, json: { error: { data: { reason: "rate_limited" } } } });
});

t.test("server/discover is never told 429, for an SDK would fall back to older revisions", async (t) => {
  const { gateway } = await open(t, { requests: { points: 1, per }, concurrent: 1 });
  await gateway.call(LIST);
  const reply = await gateway.call({ method: "server/discover" });
  t.match(reply, { status: 503, json: { error: { data: { reason: "overloaded" } } } });
  t.ok(Number(reply.headers["retry-after"]) > 3_590);
  t.match(gateway.audit.at(-1), { code: "overloaded", cause: "caller_requests" });
});

t.test("all rounds of a chain are one request", async (t) => {
  const { gateway, upstream } = await open(t, { requests: { points: 2, per } }, asksAlways);
  let state = stateOf(await gateway.call(TRANSFER));
  await gateway.call(LIST);
  t.equal((await gateway.call(LIST)).status, 429, "the window is used up");
  for (let round = 2; round <= 12; round++) state = stateOf(await gateway.call(retryOf(state)));
  t.equal(upstream.arrived.filter(isRetry).length, 11, "each round ran");
});

t.test("a state that only comes back, without answers, is no abuse", async (t) => {
  const stateOnly = '{"resultType":"input_required","requestState":"more"}';
  let rounds = 0;
  const script: Script = (arrived, response) =>
    result(arrived, response, ++rounds < 10 ? stateOnly : '{"resultType":"complete","content":[]}');
  const { gateway } = await open(t, { requests: { points: 1, per } }, script);
  let reply = await gateway.call(TRANSFER);
  while (reply.json.result?.requestState !== undefined)
    reply = await gateway.call(retryOf(stateOf(reply), undefined));
  t.match(reply, { status: 200, json: { result: { resultType: "complete" } } });
  t.equal(rounds, 10);
});

t.test("a repeat of a spent state counts, and so does a state that is none", async (t) => {
  const { gateway, upstream } = await open(t, { requests: { points: 3, per } });
  const state = stateOf(await gateway.call(TRANSFER));
  t.equal((await gateway.call(retryOf(state))).status, 200);
  const before = upstream.arrived.length;
  t.equal(reasonOf(await gateway.call(retryOf(state))), "already_redeemed");
  t.equal(reasonOf(await gateway.call(retryOf("sg1.AAAA"))), "invalid_request_state");
  t.equal(upstream.arrived.length, before);
  t.equal((await gateway.call(LIST)).status, 429, "one call and two bad retries");
});

t.test(
  "who is over the limit can still answer what was asked, and nothing is spent by a refusal",
  async (t) => {
    const { gateway, upstream } = await open(t, { requests: { points: 2, per } });
    const [first, second] = [stateOf(await gateway.call(TRANSFER)), stateOf(await gateway.call(TRANSFER))];
    t.equal((await gateway.call(LIST)).status, 429);
    t.equal((await gateway.call(retryOf(first))).status, 200);
    // Bad retries beyond the same number close the way for retries, too: that is a flood.
    for (let i = 0; i < 2; i++) t.equal((await gateway.call(retryOf(first))).status, 400);
    const before = upstream.arrived.length;
    const refused = await gateway.call(retryOf(second));
    t.match(refused, { status: 429, json: { error: { data: { reason: "rate_limited" } } } });
    t.match(gateway.audit.at(-1), { cause: "caller_retries" });
    t.equal(upstream.arrived.length, before);
    gateway.clock.now += 3_600_001;
    t.equal(
      reasonOf(await gateway.call(retryOf(second))),
      "invalid_request_state",
      "expired by now, not redeemed",
    );
  },
);

t.test("a state under rejection: reprompt is a request like any other", async (t) => {
  const routes = (url: string) => [
    { path: "/mcp", upstream: { url }, roundTrip: { rejection: "reprompt" }, limits: {} },
  ];
  const upstream = await startUpstream(asksOnce);
  t.teardown(() => upstream.close());
  const limits = { perPrincipal: { requests: { points: 2, per } } };
  const gateway = await startGateway(upstream.url, { limits, routes: routes(upstream.url) });
  t.teardown(() => gateway.close(0));
  for (let i = 0; i < 2; i++) t.equal((await gateway.call(retryOf("sg1.AAAA"))).status, 200);
  t.equal((await gateway.call(retryOf("sg1.AAAA"))).status, 429);
  t.equal(upstream.arrived.length, 2);
});

t.test("what cannot be read counts as well", async (t) => {
  const { gateway } = await open(t, { requests: { points: 2, per } });
  for (const body of ["{", "[]"])
    t.equal((await gateway.send({ headers: mirrored(LIST), body })).status, 400);
  t.equal((await gateway.call(LIST)).status, 429);
});

t.test("over the limit a large body is not even read, a small one is", async (t) => {
  const { gateway } = await open(t, { requests: { points: 1, per } });
  await gateway.call(LIST);
  const large = await gateway.call({ ...LIST, params: { pad: "x".repeat(1_000_000) } });
  t.match(large, { status: 429, json: { id: null, error: { data: { reason: "rate_limited" } } } });
  t.match(await sendAs(gateway, "7", LIST), { status: 429, json: { id: 7 } });
  const discover = await gateway.call({ method: "server/discover", params: { pad: "x".repeat(1_000_000) } });
  t.match(discover, { status: 503, json: { id: null, error: { data: { reason: "overloaded" } } } });
});

t.test("one caller's requests in flight are bounded, streams apart", async (t) => {
  const held = holding();
  const { gateway } = await open(t, { concurrent: 2, streams: 1 }, held.script);
  const running = [gateway.call(LIST), gateway.call(LIST)];
  const there = [await held.next(), await held.next()];
  const refused = await sendAs(gateway, "9", LIST);
  t.match(refused, { status: 429, json: { id: 9, error: { data: { reason: "concurrency_limited" } } } });
  t.match(refused.headers, { "retry-after": "1" });
  t.equal(reasonOf(await gateway.call({ method: "server/discover" })), "overloaded");
  const listen = { method: "subscriptions/listen", params: { notifications: { toolsListChanged: true } } };
  const stream = openStream(gateway.url, { headers: mirrored(listen), body: textOf("1", listen) });
  const { response } = await held.next();
  response.writeHead(200, { "content-type": "text/event-stream" }).write(": hello\n\n");
  const opened = await stream;
  t.equal(opened.status, 200, "a stream is not a request");
  t.match(await sendAs(gateway, "10", listen), {
    status: 429,
    json: { id: 10, error: { data: { reason: "streams_limited" } } },
  });
  for (const { arrived, response } of there) result(arrived, response, '{"tools":[]}');
  for (const reply of await Promise.all(running)) t.equal(reply.status, 200);
  opened.leave();
  opened.ended.catch(() => undefined);
  const after = gateway.call(LIST);
  const one = await held.next();
  result(one.arrived, one.response, '{"tools":[]}');
  t.equal((await after).status, 200, "places are given back");
});

t.test("a client that leaves gives its place back", async (t) => {
  const held = holding();
  const { gateway } = await open(t, { concurrent: 1 }, held.script);
  const leaving = new AbortController();
  const gone = gateway.call(LIST, { signal: leaving.signal });
  await held.next();
  leaving.abort();
  await gone.catch(() => undefined);
  await until(() => gateway.audit.some(({ outcome }) => outcome === "cancelled"));
  const after = gateway.call(LIST);
  const { arrived, response } = await held.next();
  result(arrived, response, '{"tools":[]}');
  t.equal((await after).status, 200);
});

t.test("open rounds: one question too many is not asked; an answer makes room", async (t) => {
  const { gateway, upstream } = await open(t, { openRounds: 2 });
  const first = stateOf(await gateway.call(TRANSFER));
  stateOf(await gateway.call(TRANSFER));
  const refused = await sendAs(gateway, "5", TRANSFER);
  t.match(refused, { status: 429, json: { id: 5, error: { data: { reason: "open_rounds_limited" } } } });
  t.match(gateway.audit.at(-1), { cause: "caller_rounds" });
  t.equal((await gateway.call(LIST)).status, 200, "what asks nothing goes on");
  t.equal((await gateway.call(retryOf(first))).status, 200);
  t.match(stateOf(await gateway.call(TRANSFER)), /^sg1/);
  t.equal(reasonOf(await gateway.call(TRANSFER)), "open_rounds_limited");
  gateway.clock.now += 600_001;
  t.match(stateOf(await gateway.call(TRANSFER)), /^sg1/, "what has expired is not open");
  t.equal(upstream.arrived.filter(isRetry).length, 1);
});

t.test("open rounds: a chain takes one place, and its later questions are never refused", async (t) => {
  const { gateway } = await open(t, { openRounds: 1 }, asksAlways);
  let state = stateOf(await gateway.call(TRANSFER));
  for (let round = 2; round < 8; round++) {
    t.equal(reasonOf(await gateway.call(TRANSFER)), "open_rounds_limited");
    state = stateOf(await gateway.call(retryOf(state)));
  }
});

t.test("open rounds: calls that are under way together open no more than allowed", async (t) => {
  const held = holding();
  const { gateway } = await open(t, { openRounds: 3 }, held.script);
  const calls = Array.from({ length: 12 }, () => gateway.call(TRANSFER));
  for (const _ of calls) {
    const { arrived, response } = await held.next();
    asksAlways(arrived, response);
  }
  const replies = await Promise.all(calls);
  t.equal(replies.filter(({ json }) => json.result?.requestState !== undefined).length, 3);
  t.equal(replies.filter((reply) => reasonOf(reply) === "open_rounds_limited").length, 9);
});

t.test("open rounds: a question for consent takes a place, and with the answer gives it back", async (t) => {
  const authorization = {
    default: "allow",
    policies: [{ id: "ask", effect: "approve", tools: ["transfer"] }],
  };
  const complete: Script = (arrived, response) => result(arrived, response, '{"content":[]}');
  const { gateway, upstream } = await open(t, { openRounds: 1 }, complete, { authorization });
  const asked = await gateway.call(TRANSFER);
  t.equal(reasonOf(await gateway.call(TRANSFER)), "open_rounds_limited");
  t.equal(upstream.arrived.length, 0, "no server has been asked");
  const [key = ""] = Object.keys(asked.json.result.inputRequests);
  const yes = { [key]: { action: "accept", content: { approve: true } } };
  t.equal((await gateway.call(retryOf(stateOf(asked), yes))).status, 200);
  t.match(stateOf(await gateway.call(TRANSFER)), /^sg1/);
});

t.test("polls of tasks have a window of their own", async (t) => {
  const server = createTaskServer();
  const upstream = await startUpstream(server.script);
  t.teardown(() => upstream.close());
  const gateway = await startGateway(upstream.url, {
    limits: { perPrincipal: { requests: { points: 2, per } } },
    routes: [{ path: "/mcp", upstream: { url: upstream.url }, tasks: "pass" }],
  });
  t.teardown(() => gateway.close(0));
  const capabilities = DECLARED;
  const made = await gateway.call({ method: "tools/call", params: { name: "report" } }, { capabilities });
  const { taskId } = made.json.result;
  await gateway.call(LIST);
  t.equal((await gateway.call(LIST)).status, 429);
  const poll = () =>
    gateway.call(
      { method: "tasks/get", params: { taskId } },
      { capabilities, headers: { "mcp-name": taskId } },
    );
  for (let i = 0; i < 2; i++) t.match(await poll(), { status: 200, json: { result: { status: /./ } } });
  t.match(await poll(), { status: 429, json: { error: { data: { reason: "rate_limited" } } } });
  t.match(gateway.audit.at(-1), { cause: "caller_polls" });
});

t.test("a route has limits of its own, and counts for itself", async (t) => {
  const upstream = await startUpstream(asksOnce);
  t.teardown(() => upstream.close());
  const route = (path: string, perPrincipal: unknown) => ({
    path,
    upstream: { url: upstream.url },
    limits: { perPrincipal },
  });
  const gateway = await startGateway(upstream.url, {
    limits: { perPrincipal: { requests: { points: 1, per } } },
    routes: [
      route("/a", {}),
      route("/b", { requests: { points: 2, per } }),
      route("/c", { requests: { points: "off" } }),
    ],
  });
  t.teardown(() => gateway.close(0));
  const passed = async (path: string): Promise<number> => {
    const replies = [];
    for (let i = 0; i < 4; i++) replies.push(await gateway.call(LIST, { path }));
    return replies.filter(({ status }) => status === 200).length;
  };
  t.same([await passed("/a"), await passed("/b"), await passed("/c")], [1, 2, 4]);
});

t.test("a change of the limit holds at once, and what was counted stays counted", async (t) => {
  const { gateway } = await open(t, { requests: { points: 1, per } });
  await gateway.call(LIST);
  t.equal((await gateway.call(LIST)).status, 429);
  t.ok(await gateway.configure({ limits: { perPrincipal: { requests: { points: 9, per } } } }));
  t.equal((await gateway.call(LIST)).status, 200);
  t.ok(await gateway.configure({ limits: {} }));
  for (let i = 0; i < 12; i++) t.equal((await gateway.call(LIST)).status, 200);
});

t.test(
  "an event loop that is late: refused before authentication and body, and told to operators",
  async (t) => {
    const upstream = await startUpstream(asksOnce);
    t.teardown(() => upstream.close());
    let delay = 0;
    const server = {
      listen: "127.0.0.1:0",
      publicUrl: "http://gateway.test",
      allowedHosts: ["127.0.0.1", "gateway.test"],
      limits: { eventLoopDelay: "500ms" },
    };
    const sections = { server, admin: { listen: "127.0.0.1:0" } };
    const gateway = await startGateway(upstream.url, sections, { eventLoopDelay: () => delay });
    t.teardown(() => gateway.close(0));
    const admin = (path: string) => exchange(gateway.adminUrl ?? "", { path, method: "GET" });
    t.same((await admin("/readyz")).json, { status: "ready", store: "ok" });
    t.equal((await gateway.call(LIST)).status, 200);
    delay = 501;
    for (const message of [LIST, { method: "server/discover" }]) {
      const reply = await gateway.call(message);
      t.match(reply, {
        status: 503,
        headers: { "retry-after": "1" },
        json: { jsonrpc: "2.0", id: null, error: { data: { reason: "overloaded" } } },
      });
    }
    t.match(gateway.audit.at(-1), { outcome: "refused", code: "overloaded", cause: "event_loop" });
    t.notOk(gateway.audit.at(-1)?.principal, "nobody was asked who is calling");
    t.same((await admin("/readyz")).json, { status: "ready", store: "ok", load: "shedding" });
    t.match((await admin("/metrics")).body, /^sealgate_shedding 1$/m);
    t.match((await admin("/metrics")).body, /^sealgate_event_loop_delay_seconds 0.501$/m);
    delay = 500;
    t.equal((await gateway.call(LIST)).status, 200, "what is allowed is borne");
    t.match((await admin("/metrics")).body, /^sealgate_shedding 0$/m);
    t.equal(upstream.arrived.length, 2);
  },
);

t.test("an event loop that is late is measured", async (t) => {
  const { watchLoad } = await import("../../src/load.ts");
  const load = watchLoad(() => 100);
  t.teardown(() => load.close());
  t.equal(load.shedding, false);
  await until(() => {
    const end = performance.now() + 500;
    while (performance.now() < end);
    return load.shedding;
  });
  await until(() => !load.shedding);
});
