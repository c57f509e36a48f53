/** What a comparison needs: one server, and before it the gateway in some configurations, other proxies, and nothing at all. */
import { generateKeyPairSync } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stringify } from "yaml";
import { startHaproxy, startNginx } from "./other-proxies.ts";
import { endAll, type Place, PROGRAM, type Started, startServer } from "./programs.ts";
import { type OwnRedis, startRedis } from "./redis-server.ts";
import { ISSUER, tokenBy } from "./requests.ts";

/** The proxy that others are compared with. */
export const YARDSTICK = "@fastify/http-proxy";

/** Where a run keeps its files, and what it started; `end` stops and removes all of it. */
export class Setup {
  readonly folder: string;
  readonly token: string;
  readonly upstream: Started;
  #redis: Promise<OwnRedis | undefined> | undefined;

  private constructor(folder: string, token: string, upstream: Started) {
    this.folder = folder;
    this.token = token;
    this.upstream = upstream;
  }

  /** Starts the server behind. */
  static async begin(): Promise<Setup> {
    const folder = await mkdtemp(join(tmpdir(), "sealgate-bench-"));
    const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const keys = [{ ...publicKey.export({ format: "jwk" }), kid: "b", alg: "ES256", use: "sig" }];
    await writeFile(join(folder, "jwks.json"), JSON.stringify({ keys }));
    return new Setup(folder, tokenBy(privateKey), await startServer(["bench/upstream.ts"], "others"));
  }

  /**
   * A gateway with authentication, audit to a file and metrics on.
   * @param sections configuration over that; the store is memory unless they say otherwise
   */
  async gateway(
    name: string,
    sections: Readonly<Record<string, unknown>> = {},
    place: Place = "measured",
  ): Promise<Started> {
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
    return startServer([PROGRAM, "serve", "--config", file], place);
  }

  /** A gateway whose states are spent in the Redis of this run; undefined where none is installed. */
  async gatewayWithRedis(name: string, place: Place = "measured"): Promise<Started | undefined> {
    this.#redis ??= startRedis();
    const redis = await this.#redis;
    if (redis === undefined) {
      console.log("redis-server is not installed: what needs it is left out");
      return undefined;
    }
    process.env["SG_BENCH_KEY"] = "a secret of more than thirty-two bytes, for a bench";
    const sections = {
      redis: { url: `redis://127.0.0.1:${redis.port}` },
      redemption: { store: "redis" },
      keys: { primary: "k", ring: [{ id: "k", secret: { env: "SG_BENCH_KEY" } }] },
    };
    return this.gateway(name, sections, place);
  }

  /** `@fastify/http-proxy`, which reads and checks nothing. */
  httpProxy(connections?: number): Promise<Started> {
    const bound = connections === undefined ? [] : [String(connections)];
    return startServer(["bench/http-proxy.ts", this.upstream.url, ...bound], "measured");
  }

  /**
   * Proxies that read and check nothing. Those that are not installed are left out, in a line of their own.
   * @param connections how many the yardstick may hold to the server, if not its default
   */
  async others(connections?: number): Promise<{ readonly name: string; readonly proxy: Started }[]> {
    const url = new URL(this.upstream.url);
    const found = [
      { name: YARDSTICK, proxy: await this.httpProxy(connections) },
      { name: "nginx", proxy: await startNginx(this.folder, url) },
      { name: "haproxy", proxy: await startHaproxy(this.folder, url) },
    ];
    return found.flatMap(({ name, proxy }) => {
      if (proxy !== undefined) return [{ name, proxy }];
      console.log(`${name} is not installed and is left out`);
      return [];
    });
  }

  async end(): Promise<void> {
    await endAll();
    await (await this.#redis)?.stop();
    await rm(this.folder, { recursive: true, force: true });
  }
}
