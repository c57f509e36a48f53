/** What is under way when a configuration is replaced: requests end under what they began with, rounds and streams are judged anew. */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import t, { type Test } from "tap";
import { type Message, mirrored, startGateway, type TestGateway } from "../support/gateway.ts";
import { openStream } from "../support/open-stream.ts";
import { connectSdkClient } from "../support/sdk-client.ts";
import { startSdkServer } from "../support/sdk-server.ts";
import { until } from "../support/until.ts";
import { result, type Script, startUpstream } from "../support/upstream.ts";
import { asksOnce, DONE, holding, retryOf, stateOf, TRANSFER, textOf } from "./rounds.ts";
import { NOTE, RESULT, STREAM } from "./streams.ts";

type Sections = Readonly<Record<string, unknown>>;

const NOTHING: Sections = { authorization: { default: "allow" } };
const DENIED: Sections = {
  authorization: { default: "allow", policies: [{ id: "no", effect: "deny", tools: ["transfer"] }] },
};
const LISTEN: Message = {
  method: "subscriptions/listen",
  params: { notifications: { toolsListChanged: true, promptsListChanged: true } },
};
const told = (what: string): string =>
  `data: ${JSON.stringify({
    jsonrpc: "2.0",
    method: `notifications/${what}`,
    params: { _meta: { "io.modelcontextprotocol/subscriptionId": 1 } },
  })}\n\n`;

async function open(t: Test, script: Script, sections: Sections = {}) {
  const upstream = await startUpstream(script);
  const gateway = await startGateway(upstream.url, sections);
  t.teardown(async () => {
    await gateway.close(0);
    await upstream.close();
  });
  const routes = (more: Sections = {}, url = upstream.url) => ({
    routes: [{ path: "/mcp", upstream: { url }, legacy: "refuse", ...more }],
  });
  return { upstream, gateway, routes };
}

const stream = (gateway: TestGateway, message: Message) =>
  openStream(gateway.url, { headers: mirrored(message), body: textOf("1", message) });

t.test(
  "a request in flight ends under what it began with; the next one is judged by what is in force",
  async (t) => {
    const held = holding();
    const { gateway } = await open(t, held.script);
    const before = gateway.call(TRANSFER);
    const { arrived, response } = await held.next();
    t.equal(await gateway.configure(DENIED), true);
    t.equal((await gateway.call(TRANSFER)).json.error.data.reason, "unknown_tool");
    result(arrived, response, DONE);
    t.equal((await before).status, 200);
    t.match(
      gateway.audit.map(({ outcome }) => outcome),
      ["refused", "complete"],
    );
  },
);

t.test("a stream of a call goes on to its answer across two reloads", async (t) => {
  const held = holding();
  const { gateway, routes } = await open(t, held.script);
  const opening = stream(gateway, TRANSFER);
  const { response } = await held.next();
  response.writeHead(200, STREAM);
  response.write(`data: ${NOTE}\n\n`);
  const seen = await opening;
  await seen.until("notifications/message");
  await gateway.configure(DENIED);
  await gateway.configure(routes({}, "http://127.0.0.1:9/mcp"));
  response.end(`data: ${NOTE}\n\ndata: ${RESULT}\n\n`);
  const text = await seen.ended;
  t.equal(text.match(/notifications\/message/g)?.length, 2);
  t.match(text, '"done"');
});

