/**
 * An MCP server on the real SDK, on loopback and port 0, unprotected as its authors would write it: plain states, every
 * kind of question, one and many rounds, both eras as the SDK offers them. Every complete result says what the handler saw.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { toNodeHandler } from "@modelcontextprotocol/node";
import {
  completable,
  createMcpHandler,
  type InputRequest,
  type InputRequiredResult,
  inputRequired,
  McpServer,
  type ServerContext,
  type ServerNotifier,
} from "@modelcontextprotocol/server";
import { z } from "zod";

export interface SdkServer {
  readonly url: string;
  /** Publishes change events to every open `subscriptions/listen`. */
  readonly notify: ServerNotifier;
  /** Requests of `hang` that are being handled, and how many were aborted. */
  readonly hanging: { count: number; aborted: number };
  /** Resolves when `hanging` or the number of HTTP requests changed. */
  changed(): Promise<void>;
  /** HTTP requests so far, oldest first: method and the `Authorization` they came with. */
  readonly requests: { readonly method: string; readonly authorization: string | undefined }[];
  /** Streams and requests that are open now. */
  readonly open: () => number;
  close(): Promise<void>;
}

export interface SdkServerOptions {
  /** How modern requests are answered; `auto` streams once something precedes the result. */
  readonly responseMode?: "auto" | "sse" | "json";
  readonly legacy?: "stateless" | "reject";
}

/** What one round asks, and the state it leaves with. */
interface Round {
  readonly ask?: Record<string, InputRequest>;
  readonly state?: string;
}

const QUESTIONS = {
  form: (): InputRequest =>
    inputRequired.elicit({
      message: "Transfer 10 € to Zoë?",
      requestedSchema: {
        type: "object",
        properties: {
          confirm: { type: "boolean", title: "Go on?" },
          note: { type: "string", maxLength: 40 },
          amount: { type: "number", minimum: 0 },
          tags: { type: "array", items: { type: "string", enum: ["a", "b", "c"] } },
        },
        required: ["confirm"],
      },
    }),
  url: (): InputRequest =>
    inputRequired.elicitUrl({ message: "Sign in at the bank", url: "https://bank.example/sign-in?flow=7" }),
  sampling: (): InputRequest =>
    inputRequired.createMessage({
      messages: [{ role: "user", content: { type: "text", text: "Say it in one word" } }],
      maxTokens: 64,
    }),
  roots: (): InputRequest => inputRequired.listRoots(),
} as const;

/** Flow → its rounds; what comes after the last is the result. */
export const FLOWS: Readonly<Record<string, readonly Round[]>> = {
  form: [{ ask: { confirm: QUESTIONS.form() }, state: '{"amount":10,"to":"Zoë"}' }],
  "form-no-state": [{ ask: { confirm: QUESTIONS.form() } }],
  url: [{ ask: { "sign-in": QUESTIONS.url() }, state: "flow=7" }],
  sampling: [{ ask: { word: QUESTIONS.sampling() }, state: "s" }],
  roots: [{ ask: { folders: QUESTIONS.roots() } }],
  everything: [
    {
      ask: {
        a: QUESTIONS.form(),
        b: QUESTIONS.url(),
        c: QUESTIONS.sampling(),
        "": QUESTIONS.roots(),
      },
      state: "all",
    },
  ],
  "state-only": [{ state: "come back" }],
  "empty-state": [{ ask: { confirm: QUESTIONS.form() }, state: "" }],
  "three-rounds": [
    { ask: { first: QUESTIONS.form() } },
    { state: "between" },
    { ask: { last: QUESTIONS.url(), extra: QUESTIONS.form() }, state: "end\u0000\ud83d\udd11" },
  ],
};

/** A name that no header can hold as it is. */
export const ODD_NAME = " =?base64?Zoë ☕?= ";

/** What a handler saw, for a result to carry. */
function seen(ctx: ServerContext): Record<string, unknown> {
  const { inputResponses, droppedInputResponseKeys, requestState } = ctx.mcpReq;
  return { inputResponses, droppedInputResponseKeys, requestState: requestState() };
}

/**
 * The next round of a flow, or undefined when it is over. The rounds of a flow differ in state, or in the keys they ask
 * for, so that the server keeps nothing between requests.
 */
function next(flow: string, ctx: ServerContext): InputRequiredResult | undefined {
  const rounds = FLOWS[flow] ?? [];
  const state = ctx.mcpReq.requestState();
  const keys = Object.keys(ctx.mcpReq.inputResponses ?? {});
  const answered = rounds.findIndex((round) => {
    const asked = Object.keys(round.ask ?? {});
    return (
      round.state === state &&
      (asked.length === 0 ? keys.length === 0 : asked.every((key) => keys.includes(key)))
    );
  });
  const fresh = state === undefined && keys.length === 0;
  const round = rounds[fresh ? 0 : answered + 1];
  if (round === undefined) return undefined;
  return inputRequired({
    ...(round.ask === undefined ? {} : { inputRequests: round.ask }),
    ...(round.state === undefined ? {} : { requestState: round.state }),
  });
}

