import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import t, { type Test } from "tap";
import { Inconclusive } from "../../../src/review/check.ts";
import type { Received } from "../../../src/review/exchange.ts";
import { CLOCK } from "../../../src/review/pace.ts";
import { NotHere } from "../../../src/review/reach.ts";
import { openWire, type Wire, type WireOptions } from "../../../src/review/wire.ts";
import { selfSigned } from "../../support/certificates.ts";

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

async function listen(t: Test, handler: Handler): Promise<string> {
  const server: Server = createServer(handler);
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}

function open(t: Test, url: string, options: Partial<WireOptions> = {}): Wire {
  const wire = openWire({
    ...{
      url,
      tokens: { first: "secret-1", second: "secret-2" },
      remote: false,
      timeoutMs: 20_000,
      perSecond: 1_000,
    },
    ...{ requests: 100, clock: CLOCK, signal: new AbortController().signal },
    ...options,
  });
  t.teardown(() => wire.close());
  return wire;
}

const MESSAGE = { jsonrpc: "2.0", id: 7, method: "tools/list" };
const ask = {
  label: "a list",
  caller: "first",
  message: MESSAGE,
  headers: { "content-type": "application/json" },
} as const;

const answer = (body: string, type = "application/json", status = 200): Handler => {
  return (_request, response) => void response.writeHead(status, { "content-type": type }).end(body);
};

const received = async (t: Test, handler: Handler, options: Partial<WireOptions> = {}): Promise<Received> =>
  (await open(t, await listen(t, handler), options).send(ask)).received;

t.test("a result and an error, as JSON and in a stream", async (t) => {
  t.match(await received(t, answer('{"jsonrpc":"2.0","id":7,"result":{"a":1}}')), {
    kind: "result",
    resultType: "complete",
    result: { a: 1 },
  });
  t.match(
    await received(
      t,
      answer('{"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"no"}}', "application/json", 400),
    ),
    {
      ...{ kind: "error", status: 400, code: -32602, message: "no" },
    },
  );
  const events =
    'event: message\ndata: {"jsonrpc":"2.0","method":"notifications/progress"}\n\ndata: {"jsonrpc":"2.0","id":7,"result":{"resultType":"input_required"}}\n\n';
  t.match(await received(t, answer(events, "text/event-stream; charset=utf-8")), {
    resultType: "input_required",
  });
  t.match(await received(t, answer('{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"?"}}')), {
    kind: "error",
  });
});

t.test("what is no answer to the request is none", async (t) => {
  const none = async (handler: Handler): Promise<string> => {
    const got = await received(t, handler);
    return got.kind === "none" ? got.why : got.kind;
  };
  t.equal(
    await none(answer('{"jsonrpc":"2.0","id":"7","result":{}}')),
    "unreadable",
    "the id of another type",
  );
  t.equal(await none(answer('{"jsonrpc":"2.0","id":8,"result":{}}')), "unreadable");
  t.equal(await none(answer('{"jsonrpc":"2.0","id":7,"result":{},"error":{}}')), "unreadable");
  t.equal(await none(answer('{"id":7,"id":7,"result":{}}')), "unreadable", "a member twice");
  t.equal(await none(answer("{")), "unreadable");
  t.equal(await none(answer("[".repeat(100_000))), "unreadable");
  t.equal(await none(answer("<html>", "text/html")), "unreadable");
  t.equal(await none(answer("<html>", "text/html", 404)), "http");
  t.equal(await none(answer("{", "application/json", 500)), "http");
  t.equal(await none(answer(": nothing\n\n", "text/event-stream")), "lost");
  t.equal(await none((request) => void request.socket.destroy()), "lost");
  t.equal(await none(answer(`"${"x".repeat(5 * 1_048_576)}"`)), "too_large");
  t.equal(await none(answer(`data: ${"x".repeat(5 * 1_048_576)}`, "text/event-stream")), "too_large");
});

t.test("no redirect is followed", async (t) => {
  let requests = 0;
  const target = await listen(t, (_request, response) => {
    requests += 1;
    response.end();
  });
  const got = await received(
    t,
    (_request, response) => void response.writeHead(307, { location: target }).end(),
  );
  t.match(got, { kind: "none", why: "http", status: 307 });
  t.equal(requests, 0);
});

