/**
 * A server that costs as little as possible: it answers `ask` with a question, `progress` with a stream, everything
 * else with a result, and keeps listen streams open.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

const TEXT = "r".repeat(600);
const ASKED = `{"resultType":"input_required","requestState":"${"s".repeat(400)}","inputRequests":{"q":{"method":"elicitation/create","params":{"mode":"form","message":"Go on?","requestedSchema":{"type":"object","properties":{"ok":{"type":"boolean"}}}}}}}`;
const DONE = `{"resultType":"complete","content":[{"type":"text","text":"${TEXT}"}]}`;
/** Rows of mixed members, as results of that size are. */
const ROW = '{"id":12345,"name":"A row of a table","tags":["one","two"],"open":true,"price":12.5},';
const texts = new Map<number, string>();
const done = (bytes: number): string => {
  const text =
    texts.get(bytes) ??
    `{"resultType":"complete","content":[],"structuredContent":{"rows":[${ROW.repeat(bytes / ROW.length).slice(0, -1)}]}}`;
  texts.set(bytes, text);
  return text;
};
const progress = (n: number): string =>
  `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":${n},"total":10}}`;

const HEARD = '{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{}}';

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const body = Buffer.concat(chunks).toString();
    if (request.headers["mcp-method"] === "subscriptions/listen") {
      // nginx keeps an event until others fill its buffer, unless it is told not to.
      response.writeHead(200, { "content-type": "text/event-stream", "x-accel-buffering": "no" });
      response.write(`data: ${HEARD}\n\n`);
      return;
    }
    const name = String(request.headers["mcp-name"] ?? "");
    const id = /"id":(\d+)/.exec(body)?.[1] ?? "null";
    const asks = name === "ask" && !body.includes('"requestState"');
    const large = /^large-([0-9]+)$/.exec(name)?.[1];
    const answer = `{"jsonrpc":"2.0","id":${id},"result":${asks ? ASKED : large === undefined ? DONE : done(Number(large))}}`;
    if (name === "progress") {
      response.writeHead(200, { "content-type": "text/event-stream" });
      for (let n = 1; n <= 10; n++) response.write(`data: ${progress(n)}\n\n`);
      response.end(`data: ${answer}\n\n`);
      return;
    }
    response.setHeader("content-type", "application/json");
    response.end(answer);
  });
});
server.listen(0, "127.0.0.1", () => {
  const { port } = server.address() as AddressInfo;
  console.log(JSON.stringify({ url: `http://127.0.0.1:${port}/mcp` }));
});
