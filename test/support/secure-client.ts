/** A client that speaks TLS to a gateway, with a certificate of its own if it has one. */
import { Agent, type AgentOptions, request } from "node:https";
import { type Message, meta, mirrored, type Reply } from "./gateway.ts";

/** What the client shows and trusts. */
export type ClientTls = Pick<AgentOptions, "cert" | "key" | "ca" | "session" | "maxVersion">;

export interface SecureReply extends Reply {
  readonly socket: import("node:tls").TLSSocket;
}

export interface SecureOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** For several requests on one connection. */
  readonly agent?: Agent;
  readonly path?: string;
}

let nextId = 1;

/** Sends one modern message to `base`, whose certificate is for `host`. */
export function secureCall(
  base: string,
  message: Message,
  tls: ClientTls,
  { headers = {}, agent, path = "/mcp" }: SecureOptions = {},
): Promise<SecureReply> {
  const host = "gateway.test";
  const id = message.id ?? nextId++;
  const params = { _meta: meta(), ...message.params };
  return new Promise((resolve, reject) => {
    const sent = request(
      new URL(path, base),
      {
        method: "POST",
        headers: { host, ...mirrored(message), ...headers },
        servername: host,
        agent: agent ?? false,
        ...tls,
      },
      (response) => {
        let body = "";
        response.setEncoding("utf8").on("data", (piece: string) => {
          body += piece;
        });
        response.on("error", reject).on("end", () => {
          const socket = response.socket as import("node:tls").TLSSocket;
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body,
            json: parse(body),
            socket,
          });
        });
      },
    );
    sent.on("error", reject).end(JSON.stringify({ jsonrpc: "2.0", id, method: message.method, params }));
  });
}

/** One connection for many requests. */
export const keptAlive = (tls: ClientTls): Agent =>
  new Agent({ keepAlive: true, maxSockets: 1, servername: "gateway.test", ...tls });

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
