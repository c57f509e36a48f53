/** A client on the real SDK that answers every kind of question by script and remembers what it was asked. */
import {
  type AuthProvider,
  Client,
  type ClientCapabilities,
  type ClientOptions,
  type FetchLike,
  type OAuthClientProvider,
  ProtocolError,
  SdkError,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";

/** What the scripted person does with forms and links. */
export type Action = "accept" | "decline" | "cancel";

export interface SdkClientOptions {
  readonly mode?: "legacy" | "auto" | { pin: string };
  readonly action?: Action;
  readonly capabilities?: ClientCapabilities;
  /** False: rounds are walked by hand. */
  readonly autoFulfill?: boolean;
  readonly authProvider?: AuthProvider | OAuthClientProvider;
  /** Where the origin of `url` really listens, where it is only a name. */
  readonly origin?: string;
  readonly listChanged?: ClientOptions["listChanged"];
}

export interface SdkClient {
  readonly client: Client;
  readonly transport: StreamableHTTPClientTransport;
  /** Params of every question that reached a handler, oldest first. */
  readonly asked: unknown[];
  /** HTTP answers so far: status and media type. */
  readonly answers: { readonly status: number; readonly type: string }[];
  /** Resolves at the next HTTP answer. */
  answered(): Promise<void>;
}

/** Everything a server may ask for. */
export const ALL_CAPABILITIES: ClientCapabilities = {
  elicitation: { form: {}, url: {} },
  sampling: { tools: {}, context: {} },
  roots: {},
};

const FORM_CONTENT = { confirm: true, note: "für Zoë", amount: 3.14, tags: ["b", "a"] };

/** A client that is not connected yet. */
export function createSdkClient(url: string, options: SdkClientOptions = {}): SdkClient {
  const { mode = "auto", action = "accept", capabilities = ALL_CAPABILITIES, autoFulfill = true } = options;
  const client = new Client(
    { name: "sdk-client", version: "1" },
    {
      capabilities,
      versionNegotiation: { mode },
      inputRequired: { autoFulfill },
      ...(options.listChanged === undefined ? {} : { listChanged: options.listChanged }),
    },
  );
  const asked: unknown[] = [];
  if (capabilities.elicitation !== undefined) {
    client.setRequestHandler("elicitation/create", ({ params }) => {
      asked.push(params);
      if (action !== "accept") return { action };
      return params.mode === "url" ? { action } : { action, content: FORM_CONTENT };
    });
  }
  if (capabilities.sampling !== undefined) {
    client.setRequestHandler("sampling/createMessage", ({ params }) => {
      asked.push(params);
      return {
        model: "m-1",
        role: "assistant" as const,
        stopReason: "endTurn",
        content: { type: "text" as const, text: "Yes" },
      };
    });
  }
  if (capabilities.roots !== undefined) {
    client.setRequestHandler("roots/list", () => {
      asked.push("roots");
      return { roots: [{ uri: "file:///home/zo%C3%AB", name: "home" }] };
    });
  }
  const answers: SdkClient["answers"] = [];
  let wake = (): void => undefined;
  const go = fetchAt(new URL(url).origin, options.origin);
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    ...(options.authProvider === undefined ? {} : { authProvider: options.authProvider }),
    fetch: async (input, init) => {
      const response = await go(input, init);
      answers.push({ status: response.status, type: response.headers.get("content-type") ?? "" });
      wake();
      return response;
    },
  });
  const answered = (): Promise<void> =>
    new Promise((resolve) => {
      wake = resolve;
    });
  return { client, transport, asked, answers, answered };
}

/** A fetch that finds the origin `name` at another address. */
export function fetchAt(name: string, address: string | undefined): FetchLike {
  return (input, init) => {
    const text = String(input);
    const found =
      address !== undefined && text.startsWith(`${name}/`) ? address + text.slice(name.length) : text;
    return fetch(found, init);
  };
}

/** A connected client. */
export async function connectSdkClient(url: string, options: SdkClientOptions = {}): Promise<SdkClient> {
  const made = createSdkClient(url, options);
  await made.client.connect(made.transport);
  return made;
}

/** What a call came to: its result, or its error as a caller can tell it apart. */
export async function outcome(promise: Promise<unknown>): Promise<unknown> {
  try {
    return { result: await promise };
  } catch (error) {
    return { error: describe(error) };
  }
}

/** An SDK error without its stack. */
export function describe(error: unknown): unknown {
  if (error instanceof ProtocolError) {
    const { name, code, message, data } = error;
    return { name, code, message, data };
  }
  if (error instanceof SdkError) return { name: error.name, code: error.code, message: error.message };
  return error instanceof Error ? { name: error.name, message: error.message } : error;
}
