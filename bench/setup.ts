/** What a comparison needs: one server, and before it the gateway in some configurations, other proxies, and nothing at all. */
import type { ChildProcess } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stringify } from "yaml";
import { PROGRAM, type Started, startHaproxy, startNginx, startProcess } from "./programs.ts";
import { startRedis } from "./redis-server.ts";
import { ISSUER, tokenBy } from "./requests.ts";

/** Where a run keeps its files, and what it started; `end` stops and removes all of it. */
export class Setup {
  readonly folder: string;
  readonly processes: ChildProcess[] = [];
  readonly token: string;
  readonly #ends: (() => Promise<void>)[] = [];
  upstream!: Started;

  private constructor(folder: string, token: string) {
    this.folder = folder;
    this.token = token;
  }

  /** Starts the server behind. */
  static async begin(): Promise<Setup> {
    const folder = await mkdtemp(join(tmpdir(), "sealgate-bench-"));
    const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const keys = [{ ...publicKey.export({ format: "jwk" }), kid: "b", alg: "ES256", use: "sig" }];
    await writeFile(join(folder, "jwks.json"), JSON.stringify({ keys }));
    const setup = new Setup(folder, tokenBy(privateKey));
    setup.upstream = await startProcess(setup.processes, ["bench/upstream.ts"]);
    return setup;
  }

  /**
   * A gateway with authentication, audit to a file and metrics on.
   * @param sections configuration over that; the store is memory unless they say otherwise
   */
  async gateway(name: string, sections: Readonly<Record<string, unknown>> = {}): Promise<Started> {
    const file = join(this.folder, `${name}.yaml`);
    const config = {
      version: 1,
      server: { listen: "127.0.0.1:0", publicUrl: "http://127.0.0.1:8080" },
      admin: { listen: "127.0.0.1:0" },
      authentication: { issuers: [{ issuer: ISSUER, jwks: { file: join(this.folder, "jwks.json") } }] },
      redemption: { store: "memory" },
      authorization: { default: "allow" },
      audit: { sinks: [{ type: "file", path: join(this.folder, `${name}.audit`) }] },
      routes: [{ path: "/mcp", upstream: { url: this.upstream.url } }],
      ...sections,
    };
    await writeFile(file, stringify(config));
    return startProcess(this.processes, [PROGRAM, "serve", "--config", file], "measured");
  }

  /** A gateway whose states are spent in a Redis of its own; undefined where none is installed. */
  async gatewayWithRedis(): Promise<Started | undefined> {
    const redis = await startRedis();
    if (redis === undefined) return undefined;
    this.#ends.push(() => redis.stop());
    process.env["SG_BENCH_KEY"] = "a secret of more than thirty-two bytes, for a bench";
    return this.gateway("redis", {
      redis: { url: `redis://127.0.0.1:${redis.port}` },
      redemption: { store: "redis" },
      keys: { primary: "k", ring: [{ id: "k", secret: { env: "SG_BENCH_KEY" } }] },
    });
  }

  /** `@fastify/http-proxy`, which reads and checks nothing. */
  httpProxy(connections?: number): Promise<Started> {
    const bound = connections === undefined ? [] : [String(connections)];
    return startProcess(this.processes, ["bench/http-proxy.ts", this.upstream.url, ...bound], "measured");
  }

  /** Proxies that read and check nothing. Those that are not installed are left out, in a line of their own. */
  async others(): Promise<{ readonly name: string; readonly proxy: Started }[]> {
    const url = new URL(this.upstream.url);
    const found = [
      { name: "@fastify/http-proxy", proxy: await this.httpProxy() },
      { name: "nginx", proxy: await startNginx(this.processes, this.folder, url) },
      { name: "haproxy", proxy: await startHaproxy(this.processes, this.folder, url) },
    ];
    return found.flatMap(({ name, proxy }) => {
      if (proxy !== undefined) return [{ name, proxy }];
      console.log(`${name} is not installed and is left out`);
      return [];
    });
  }

  async end(): Promise<void> {
    for (const child of this.processes) child.kill("SIGTERM");
    for (const end of this.#ends) await end();
    for (const child of this.processes) child.kill("SIGKILL");
    await rm(this.folder, { recursive: true, force: true });
  }
}