t.test("an open round: the retry is judged by what is in force, and nothing is spent before", async (t) => {
  const { gateway, upstream, routes } = await open(t, asksOnce);
  const CASES: [string, Sections, Sections, string][] = [
    ["a tool that is denied since", DENIED, NOTHING, "unknown_tool"],
    [
      "a kind of question that is not allowed any more",
      { capability: { allow: ["roots"] } },
      { capability: {} },
      "question_forbidden",
    ],
    [
      "for this tool",
      { capability: { tools: [{ match: ["trans*"], allow: [] }] } },
      { capability: {} },
      "question_forbidden",
    ],
    ["on this route", routes({ capability: { allow: ["elicitation.url"] } }), routes(), "question_forbidden"],
    ["another server", routes({}, `${upstream.url}?other`), routes(), "invalid_request_state"],
    [
      "another audience",
      { envelope: { audience: "https://other.example" } },
      { envelope: {} },
      "invalid_request_state",
    ],
  ];
  for (const [name, changed, back, reason] of CASES) {
    await t.test(name, async (t) => {
      const state = stateOf(await gateway.call(TRANSFER));
      const arrived = upstream.arrived.length;
      t.equal(await gateway.configure(changed), true);
      t.equal((await gateway.call(retryOf(state))).json.error.data.reason, reason);
      t.equal(upstream.arrived.length, arrived, "the server was not asked");
      t.equal(await gateway.configure(back), true);
      const reply = await gateway.call(retryOf(state));
      t.equal(reply.json.result?.resultType, "complete", "it was not spent");
    });
  }
  await t.test("the honest neighbour: what does not concern it", async (t) => {
    const state = stateOf(await gateway.call(TRANSFER));
    await gateway.configure({ capability: { allow: ["elicitation.form"] }, log: { level: "warn" } });
    await gateway.configure(routes({ roundTrip: { maxRounds: 20 } }));
    t.equal((await gateway.call(retryOf(state))).json.result?.resultType, "complete");
  });
});

t.test("SDK: rounds with a reload between each two", async (t) => {
  const server = await startSdkServer();
  const gateway = await startGateway(server.url);
  const made = await connectSdkClient(`${gateway.url}/mcp`);
  t.teardown(async () => {
    await made.client.close();
    await gateway.close(0);
    await server.close();
  });
  let reloads = 0;
  let last: Promise<unknown> = Promise.resolve();
  made.client.setRequestHandler("elicitation/create", async () => {
    // Questions of one round are asked at the same time.
    last = last.then(() => {
      reloads += 1;
      return gateway.configure({ roundTrip: { maxRounds: 30 + reloads } });
    });
    await last;
    return { action: "accept", content: { confirm: true, note: "x", amount: 1, tags: [] } };
  });
  const outcome = await made.client.callTool({ name: "three-rounds", arguments: { amount: 1 } });
  t.not(outcome["isError"], true);
  t.ok(reloads > 0);
});

const CHANGED = /"reason":"configuration_changed"/;

/** Opens a stream that the server holds open; resolves when its first notification has come through. */
async function listening(gateway: TestGateway, held: ReturnType<typeof holding>) {
  const opening = stream(gateway, LISTEN);
  const { response, arrived } = await held.next();
  response.writeHead(200, STREAM);
  response.write(told("subscriptions/acknowledged") + told("tools/list_changed"));
  const seen = await opening;
  await seen.until("tools/list_changed");
  return { seen, response, arrived };
}

t.test("a stream that stays open ends when what it was judged by changes, and opens again", async (t) => {
  const held = holding();
  const { gateway, routes } = await open(t, held.script);
  const CASES: [string, Sections][] = [
    ["policies", DENIED],
    ["the server behind it", routes({}, "http://127.0.0.1:9/mcp")],
    ["callers", { authentication: { mode: "required", issuers: [{ issuer: "https://issuer.example" }] } }],
  ];
  for (const [name, changed] of CASES) {
    await t.test(name, async (t) => {
      const { seen, arrived } = await listening(gateway, held);
      t.equal(await gateway.configure(changed), true);
      t.match(await seen.ended, CHANGED, "with a last event that says so");
      await arrived.closed;
      await gateway.configure({ ...NOTHING, ...routes(), authentication: { mode: "anonymous" } });
    });
  }
  await t.test("and does not where that stays as it is", async (t) => {
    const { seen, response } = await listening(gateway, held);
    t.equal(await gateway.configure({ log: { level: "error" } }), true);
    t.equal(await gateway.configure({ authorization: { default: "allow" }, audit: { sinks: [] } }), true);
    response.write(told("prompts/list_changed"));
    await seen.until("prompts/list_changed");
    seen.leave();
    t.notMatch(seen.text(), CHANGED);
  });
});

