/**
 * The demo's two clients: the official SDK's, which does everything right, and bare requests, which an attacker writes.
 */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

/** Gives the bearer token for the next request; `undefined` where none is needed. */
export type TokenSource = () => Promise<string | undefined>;

/** Requests that take longer fail, so that the demo ends in any case. */
const TIMEOUT_MS = 5_000;
const VERSION = "2026-07-28";

/**
 * Connects an SDK client that answers every form and every url question with yes.
 * @param asked is told each question, as a person would read it
 */
export async function connect(
  url: string,
  token: TokenSource,
  asked: (question: string) => void,
): Promise<Client> {
  const client = new Client(
    { name: "demo-client", version: "1.0.0" },
    {
      capabilities: { elicitation: { form: {}, url: {} } },
      versionNegotiation: { mode: { pin: VERSION }, probe: { timeoutMs: TIMEOUT_MS } },
    },
  );
  client.setRequestHandler("elicitation/create", ({ params }) => {
    asked(params.message);
    if (params.mode === "url") return { action: "accept" };
    return {
      action: "accept",
      content: "tone" in params.requestedSchema.properties ? { tone: "friendly" } : { ok: true },
    };
  });
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { authProvider: { token } }));
  return client;
}

/** One bare `tools/call`. */
export interface BareCall {
  readonly tool: string;
  readonly arguments?: Readonly<Record<string, unknown>>;
  /** Declared capabilities; forms only by default. */
  readonly capabilities?: Readonly<Record<string, unknown>>;
  readonly state?: string;
  readonly answers?: Readonly<Record<string, unknown>>;
}

/** What a bare client gets to see. */
export interface Seen {
  readonly status: number;
  /** `X-Request-Id`, the thread to the audit record; empty where the answer has none. */
  readonly requestId: string;
  /** The body as it came. */
  readonly body: string;
  readonly result?: {
    readonly resultType?: string;
    readonly content?: readonly { readonly text?: string }[];
    readonly requestState?: string;
    readonly inputRequests?: Readonly<Record<string, unknown>>;
  };
  readonly error?: {
    readonly code: number;
    readonly message: string;
    readonly data?: { readonly reason?: string; readonly requiredCapabilities?: unknown };
  };
}

let lastId = 0;

/** The body of a bare call: JSON-RPC with the `_meta` of revision 2026-07-28. `id` must be new for every request. */
export function bareBody(call: BareCall, id: number | string): string {
  return JSON.stringify({
    jsonrpc: "2.0",
    id,
    method: "tools/call",
    params: {
      name: call.tool,
      arguments: call.arguments ?? {},
      ...(call.answers === undefined ? {} : { inputResponses: call.answers }),
      ...(call.state === undefined ? {} : { requestState: call.state }),
      _meta: {
        "io.modelcontextprotocol/protocolVersion": VERSION,
        "io.modelcontextprotocol/clientInfo": { name: "bare", version: "1" },
        "io.modelcontextprotocol/clientCapabilities": call.capabilities ?? { elicitation: { form: {} } },
      },
    },
  });
}

/** The headers of a bare call without `Authorization`, in the order in which the demo prints them. */
export function bareHeaders(tool: string): Record<string, string> {
  return {
    "Content-Type": "application/json",
    Accept: "application/json, text/event-stream",
    "MCP-Protocol-Version": VERSION,
    "Mcp-Method": "tools/call",
    "Mcp-Name": tool,
  };
}

/** Sends a bare call and returns what came back; throws only when nothing did, or no JSON. */
export async function send(url: string, token: string | undefined, call: BareCall): Promise<Seen> {
  lastId += 1;
  const authorization = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  const response = await fetch(url, {
    method: "POST",
    headers: { ...bareHeaders(call.tool), ...authorization },
    body: bareBody(call, lastId),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  const body = await response.text();
  const { result, error } = JSON.parse(body) as Pick<Seen, "result" | "error">;
  return {
    status: response.status,
    requestId: response.headers.get("x-request-id") ?? "",
    body,
    ...(result === undefined ? {} : { result }),
    ...(error === undefined ? {} : { error }),
  };
}
