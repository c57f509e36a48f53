/** Where Redis is, by the configuration. */
import type { LoadedConfig } from "../config/load.ts";
import { access, type RedisTarget, type TlsTrust } from "./target.ts";

/**
 * What to connect to.
 * @throws Error when there is no section `redis`, or none of the three ways: a checked configuration has one
 */
export function redisTarget({ config: { redis }, secrets }: LoadedConfig): RedisTarget {
  if (redis === undefined) throw new Error("there is no redis section");
  const { url, sentinels, cluster } = redis;
  const server = access(redis.username, secrets.redisPassword, trust(redis.tls, secrets.redisCa));
  if (cluster !== undefined) return { cluster, ...server };
  if (sentinels !== undefined) {
    const { name, nodes, username, tls } = sentinels;
    const own = access(username, secrets.sentinelPassword, trust(tls, secrets.sentinelCa));
    return { sentinels: { name, nodes, ...own }, ...server };
  }
  if (url === undefined) throw new Error("the redis section names no server");
  return { url, ...server };
}

function trust(
  tls: { readonly servername?: string | undefined } | undefined,
  ca: Buffer | undefined,
): TlsTrust | undefined {
  if (tls === undefined) return undefined;
  const { servername } = tls;
  return { ...(ca === undefined ? {} : { ca }), ...(servername === undefined ? {} : { servername }) };
}
