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

type Questions = Readonly<Record<string, InputRequest>>;

type Property =
  | { readonly type: "boolean" }
  | { readonly type: "integer"; readonly minimum: number; readonly maximum: number }
  | { readonly type: "string"; readonly enum: string[] };

const form = (message: string, name: string, property: Property): InputRequest =>
  inputRequired.elicit({
    message,
    requestedSchema: {
      type: "object",
      properties: { [name]: property, note: { type: "string", maxLength: 40 } },
      required: [name],
    },
  });

const CONFIRM: Questions = { confirm: form("Carry it out?", "confirm", { type: "boolean" }) };
const SEATS: Questions = {
  row: form("Which row?", "row", { type: "integer", minimum: 1, maximum: 40 }),
  meal: form("Which meal?", "meal", { type: "string", enum: ["soup", "salad"] }),
};
const PAGE: Questions = {
  page: inputRequired.elicitUrl({ message: "Pay at the bank", url: "https://bank.example/bills/7" }),
};

const text = (words: string) => ({ content: [{ type: "text" as const, text: words }] });

/** Asks round by round, or does what the state says once there is a yes to the last of them. */
function confirmed(
  what: string,
  rounds: readonly Questions[],
  { mcpReq }: ServerContext,
  carryOut: (what: string) => string,
) {
  const said = (mcpReq.inputResponses ?? {}) as Readonly<
    Record<string, { readonly action?: unknown } | undefined>
  >;
  const state = mcpReq.requestState();
  const from =
    state === undefined ? { what, round: 0 } : (JSON.parse(String(state)) as { what: string; round: number });
  const isSaid = (asked: Questions = {}): boolean =>
    Object.keys(asked).every((key) => said[key] !== undefined);
  const ask = (round: number): InputRequiredResult =>
    inputRequired({ inputRequests: { ...rounds[round] }, requestState: JSON.stringify({ ...from, round }) });
  if (!isSaid(rounds[from.round])) return ask(from.round);
  if (Object.values(said).some((answer) => answer?.action !== "accept")) return text("Nothing was done.");
  let round = from.round + 1;
  while (round < rounds.length && isSaid(rounds[round])) round += 1;
  return round < rounds.length ? ask(round) : text(carryOut(String(from.what)));
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
      ({ amount, to }, ctx) => confirmed(`${tool} ${amount} ${to}`, [CONFIRM], ctx, carryOut),
    );
  }
  server.registerTool(
    "book",
    { description: "Books seats", inputSchema: z.object({ seats: z.number() }) },
    ({ seats }, ctx) => confirmed(`book ${seats}`, [SEATS, CONFIRM], ctx, carryOut),
  );
  server.registerTool("pay", { description: "Pays a bill", inputSchema: z.object({}) }, (_args, ctx) =>
    confirmed("pay", [PAGE], ctx, carryOut),
  );
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
