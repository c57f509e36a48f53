/** What a server tells of itself by INFO, and what that means for marks. Pure. */

/** Something about a server that its operator should know. A bounded set: it goes to metrics. */
export type Finding = "replica" | "old_version" | "evicts" | "no_append_only_file";

export const FINDINGS: readonly Finding[] = ["replica", "old_version", "evicts", "no_append_only_file"];

/** One server, described. */
export interface Description {
  /** Such as `Redis 7.0.15` or `Valkey 8.1.0`. */
  readonly version: string;
  readonly role: string;
  readonly memory: string;
  readonly persistence: string;
  readonly findings: readonly Finding[];
}

const OLDEST = [6, 2] as const;

/**
 * Reads the answer to INFO. What a server does not tell is `unknown`, and is nothing to find.
 * @param info text of the server: lines of `name:value`
 */
export function describeServer(info: string): Description {
  const field = (name: string): string | undefined =>
    new RegExp(`^${name}:([\\w.+-]{1,64})\\s*$`, "m").exec(info)?.[1];
  const [valkey, redis] = [field("valkey_version"), field("redis_version")];
  const role = field("role") ?? "unknown";
  const [limit, policy = "unknown"] = [field("maxmemory"), field("maxmemory_policy")];
  const evicts = limit !== undefined && limit !== "0" && policy !== "noeviction";
  const appends = field("aof_enabled");
  const findings: Finding[] = [];
  if (role === "slave" || role === "replica") findings.push("replica");
  if (valkey === undefined && redis !== undefined && isOld(redis)) findings.push("old_version");
  if (evicts) findings.push("evicts");
  if (appends === "0") findings.push("no_append_only_file");
  return {
    version: valkey === undefined ? `Redis ${redis ?? "of unknown version"}` : `Valkey ${valkey}`,
    role: findings.includes("replica") ? "replica" : role,
    memory: limit === undefined || limit === "0" ? "no memory limit" : `maxmemory with ${policy}`,
    persistence:
      appends === "1" ? "append-only file" : appends === "0" ? "no append-only file" : "persistence unknown",
    findings,
  };
}

function isOld(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1]);
}
