/** Processes that faults are made of: they are killed and come back at the same port, or are stopped for a while. */
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { stringify } from "yaml";
import { freePort } from "../test/support/redis.ts";

/** Ends what was started, in the reverse order. */
export interface Closers {
  teardown(run: () => unknown): void;
}

/** A process that can be killed, started again and paused. */
export class Mortal {
  readonly url: string;
  readonly #args: readonly string[];
  readonly #ready: string;
  #child: ChildProcess | undefined;

  /** @param ready what its standard output says when it serves */
  constructor(url: string, args: readonly string[], ready: string) {
    this.url = url;
    this.#args = args;
    this.#ready = ready;
  }

  /** Starts it and waits until it serves. */
  async start(): Promise<void> {
    const child = spawn(process.execPath, this.#args, { stdio: ["ignore", "pipe", "inherit"] });
    this.#child = child;
    await new Promise<void>((resolve, reject) => {
      child.once("exit", (code) => reject(new Error(`${this.#args[0]} ended with ${code}`)));
      child.stdout.on("data", (text: Buffer) => {
        if (text.includes(this.#ready)) resolve();
      });
    });
  }

  /** SIGKILL; resolves when it is gone. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGKILL");
    await gone;
  }

  pause(): void {
    this.#child?.kill("SIGSTOP");
  }

  resume(): void {
    this.#child?.kill("SIGCONT");
  }
}

/** A server with a journal, and what the journal says. */
export interface JournalServer {
  readonly process: Mortal;
  /** The states that were carried out, one for each time. */
  journal(): string[];
}

/** Starts a server; its journal outlives it. */
export async function startServer(closers: Closers, folder: string, seed: number): Promise<JournalServer> {
  const port = await freePort();
  const file = join(folder, "journal");
  writeFileSync(file, "");
  const program = fileURLToPath(new URL("server.ts", import.meta.url));
  const server = new Mortal(
    `http://127.0.0.1:${port}/mcp`,
    [program, String(port), file, String(seed)],
    "listening",
  );
  await server.start();
  closers.teardown(() => server.kill());
  return { process: server, journal: () => readFileSync(file, "utf8").split("\n").filter(Boolean) };
}

/**
 * Starts gateways that share keys and a store.
 * @param redis section `redis` of each of them
 */
export async function startGateways(
  closers: Closers,
  folder: string,
  redis: readonly Readonly<Record<string, unknown>>[],
  { upstream, epoch }: { readonly upstream: string; readonly epoch: "on" | "off" },
): Promise<Mortal[]> {
  const key = join(folder, "key");
  writeFileSync(key, randomBytes(32).toString("base64url"), { mode: 0o600 });
  const program = fileURLToPath(new URL("../src/main.ts", import.meta.url));
  const gateways: Mortal[] = [];
  for (const [index, section] of redis.entries()) {
    const port = await freePort();
    const file = join(folder, `gateway-${index}.yaml`);
    const config = {
      version: 1,
      server: {
        listen: `127.0.0.1:${port}`,
        publicUrl: "http://gateway.test",
        allowedHosts: ["127.0.0.1"],
        replicas: redis.length,
      },
      redis: section,
      redemption: { epoch },
      keys: { primary: "chaos", ring: [{ id: "chaos", secret: { file: key } }] },
      authentication: { mode: "anonymous" },
      authorization: { default: "allow" },
      routes: [{ path: "/mcp", upstream: { url: upstream, timeouts: { connect: "2s", headers: "10s" } } }],
      audit: { sinks: [] },
    };
    writeFileSync(file, stringify(config));
    const gateway = new Mortal(
      `http://127.0.0.1:${port}`,
      [program, "serve", "--config", file],
      "sealgate is listening",
    );
    await gateway.start();
    closers.teardown(() => gateway.kill());
    gateways.push(gateway);
  }
  return gateways;
}
