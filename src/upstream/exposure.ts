/** Looks at start, after each change of the configuration and every minute whether a server can be reached around the gateway. */
import type { Listen } from "../config/addresses.ts";
import type { Config } from "../config/schema.ts";
import { type Log, logError } from "../log.ts";
import { endpointOf, openAround, printEndpoint, type Surroundings, THIS_MACHINE } from "./reach.ts";

const EVERY_MS = 60_000;

/** What the look needs. */
export interface ExposureSources {
  /** The routes in force. */
  readonly routes: () => Config["routes"];
  /** Where the gateway itself listens. */
  readonly own: readonly Listen[];
  readonly log: Log;
  readonly machine?: Surroundings;
  /** Calls `run` each `ms` milliseconds until what it returns is called. */
  readonly every?: (ms: number, run: () => void) => () => void;
}

/** See the file's header. */
export class Exposure {
  readonly #sources: ExposureSources;
  readonly #machine: Surroundings;
  /** Route → the open addresses as they were told, for routes of which something can be said. */
  #found: ReadonlyMap<string, string> = new Map();
  #running: Promise<void> | undefined;
  #again = false;
  #stop: (() => void) | undefined;
  #closed = false;

  constructor(sources: ExposureSources) {
    this.#sources = sources;
    this.#machine = sources.machine ?? THIS_MACHINE;
  }

  /** Route → whether its server is open around the gateway; routes of which nothing can be said are left out. */
  exposed(): ReadonlyMap<string, boolean> {
    return new Map([...this.#found].map(([path, open]) => [path, open !== ""]));
  }

  /** Looks, and goes on doing so. */
  start(): void {
    this.#stop = (this.#sources.every ?? everyTime)(EVERY_MS, () => void this.look());
    void this.look();
  }

  /** Looks now, or once more after the look that is under way. Never rejects. */
  look(): Promise<void> {
    this.#again = true;
    this.#running ??= this.#looks().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  /** Waits for the connections that are being tried. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#stop?.();
    await this.#running;
  }

  async #looks(): Promise<void> {
    while (this.#again && !this.#closed) {
      this.#again = false;
      await this.#once().catch((error: unknown) => {
        this.#sources.log.warn({ err: logError(error) }, "the servers could not be looked at from outside");
      });
    }
  }

  async #once(): Promise<void> {
    const { routes, own, log } = this.#sources;
    const found = new Map<string, string>();
    for (const { path, upstream } of routes()) {
      if (upstream.reachCheck === "off" || this.#closed) continue;
      const { port } = endpointOf(upstream.url);
      const open = await openAround(upstream.url, own, this.#machine);
      if (open === undefined) continue;
      const at = open.map((address) => printEndpoint(address, port));
      found.set(path, at.join(", "));
      const before = this.#found.get(path) ?? "";
      if (at.join(", ") === before) continue;
      if (at.length > 0) log.warn({ route: path, addresses: at }, EXPOSED);
      else log.info({ route: path }, "the server does not answer around the gateway any more");
    }
    this.#found = found;
  }
}

const EXPOSED =
  "the server's port answers at other addresses than loopback, so it can be used around the gateway: bind the server to 127.0.0.1, or close the port to all but the gateway (NetworkPolicy, firewall) and set reachCheck: off on its upstream";

function everyTime(ms: number, run: () => void): () => void {
  const timer = setInterval(run, ms).unref();
  return () => clearInterval(timer);
}
