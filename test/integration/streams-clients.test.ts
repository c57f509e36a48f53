/** Clients that leave, and clients that read slower than a server writes. */
import t from "tap";
import { event, eventsOf } from "../support/events.ts";
import { until } from "../support/until.ts";
import { ASK, holding, retryOf, stateOf, TRANSFER } from "./rounds.ts";
import { ACKNOWLEDGED, LISTEN, NOTE, RESULT, STREAM, setUp } from "./streams.ts";

const JSON_TYPE = { "content-type": "application/json" };

for (const method of ["tools/call", "subscriptions/listen"]) {
  const [message, first] = method === "tools/call" ? [TRANSFER, NOTE] : [LISTEN, ACKNOWLEDGED];

  t.test(`${method}: a client that leaves before there is a head`, async (t) => {
    const held = holding();
    const { gateway } = await setUp(t, held.script);
    const left = new AbortController();
    const call = gateway.call(message, { signal: left.signal });
    const { arrived } = await held.next();
    left.abort();
    await t.rejects(call);
    await arrived.closed;
    await until(() => gateway.audit.length === 1);
    t.match(gateway.audit, [{ outcome: "cancelled", method }]);
  });

  t.test(`${method}: a client that leaves in the middle`, async (t) => {
    const held = holding();
    const { gateway, open } = await setUp(t, held.script);
    const opening = open(message);
    const { arrived, response } = await held.next();
    response.writeHead(200, STREAM).write(event(first));
    const stream = await opening;
    await stream.until(first);
    stream.leave();
    await arrived.closed;
    await until(() => gateway.audit.length === 1);
    t.match(gateway.audit, [{ outcome: method === "tools/call" ? "cancelled" : "stream", method }]);
    t.notMatch(gateway.logged(), /internal error|unhandled/i);
  });
}

t.test("a client that leaves while the head is held back", async (t) => {
  const held = holding();
  const { gateway } = await setUp(t, held.script);
  const left = new AbortController();
  const call = gateway.call(TRANSFER, { signal: left.signal });
  const { arrived, response } = await held.next();
  response.writeHead(200, STREAM).flushHeaders();
  response.write("data:", () => left.abort());
  await t.rejects(call);
  await arrived.closed;
});

t.test("a client that leaves in the middle of a JSON answer", async (t) => {
  const held = holding();
  const { gateway } = await setUp(t, held.script);
  const left = new AbortController();
  const call = gateway.call(TRANSFER, { signal: left.signal });
  const { arrived, response } = await held.next();
  response.writeHead(200, JSON_TYPE).write(RESULT.slice(0, 20), () => left.abort());
  await t.rejects(call);
  await arrived.closed;
});

t.test("a retry whose client leaves stays spent", async (t) => {
  const held = holding();
  const { gateway } = await setUp(t, held.script);
  const asking = gateway.call(TRANSFER);
  const first = await held.next();
  const id = first.arrived.json.id;
  first.response.writeHead(200, JSON_TYPE).end(`{"jsonrpc":"2.0","id":${id},"result":${ASK}}`);
  const state = stateOf(await asking);
  const left = new AbortController();
  const call = gateway.call(retryOf(state), { signal: left.signal });
  const { arrived } = await held.next();
  left.abort();
  await t.rejects(call);
  await arrived.closed;
  t.match(await gateway.call(retryOf(state)), { json: { error: { data: { reason: "already_redeemed" } } } });
});

const MIB = 1024 * 1024;
const BIG = event(NOTE.replace("1.10", `"${"x".repeat(256 * 1024)}"`));

t.test("a server is paused while a client does not read, and hurts nobody else", async (t) => {
  const held = holding();
  const { upstream, gateway, open } = await setUp(t, held.script);
  const opening = open();
  const { response } = await held.next();
  response.writeHead(200, STREAM);
  let written = 0;
  let enough = false;
  const pour = (): void => {
    while (!enough) {
      written += BIG.length;
      if (!response.write(BIG)) {
        response.once("drain", pour);
        return;
      }
    }
    response.end(event(RESULT));
  };
  pour();
  const stream = await opening;
  stream.pause();

  // Time passes in exchanges of other clients.
  upstream.script = (arrived, other) => {
    other.writeHead(200, JSON_TYPE).end(RESULT.replace('"id":1', `"id":${arrived.json.id}`));
  };
  let quiet = 0;
  for (let before = -1; quiet < 20; before = written) {
    t.equal((await gateway.call(TRANSFER)).status, 200);
    quiet = written === before ? quiet + 1 : 0;
    if (written > 256 * MIB) break;
  }
  t.ok(written < 64 * MIB, `the server got ${written / MIB} MiB off and no more`);

  enough = true;
  stream.resume();
  const events = eventsOf(await stream.ended);
  t.equal(events.at(-1), RESULT);
  t.equal(events.length, written / BIG.length + 1, "nothing was lost");
});

t.test("a client that does not read and leaves lets the server go", async (t) => {
  const held = holding();
  const { open } = await setUp(t, held.script);
  const opening = open();
  const { arrived, response } = await held.next();
  response.writeHead(200, STREAM);
  const stuck = new Promise<void>((resolve) => {
    const pour = (): void => {
      while (response.write(BIG));
      const timer = setTimeout(resolve, 200);
      response.once("drain", () => {
        clearTimeout(timer);
        pour();
      });
    };
    pour();
  });
  const stream = await opening;
  stream.pause();
  await stuck;
  stream.leave();
  await arrived.closed;
});
