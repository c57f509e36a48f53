/**
 * A server that costs as little as possible: it answers `ask` with a question, everything else with a result, and keeps
 * listen streams open.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

const TEXT = "r".repeat(600);
const ASKED = `{"resultType":"input_required","requestState":"${"s".repeat(400)}","inputRequests":{"q":{"method":"elicitation/create","params":{"mode":"form","message":"Go on?","requestedSchema":{"type":"object","properties":{"ok":{"type":"boolean"}}}}}}}`;
const DONE = `{"resultType":"complete","content":[{"type":"text","text":"${TEXT}"}]}`;

const HEARD = '{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{}}';

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const body = Buffer.concat(chunks).toString();
    if (request.headers["mcp-method"] === "subscriptions/listen") {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(`data: ${HEARD}\n\n`);
      return;
    }
    const id = /"id":(\d+)/.exec(body)?.[1] ?? "null";
    const asks = request.headers["mcp-name"] === "ask" && !body.includes('"requestState"');
    response.setHeader("content-type", "application/json");
    response.end(`{"jsonrpc":"2.0","id":${id},"result":${asks ? ASKED : DONE}}`);
  });
});
server.listen(0, "127.0.0.1", () => {
  const { port } = server.address() as AddressInfo;
  console.log(JSON.stringify({ url: `http://127.0.0.1:${port}/mcp` }));
});
