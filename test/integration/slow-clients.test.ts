/** Clients that are slow, wait, or leave: each is bounded in time, and none costs another its answer. */
import t, { type Test } from "tap";
import { startGateway } from "../support/gateway.ts";
import { until } from "../support/until.ts";
import { startUpstream } from "../support/upstream.ts";
import { BODY, call, chunked, head, openWire, type Wire } from "./raw-requests.ts";
import { asksOnce, holding } from "./rounds.ts";
import { RESULT, STREAM } from "./streams.ts";

const TIMEOUTS = { request: 300, check: 20, keepAlive: 200 };

async function setUp(t: Test, script = asksOnce, timeouts = TIMEOUTS) {
  const upstream = await startUpstream(script);
  const gateway = await startGateway(upstream.url, {}, { timeouts });
  t.teardown(async () => {
    await gateway.close(0);
    await upstream.close();
  });
  return { upstream, gateway, open: (): Wire => openWire(gateway.url) };
}

const HALF = Math.floor(BODY.length / 2);

/** What is sent, and then nothing more. */
const SLOW: Readonly<Record<string, string>> = {
  nothing: "",
  "half a request line": "POST /mc",
  "half a head": call().slice(0, 80),
  "a head, and no body": head([`Content-Length: ${BODY.length}`]),
  "half a body": head([`Content-Length: ${BODY.length}`]) + BODY.slice(0, HALF),
  "all but the last chunk": chunked(100, ""),
  "half a chunk": chunked(BODY.length).slice(0, -HALF),
  "trailers without an end": chunked(BODY.length, "0\r\nX: y\r\n"),
  "a head that waits for a 100, and no body": head([
    `Content-Length: ${BODY.length}`,
    "Expect: 100-continue",
  ]),
};

for (const [name, text] of Object.entries(SLOW)) {
  t.test(`${name}: answered with 408 and closed`, async (t) => {
    const { upstream, gateway, open } = await setUp(t);
    const wire = open();
    wire.write(text);
    const back = (await wire.closed).replace("HTTP/1.1 100 Continue\r\n\r\n", "");
    t.match(back, /^HTTP\/1\.1 408 Request Timeout\r\n/);
    t.match(back, '"reason":"malformed_http"');
    t.equal(upstream.arrived.length, 0);
    t.notMatch(gateway.logged(), /internal error/);
  });
}

t.test("a byte now and then is slow too", async (t) => {
  for (const text of [call(BODY, `X: ${"x".repeat(4_000)}`), call(), chunked(1)]) {
    const { upstream, open } = await setUp(t);
    const wire = open();
    wire.write(text.slice(0, 60));
    let at = 60;
    const drip = setInterval(() => wire.write(text.slice(at, ++at)), 5);
    t.match(await wire.closed, /^HTTP\/1\.1 408 /);
    clearInterval(drip);
    t.equal(upstream.arrived.length, 0);
  }
});

t.test("an idle connection is closed without a word", async (t) => {
  const { open } = await setUp(t);
  const wire = open();
  wire.write(call());
  const back = await wire.closed;
  t.match(back, /^HTTP\/1\.1 200 /);
  t.equal(back.match(/HTTP\/1\.1/g)?.length, 1);
});

t.test("honest: an answer may take longer than a request, and so may a stream", async (t) => {
  const held = holding();
  const { open } = await setUp(t, held.script);
  const [answer, stream] = [open(), open()];
  answer.write(call());
  const one = await held.next();
  stream.write(call());
  const other = await held.next();
  other.response.writeHead(200, STREAM).flushHeaders();
  // A client that says nothing is the clock: it is closed when the time is over.
  t.match(await open().closed, /^HTTP\/1\.1 408 /);
  one.response.writeHead(200, { "content-type": "application/json" }).end(RESULT);
  other.response.end(`data: ${RESULT}\n\n`);
  await Promise.all([answer.until('"done"'), stream.until('"done"')]);
  t.match(answer.text(), /^HTTP\/1\.1 200 /);
});

t.test(
  "an answer in progress is not spoken into: not by a late request, and not by a broken one",
  async (t) => {
    for (const behind of ["POST /mcp HTTP/1.1\r\nHost:", "no HTTP\r\n\r\n"]) {
      const held = holding();
      const { open } = await setUp(t, held.script);
      const wire = open();
      wire.write(call());
      const { arrived, response } = await held.next();
      response.writeHead(200, STREAM).write(": here\n");
      await wire.until(": keep-alive");
      wire.write(behind);
      t.notMatch((await wire.closed).slice(20), /HTTP\/1\.1/, behind);
      await arrived.closed;
    }
  },
);

t.test("a client that leaves in its body is on record, and no error of ours", async (t) => {
  const { gateway, upstream, open } = await setUp(t);
  for (const framing of [`Content-Length: ${BODY.length}`, "Transfer-Encoding: chunked"]) {
    const wire = open();
    wire.write(head([framing, "Expect: 100-continue"]));
    await wire.until("100 Continue");
    wire.write(framing.startsWith("C") ? BODY.slice(0, HALF) : "5\r\n{    \r\n");
    wire.destroy();
    await until(() => gateway.audit.length > 0);
    t.match(gateway.audit.splice(0), [{ outcome: "cancelled" }]);
  }
  t.notMatch(gateway.logged(), /internal error/);
  t.equal(upstream.arrived.length, 0);
});
