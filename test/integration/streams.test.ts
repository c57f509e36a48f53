/** Event streams of an upstream on their way to the client: the held-back head, the last event, what ends a stream. */
import t from "tap";
import { event, eventsOf } from "../support/events.ts";
import { PUBLIC_URL } from "../support/gateway.ts";
import { ASK, holding, TRANSFER } from "./rounds.ts";
import { ACKNOWLEDGED, CHANGED, LISTEN, NOTE, RESULT, STREAM, setUp, streams } from "./streams.ts";

/** What no client that declares only forms may be asked. */
const UNDECLARED = `{"jsonrpc":"2.0","id":1,"result":${ASK.replace("elicitation/create", "roots/list")}}`;
const SERVER_REQUEST = '{"jsonrpc":"2.0","id":1,"method":"roots/list","params":{}}';

const REFUSED: Record<
  string,
  { pieces: string[]; status: number; code: number; reason: string; cause: string }
> = {
  "an undeclared question": {
    pieces: [event(UNDECLARED)],
    status: 400,
    code: -32021,
    reason: "missing_capability",
    cause: "undeclared",
  },
  "an answer to another request": {
    pieces: [event(RESULT.replace('"id":1', '"id":"1"'))],
    status: 502,
    code: -32603,
    reason: "upstream_fault",
    cause: "id_mismatch",
  },
  "an error of another request": {
    pieces: [event('{"jsonrpc":"2.0","id":2,"error":{"code":-32000,"message":"m"}}')],
    status: 502,
    code: -32603,
    reason: "upstream_fault",
    cause: "id_mismatch",
  },
  "a request of the server": {
    pieces: [event(SERVER_REQUEST)],
    status: 502,
    code: -32603,
    reason: "upstream_fault",
    cause: "server_request",
  },
  "no answer": { pieces: [], status: 502, code: -32603, reason: "upstream_fault", cause: "stream_ended" },
  "an answer cut off in its event": {
    pieces: [`data: ${RESULT}\n`],
    status: 502,
    code: -32603,
    reason: "upstream_fault",
    cause: "stream_ended",
  },
  "no JSON": {
    pieces: [event("SECRET text of the server")],
    status: 502,
    code: -32603,
    reason: "upstream_fault",
    cause: "json_syntax",
  },
  "an array": {
    pieces: [event(`[${RESULT}]`)],
    status: 502,
    code: -32603,
    reason: "upstream_fault",
    cause: "batch",
  },
  "an event over the limit": {
    pieces: [`data: ${"x".repeat(3000)}`],
    status: 502,
    code: -32603,
    reason: "upstream_fault",
    cause: "event_too_large",
  },
};

const SMALL_EVENTS = {
  server: {
    listen: "127.0.0.1:0",
    publicUrl: PUBLIC_URL,
    allowedHosts: ["127.0.0.1"],
    limits: { event: "2KiB" },
  },
};

for (const [name, { pieces, status, code, reason, cause }] of Object.entries(REFUSED)) {
  t.test(`${name} first is an HTTP error, after an event the last event`, async (t) => {
    const { upstream, gateway, open } = await setUp(t, streams(pieces), () => SMALL_EVENTS);
    const first = await open();
    t.equal(first.status, status);
    t.match(first.headers, { "content-type": "application/json" });
    t.match(JSON.parse(await first.ended), { id: 1, error: { code, data: { reason } } });

    for (const before of [event(NOTE), ": hello SECRET\n\n"]) {
      upstream.script = streams([before, ...pieces]);
      const later = await open();
      t.equal(later.status, 200);
      t.match(later.headers, { "content-type": "text/event-stream", "x-accel-buffering": "no" });
      const body = await later.ended;
      const events = eventsOf(body);
      t.equal(events.length, before.startsWith(":") ? 1 : 2);
      t.match(JSON.parse(events.at(-1) ?? ""), { id: 1, error: { code, data: { reason } } });
      t.notMatch(body, /SECRET/);
    }
    t.same(
      gateway.audit.map((record) => [record.code, record.cause]),
      Array(3).fill([reason, cause]),
    );
    t.same(new Set(gateway.audit.map((record) => record.requestId)).size, 3);
  });
}

