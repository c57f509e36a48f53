/** The relay as a whole, from the upstream's socket to the client's: one output however the network cuts the bytes. */
import type { ServerResponse } from "node:http";
import fc from "fast-check";
import t, { type Test } from "tap";
import { mirrored, startGateway } from "../support/gateway.ts";
import { openStream } from "../support/open-stream.ts";
import { startUpstream } from "../support/upstream.ts";
import { holding, textOf } from "./rounds.ts";
import { NOTE, RESULT, STREAM, setUp } from "./streams.ts";

const SPREAD = `{"jsonrpc":"2.0",\n"method":"notifications/message",\n\n"params":{"data":"é🌍"}}`;
const ASKS = `{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","requestState":"U1é","inputRequests":{"q":{"method":"elicitation/create","params":{"message":"北京 🌍","requestedSchema":{"type":"object","properties":{}}}}}}}`;
const asEvent = (text: string): string => `data:${text.replaceAll("\n", "\ndata: ")}\n\n`;
/** Everything that a stream can hold, with a mark in front, comments and fields between, and something behind the answer. */
const EVERYTHING = `\ufeff:é\nid: 1\n${asEvent(SPREAD)}retry: 9\nevent: x\ndata: no\n\n\n: c\n${asEvent(ASKS)}${asEvent(NOTE)}`;
const EXPECTED = `: keep-alive\n\nevent: message\n${SPREAD.split("\n")
  .map((line) => `data: ${line}\n`)
  .join("")}\n: keep-alive\n\nevent: message\ndata: ${ASKS.replace('"U1é"', '"sealed"')}\n\n`;

/**
 * Answers with the pieces, each an HTTP chunk of its own, and written by hand: Node joins what is written in one turn, while the
 * gateway's client hands over chunk by chunk.
 */
const inPieces =
  (pieces: readonly Buffer[]) =>
  ({ socket }: ServerResponse): void => {
    socket?.write("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n");
    socket?.write("transfer-encoding: chunked\r\n\r\n");
    const chunks = pieces.filter(({ length }) => length > 0);
    const bytes = chunks.flatMap((piece) => [`${piece.length.toString(16)}\r\n`, piece, "\r\n"]);
    socket?.end(Buffer.concat([...bytes, "0\r\n\r\n"].map((part) => Buffer.from(part))));
  };

const cutAt = (bytes: Buffer, cuts: readonly number[]): Buffer[] => {
  const edges = [0, ...cuts, bytes.length];
  return edges.slice(1).map((end, i) => bytes.subarray(edges[i], end));
};

async function relay(t: Test) {
  const { upstream, open } = await setUp(t, () => undefined);
  return async (pieces: readonly Buffer[]): Promise<string> => {
    upstream.script = (_arrived, response) => inPieces(pieces)(response);
    return (await (await open()).ended).replace(/sg1\.[\w-]+/, "sealed");
  };
}

const ENDS: Readonly<Record<string, string>> = { LF: "\n", "CR LF": "\r\n", CR: "\r" };

for (const [name, end] of Object.entries(ENDS)) {
  t.test(`${name}: the same bytes at every cut`, async (t) => {
    const through = await relay(t);
    const bytes = Buffer.from(EVERYTHING.replaceAll("\n", end));
    const others: [number, string][] = [];
    for (let cut = 0; cut < bytes.length; cut++) {
      const body = await through(cutAt(bytes, [cut]));
      if (body !== EXPECTED) others.push([cut, body]);
    }
    t.same(others, []);
    t.equal(await through(cutAt(bytes, [...bytes.keys()])), EXPECTED, "byte by byte");
  });
}

/** The text with a line end of its own choice at every line: an LF right behind a CR would be no second one. */
function mix(text: string, ends: readonly string[]): string {
  let mixed = "";
  for (const [i, line] of text.split("\n").entries()) {
    if (i > 0) mixed += mixed.endsWith("\r") && ends[i] === "\n" ? "\r" : (ends[i] ?? "\n");
    mixed += line;
  }
  return mixed;
}

t.test("the same bytes at any cuts, with line ends of any kind", async (t) => {
  const through = await relay(t);
  const count = EVERYTHING.split("\n").length;
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom("\n", "\r\n", "\r"), { minLength: count, maxLength: count }),
      fc.array(fc.nat({ max: 700 }), { maxLength: 40 }),
      async (ends, places) => {
        const bytes = Buffer.from(mix(EVERYTHING, ends));
        const cuts = places.filter((place) => place < bytes.length).sort((a, b) => a - b);
        t.equal(await through(cutAt(bytes, cuts)), EXPECTED);
      },
    ),
    { numRuns: 100 },
  );
});

t.test("legacy streams: the same bytes at every cut, with the ids that clients resume by", async (t) => {
  const upstream = await startUpstream(() => undefined);
  const gateway = await startGateway(upstream.url, {
    routes: [{ path: "/mcp", upstream: { url: upstream.url }, legacy: "pass" }],
  });
  t.teardown(async () => {
    await gateway.close(0);
    await upstream.close();
  });
  const bytes = Buffer.from(
    `\ufeff:é\r\nid: 1\r\nretry: 9\r\n${asEvent(SPREAD).replaceAll("\n", "\r\n")}id:é\r\ndata\r\n\r\n`,
  );
  const lines = SPREAD.split("\n").map((line) => `data: ${line}\n`);
  const expected = `: keep-alive\n\nevent: message\nid: 1\nretry: 9\n${lines.join("")}\nevent: message\nid: é\ndata: \n\n`;
  for (let cut = 0; cut < bytes.length; cut++) {
    upstream.script = (_arrived, response) => inPieces(cutAt(bytes, [cut]))(response);
    const reply = await gateway.send({ method: "GET", headers: { accept: "text/event-stream" } });
    t.equal(reply.body, expected, `cut at ${cut}`);
  }
});

t.test("every event is on its way before the next one is written", async (t) => {
  const held = holding();
  const { open } = await setUp(t, held.script);
  const opening = open();
  const { response } = await held.next();
  response.writeHead(200, STREAM);
  const note = (n: number): string => NOTE.replace("1.10", String(n));
  response.write(asEvent(note(0)));
  const stream = await opening;
  for (let n = 1; n <= 20; n++) {
    await stream.until(`"data":${n - 1}}`);
    // A comment too says at once that somebody is there.
    const comments = stream.text().split(": keep-alive").length;
    response.write(": c\n");
    while (stream.text().split(": keep-alive").length === comments) await new Promise(setImmediate);
    response.write(asEvent(note(n)));
  }
  response.end(asEvent(RESULT));
  t.match(await stream.ended, RESULT);
});

t.test("a listen stream flushes too", async (t) => {
  const held = holding();
  const { gateway } = await setUp(t, held.script);
  const notifications = { toolsListChanged: true };
  const message = { method: "subscriptions/listen", params: { notifications } };
  const opening = openStream(gateway.url, { headers: mirrored(message), body: textOf("1", message) });
  const { response } = await held.next();
  const event = (method: string, params: object): string =>
    JSON.stringify({
      jsonrpc: "2.0",
      method: `notifications/${method}`,
      params: { _meta: { "io.modelcontextprotocol/subscriptionId": 1 }, ...params },
    });
  response.writeHead(200, STREAM);
  const stream = [event("subscriptions/acknowledged", { notifications }), event("tools/list_changed", {})];
  response.write(asEvent(stream[0] ?? ""));
  const opened = await opening;
  await opened.until(stream[0] ?? "");
  response.write(asEvent(stream[1] ?? ""));
  await opened.until(stream[1] ?? "");
  opened.leave();
});
