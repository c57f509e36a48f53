/**
 * Small gateways for recipes, each an HTTP server of its own. One stands in front and relays MCP with state and all; one
 * stands behind and joins two servers under prefixes.
 */
import { createServer, type IncomingHttpHeaders, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { exchange, type Reply } from "./gateway.ts";

interface Teardown {
  teardown(run: () => unknown): void;
}

async function listen(t: Teardown, handle: RequestListener): Promise<string> {
  const server: Server = createServer(handle);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Headers that belong to MCP and pass from one side to the other. */
function mcpHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const passed = Object.entries(headers).filter(
    ([name]) => name.startsWith("mcp-") || name === "content-type" || name === "accept",
  );
  return Object.fromEntries(passed.map(([name, value]) => [name, String(value)]));
}

async function bodyOf(request: AsyncIterable<Buffer>): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

/**
 * Starts a gateway in front: it relays bodies and MCP headers as they came.
 * @param target where it relays to, and the Host it sends
 * @param tokenFor the token it sends, by the one that came
 * @returns its URL
 */
export function startFrontGateway(
  t: Teardown,
  target: { readonly url: string; readonly host: string },
  tokenFor: (token: string) => string | Promise<string>,
): Promise<string> {
  return listen(t, async (request, response) => {
    const token = (request.headers.authorization ?? "").replace(/^Bearer /, "");
    const body = await bodyOf(request);
    const user = request.headers["x-forwarded-user"];
    const reply = await exchange(target.url, {
      headers: {
        ...mcpHeaders(request.headers),
        host: target.host,
        authorization: `Bearer ${await tokenFor(token)}`,
        // Many gateways pass on such a header, theirs or a client's.
        ...(user === undefined ? {} : { "x-forwarded-user": String(user) }),
      },
      body,
    });
    relay(reply, response);
  });
}

function relay(reply: Reply, response: Parameters<RequestListener>[1]): void {
  response.writeHead(reply.status, { "content-type": String(reply.headers["content-type"]) });
  response.end(reply.body);
}

/** What a joining gateway was called with. */
export interface Joined {
  readonly url: string;
  readonly authorization: (string | undefined)[];
}

/**
 * Starts a gateway that joins servers: `crm_transfer` is `transfer` of the server `crm`. It relays state as it came.
 * @param servers prefix → endpoint
 * @param secret the only bearer it accepts
 */
export async function startJoiningGateway(
  t: Teardown,
  servers: Readonly<Record<string, string>>,
  secret: string,
): Promise<Joined> {
  const authorization: (string | undefined)[] = [];
  const url = await listen(t, async (request, response) => {
    authorization.push(request.headers.authorization);
    const message = JSON.parse(await bodyOf(request));
    if (request.headers.authorization !== `Bearer ${secret}`) return void response.writeHead(401).end();
    const answer = (result: unknown) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ jsonrpc: "2.0", id: message.id, result }));
    };
    if (message.method === "tools/list") {
      const tools = Object.keys(servers).map((prefix) => ({
        name: `${prefix}_transfer`,
        inputSchema: { type: "object" },
      }));
      return answer({ resultType: "complete", tools, ttlMs: 0, cacheScope: "private" });
    }
    const [prefix = "", ...rest] = String(message.params.name).split("_");
    const name = rest.join("_");
    const target = servers[prefix];
    if (target === undefined) return answer({ resultType: "complete", isError: true, content: [] });
    const headers = { ...mcpHeaders(request.headers), "mcp-name": name };
    const params = { ...message.params, name };
    relay(await exchange(target, { headers, body: JSON.stringify({ ...message, params }) }), response);
  });
  return { url: `${url}/mcp`, authorization };
}
