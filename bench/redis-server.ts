/** A Redis server of one's own, on loopback, without persistence. */
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import { freePort, startProgram } from "./programs.ts";

/** A running server. */
export interface OwnRedis {
  readonly port: number;
  readonly version: string;
  readonly admin: Redis;
  stop(): Promise<void>;
}

/** Starts one; undefined where `redis-server` is not installed. */
export async function startRedis(): Promise<OwnRedis | undefined> {
  if (spawnSync("redis-server", ["--version"]).status !== 0) return undefined;
  const dir = await mkdtemp(join(tmpdir(), "sealgate-bench-"));
  const port = await freePort();
  const place = ["--port", String(port), "--bind", "127.0.0.1", "--dir", dir];
  const child = startProgram("redis-server", [...place, "--save", "", "--appendonly", "no"], "others");
  child.stdout?.resume();
  const admin = new Redis({ port, host: "127.0.0.1" });
  // It is not there yet at the first tries.
  admin.on("error", () => undefined);
  const version = /redis_version:(\S+)/.exec(await admin.info("server"))?.[1] ?? "unknown";
  return {
    port,
    version,
    admin,
    async stop() {
      admin.disconnect();
      if (child.exitCode === null && child.signalCode === null) {
        child.kill("SIGKILL");
        await once(child, "exit");
      }
      await rm(dir, { recursive: true, force: true });
    },
  };
}
