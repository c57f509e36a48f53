/** A gateway for tests: a real one on port 0, with its audit records and log lines caught, and a raw client for it. */
import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { request as httpRequest } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stringify } from "yaml";
import type { AdminRecord } from "../../src/audit/admin-record.ts";
import { adminRecord } from "../../src/audit/admin-schema.ts";
import type { AuditRecord } from "../../src/audit/record.ts";
import { auditRecord } from "../../src/audit/record-schema.ts";
import { loadConfig } from "../../src/config/load.ts";
import type { ClientTimeouts } from "../../src/http/connections.ts";
import { createLog } from "../../src/log.ts";
import { type Running, start } from "../../src/start.ts";

export const VERSION = "2026-07-28";
export const PUBLIC_URL = "http://gateway.test";

export interface TestGateway extends Running {
  readonly audit: AuditRecord[];
  /** Records of the admin listener. */
  readonly deeds: AdminRecord[];
  /** Everything that was written to the log. */
  readonly logged: () => string;
  /** What the injected clock says, in milliseconds; move it at will. */
  clock: { now: number };
  /** Replaces sections of the configuration; resolves when it was taken up, or was not. */
  configure(sections: Readonly<Record<string, unknown>>): Promise<boolean>;
  /** Sends raw headers and body. */
  send(options: SendOptions): Promise<Reply>;
  /** Sends a modern request with everything in order, unless options say otherwise. */
  call(message: Message, options?: CallOptions): Promise<Reply>;
}

export interface SendOptions {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>> | readonly string[];
  readonly body?: string | Buffer;
  readonly signal?: AbortSignal;
}

export interface Message {
  readonly id?: string | number | null;
  readonly method: string;
  readonly params?: Readonly<Record<string, unknown>>;
}

export interface CallOptions {
  readonly path?: string;
  readonly token?: string;
  readonly capabilities?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly signal?: AbortSignal;
}

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
  /** The parsed body, or the last `data:` of a stream. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look wherever they like
  readonly json: any;
}

const CALM = { elicitation: { form: {} } };

/** The reserved `_meta` members of a modern request; logs are asked for. */
export function meta(capabilities: Readonly<Record<string, unknown>> = CALM): Record<string, unknown> {
  return {
    "io.modelcontextprotocol/protocolVersion": VERSION,
    "io.modelcontextprotocol/clientInfo": { name: "test", version: "0" },
    "io.modelcontextprotocol/clientCapabilities": capabilities,
    "io.modelcontextprotocol/logLevel": "debug",
  };
}

/** The headers of a modern request that mirror its body. */
export function mirrored(message: Message): Record<string, string> {
  const name = message.params?.["name"] ?? message.params?.["uri"];
  return {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": VERSION,
    "mcp-method": message.method,
    ...(typeof name === "string" && /^(tools\/call|prompts\/get|resources\/read)$/.test(message.method)
      ? { "mcp-name": name }
      : {}),
  };
}

let nextId = 1;

/**
 * Starts a gateway.
 * @param sections configuration sections that replace the defaults: anonymous, memory store, everything allowed
 */
export async function startGateway(
  upstream: string,
  sections: Readonly<Record<string, unknown>> = {},
  options: {
    readonly clock?: number;
    readonly timeouts?: ClientTimeouts;
    readonly eventLoopDelay?: () => number;
  } = {},
): Promise<TestGateway> {
  const folder = await mkdtemp(join(tmpdir(), "sealgate-test-"));
  const file = join(folder, "sealgate.yaml");
  let config: Readonly<Record<string, unknown>> = {
    version: 1,
    server: { listen: "127.0.0.1:0", publicUrl: PUBLIC_URL, allowedHosts: ["127.0.0.1", "gateway.test"] },
    authentication: { mode: "anonymous" },
    redemption: { store: "memory" },
    authorization: { default: "allow" },
    routes: [{ path: "/mcp", upstream: { url: upstream }, legacy: "refuse" }],
    ...sections,
  };
  await writeFile(file, stringify(config));
  const loaded = await loadConfig(file, process.env);
  const audit: AuditRecord[] = [];
  const deeds: AdminRecord[] = [];
  const lines: string[] = [];
  const clock = { now: options.clock ?? Date.now() };
  const running = await start(loaded, {
    log: createLog("debug", { write: (line: string) => void lines.push(line) }),
    audit: {
      write(record) {
        checkRecord(record);
        if (record.type === "audit") audit.push(record);
        else deeds.push(record);
      },
      losses: () => new Map(),
      close: async () => undefined,
    },
    now: () => clock.now,
    ...(options.timeouts === undefined ? {} : { timeouts: options.timeouts }),
    ...(options.eventLoopDelay === undefined ? {} : { eventLoopDelay: options.eventLoopDelay }),
  });
  const send = (request: SendOptions): Promise<Reply> => exchange(running.url, request);
  return {
    ...running,
    audit,
    deeds,
    logged: () => lines.join(""),
    clock,
    async configure(changed) {
      config = { ...config, ...changed };
      await writeFile(`${file}.draft`, stringify(config));
      await rename(`${file}.draft`, file);
      return running.reload();
    },
    send,
    call(message, call = {}) {
      const params = { _meta: meta(call.capabilities), ...message.params };
      const id = message.id === undefined ? nextId++ : message.id;
      const headers: Record<string, string> = { ...mirrored(message) };
      if (call.token !== undefined) headers["authorization"] = `Bearer ${call.token}`;
      for (const [name, value] of Object.entries(call.headers ?? {})) {
        if (value === undefined) delete headers[name];
        else headers[name] = value;
      }
      const body = JSON.stringify({
        jsonrpc: "2.0",
        ...(id === null ? {} : { id }),
        method: message.method,
        params,
      });
      return send({
        path: call.path ?? "/mcp",
        headers,
        body,
        ...(call.signal === undefined ? {} : { signal: call.signal }),
      });
    },
    close: async (grace) => {
      await running.close(grace);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Whatever test provokes a record proves the published schema with it. Not thrown where it is written: a request must not see it. */
export function checkRecord(record: AuditRecord | AdminRecord): void {
  const schema = record.type === "audit" ? auditRecord : adminRecord;
  const { error } = schema.safeParse(JSON.parse(JSON.stringify(record)));
  if (error === undefined) return;
  const text = `a record breaks the published schema: ${JSON.stringify(record)}\n${error.message}`;
  queueMicrotask(() => {
    throw new Error(text);
  });
}

/** One HTTP exchange with nothing added and nothing hidden. */
export function exchange(base: string, options: SendOptions): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const { method = "POST", path = "/mcp", headers = {}, body } = options;
    const request = httpRequest(
      new URL(path, base),
      {
        method,
        headers: headers as Record<string, string>,
        agent: false,
        ...(options.signal === undefined ? {} : { signal: options.signal }),
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("error", reject);
        response.on("end", () => {
          const text = Buffer.concat(chunks).toString();
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: text,
            json: parse(text),
          });
        });
      },
    );
    request.on("error", reject);
    request.end(body);
  });
}

function parse(text: string): unknown {
  const last =
    text.startsWith("event:") || text.startsWith(":")
      ? text
          .match(/^data: (.*)$/gm)
          ?.at(-1)
          ?.slice(6)
      : text;
  try {
    return JSON.parse(last ?? "");
  } catch {
    return undefined;
  }
}
