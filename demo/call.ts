/**
 * One tool call as a person would make it, through the gateway or past it: shows the questions, answers yes, and shows the
 * state that the client held meanwhile.
 */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const USAGE = `Usage: node demo/call.ts URL TOOL [ARGUMENTS]

Calls TOOL of the MCP server at URL, answers every form with yes, and prints what happens. ARGUMENTS are JSON.

Exit code: 0 the tool has answered, 1 it has not, 2 wrong usage`;

/** Characters of a state that are shown. */
const SHOWN = 40;

process.exitCode = await main(process.argv.slice(2)).catch((error: unknown) => {
  print("failed", error instanceof Error ? error.message : String(error));
  return 1;
});

async function main([url = "", tool = "", text = "{}"]: string[]): Promise<number> {
  const args = parse(text);
  if (!URL.canParse(url) || tool === "" || args === undefined) {
    process.stderr.write(`${USAGE}\n`);
    return 2;
  }
  const client = new Client(
    { name: "demo-call", version: "1.0.0" },
    { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: { pin: "2026-07-28" } } },
  );
  client.setRequestHandler("elicitation/create", ({ params }) => {
    print("question", params.message);
    print("answer", "yes");
    return { action: "accept", content: { ok: true } };
  });
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { fetch: watched }));
  print("call", `${tool} ${text}`);
  const { content } = await client.callTool({ name: tool, arguments: args });
  for (const part of content) if (part.type === "text") print("result", part.text);
  await client.close();
  return 0;
}

/** Prints the state in each answer on its way to the client. */
async function watched(...request: Parameters<typeof fetch>): Promise<Response> {
  const response = await fetch(...request);
  const body = await response.clone().text();
  const [, state] = /"requestState":"([^"]*)"/.exec(body) ?? [];
  if (state !== undefined) print("state", state.length > SHOWN ? `${state.slice(0, SHOWN)}…` : state);
  return response;
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function print(what: string, text: string): void {
  process.stdout.write(`${what.padEnd(10)} ${text}\n`);
}
