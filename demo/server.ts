/**
 * An MCP server as many are written, on the official SDK, with two mistakes that the gateway has to make up for:
 *
 *   1. `transfer` keeps its order in the requestState, readable and unsigned, and later does what the state says;
 *   2. it takes every client for one that can answer every kind of question.
 *
 * It knows no users and checks no tokens.
 */
import { createServer } from "node:http";
import { json } from "node:stream/consumers";
import { toNodeHandler } from "@modelcontextprotocol/node";
import {
  acceptedContent,
  type CallToolResult,
  createMcpHandler,
  inputRequired,
  inputResponse,
  McpServer,
} from "@modelcontextprotocol/server";
import * as z from "zod";
import { type Address, listenNear } from "./ports.ts";

/** A running server. */
export interface Server {
  /** Its MCP endpoint. */
  readonly url: string;
  /** The transfers it has carried out, oldest first. */
  readonly ledger: readonly Order[];
  /** How many HTTP requests have reached it. */
  arrivals(): number;
  close(): Promise<void>;
}

/** What `transfer` is asked to do. */
export interface Order {
  readonly to: string;
  readonly amount: number;
}

/** Starts the server at `wanted` or near it. `path` is that of its endpoint. */
export async function startServer(wanted: Address, path: string): Promise<Server> {
  const ledger: Order[] = [];
  const mcp = createMcpHandler(() => build(ledger), { legacy: "stateless" });
  const handle = toNodeHandler(mcp);
  let arrivals = 0;
  const http = createServer(async (request, response) => {
    arrivals += 1;
    if (request.url !== path) return response.writeHead(404).end();
    const body = request.method === "POST" ? await json(request).catch(() => undefined) : undefined;
    const { method = "", url = "" } = request;
    return handle(Object.assign(request, { method, url }), response, assumeCapable(body));
  });
  const port = await listenNear(http, wanted);
  return {
    url: `http://${wanted.host}:${port}${path}`,
    ledger,
    arrivals: () => arrivals,
    close: async () => {
      await mcp.close();
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}

function build(ledger: Order[]): McpServer {
  const server = new McpServer({ name: "demo-bank", version: "1.0.0" });
  const order = z.object({ to: z.string(), amount: z.number().positive() });

  server.registerTool(
    "transfer",
    { description: "Sends money, after a confirmation", inputSchema: order },
    ({ to, amount }, { mcpReq }) => {
      const state = mcpReq.requestState<string>();
      const confirm = inputResponse(mcpReq.inputResponses, "confirm");
      if (state === undefined || confirm.kind === "missing") {
        const message = `Send ${amount} to ${to}?`;
        const requestedSchema = z.object({ ok: z.boolean().describe("Really send it") });
        return inputRequired({
          inputRequests: { confirm: inputRequired.elicit({ message, requestedSchema }) },
          requestState: encodeState({ to, amount }),
        });
      }
      const accepted = acceptedContent<{ ok: boolean }>(mcpReq.inputResponses, "confirm");
      if (accepted?.ok !== true) return say("nothing sent");
      // The mistake: what comes back is the client's word by now.
      const confirmed = order.parse(decodeState(state));
      ledger.push(confirmed);
      return say(`sent ${confirmed.amount} to ${confirmed.to}`);
    },
  );

  server.registerTool(
    "connect_account",
    { description: "Connects a bank account, after a sign-in in the browser" },
    ({ mcpReq }) => {
      const signIn = inputResponse(mcpReq.inputResponses, "sign_in");
      if (signIn.kind === "elicit")
        return say(signIn.action === "accept" ? "account connected" : "not connected");
      const question = { message: "Sign in to your bank", url: "https://bank.example/connect" };
      return inputRequired({ inputRequests: { sign_in: inputRequired.elicitUrl(question) } });
    },
  );

  server.registerTool(
    "summarize",
    { description: "Sums up the account, with the help of the client's model" },
    ({ mcpReq }) => {
      const summary = inputResponse(mcpReq.inputResponses, "summary");
      if (summary.kind === "sampling") return say("summed up");
      const content = { type: "text" as const, text: "Sum up: 50 to acct-9" };
      const request = { messages: [{ role: "user" as const, content }], maxTokens: 100 };
      return inputRequired({ inputRequests: { summary: inputRequired.createMessage(request) } });
    },
  );

  const drastic = { description: "Deletes every account", annotations: { destructiveHint: true } };
  server.registerTool("delete_everything", drastic, () => say("deleted"));

  server.registerPrompt("letter", { description: "Words for a letter to the bank" }, ({ mcpReq }) => {
    const chosen = acceptedContent<{ tone: string }>(mcpReq.inputResponses, "tone");
    if (chosen === undefined) {
      const requestedSchema = z.object({ tone: z.enum(["friendly", "firm"]) });
      const question = inputRequired.elicit({ message: "Which tone?", requestedSchema });
      return inputRequired({ inputRequests: { tone: question } });
    }
    const text = `Write a ${chosen.tone} letter to my bank.`;
    return { messages: [{ role: "user", content: { type: "text", text } }] };
  });

  server.registerResource("rates", "bank://rates", { mimeType: "text/plain" }, (uri) => ({
    contents: [{ uri: uri.href, mimeType: "text/plain", text: "1 EUR = 1.10 USD" }],
  }));
  return server;
}

/** The readable state: base64url of JSON. The demo's attacker writes it with the same two lines. */
export const encodeState = (order: Order): string => Buffer.from(JSON.stringify(order)).toString("base64url");

/** The inverse of `encodeState`; believes everything. */
export const decodeState = (state: string): unknown => JSON.parse(Buffer.from(state, "base64url").toString());

const say = (text: string): CallToolResult => ({ content: [{ type: "text", text }] });

/** The second mistake: what the client declares is overwritten, so that the SDK's own check has nothing to object to. */
function assumeCapable(body: unknown): unknown {
  const params = member(body, "params");
  const meta = member(params, "_meta");
  if (typeof meta !== "object" || meta === null || !(CAPABILITIES in meta)) return body;
  const everything = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };
  return { ...Object(body), params: { ...Object(params), _meta: { ...meta, [CAPABILITIES]: everything } } };
}

const CAPABILITIES = "io.modelcontextprotocol/clientCapabilities";

const member = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
