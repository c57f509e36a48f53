/** A link to Redis that has died and says nothing: what is revoked meanwhile holds all the same, for a new link is made. */
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import t, { type Test } from "tap";
import { openOverrides } from "../support/overrides.ts";
import { ownRedis } from "../support/redis.ts";
import { until } from "../support/until.ts";

const ALICE = { anonymous: false, issuer: "i", subject: "alice", groups: [], scopes: [] } as const;
const OLD = { chain: "A".repeat(22), chainIat: 1 };
const ORDER = { by: "t", target: { route: "/mcp" } } as const;
/** Longer than a test may take: no command is given up. */
const NEVER_MS = 600_000;

/** A way to a port of loopback whose links can be made to swallow everything, without an end. */
async function startSilencer(t: Test, target: number) {
  const silent = new Set<Socket>();
  const links = new Set<Socket>();
  let made = 0;
  const server = createServer((client) => {
    made += 1;
    links.add(client);
    const upstream = connect(target, "127.0.0.1");
    const end = () => [client, upstream].map((socket) => socket.destroy());
    for (const socket of [client, upstream]) socket.on("error", end).on("close", end);
    client.on("data", (chunk) => silent.has(client) || upstream.write(chunk));
    upstream.on("data", (chunk) => silent.has(client) || client.write(chunk));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(() => {
    for (const link of links) link.destroy();
    server.close();
  });
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    made: () => made,
    silence: () => {
      for (const link of links) silent.add(link);
    },
  };
}

t.test("a link without an answer is given up long before its command", async (t) => {
  const redis = await ownRedis(t);
  const way = await startSilencer(t, redis.port);
  const one = await openOverrides(t, way.url, { commandTimeoutMs: NEVER_MS });
  const other = await openOverrides(t, redis.url);
  await until(() => one.known());
  const before = way.made();
  way.silence();
  await other.revoke(ORDER);
  await until(() => one.isRevoked(OLD, ALICE, "/mcp"), 30);
  t.ok(way.made() > before, "over a new link");
});

t.test("a server that is slow on the new link too is waited for", async (t) => {
  const redis = await ownRedis(t);
  const way = await startSilencer(t, redis.port);
  const one = await openOverrides(t, way.url, { commandTimeoutMs: NEVER_MS });
  await until(() => one.known());
  redis.pause();
  await until(() => one.lines.some(({ message }) => message.startsWith("overrides cannot be read")));
  const made = way.made();
  redis.resume();
  await until(() => one.lines.some(({ message }) => message === "overrides can be read"));
  t.ok(way.made() <= made + 1, "without a link for every reading");
});
