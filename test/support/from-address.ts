/** Requests from one of the many addresses of loopback, so that one machine is a proxy and everybody else. */
import { request } from "node:http";
import { type Message, meta, mirrored, type Reply } from "./gateway.ts";

let nextId = 1;

/**
 * Sends one modern message.
 * @param address where it comes from: 127.0.0.1, 127.0.0.2 …
 * @param headers names and values in turn, as they go on the wire, after those of the protocol
 */
export function sendFrom(
  base: string,
  address: string,
  headers: readonly string[],
  message: Message,
  path = "/mcp",
): Promise<Reply> {
  const id = message.id ?? nextId++;
  const params = { _meta: meta(), ...message.params };
  const body = JSON.stringify({ jsonrpc: "2.0", id, method: message.method, params });
  const { hostname, port } = new URL(base);
  const usual = {
    host: "gateway.test",
    "content-length": String(Buffer.byteLength(body)),
    ...mirrored(message),
  };
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        ...{ host: hostname === "[::]" ? "127.0.0.1" : hostname, port, path, method: "POST", agent: false },
        ...{ localAddress: address, headers: [...Object.entries(usual).flat(), ...headers] },
      },
      (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (piece: string) => {
          text += piece;
        });
        response.on("error", reject).on("end", () => {
          const { statusCode = 0, headers: given } = response;
          resolve({ status: statusCode, headers: given, body: text, json: parse(text) });
        });
      },
    );
    // Bytes, since Node writes headers as UTF-8 where they leave together with a text.
    sent.on("error", reject).end(Buffer.from(body));
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
