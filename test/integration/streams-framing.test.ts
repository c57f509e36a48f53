/** How an upstream may frame its events, and what of the framing reaches the client. */
import t from "tap";
import { event, eventsOf } from "../support/events.ts";
import { NOTE, RESULT, STREAM, setUp, streams } from "./streams.ts";

t.test("a server's comments and event names say nothing to the client", async (t) => {
  const { open } = await setUp(
    t,
    streams(
      [
        ": SECRET\n",
        `id: SECRET\nretry: 7\nevent: message\n${event(NOTE)}`,
        "event: ping\ndata: SECRET\n\n",
      ].concat(event(RESULT)),
    ),
  );
  const body = await (await open()).ended;
  t.same(eventsOf(body), [NOTE, RESULT]);
  t.equal(body, `: keep-alive\n\nevent: message\ndata: ${NOTE}\n\nevent: message\ndata: ${RESULT}\n\n`);
});

const TEXT = `{"jsonrpc":"2.0",\n"id":1,"result":{"content":[],\n\n"text":"Zoë 😀"}}`;
const FRAMINGS: Record<string, string> = {
  LF: event(TEXT),
  "CR LF": event(TEXT).replaceAll("\n", "\r\n"),
  CR: event(TEXT).replaceAll("\n", "\r"),
  "a byte order mark": `\ufeff${event(TEXT)}`,
  "no space after the colon": event(TEXT).replaceAll("data: ", "data:"),
  "comments and fields between the lines": event(TEXT)
    .replaceAll("\n\n", "\n\n")
    .replaceAll("\ndata: ", "\n: c\nother: x\ndata: "),
};

for (const [name, text] of Object.entries(FRAMINGS)) {
  t.test(`framing: ${name}, whole and byte by byte`, async (t) => {
    const bytes = Buffer.from(text);
    for (const pieces of [[bytes], Array.from(bytes, (byte) => Buffer.from([byte]))]) {
      const { open } = await setUp(t, async (_arrived, response) => {
        response.socket?.setNoDelay(true);
        response.writeHead(200, STREAM);
        for (const piece of pieces) {
          response.write(piece);
          await new Promise((resolve) => setImmediate(resolve));
        }
        response.end();
      });
      t.same(eventsOf(await (await open()).ended), [TEXT]);
    }
  });
}

t.test("invalid UTF-8 ends the stream", async (t) => {
  const { gateway, open } = await setUp(t, streams([event(NOTE), Buffer.from([0x64, 0x3a, 0xff, 0x0a])]));
  t.match(JSON.parse(eventsOf(await (await open()).ended).at(-1) ?? ""), { error: { code: -32603 } });
  t.match(gateway.audit[0], { code: "upstream_fault", cause: "utf8" });
});

t.test("of another event of an old server only the id goes on, which clients resume by", async (t) => {
  const named = "event: ping\nid: 7\nretry: 50\ndata: SECRET\n\n";
  const { gateway } = await setUp(t, streams([`id: 6\n${event(NOTE)}`, named]), (url) => ({
    routes: [{ path: "/mcp", upstream: { url }, legacy: "pass" }],
  }));
  const reply = await gateway.send({ method: "GET", headers: { accept: "text/event-stream" } });
  t.equal(reply.body, `event: message\nid: 6\ndata: ${NOTE}\n\nevent: message\nid: 7\nretry: 50\ndata: \n\n`);
});
