import t from "tap";
import { describeServer } from "../../../src/redis/description.ts";

const INFO = [
  "# Server",
  "redis_version:7.0.15",
  "# Memory",
  "maxmemory:0",
  "maxmemory_policy:noeviction",
  "# Persistence",
  "aof_enabled:1",
  "# Replication",
  "role:master",
  "",
].join("\r\n");

const changed = (from: string, to: string) => describeServer(INFO.replace(from, to));

t.test("a server as it should be", async (t) => {
  t.same(describeServer(INFO), {
    version: "Redis 7.0.15",
    role: "master",
    memory: "no memory limit",
    persistence: "append-only file",
    findings: [],
  });
});

t.test("what an operator should know", async (t) => {
  for (const [from, to, findings] of [
    ["role:master", "role:slave", ["replica"]],
    ["redis_version:7.0.15", "redis_version:6.0.16", ["old_version"]],
    ["redis_version:7.0.15", "redis_version:6.2.0", []],
    ["redis_version:7.0.15", "redis_version:10.0.1", []],
    // Valkey calls itself Redis 7.2.4 for clients of old, and has a version of its own.
    ["redis_version:7.0.15", "redis_version:7.2.4\r\nserver_name:valkey\r\nvalkey_version:8.1.0", []],
    ["maxmemory:0", "maxmemory:1048576", []],
    [
      "maxmemory:0\r\nmaxmemory_policy:noeviction",
      "maxmemory:9\r\nmaxmemory_policy:volatile-lru",
      ["evicts"],
    ],
    ["maxmemory_policy:noeviction", "maxmemory_policy:volatile-lru", []],
    ["aof_enabled:1", "aof_enabled:0", ["no_append_only_file"]],
  ] as const)
    t.same(changed(from, to).findings, findings, to);
  t.equal(
    changed("redis_version:7.0.15", "redis_version:7.2.4\r\nvalkey_version:8.1.0").version,
    "Valkey 8.1.0",
  );
});

t.test("a server that says little is nothing to find", async (t) => {
  for (const info of ["", "role:", "redis_version:\x1b[31m\r\n", "maxmemory_policy:volatile-lru"]) {
    const { findings, ...texts } = describeServer(info);
    t.same(findings, [], info);
    t.match(JSON.stringify(texts), /unknown/);
    t.notOk(Object.values(texts).join().includes("\x1b"), "nothing of it gets into a log");
  }
});