t.test("nothing follows the answer, and the upstream is let go", async (t) => {
  const more = [event(RESULT), event(NOTE), event(RESULT.replace("done", "SECRET")), event(SERVER_REQUEST)];
  for (const together of [true, false]) {
    const { upstream, open } = await setUp(
      t,
      streams(together ? [event(NOTE) + more.join("")] : [event(NOTE), ...more], true),
    );
    t.same(eventsOf(await (await open()).ended), [NOTE, RESULT]);
    await upstream.arrived[0]?.closed;
  }
});

t.test("the head waits for the first event, a comment, or a second", async (t) => {
  const held = holding();
  const { open } = await setUp(t, held.script);
  for (const first of [event(NOTE), ": \n", "data:\n\n", undefined]) {
    const opening = open();
    const { response } = await held.next();
    response.writeHead(200, STREAM).flushHeaders();
    if (first !== undefined) response.write(first);
    const stream = await opening;
    t.equal(stream.status, 200);
    response.end(event(RESULT));
    t.match(await stream.ended, RESULT);
  }
});

t.test("an upstream that breaks off is told from one that ends", async (t) => {
  const held = holding();
  const { gateway, open } = await setUp(t, held.script);
  for (const [before, status] of [
    ["", 502],
    [event(NOTE), 200],
  ] as const) {
    const opening = open();
    const { response } = await held.next();
    response.writeHead(200, STREAM).flushHeaders();
    if (before !== "") response.write(before);
    const stream = before === "" ? undefined : await opening;
    await stream?.until(NOTE);
    response.socket?.resetAndDestroy();
    const late = stream ?? (await opening);
    t.equal(late.status, status);
    const body = await late.ended;
    t.match(JSON.parse(eventsOf(body).at(-1) ?? body), {
      id: 1,
      error: { data: { reason: "upstream_lost" } },
    });
  }
  t.match(gateway.audit, [{ cause: "connection_lost" }, { cause: "connection_lost" }]);
});

t.test("silence beyond upstream.timeouts.idle ends a call, and no listen stream", async (t) => {
  const held = holding();
  const { open } = await setUp(t, held.script, (url) => ({
    routes: [{ path: "/mcp", upstream: { url, timeouts: { idle: "1s" } } }],
  }));
  const [listening, calling] = [open(LISTEN), open(TRANSFER)];
  const [one, other] = [await held.next(), await held.next()];
  const [listen, call] = one.arrived.json.method === "tools/call" ? [other, one] : [one, other];
  listen.response.writeHead(200, STREAM).write(event(ACKNOWLEDGED));
  call.response.writeHead(200, STREAM).write(event(NOTE));
  const silent = await calling;
  t.match(JSON.parse(eventsOf(await silent.ended).at(-1) ?? ""), {
    error: { data: { reason: "upstream_timeout" } },
  });
  await call.arrived.closed;
  const stream = await listening;
  listen.response.write(event(CHANGED));
  await stream.until(CHANGED);
  stream.leave();
  await listen.arrived.closed;
});

t.test("a JSON answer to another request, a request, and no answer at all are faults", async (t) => {
  const { upstream, gateway, open } = await setUp(t, streams([]));
  for (const [body, cause] of [
    [RESULT.replace('"id":1', '"id":2'), "id_mismatch"],
    [SERVER_REQUEST, "server_request"],
    [NOTE, "no_answer"],
    ["", "json_empty"],
    [`${RESULT}${RESULT}`, "json_trailing"],
  ] as const) {
    upstream.script = (_arrived, response) => {
      response.writeHead(200, { "content-type": "application/json" }).end(body);
    };
    const stream = await open();
    t.equal(stream.status, 502, cause);
    t.match(JSON.parse(await stream.ended), { id: 1, error: { data: { reason: "upstream_fault" } } });
    t.equal(gateway.audit.at(-1)?.cause, cause);
  }
});
