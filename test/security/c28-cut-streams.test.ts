/** C28: a character, a line end or a message that is cut by the network. */
import type { ServerResponse } from "node:http";
import t from "tap";
import { DONE, passes, setScene, TRANSFER } from "./scene.ts";

const scene = await setScene(t);
const QUESTION = "\u5317\u4eac \ud83c\udf0d?";
const ask = (id: string): string =>
  `{"jsonrpc":"2.0","id":${id},"result":{"resultType":"input_required","requestState":"inner!\u00e9","inputRequests":{"q":{"method":"elicitation/create","params":{"message":"${QUESTION}","requestedSchema":{"type":"object","properties":{}}}}}}}`;
const progress =
  '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"\ud83c\udf0d","progress":1}}';

/** Writes the bytes in pieces of one size, each in a turn of its own, so that each is a chunk of its own. */
async function write(response: ServerResponse, text: string, size: number): Promise<void> {
  response.writeHead(200, { "content-type": "text/event-stream" });
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) {
    response.write(bytes.subarray(at, at + size));
    await new Promise(setImmediate);
  }
  response.end();
}

const END: Readonly<Record<string, string>> = { lf: "\n", crlf: "\r\n", cr: "\r" };
const stream = (id: string, end: string): string =>
  `:hello${end}${end}id: 1${end}data: ${progress}${end}${end}event: message${end}data: ${ask(id)}${end}${end}`;

t.test("the events are the same however the bytes are cut", async (t) => {
  const seen = new Set<string>();
  for (const [name, end] of Object.entries(END)) {
    for (const size of [1, 2, 3, 5, 7, 100_000]) {
      scene.upstream.script = (arrived, response) =>
        write(response, stream(String(arrived.json.id), end), size);
      const reply = await scene.gateway.call({ ...TRANSFER, id: 5 });
      t.equal(reply.status, 200, `${name} ${size}`);
      t.match(reply.json.result.requestState, /^sg1\./);
      t.equal(reply.json.result.inputRequests.q.params.message, QUESTION);
      t.notMatch(reply.body, /\ufffd|inner!/);
      const lines = reply.body.split("\n").filter((line) => line !== "" && !line.startsWith(":"));
      seen.add(lines.join("\n").replace(/sg1\.[\w-]+/, "sg1"));
      scene.upstream.script = (arrived, response) =>
        write(
          response,
          `data: {"jsonrpc":"2.0","id":${JSON.stringify(arrived.json.id)},"result":${DONE}}\n\n`,
          size,
        );
      const arrived = await passes(t, scene, () =>
        scene.retry(reply.json.result.requestState, { inputResponses: { q: { action: "accept" } } }),
      );
      t.equal(arrived.json.params.requestState, "inner!\u00e9");
    }
  }
  t.equal(seen.size, 1, "one form for all of them");
});

/** Streams that end in a fault of the upstream; what is half, wrong or too much never reaches the client. */
const FAULTS: readonly (readonly [string, string | Buffer])[] = [
  [
    "bytes that are no UTF-8",
    Buffer.concat([Buffer.from("data: "), Buffer.from([0xe5, 0x8c]), Buffer.from("\n\n")]),
  ],
  ["a message with no end", `data: ${ask("5").slice(0, -10)}\n\n`],
  ["an event with no end", `data: ${ask("5")}\n`],
  ["nothing", ""],
  ["only comments", ":a\n\n:b\n\n"],
  ["two messages in one event", `data: ${ask("5")}\ndata: ${ask("5")}\n\n`],
  ["another id", `data: ${ask("6")}\n\n`],
  [
    "a request of the server",
    'data: {"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"inner!"}}\n\n',
  ],
  ["no message", "data: inner!\n\n"],
  [
    "a state twice",
    `data: ${ask("5").replace('"requestState"', '"requestState":"inner!","requestState"')}\n\n`,
  ],
];

t.test("faults of the upstream", async (t) => {
  for (const [name, text] of FAULTS) {
    scene.upstream.script = (_arrived, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(text);
    };
    const reply = await scene.gateway.call({ ...TRANSFER, id: 5 });
    t.equal(reply.json?.error?.code, -32603, `${name}: ${reply.body}`);
    t.equal(reply.json.id, 5);
    t.notMatch(reply.body, /inner!|\u5317|sg1\./, name);
  }
});

t.test("nothing follows the answer on a stream", async (t) => {
  scene.upstream.script = (_arrived, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(
      `data: ${ask("5")}\n\ndata: {"jsonrpc":"2.0","id":5,"result":${DONE}}\n\ndata: ${progress}\n\n`,
    );
  };
  const reply = await scene.gateway.call({ ...TRANSFER, id: 5 });
  t.equal(reply.body.match(/^data:/gm)?.length, 1);
  t.equal(reply.json.result.resultType, "input_required");
});

t.test("fields of a stream that would carry another message, or a clock of its own", async (t) => {
  scene.upstream.script = (_arrived, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(`retry: 1\nid: inner!\nevent: message\nfield: inner!\n: inner!\ndata: ${ask("5")}\n\n`);
  };
  const reply = await scene.gateway.call({ ...TRANSFER, id: 5 });
  t.equal(reply.status, 200);
  t.notMatch(reply.body, /inner!|retry:|^id:/m);
});
