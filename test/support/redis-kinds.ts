/** Every way to set Redis up that the gateway knows, each on real servers of a test's own. */
import { readFileSync } from "node:fs";
import type { RedisTarget } from "../../src/redis/target.ts";
import { selfSigned } from "./certificates.ts";
import { type OwnRedis, ownRedis, type Teardown } from "./redis.ts";
import { ownCluster, ownSentinels } from "./redis-groups.ts";

/** The least that docs/redemption.md asks of an operator. */
export const LEAST_RIGHTS = [
  ..."~sg:* resetchannels -@all".split(" "),
  ..."+eval +evalsha +info +time +get +set +hget +hset +hsetnx +hkeys +hstrlen +hlen +hdel +pexpireat".split(
    " ",
  ),
];
/** What `limits` need beside. */
export const LIMIT_RIGHTS = "+incrby +pttl +expire +zadd +zrem +zcard +zrevrange +zremrangebyscore".split(
  " ",
);
/** What an audit sink of type redis needs beside, and `sealgate audit show` where it reads it. */
export const AUDIT_RIGHTS = ["+xadd", "+xrange"];
/** What a Cluster needs beside. */
export const CLUSTER_RIGHTS = ["+cluster|slots", "+asking"];

/** Running servers of one kind. */
export interface Kind {
  readonly target: RedisTarget;
  /** All masters. */
  readonly masters: readonly OwnRedis[];
  /** The master that has a key. */
  ownerOf(key: string): OwnRedis;
}

const PASSWORD = "p@ss/w:rd%41 x";
const ADMIN = { username: "admin", password: "root" };

/** A user with the least rights, one for the test, and TLS on the only port. */
async function guarded(t: Teardown, rights: readonly string[]) {
  const { certFile, keyFile } = await selfSigned(t, ["IP:127.0.0.1", "DNS:store.test"]);
  const files = ["--tls-cert-file", certFile, "--tls-key-file", keyFile, "--tls-ca-cert-file", certFile];
  const ca = readFileSync(certFile);
  return {
    access: { username: "gate", password: PASSWORD, tls: { ca, servername: "store.test" } },
    own: { ...ADMIN, tls: { ca } },
    args: (port: number) => [
      ...["--port", "0", "--tls-port", String(port), ...files, "--tls-auth-clients", "no"],
      ...["--tls-replication", "yes", "--tls-cluster", "yes"],
      ...["--user", "admin", "on", ">root", "~*", "&*", "+@all"],
      ...["--user", "gate", "on", `>${PASSWORD}`, ...rights],
      ...["--user", "default", "off"],
    ],
  };
}

const single = (server: OwnRedis, target: RedisTarget): Kind => ({
  target,
  masters: [server],
  ownerOf: () => server,
});

/** By name. */
export const KINDS: Readonly<Record<string, (t: Teardown) => Promise<Kind>>> = {
  standalone: async (t) => {
    const server = await ownRedis(t);
    return single(server, { url: server.url });
  },
  "standalone, TLS and a user with the least rights": async (t) => {
    const { access, own, args } = await guarded(t, [...LEAST_RIGHTS, ...AUDIT_RIGHTS]);
    const server = await ownRedis(t, args, own);
    return single(server, { url: `rediss://127.0.0.1:${server.port}`, ...access });
  },
  Sentinel: async (t) => {
    const { master, nodes, name } = await ownSentinels(t);
    return single(master, { sentinels: { name, nodes } });
  },
  Cluster: async (t) => {
    const { masters, nodes, ownerOf } = await ownCluster(t);
    // One that answers is enough to find the others.
    return { target: { cluster: { nodes: nodes.slice(0, 1) } }, masters, ownerOf };
  },
  "Cluster, TLS and a user with the least rights": async (t) => {
    const { access, own, args } = await guarded(t, [...LEAST_RIGHTS, ...AUDIT_RIGHTS, ...CLUSTER_RIGHTS]);
    const { masters, nodes, ownerOf } = await ownCluster(t, { args, access: own });
    return { target: { cluster: { nodes }, ...access }, masters, ownerOf };
  },
};
