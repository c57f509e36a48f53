/**
 * An MCP server on the real SDK as authors write it who trust what comes back: the state is the call in plain JSON, and an acceptance
 * carries out what the state says, for whoever brings it and as often as it comes. Counts what it carries out.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { toNodeHandler } from "@modelcontextprotocol/node";
import {
  createMcpHandler,
  type InputRequest,
  type InputRequiredResult,
  inputRequired,
  McpServer,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { z } from "zod";

/** A running server. */
export interface NaiveServer {
  readonly url: string;
  /** What was carried out, oldest first. */
  readonly effects: readonly string[];
  close(): Promise<void>;
}

const ASK: Record<string, InputRequest> = {
  confirm: inputRequired.elicit({
    message: "Carry it out?",
    requestedSchema: {
      type: "object",
      properties: { confirm: { type: "boolean", title: "Go on?" }, note: { type: "string", maxLength: 40 } },
      required: ["confirm"],
    },
  }),
};

const text = (words: string) => ({ content: [{ type: "text" as const, text: words }] });

/** Asks, or does what the state says once the answer is a yes. */
function confirmed(what: string, { mcpReq }: ServerContext, carryOut: (what: string) => string) {
  const answer = mcpReq.inputResponses?.["confirm"] as { readonly action?: unknown } | undefined;
  const state = mcpReq.requestState();
  if (answer === undefined) {
    const asks: InputRequiredResult = inputRequired({
      inputRequests: ASK,
      requestState: JSON.stringify({ what }),
    });
    return asks;
  }
  if (answer.action !== "accept") return text("Nothing was done.");
  return text(carryOut((JSON.parse(String(state ?? JSON.stringify({ what }))) as { what: string }).what));
}

function createNaiveMcpServer(effects: string[]): McpServer {
  const server = new McpServer({ name: "naive", version: "1.0.0" });
  const carryOut = (what: string): string => {
    effects.push(what);
    return `Done: ${what}, number ${effects.length}`;
  };
  for (const tool of ["transfer", "refund"]) {
    server.registerTool(
      tool,
      { description: `${tool} money`, inputSchema: z.object({ amount: z.number(), to: z.string() }) },
      ({ amount, to }, ctx) => confirmed(`${tool} ${amount} ${to}`, ctx, carryOut),
    );
  }
  server.registerTool(
    "balance",
    { description: "What was done", inputSchema: z.object({}), annotations: { readOnlyHint: true } },
    () => text(`after ${effects.length} bookings`),
  );
  return server;
}

/** Starts one. */
export async function startNaiveServer(): Promise<NaiveServer> {
  const effects: string[] = [];
  const handler = createMcpHandler(() => createNaiveMcpServer(effects));
  const serve = toNodeHandler(handler);
  const http = createServer((request, response) => {
    void serve(request as Parameters<typeof serve>[0], response);
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    effects,
    close: async () => {
      await handler.close();
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}
