/** The section `redis`: the servers that replicas share, whichever way they are set up. */
import * as z from "zod";
import { parseListen } from "./addresses.ts";
import { field, fileRef, redisUrl, secretRef, serverName, some, text } from "./fields.ts";

/** `host:port` of a server, or `host` for its usual port. */
function node(usualPort: number) {
  return field<{ host: string; port: number }>(
    `host:port such as redis-1.internal:${usualPort} or [::1]:${usualPort}`,
    (given, refuse) => {
      const found = parseListen(given) ?? parseListen(`${given}:${usualPort}`);
      return found === undefined || found.port === 0 ? refuse("is not the address of a server") : found;
    },
  );
}

const tls = () =>
  z.strictObject({
    ca: fileRef().exactOptional().describe("PEM file with the certificate authorities to trust."),
    servername: serverName().exactOptional().describe("Name the server's certificate must carry."),
  });

const sentinels = z.strictObject({
  name: text("the name of the master", 128).describe("What the Sentinels call the master."),
  nodes: some(node(26_379)).describe("The Sentinels, host:port each."),
  username: text("an ACL user name").exactOptional().describe("ACL user of the Sentinels."),
  password: secretRef().exactOptional().describe("Password of that user."),
  tls: tls().exactOptional().describe("Given, even if empty: the Sentinels speak TLS."),
});

const cluster = z.strictObject({
  nodes: some(node(6_379)).describe("Nodes to ask for the others, host:port each; more than one is better."),
});

/** Section `redis`. */
export const redis = z.strictObject({
  url: redisUrl().exactOptional().describe("One server and its database number. rediss:// for TLS."),
  sentinels: sentinels.exactOptional().describe("Instead of url: a master that Sentinels watch."),
  cluster: cluster.exactOptional().describe("Instead of url: a Redis Cluster."),
  username: text("an ACL user name").exactOptional().describe("ACL user. Default: the default user."),
  password: secretRef().exactOptional().describe("Password of that user."),
  tls: tls()
    .exactOptional()
    .describe("TLS details with rediss://; with sentinels or cluster it makes the servers' links TLS."),
  keyPrefix: text("a prefix of Redis keys", 64)
    .prefault("sg:")
    .describe("Prefix of every key the gateway writes."),
});
