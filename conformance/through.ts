/** A gateway in front of the server under test, and proof that it is the gateway that answers. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stringify } from "yaml";
import type { AuditRecord } from "../src/audit/record.ts";
import { loadConfig } from "../src/config/load.ts";
import { createLog } from "../src/log.ts";
import { start } from "../src/start.ts";

/** A gateway for one run. */
export interface Through {
  readonly url: string;
  /** Requests that went through it so far. */
  readonly requests: () => number;
  close(): Promise<void>;
}

/** Starts a gateway as a configuration that says no more than it has to; `roundTrip` is laid over. */
export async function startThrough(
  upstream: string,
  roundTrip: Readonly<Record<string, unknown>> = {},
): Promise<Through> {
  const folder = await mkdtemp(join(tmpdir(), "sealgate-conformance-"));
  try {
    const file = join(folder, "sealgate.yaml");
    const configuration = {
      version: 1,
      server: { listen: "127.0.0.1:0", publicUrl: "http://localhost" },
      authentication: { mode: "anonymous" },
      authorization: { default: "allow" },
      roundTrip,
      routes: [{ path: "/mcp", upstream: { url: upstream } }],
    };
    await writeFile(file, stringify(configuration));
    const records: AuditRecord[] = [];
    const running = await start(await loadConfig(file, process.env), {
      log: createLog("error", { write: (line: string) => void process.stderr.write(line) }),
      audit: {
        write: (record) => void (record.type === "audit" && records.push(record)),
        losses: () => new Map(),
        close: async () => undefined,
      },
    });
    return {
      url: `${running.url}/mcp`,
      requests: () => records.length,
      close: async () => {
        await running.close(0);
        await rm(folder, { recursive: true, force: true });
      },
    };
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

/**
 * Makes sure that a gateway answers at `url`: a state that it never sealed gets the gateway's own refusal. A suite that runs into a
 * closed port, or past the gateway, would pass many checks all the same.
 * @throws Error if something else answers, or nothing
 */
export async function proveGateway(url: string): Promise<void> {
  const response = await fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/call",
      "mcp-name": "test_simple_text",
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: "proof",
      method: "tools/call",
      params: {
        name: "test_simple_text",
        arguments: {},
        requestState: "sg1.never-sealed",
        _meta: {
          "io.modelcontextprotocol/protocolVersion": "2026-07-28",
          "io.modelcontextprotocol/clientCapabilities": {},
        },
      },
    }),
  });
  const body = (await response.json()) as { error?: { data?: { reason?: string } } };
  if (body.error?.data?.reason !== "invalid_request_state" || !response.headers.has("x-request-id"))
    throw new Error(`no gateway answers at ${url}`);
}
