/**
 * Finds a master by its Sentinels, anew for each link. What they say is a hint only: one that lags or lies costs a link, since
 * scripts look themselves whether they run on a master.
 * Source: https://redis.io/docs/latest/develop/reference/sentinel-clients/
 */
import { Redis } from "ioredis";
import { type Locate, linkConnector } from "./connector.ts";
import { type Address, access, type SentinelSet } from "./target.ts";

const ANSWER_MS = 1000;

/**
 * Asks one Sentinel after the other, and takes the first answer. The next time another one is the first: whoever asks again
 * was not served well.
 */
export function askSentinels(sentinels: SentinelSet): Locate {
  let turn = 0;
  return async () => {
    let last = "";
    for (const _ of sentinels.nodes) {
      const node = sentinels.nodes[turn++ % sentinels.nodes.length] as Address;
      try {
        const master = await ask(node, sentinels);
        if (master !== undefined) return master;
        last = `Sentinel ${node.host}:${node.port} knows no master ${sentinels.name}`;
      } catch (error) {
        // A new error: what a Sentinel says of users and passwords is not about those of Redis.
        const text =
          error instanceof Error ? error.message || String((error as { code?: unknown }).code) : "";
        last = `Sentinel ${node.host}:${node.port}: ${text}`;
      }
    }
    throw new Error(last);
  };
}

async function ask(
  node: Address,
  { name, username, password, tls }: SentinelSet,
): Promise<Address | undefined> {
  let cause: Error | undefined;
  const client = new Redis({
    Connector: linkConnector(() => node, tls),
    lazyConnect: true,
    enableReadyCheck: false,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    retryStrategy: null,
    connectTimeout: ANSWER_MS,
    commandTimeout: ANSWER_MS,
    disableClientInfo: true,
    protocol: 2,
    ...access(username, password, tls === undefined ? undefined : {}),
  });
  client.on("error", (error: Error) => {
    cause ??= error;
  });
  try {
    await client.connect();
    const reply = await client.call("SENTINEL", "get-master-addr-by-name", name);
    const [host, port] = Array.isArray(reply) ? (reply as unknown[]).map(String) : [];
    return host === undefined || !/^\d{1,5}$/.test(port ?? "") ? undefined : { host, port: Number(port) };
  } catch (error) {
    throw cause ?? error;
  } finally {
    client.disconnect();
  }
}