/** Two progress notifications, if the caller asked for them. */
async function report(ctx: ServerContext): Promise<void> {
  const progressToken = ctx.mcpReq._meta?.progressToken;
  if (progressToken === undefined) return;
  for (const progress of [1, 2]) {
    await ctx.mcpReq.notify({
      method: "notifications/progress",
      params: { progressToken, progress, total: 2, message: `step ${progress}` },
    });
  }
}

function createSdkMcpServer(hanging: SdkServer["hanging"], tell: () => void): McpServer {
  const server = new McpServer(
    { name: "sdk-server", version: "1.2.3" },
    {
      capabilities: {
        logging: {},
        completions: {},
        tools: { listChanged: true },
        prompts: { listChanged: true },
        resources: { listChanged: true, subscribe: true },
      },
      instructions: "Transfers money.",
    },
  );
  for (const flow of Object.keys(FLOWS)) {
    server.registerTool(
      flow,
      {
        description: `Runs ${flow}`,
        inputSchema: z.object({ amount: z.number(), progress: z.boolean().optional() }),
      },
      async ({ amount, progress }, ctx) => {
        if (progress === true) await report(ctx);
        return (
          next(flow, ctx) ?? {
            content: [{ type: "text", text: JSON.stringify({ amount, ...seen(ctx) }) }],
          }
        );
      },
    );
    server.registerPrompt(
      flow,
      { argsSchema: z.object({ topic: z.string() }) },
      ({ topic }, ctx) =>
        next(flow, ctx) ?? {
          messages: [
            { role: "user", content: { type: "text", text: JSON.stringify({ topic, ...seen(ctx) }) } },
          ],
        },
    );
    server.registerResource(
      flow,
      `note://flows/${flow}`,
      { mimeType: "application/json" },
      (uri, ctx) => next(flow, ctx) ?? { contents: [{ uri: uri.href, text: JSON.stringify(seen(ctx)) }] },
    );
  }
  server.registerTool(
    "plain",
    {
      inputSchema: z.object({ amount: z.number() }),
      outputSchema: z.object({ amount: z.number() }),
    },
    async ({ amount }, ctx) => {
      await report(ctx);
      return { content: [{ type: "text", text: "done" }], structuredContent: { amount } };
    },
  );
  // The annotated argument travels as Mcp-Param-Region too, and the SDK's server compares the two.
  const place = z.object({ region: z.string().meta({ "x-mcp-header": "Region" }) });
  server.registerTool("region", { inputSchema: place }, ({ region }) => ({
    content: [{ type: "text", text: region }],
  }));
  server.registerTool("logs", { inputSchema: z.object({}) }, async (_args, ctx) => {
    await ctx.mcpReq.log("warning", { big: 1.5, text: "für Zoë" });
    return { content: [] };
  });
  server.registerPrompt(
    ODD_NAME,
    { argsSchema: z.object({ city: completable(z.string(), (start) => [`${start}lin`, `${start}n`]) }) },
    ({ city }) => ({ messages: [{ role: "user", content: { type: "text", text: city } }] }),
  );
  server.registerTool("fails", { inputSchema: z.object({}) }, () => {
    throw new Error("the tool broke");
  });
  server.registerTool("hang", { inputSchema: z.object({}) }, async (_args, ctx) => {
    hanging.count += 1;
    await report(ctx);
    tell();
    await new Promise<void>((resolve) =>
      ctx.mcpReq.signal.addEventListener("abort", () => resolve(), { once: true }),
    );
    hanging.aborted += 1;
    tell();
    return { content: [] };
  });
  return server;
}

/** Starts a server. */
export async function startSdkServer(options: SdkServerOptions = {}): Promise<SdkServer> {
  const hanging = { count: 0, aborted: 0 };
  const requests: SdkServer["requests"] = [];
  let open = 0;
  let listeners: (() => void)[] = [];
  const tell = (): void => {
    const waiting = listeners;
    listeners = [];
    for (const listener of waiting) listener();
  };
  const handler = createMcpHandler(() => createSdkMcpServer(hanging, tell), options);
  const serve = toNodeHandler(handler);
  const http = createServer((request, response) => {
    open += 1;
    requests.push({ method: request.method ?? "", authorization: request.headers.authorization });
    response.once("close", () => {
      open -= 1;
      tell();
    });
    tell();
    void serve(request as Parameters<typeof serve>[0], response);
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    notify: handler.notify,
    hanging,
    changed: () => new Promise((resolve) => listeners.push(resolve)),
    requests,
    open: () => open,
    close: async () => {
      await handler.close();
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}