t.test("who has lost access does not open it again", async (t) => {
  const held = holding();
  const { gateway } = await open(t, held.script);
  const { seen } = await listening(gateway, held);
  const policies = [{ id: "closed", effect: "deny", methods: ["subscriptions/listen"] }];
  await gateway.configure({ authorization: { default: "allow", policies } });
  t.match(await seen.ended, CHANGED);
  t.equal((await gateway.call(LISTEN)).json.error.code, -32601);
});

t.test(
  "legacy: the stream of a session ends, and that of an answered call; a call is answered first",
  async (t) => {
    const held = holding();
    const { gateway, routes } = await open(t, held.script);
    await gateway.configure(routes({ legacy: "pass" }));
    const headers = { accept: "application/json, text/event-stream", "content-type": "application/json" };
    const called = (id: number): string =>
      JSON.stringify({
        jsonrpc: "2.0",
        id,
        method: "tools/call",
        params: { name: "transfer", arguments: {} },
      });
    const begin = async (options: { method?: string; body?: string }) => {
      const opening = openStream(gateway.url, { headers, ...options });
      const { response } = await held.next();
      response.writeHead(200, STREAM);
      response.write(`data: ${NOTE}\n\n`);
      const seen = await opening;
      await seen.until("notifications/message");
      return { seen, response };
    };
    const session = await begin({ method: "GET" });
    const done = await begin({ body: called(1) });
    done.response.write(`data: ${RESULT}\n\n`);
    await done.seen.until('"done"');
    const waiting = await begin({ body: called(2) });

    await gateway.configure({ ...DENIED });
    t.match(await session.seen.ended, CHANGED);
    t.match(await done.seen.ended, CHANGED);
    waiting.response.write(`data: ${RESULT.replace('"id":1', '"id":2')}\n\n`);
    const text = await waiting.seen.ended;
    t.match(text, '"done"');
    t.notMatch(text, CHANGED, "it ends behind its answer");
  },
);

t.test(
  "connections to a server that is not served any more are closed, after the last request on them",
  async (t) => {
    const held = holding();
    const { gateway, routes, upstream } = await open(t, held.script);
    const sockets = new Set<Socket>();
    const target = new URL(upstream.url);
    // Between the two, to see connections come and go.
    const between = createServer((from) => {
      const to = connect(Number(target.port), target.hostname);
      sockets.add(from);
      from
        .on("close", () => sockets.delete(from))
        .on("error", () => undefined)
        .pipe(to);
      to.on("error", () => undefined).pipe(from);
    }).listen(0, "127.0.0.1");
    await once(between, "listening");
    t.teardown(() => between.close());
    const seen = `http://127.0.0.1:${(between.address() as AddressInfo).port}/mcp`;
    await gateway.configure(routes({ upstream: { url: seen, timeouts: { idle: "1h" } } }));
    const before = gateway.call(TRANSFER);
    const { arrived, response } = await held.next();
    t.equal(sockets.size, 1);
    await gateway.configure({ ...DENIED });
    t.equal(sockets.size, 1, "another policy costs no connection");
    await gateway.configure(routes());
    result(arrived, response, DONE);
    t.equal((await before).status, 200);
    await until(() => sockets.size === 0);
  },
);

t.test("a drain takes nothing up any more", async (t) => {
  const held = holding();
  const { gateway } = await open(t, held.script);
  const before = gateway.call(TRANSFER);
  const { arrived, response } = await held.next();
  const closing = gateway.close(60_000);
  await gateway.configure({ authorization: { default: "deny" } });
  result(arrived, response, DONE);
  t.equal((await before).status, 200);
  await closing;
  t.notMatch(gateway.logged(), "configuration taken up");
});
