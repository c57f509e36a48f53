/**
 * Real Redis servers for tests. `REDIS_URL` where any server does; a server of one's own where the test stops, floods
 * or flushes it. Servers listen on loopback, keep nothing on disk unless told to, and end with the test.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Redis } from "ioredis";
import { program } from "./debian.ts";

/** A node of a Cluster talks to the others on a port that is 10000 higher. */
const HIGHEST_PORT = 55_535;

/** What is needed of a tap test. */
export interface Teardown {
  teardown(run: () => unknown): void;
}

/** How a test itself gets in where a server is not open to all. */
export interface OwnAccess {
  readonly username?: string;
  readonly password?: string;
  readonly tls?: { readonly ca: Buffer };
}

/** A Redis to share with strangers: use only keys under the prefix, never flush. */
export interface AnyRedis {
  readonly url: string;
  readonly keyPrefix: string;
}

/** A Redis server of one's own. */
export interface OwnRedis {
  readonly url: string;
  readonly port: number;
  /** Its working folder. */
  readonly dir: string;
  /** Sends one command, as in `redis-cli`. */
  command(...args: string[]): Promise<unknown>;
  /** Starts it again on the same port; with arguments, with those in place of the first ones. */
  start(args?: readonly string[]): Promise<void>;
  /** Ends it, by SIGTERM unless told otherwise, and waits for its end. */
  stop(signal?: NodeJS.Signals): Promise<void>;
  /** SIGSTOP: it still accepts connections, by the kernel, and never answers. */
  pause(): void;
  resume(): void;
}

/** A Redis for tests that work on any server: `REDIS_URL`, or else one of one's own. Keys get a random prefix. */
export async function anyRedis(t: Teardown): Promise<AnyRedis> {
  const keyPrefix = `sgtest:${randomBytes(6).toString("hex")}:`;
  const given = process.env["REDIS_URL"];
  if (given !== undefined && given !== "") return { url: given, keyPrefix };
  return { url: (await ownRedis(t)).url, keyPrefix };
}

/**
 * A running server, stopped at teardown.
 * @param args go on its command line; a function gets the port, too
 * @param access what `command` needs to get in, if it is not open to all
 */
export async function ownRedis(
  t: Teardown,
  args: readonly string[] | ((port: number) => readonly string[]) = [],
  access: OwnAccess = {},
): Promise<OwnRedis> {
  const binary = await redisServer();
  const dir = await mkdtemp(join(tmpdir(), "sealgate-redis-"));
  let child: ChildProcess | undefined;
  let current: readonly string[] = [];
  const port = await firstStart();

  async function firstStart(): Promise<number> {
    // A free port can be taken by another test file before the server has it.
    for (let tries = 0; tries < 5; tries++) {
      const free = await freePort(HIGHEST_PORT);
      current = typeof args === "function" ? args(free) : args;
      child = await launch(binary, dir, free, current);
      if (child !== undefined) return free;
    }
    throw new Error("redis-server did not start in five tries");
  }

  async function stop(signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
    const running = child;
    child = undefined;
    if (running === undefined || running.exitCode !== null || running.signalCode !== null) return;
    const exited = new Promise((resolve) => running.once("exit", resolve));
    running.kill(signal);
    running.kill("SIGCONT");
    await exited;
  }

  t.teardown(async () => {
    await stop("SIGKILL");
    await rm(dir, { recursive: true, force: true });
  });
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    dir,
    stop,
    async start(changed = current) {
      current = changed;
      child = await launch(binary, dir, port, current);
      if (child === undefined) throw new Error("redis-server did not start again");
    },
    async command(...[name = "PING", ...rest]) {
      const place = { host: "127.0.0.1", port, ...access };
      const client = new Redis({ ...place, lazyConnect: true, retryStrategy: null });
      client.on("error", () => undefined);
      try {
        await client.connect();
        return await client.call(name, ...rest);
      } finally {
        client.disconnect();
      }
    },
    pause: () => void child?.kill("SIGSTOP"),
    resume: () => void child?.kill("SIGCONT"),
  };
}

/** Undefined if the port was taken; throws on any other failure. Ready when it resolves. */
async function launch(
  binary: string,
  dir: string,
  port: number,
  args: readonly string[],
): Promise<ChildProcess | undefined> {
  const sentinel = args.includes("--sentinel");
  const base = sentinel
    ? ["--port", String(port), "--bind", "127.0.0.1", "--dir", dir]
    : [
        ...["--port", String(port), "--bind", "127.0.0.1", "--dir", dir],
        ...["--save", "", "--appendonly", "no"],
        // Else a master waits five seconds for further replicas before it sends anything to the first.
        ...["--repl-diskless-sync-delay", "0"],
      ];
  // A Sentinel writes what it learns into the file that it is started with.
  const file = join(dir, "sentinel.conf");
  if (sentinel) await writeFile(file, "", { flag: "a" });
  const child = spawn(binary, [...(sentinel ? [file] : []), ...base, ...args], {
    // Nothing of the test's own: a server that outlives it would keep its output open for whoever reads that.
    stdio: ["ignore", "pipe", "ignore"],
  });
  const orphan = () => void child.kill("SIGKILL");
  process.once("exit", orphan);
  child.once("exit", () => process.removeListener("exit", orphan));
  const lines: string[] = [];
  // Read to the end of its life: a full pipe would stop the server.
  const output = createInterface({ input: child.stdout });
  const ready = await new Promise<boolean>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", () => resolve(false));
    output.on("line", (line) => {
      lines.push(line);
      if (/Ready to accept connections|Sentinel ID is/.test(line)) resolve(true);
    });
  });
  if (ready) return child;
  if (lines.some((line) => line.includes("Address already in use"))) return undefined;
  throw new Error(`redis-server ended at once: ${lines.slice(-3).join(" | ")}`);
}

/** A TCP port of loopback that was free a moment ago, not above `highest`. */
export async function freePort(highest = 65_535): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port > highest ? await freePort(highest) : address.port;
}

/** The server's program, also for Sentinel and Cluster: `REDIS_SERVER`, such as that of Valkey, or else the system's. 6.2 or later. */
export async function redisServer(): Promise<string> {
  const given = process.env["REDIS_SERVER"];
  if (given !== undefined && given !== "") return given;
  return await program("redis-server", { debian: "redis-server", alpine: "redis" });
}
