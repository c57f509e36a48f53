/**
 * An MCP server that keeps a journal: `node chaos/server.ts PORT JOURNAL SEED`. It asks once, and writes down each retry it
 * carries out before it answers. Like real ones it sometimes fails: before it runs, or after.
 */
import { appendFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import { Random } from "../fuzz/random.ts";

const [port = "0", journal = "", seed = "1"] = process.argv.slice(2);
const random = new Random(Number(seed));
let asked = 0;

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("error", () => undefined);
  response.on("error", () => undefined);
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => serve(Buffer.concat(chunks).toString(), response));
});
server.listen(Number(port), "127.0.0.1", () => process.stdout.write("listening\n"));

function serve(text: string, response: ServerResponse): void {
  const { id, params } = JSON.parse(text);
  if (params.requestState === undefined) {
    // Unique per question, so that two rounds are never taken for one that ran twice.
    const state = `${params.arguments.round}.${process.pid}.${++asked}`;
    const form = { type: "object", properties: { ok: { type: "boolean" } } };
    const question = { method: "elicitation/create", params: { message: "Sure?", requestedSchema: form } };
    answer(response, id, {
      resultType: "input_required",
      requestState: state,
      inputRequests: { q: question },
    });
    return;
  }
  const fate = random.below(100);
  if (fate < 3) return void response.socket?.resetAndDestroy();
  if (fate < 5) return void response.writeHead(503, { "content-type": "text/plain" }).end("busy");
  appendFileSync(journal, `${params.requestState}\n`);
  if (fate < 9) return void response.socket?.resetAndDestroy();
  if (fate < 11) {
    response.writeHead(200, { "content-type": "application/json", "content-length": "4096" });
    response.write('{"jsonrpc":', () => response.socket?.destroy());
    return;
  }
  answer(response, id, { resultType: "complete", content: [{ type: "text", text: "done" }] });
}

function answer(response: ServerResponse, id: unknown, result: unknown): void {
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify({ jsonrpc: "2.0", id, result }));
}
