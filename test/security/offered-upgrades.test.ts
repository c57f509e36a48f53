/** A request that offers an upgrade is served as the last one of its connection: nothing behind it is read as a request. */
import t from "tap";
import { BODY, call, head, openWire } from "../integration/raw-requests.ts";
import { answers, DONE } from "../integration/rounds.ts";
import { startGateway } from "../support/gateway.ts";
import { startUpstream } from "../support/upstream.ts";

const OFFER = ["Connection: Upgrade", "Upgrade: h2c"];
const PREFLIGHT = `OPTIONS /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n${OFFER.join("\r\n")}\r\n\r\n`;
const LONG = "POST /x HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n";
const EXTENDED = `${head(["Transfer-Encoding: chunked"])}${BODY.length.toString(16)};a=b\r\n${BODY}\r\n0\r\n\r\n`;

const upstream = await startUpstream(answers(DONE));
const gateway = await startGateway(upstream.url);
t.teardown(async () => {
  await gateway.close(0);
  await upstream.close();
});

/** Sends pieces, each once something came back for the one before, and gives what reached the server. */
async function arrivals(...pieces: readonly string[]): Promise<number> {
  const before = upstream.arrived.length;
  const wire = openWire(gateway.url);
  for (const [index, piece] of pieces.entries()) {
    if (index > 0) await Promise.race([wire.until("HTTP/1.1"), wire.closed]).catch(() => undefined);
    wire.write(piece);
  }
  await wire.closed;
  return upstream.arrived.length - before;
}

t.test("what stands behind an offer, in the same piece or a later one, is served by nobody", async (t) => {
  for (const [name, pieces, expected] of [
    ["a call behind a preflight", [PREFLIGHT + call()], 0],
    ["a call after a preflight", [PREFLIGHT, call()], 0],
    ["a watcher led astray", [PREFLIGHT + LONG, EXTENDED], 0],
    ["the same behind a call", [call(BODY, ...OFFER) + LONG, EXTENDED], 1],
    ["a body that is a call", [call(BODY, ...OFFER) + head([`Content-Length: ${call().length}`]), call()], 1],
    ["a call behind a call", [call(BODY, ...OFFER) + call()], 1],
  ] as const) {
    t.equal(await arrivals(...pieces), expected, name);
  }
});

t.test("honest: the call that offers is answered, and the connection is then closed", async (t) => {
  const wire = openWire(gateway.url);
  wire.write(call(BODY, ...OFFER));
  const back = await wire.closed;
  t.match(back, /^HTTP\/1\.1 200 OK\r\n[\s\S]*connection: close\r\n/i);
  t.match(back, '"done"');
});
