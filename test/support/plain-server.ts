/**
 * MCP servers on the real SDK as their authors would write them: they ask nobody anything, and take down all that they carry out. One of
 * files, one that is much like a shell, one of payments; and a tool and a prompt that ask a question of their own.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler, inputRequired, McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";

/** One thing that a server carried out. */
export interface Deed {
  readonly name: string;
  readonly given: unknown;
}

export interface PlainServer {
  readonly url: string;
  /** Everything that was carried out, oldest first. */
  readonly ran: Deed[];
  /** HTTP requests so far. */
  readonly requests: () => number;
  close(): Promise<void>;
}

type Run = (name: string, given: unknown) => { content: { type: "text"; text: string }[] };

const READS = { readOnlyHint: true };
const WRITES = { readOnlyHint: false, destructiveHint: false };
const DESTROYS = { destructiveHint: true };

function addFiles(server: McpServer, run: Run): void {
  const at = z.object({ path: z.string() });
  server.registerTool("read_file", { inputSchema: at, annotations: READS }, (given) =>
    run("read_file", given),
  );
  server.registerTool("create_directory", { inputSchema: at, annotations: WRITES }, (given) =>
    run("create_directory", given),
  );
  server.registerTool("delete_file", { inputSchema: at, annotations: DESTROYS }, (given) =>
    run("delete_file", given),
  );
  const file = z.object({ path: z.string(), content: z.string() });
  server.registerTool("write_file", { inputSchema: file, annotations: DESTROYS }, (given) =>
    run("write_file", given),
  );
}

function addShell(server: McpServer, run: Run): void {
  // Like most servers of its kind it says nothing of what its tool does.
  server.registerTool("run_command", { inputSchema: z.object({ command: z.string() }) }, (given) =>
    run("run_command", given),
  );
}

function addPayments(server: McpServer, run: Run): void {
  server.registerTool(
    "get_balance",
    { inputSchema: z.object({ account: z.string() }), annotations: READS },
    (given) => run("get_balance", given),
  );
  const payment = z.object({ to: z.string(), amount: z.number(), reference: z.string().optional() });
  server.registerTool("pay", { inputSchema: payment, annotations: DESTROYS }, (given) => run("pay", given));
}

const SURE = {
  message: "Which branch?",
  requestedSchema: {
    type: "object" as const,
    properties: { branch: { type: "string" as const } },
    required: ["branch"],
  },
};

function addOthers(server: McpServer, run: Run): void {
  // Its key is the one that the gateway's own question has.
  server.registerTool("deploy", { inputSchema: z.object({ to: z.string() }) }, (given, ctx) => {
    const { inputResponses } = ctx.mcpReq;
    if (inputResponses?.["approval"] !== undefined) return run("deploy", { ...given, inputResponses });
    return inputRequired({ inputRequests: { approval: inputRequired.elicit(SURE) }, requestState: "step-2" });
  });
  server.registerPrompt("brief", { argsSchema: z.object({ topic: z.string() }) }, (given) => {
    run("brief", given);
    return { messages: [{ role: "user", content: { type: "text", text: given.topic } }] };
  });
  server.registerResource("plan", "note://plan", { mimeType: "text/plain" }, (uri) => {
    run("plan", uri.href);
    return { contents: [{ uri: uri.href, text: "the plan" }] };
  });
}

/** Starts one with all tools. */
export async function startPlainServer(
  options: { readonly responseMode?: "auto" | "sse" | "json"; readonly legacy?: "stateless" | "reject" } = {},
): Promise<PlainServer> {
  const ran: Deed[] = [];
  const run: Run = (name, given) => {
    ran.push({ name, given });
    return { content: [{ type: "text", text: `${name} done` }] };
  };
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: "plain-server", version: "1.0.0" });
    for (const add of [addFiles, addShell, addPayments, addOthers]) add(server, run);
    return server;
  }, options);
  const serve = toNodeHandler(handler);
  let requests = 0;
  const http = createServer((request, response) => {
    requests += 1;
    void serve(request as Parameters<typeof serve>[0], response);
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    ran,
    requests: () => requests,
    close: async () => {
      await handler.close();
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}
