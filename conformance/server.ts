/**
 * An MCP server on the SDK with everything that the official conformance suite asks a server for: the names, texts and questions
 * are the suite's. `careless` takes the protection of states away, as servers do that trust what comes back.
 */
import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import {
  localhostHostValidation,
  localhostOriginValidation,
  toNodeHandler,
} from "@modelcontextprotocol/node";
import {
  createMcpHandler,
  createRequestStateCodec,
  fromJsonSchema,
  McpServer,
  type RequestStateCodec,
  ResourceTemplate,
  type ServerNotifier,
} from "@modelcontextprotocol/server";
import { z } from "zod";
import { addQuestions } from "./questions.ts";
// JSON Schema 2020-12 with the words that a proxy or an SDK could lose.
import richSchema from "./rich-schema.json" with { type: "json" };

/** A running server. */
export interface ConformanceServer {
  readonly url: string;
  close(): Promise<void>;
}

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
const SILENCE = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";
const IMAGE = { type: "image", data: PIXEL, mimeType: "image/png" } as const;
const NONE = z.object({});

const text = (words: string) => ({ content: [{ type: "text" as const, text: words }] });

function addTools(server: McpServer, notify: () => ServerNotifier): void {
  const fixed: readonly [string, string, () => ReturnType<typeof text> | { content: object[] }][] = [
    ["test_simple_text", "Answers with text", () => text("This is a simple text response for testing.")],
    ["test_image_content", "Answers with an image", () => ({ content: [IMAGE] })],
    [
      "test_audio_content",
      "Answers with sound",
      () => ({ content: [{ type: "audio", data: SILENCE, mimeType: "audio/wav" }] }),
    ],
    ["test_embedded_resource", "Answers with a resource", () => ({ content: [embedded("text/plain")] })],
    [
      "test_multiple_content_types",
      "Answers with several kinds",
      () => ({
        content: [...text("Multiple content types test:").content, IMAGE, embedded("application/json")],
      }),
    ],
    [
      "test_trigger_tool_change",
      "Says that the tools have changed",
      () => {
        notify().toolsChanged();
        return text("told");
      },
    ],
    [
      "test_trigger_prompt_change",
      "Says that the prompts have changed",
      () => {
        notify().promptsChanged();
        return text("told");
      },
    ],
  ];
  for (const [name, description, answer] of fixed)
    server.registerTool(name, { description, inputSchema: NONE }, () => answer() as ReturnType<typeof text>);
  server.registerTool("test_error_handling", { description: "Fails", inputSchema: NONE }, () => {
    throw new Error("This tool intentionally returns an error for testing");
  });
  server.registerTool("test_logging_tool", { description: "Logs", inputSchema: NONE }, async (_args, ctx) => {
    await ctx.mcpReq.log("info", "Tool execution started");
    return text("logged");
  });
  server.registerTool(
    "test_tool_with_progress",
    { description: "Tells how far it is", inputSchema: NONE },
    async (_args, ctx) => {
      const progressToken = ctx.mcpReq._meta?.progressToken;
      for (const progress of progressToken === undefined ? [] : [0, 50, 100])
        await ctx.mcpReq.notify({
          method: "notifications/progress",
          params: { progressToken: progressToken as string, progress, total: 100 },
        });
      return text("done");
    },
  );
  server.registerTool(
    "json_schema_2020_12_tool",
    { description: "Has a rich schema", inputSchema: fromJsonSchema(richSchema) },
    () => text("ok"),
  );
  server.registerTool(
    "test_x_mcp_header",
    {
      description: "Has an argument that travels as a header",
      inputSchema: z.object({ region: z.string().meta({ "x-mcp-header": "Region" }) }),
    },
    ({ region }) => text(region),
  );
}

const embedded = (mimeType: string) => ({
  type: "resource" as const,
  resource: {
    uri: "test://embedded-resource",
    mimeType,
    text:
      mimeType === "application/json"
        ? '{"test":"data","value":123}'
        : "This is an embedded resource content.",
  },
});

function addPromptsAndResources(server: McpServer): void {
  const say = (content: object) => ({
    messages: [{ role: "user" as const, content: content as { type: "text"; text: string } }],
  });
  server.registerPrompt("test_simple_prompt", { description: "A simple prompt" }, () =>
    say({ type: "text", text: "This is a simple prompt for testing." }),
  );
  server.registerPrompt(
    "test_prompt_with_arguments",
    { description: "A prompt with arguments", argsSchema: z.object({ arg1: z.string(), arg2: z.string() }) },
    ({ arg1, arg2 }) => say({ type: "text", text: `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'` }),
  );
  server.registerPrompt(
    "test_prompt_with_embedded_resource",
    { description: "A prompt with a resource", argsSchema: z.object({ resourceUri: z.string() }) },
    ({ resourceUri }) =>
      say({
        type: "resource",
        resource: {
          uri: resourceUri,
          mimeType: "text/plain",
          text: "Embedded resource content for testing.",
        },
      }),
  );
  server.registerPrompt("test_prompt_with_image", { description: "A prompt with an image" }, () =>
    say(IMAGE),
  );
  const resource = (uri: string, mimeType: string, content: { text: string } | { blob: string }): void => {
    server.registerResource(
      uri.replace("test://", ""),
      uri,
      { mimeType, description: `Reads ${uri}` },
      () => ({
        contents: [{ uri, mimeType, ...content }],
      }),
    );
  };
  resource("test://static-text", "text/plain", { text: "This is the content of the static text resource." });
  resource("test://static-binary", "image/png", { blob: PIXEL });
  server.registerResource(
    "template",
    new ResourceTemplate("test://template/{id}/data", { list: undefined }),
    { mimeType: "application/json", description: "Data by id" },
    (uri, { id }) => ({
      contents: [
        {
          uri: uri.href,
          mimeType: "application/json",
          text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${String(id)}` }),
        },
      ],
    }),
  );
}

/** Starts the server on loopback. */
export async function startConformanceServer({
  careless = false,
}: {
  readonly careless?: boolean;
} = {}): Promise<ConformanceServer> {
  const codec = createRequestStateCodec<string>({ key: randomBytes(32) });
  const trusting: RequestStateCodec<string> = {
    mint: async (state) => JSON.stringify(state),
    verify: async (state) => state.slice(1, -1),
  };
  const states = careless ? trusting : codec;
  const handler = createMcpHandler(() => {
    const server = new McpServer(
      { name: "conformance-server", version: "1.0.0" },
      {
        capabilities: {
          logging: {},
          completions: {},
          tools: { listChanged: true },
          prompts: { listChanged: true },
          resources: { listChanged: true, subscribe: true },
        },
        requestState: { verify: states.verify },
      },
    );
    addTools(server, () => handler.notify);
    addPromptsAndResources(server);
    addQuestions(server, states);
    return server;
  });
  const serve = toNodeHandler(handler);
  const judges = [localhostHostValidation(), localhostOriginValidation()];
  const http = createServer((request, response) => {
    if (judges.every((isServed) => isServed(request, response)))
      void serve(request as Parameters<typeof serve>[0], response);
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    close: async () => {
      await handler.close();
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}