t.test("an answer that does not come, or never ends, is given up", async (t) => {
  t.match(await received(t, () => undefined, { timeoutMs: 300 }), { kind: "none", why: "timeout" });
  const drip: Handler = (_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const timer = setInterval(() => response.write(": still here\n\n"), 20);
    response.on("close", () => clearInterval(timer));
  };
  t.match(await received(t, drip, { timeoutMs: 300 }), { kind: "none", why: "timeout", status: 200 });
});

t.test("a request that is to be cut arrives whole, and its answer is not waited for", async (t) => {
  let body = "";
  const closed = Promise.withResolvers<void>();
  const url = await listen(t, (request) => {
    request.on("data", (chunk: Buffer) => {
      body += chunk.toString();
    });
    request.on("close", () => closed.resolve());
  });
  const { received: got } = await open(t, url).send({ ...ask, cutAfterMs: 0 });
  t.match(got, { kind: "none", why: "cut" });
  await closed.promise;
  t.strictSame(JSON.parse(body), MESSAGE);
});

t.test("each caller has its own credential, and no exchange holds it", async (t) => {
  const seen: (string | undefined)[] = [];
  const url = await listen(t, (request, response) => {
    seen.push(request.headers.authorization);
    answer('{"jsonrpc":"2.0","id":7,"result":{}}')(request, response);
  });
  const wire = open(t, url);
  for (const caller of ["first", "second", "nobody"] as const) await wire.send({ ...ask, caller });
  t.strictSame(seen, ["Bearer secret-1", "Bearer secret-2", undefined]);
  t.notMatch(JSON.stringify(wire.exchanges), /secret-/);
  t.strictSame(
    wire.exchanges.map(({ number }) => number),
    [1, 2, 3],
  );
});

t.test("each request has a connection of its own", async (t) => {
  const ports = new Set<number | undefined>();
  const url = await listen(t, (request, response) => {
    ports.add(request.socket.remotePort);
    answer('{"jsonrpc":"2.0","id":7,"result":{}}')(request, response);
  });
  const wire = open(t, url);
  await wire.send(ask);
  await wire.send(ask);
  t.equal(ports.size, 2);
});

t.test("requests end with their number, and at once when the review is stopped", async (t) => {
  const controller = new AbortController();
  let requests = 0;
  const url = await listen(t, (request, response) => {
    requests += 1;
    if (requests === 3) controller.abort(new Error("stopped"));
    else answer('{"jsonrpc":"2.0","id":7,"result":{}}')(request, response);
  });
  const few = open(t, url, { requests: 2 });
  await few.send(ask);
  await few.send(ask);
  await t.rejects(few.send(ask), Inconclusive);
  t.equal(requests, 2);
  const wire = open(t, url, { signal: controller.signal });
  await t.rejects(wire.send(ask), { message: "stopped" });
  await t.rejects(wire.send(ask), { message: "stopped" });
  t.equal(requests, 3);
});

t.test("a name that leads to another machine gets no connection", async (t) => {
  let requests = 0;
  const url = await listen(t, (_request, response) => {
    requests += 1;
    response.end();
  });
  const named = url.replace("127.0.0.1", "endpoint.test");
  let address = "127.0.0.1";
  const wire = open(t, named, { resolve: (_host, done) => done(null, [{ address, family: 4 }]) });
  await wire.send(ask);
  address = "10.255.255.1";
  await t.rejects(wire.send(ask), NotHere, "a name that changes its mind between requests");
  t.equal(requests, 1);
  t.throws(() => open(t, "http://10.255.255.1/mcp"), NotHere);
});

t.test("a certificate of an authority that is given is trusted, and no other", async (t) => {
  const { cert, key } = await selfSigned(t, ["IP:127.0.0.1"]);
  let requests = 0;
  const server = createTlsServer({ cert, key }, (request, response) => {
    requests += 1;
    answer('{"jsonrpc":"2.0","id":7,"result":{}}')(request, response);
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  t.teardown(() => server.close());
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  t.match((await open(t, url).send(ask)).received, { kind: "none", why: "lost" });
  t.equal(requests, 0);
  t.match((await open(t, url, { ca: cert }).send(ask)).received, { kind: "result" });
});
