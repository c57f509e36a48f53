/** An MCP server of the revisions before 2026-07-28 on the real SDK: sessions, a GET stream, requests to the client. */
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { NodeStreamableHTTPServerTransport } from "@modelcontextprotocol/node";
import { type EventStore, type JSONRPCMessage, McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";

export interface SdkSessionServer {
  readonly url: string;
  /** Open sessions, by id. */
  readonly sessions: ReadonlyMap<string, McpServer>;
  /** Forgets a session, as a server that was started anew would; it answers 404 from then on. */
  forget(id: string): void;
  close(): Promise<void>;
}

function createSessionMcpServer(): McpServer {
  const server = new McpServer(
    { name: "old-server", version: "0.9" },
    { capabilities: { tools: { listChanged: true }, logging: {} } },
  );
  server.registerTool("ask", { inputSchema: z.object({ amount: z.number() }) }, async ({ amount }, ctx) => {
    const answer = await ctx.mcpReq.elicitInput({
      message: `Transfer ${amount}?`,
      requestedSchema: {
        type: "object",
        properties: { confirm: { type: "boolean" } },
        required: ["confirm"],
      },
    });
    return { content: [{ type: "text", text: JSON.stringify(answer) }] };
  });
  server.registerTool("poll", { inputSchema: z.object({}) }, async (_args, ctx) => {
    ctx.http?.closeSSE?.();
    return { content: [{ type: "text", text: "after the stream was closed" }] };
  });
  return server;
}

/** Keeps every event, so that a client can resume a stream by the last id it saw. */
function createEventStore(): EventStore {
  const events: { readonly streamId: string; readonly message: JSONRPCMessage }[] = [];
  return {
    storeEvent: async (streamId, message) => String(events.push({ streamId, message })),
    replayEventsAfter: async (last, { send }) => {
      const streamId = events[Number(last) - 1]?.streamId ?? "";
      for (const [index, event] of events.entries()) {
        if (index >= Number(last) && event.streamId === streamId)
          await send(String(index + 1), event.message);
      }
      return streamId;
    },
  };
}

/** Starts a server. */
export async function startSdkSessionServer(): Promise<SdkSessionServer> {
  const sessions = new Map<string, McpServer>();
  const transports = new Map<string, NodeStreamableHTTPServerTransport>();
  const http = createServer(async (request, response) => {
    const id = request.headers["mcp-session-id"];
    const known = typeof id === "string" ? transports.get(id) : undefined;
    if (known === undefined && id !== undefined) {
      response.writeHead(404, { "content-type": "application/json" });
      response.end('{"jsonrpc":"2.0","error":{"code":-32001,"message":"Session not found"},"id":null}');
      return;
    }
    if (known !== undefined) {
      await known.handleRequest(request, response);
      return;
    }
    const server = createSessionMcpServer();
    const transport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      eventStore: createEventStore(),
      retryInterval: 10,
      onsessioninitialized: (session) => {
        sessions.set(session, server);
        transports.set(session, transport);
      },
      onsessionclosed: (session) => {
        sessions.delete(session);
        transports.delete(session);
      },
    });
    await server.connect(transport);
    await transport.handleRequest(request, response);
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    sessions,
    forget: (id) => {
      sessions.delete(id);
      transports.delete(id);
    },
    close: async () => {
      for (const server of sessions.values()) await server.close();
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}
