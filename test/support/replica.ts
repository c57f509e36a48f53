/** A gateway whose configuration can be changed while it runs: it has a folder of its own, as on a machine of its own. */
import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { stringify } from "yaml";
import type { AuditRecord } from "../../src/audit/record.ts";
import { loadConfig } from "../../src/config/load.ts";
import { createLog } from "../../src/log.ts";
import { type Running, start } from "../../src/start.ts";
import { checkRecord, exchange, type Message, mirrored, PUBLIC_URL, type Reply } from "./gateway.ts";

/** A key as /metrics shows it. */
export interface ShownKey {
  readonly id: string;
  readonly keyId: string;
  readonly seals: boolean;
}

export interface Replica extends Running {
  readonly folder: string;
  /** The configuration file. */
  readonly file: string;
  readonly audit: AuditRecord[];
  readonly clock: { now: number };
  /** Lines of the log with this message, oldest first. */
  lines(message: string): Readonly<Record<string, unknown>>[];
  /** Replaces sections of the configuration; the file takes the place of the one before at once. */
  configure(sections: Readonly<Record<string, unknown>>): Promise<void>;
  /** Writes a file into the folder, whole at once. */
  put(name: string, text: string): Promise<void>;
  /** Sends a message with a body as written. */
  send(message: Message, body: string): Promise<Reply>;
  /** The value of a metric without labels. */
  metric(name: string): Promise<number>;
  /** The ring in force, as /metrics shows it. */
  ring(): Promise<ShownKey[]>;
}

/**
 * Starts a gateway from a folder; both end with the test.
 * @param files what stands in the folder, `keys/a` for a file in a folder in it
 */
export async function startReplica(
  t: { teardown(run: () => unknown): void },
  sections: Readonly<Record<string, unknown>>,
  files: Readonly<Record<string, string>> = {},
): Promise<Replica> {
  const folder = await mkdtemp(join(tmpdir(), "sealgate-replica-"));
  const file = join(folder, "sealgate.yaml");
  const put = async (name: string, text: string): Promise<void> => {
    const path = join(folder, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(join(dirname(path), ".draft"), text, { mode: 0o600 });
    await rename(join(dirname(path), ".draft"), path);
  };
  for (const [name, text] of Object.entries(files)) await put(name, text);
  let config: Readonly<Record<string, unknown>> = {
    version: 1,
    server: { listen: "127.0.0.1:0", publicUrl: PUBLIC_URL, allowedHosts: ["127.0.0.1"] },
    admin: { listen: "127.0.0.1:0" },
    authentication: { mode: "anonymous" },
    authorization: { default: "allow" },
    ...sections,
  };
  await put("sealgate.yaml", stringify(config));
  const audit: AuditRecord[] = [];
  const log: Readonly<Record<string, unknown>>[] = [];
  const clock = { now: Date.now() };
  const running = await start(await loadConfig(file, process.env), {
    log: createLog("debug", { write: (line: string) => void log.push(JSON.parse(line)) }),
    audit: {
      write(record) {
        checkRecord(record);
        if (record.type === "audit") audit.push(record);
      },
      losses: () => new Map(),
      close: async () => undefined,
    },
    now: () => clock.now,
  });
  t.teardown(async () => {
    await running.close(0);
    await rm(folder, { recursive: true, force: true });
  });
  const scrape = async (): Promise<string> =>
    (await exchange(running.adminUrl ?? "", { path: "/metrics", method: "GET" })).body;
  return {
    ...running,
    folder,
    file,
    audit,
    clock,
    put,
    lines: (message) => log.filter(({ msg }) => msg === message),
    async configure(changed) {
      config = { ...config, ...changed };
      await put("sealgate.yaml", stringify(config));
    },
    send: (message, body) => exchange(running.url, { headers: mirrored(message), body }),
    async metric(name) {
      return Number(new RegExp(`^${name} (\\S+)$`, "m").exec(await scrape())?.[1] ?? "NaN");
    },
    async ring() {
      const samples = (await scrape()).matchAll(/^sealgate_keys\{id="([^"]+)",key_id="([^"]+)"\} (\d)$/gm);
      return [...samples].map(([, id = "", keyId = "", value]) => ({ id, keyId, seals: value === "1" }));
    },
  };
}
