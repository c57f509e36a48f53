/** A scriptable MCP upstream on port 0: records what arrives, byte for byte, and answers what it is told. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** One request as it arrived. */
export interface Arrived {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly body: string;
  /** The parsed body; numbers may have rounded. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look wherever they like
  readonly json: any;
  /** Resolves when the gateway closed the connection before the answer was complete. */
  readonly closed: Promise<void>;
}

export type Script = (arrived: Arrived, response: ServerResponse) => void | Promise<void>;

export interface TestUpstream {
  readonly url: string;
  readonly arrived: Arrived[];
  /** Replaces the script. */
  script: Script;
  close(): Promise<void>;
}

/** Answers with a JSON-RPC result for the request's own id; `result` is JSON text, kept byte for byte. */
export function result(arrived: Arrived, response: ServerResponse, text: string, status = 200): void {
  const id = /"id"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+)/.exec(arrived.body)?.[1] ?? "null";
  response.writeHead(status, { "content-type": "application/json" });
  response.end(`{"jsonrpc":"2.0","id":${id},"result":${text}}`);
}

/** Starts an upstream with a script. */
export async function startUpstream(script: Script): Promise<TestUpstream> {
  const arrived: Arrived[] = [];
  const upstream = { script };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    const closed = new Promise<void>((resolve) => {
      response.once("close", () => {
        if (!response.writableFinished) resolve();
      });
    });
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", async () => {
      const body = Buffer.concat(chunks).toString();
      let json: unknown;
      try {
        json = JSON.parse(body);
      } catch {
        json = undefined;
      }
      const { method = "", headers, rawHeaders } = request;
      const one: Arrived = { method, headers, rawHeaders, body, json, closed };
      arrived.push(one);
      await upstream.script(one, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return Object.assign(upstream, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    arrived,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}
