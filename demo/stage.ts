/** Starts all parts in one process: issuer, server, and the gateway with config/quickstart.yaml. */
import { fileURLToPath } from "node:url";
import type { AuditRecord } from "../src/audit/record.ts";
import { loadConfig } from "../src/config/load.ts";
import type { Config } from "../src/config/schema.ts";
import { start } from "../src/start.ts";
import { type Issuer, startIssuer } from "./issuer.ts";
import { type Address, freePort } from "./ports.ts";
import { type Server, startServer } from "./server.ts";

/** What the story plays on. */
export interface Stage {
  readonly issuer: Issuer;
  readonly server: Server;
  /** The gateway's MCP endpoint, and the audience of tokens for it. */
  readonly gatewayUrl: string;
  readonly adminUrl: string | undefined;
  /** Addresses of the configuration that another process had, so that free ones were taken. */
  readonly moved: boolean;
  /** The audit record of a request; it is written a moment after the answer. */
  audit(requestId: string): Promise<AuditRecord>;
  /** Hears every audit record from now on. */
  onAudit(listener: (record: AuditRecord) => void): void;
  /** Moves the clock of gateway and issuer, in milliseconds from the true time. */
  setClock(offset: number): void;
  /** What the gateway logged as an error; empty when all is well. */
  readonly errors: readonly string[];
  close(): Promise<void>;
}

const CONFIG = fileURLToPath(new URL("../config/quickstart.yaml", import.meta.url));
const AUDIT_MS = 2_000;

/** Opens everything. @throws Error when a part cannot start; nothing is left open then */
export async function openStage(): Promise<Stage> {
  const closers: (() => Promise<void>)[] = [];
  const close = async (): Promise<void> => {
    for (const closer of closers.toReversed()) await closer();
  };
  try {
    let offset = 0;
    const now = (): number => Date.now() + offset;
    const loaded = await loadConfig(CONFIG, process.env);
    const wanted = addressesOf(loaded.config);
    const server = await startServer(wanted.server, wanted.path);
    closers.push(server.close);
    const issuer = await startIssuer(wanted.issuer, now);
    closers.push(issuer.close);
    const config = await place(loaded.config, issuer.issuer, server.url);
    const audit = collectAudit();
    const errors: string[] = [];
    const log = { info: ignore, warn: ignore, error: (_: object, message: string) => errors.push(message) };
    // Without its source: other ports than in the file must not be taken for a change of the file.
    const { source: _, ...unfollowed } = loaded;
    const running = await start({ ...unfollowed, config }, { log, now, audit });
    closers.push(() => running.close(0));
    return {
      issuer,
      server,
      gatewayUrl: `${config.server.publicUrl}${wanted.route}`,
      adminUrl: running.adminUrl,
      moved: JSON.stringify(addressesOf(config)) !== JSON.stringify(wanted),
      audit: audit.of,
      onAudit: audit.onRecord,
      setClock: (value) => {
        offset = value;
      },
      errors,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

const ignore = (): void => undefined;

interface Addresses {
  readonly server: Address;
  /** Path of the server's endpoint, and of the gateway's. */
  readonly path: string;
  readonly route: string;
  readonly issuer: Address;
  readonly gateway: Address;
  readonly admin: Address | undefined;
}

function addressesOf(config: Config): Addresses {
  const [route] = config.routes;
  const [issuer] = config.authentication.issuers;
  if (route === undefined || issuer === undefined) throw new Error(`${CONFIG} has no route or no issuer`);
  return {
    server: addressOf(route.upstream.url),
    path: new URL(route.upstream.url).pathname,
    route: route.path,
    issuer: addressOf(issuer.issuer),
    gateway: config.server.listen,
    admin: config.admin?.listen,
  };
}

function addressOf(url: string): Address {
  const { hostname, port } = new URL(url);
  return { host: hostname, port: Number(port) };
}

/** The configuration with the addresses that were really had, and with one more rule. */
async function place(config: Config, issuer: string, upstream: string): Promise<Config> {
  const { host, port: wanted } = config.server.listen;
  const port = await freePort(config.server.listen);
  const publicUrl = port === wanted ? config.server.publicUrl : `http://${host}:${port}`;
  const admin =
    config.admin === undefined
      ? undefined
      : { ...config.admin, listen: { ...config.admin.listen, port: await freePort(config.admin.listen) } };
  return {
    ...config,
    server: { ...config.server, listen: { host, port }, publicUrl },
    ...(admin === undefined ? {} : { admin }),
    envelope: { ...config.envelope, audience: publicUrl },
    authentication: {
      ...config.authentication,
      issuers: config.authentication.issuers.map((entry) => ({ ...entry, issuer })),
    },
    routes: config.routes.map((route) => ({ ...route, upstream: { ...route.upstream, url: upstream } })),
  };
}

/** An audit sink in memory. */
function collectAudit() {
  const records = new Map<string, AuditRecord>();
  const listeners: ((record: AuditRecord) => void)[] = [];
  return {
    write(record: AuditRecord): void {
      records.set(record.requestId, record);
      for (const listener of listeners) listener(record);
    },
    losses: () => new Map<string, number>(),
    close: async (): Promise<void> => undefined,
    onRecord: (listener: (record: AuditRecord) => void): void => {
      listeners.push(listener);
    },
    of: (requestId: string): Promise<AuditRecord> => {
      const known = records.get(requestId);
      if (known !== undefined) return Promise.resolve(known);
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error("no audit record was written")), AUDIT_MS);
        listeners.push((record) => {
          if (record.requestId !== requestId) return;
          clearTimeout(timer);
          resolve(record);
        });
      });
    },
  };
}
