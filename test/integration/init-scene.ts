/** What the tests of `sealgate init` share: the program as people start it, and servers that say what a test wants. */
import { existsSync, readdirSync } from "node:fs";
import { init } from "../../src/commands/init.ts";
import { readInitOptions } from "../../src/commands/init-options.ts";
import type { Outcome } from "../support/program.ts";
import { result, type Script, startUpstream, type TestUpstream } from "../support/upstream.ts";

/**
 * The command alone, in this process.
 * @param given its options, without dashes
 */
export async function runInit(given: Readonly<Record<string, string>>): Promise<Outcome> {
  let [out, err] = ["", ""];
  const code = await init(readInitOptions(new Map(Object.entries(given))), {
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
  });
  return { code, out, err };
}

/** Everything in a folder, hidden files too; none where there is no folder. */
export const tree = (folder: string): string[] =>
  existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: "utf8" }).sort() : [];

/** Pages of a list: what `tools` and its like hold, each page once. */
export type Pages = readonly (readonly unknown[])[];

/** What `server/discover` says. */
export const DISCOVERED = {
  resultType: "complete",
  supportedVersions: ["2026-07-28"],
  capabilities: { tools: {}, prompts: {}, resources: {}, completions: {} },
  serverInfo: { name: "scripted", version: "1" },
  ttlMs: 0,
  cacheScope: "private",
};

/** A server that answers `server/discover` and its lists, page by page. The cursor of a page is its number. */
export function listing(lists: Readonly<Record<string, Pages>>): Script {
  return (arrived, response) => {
    const method = String(arrived.json?.method);
    if (method === "server/discover") return result(arrived, response, JSON.stringify(DISCOVERED));
    const pages = lists[method];
    if (pages === undefined) {
      response.writeHead(404, { "content-type": "application/json" });
      const error = { code: -32601, message: "Method not found" };
      response.end(JSON.stringify({ jsonrpc: "2.0", id: arrived.json?.id, error }));
      return;
    }
    const page = Number(arrived.json.params.cursor ?? "0");
    const member = { "resources/templates/list": "resourceTemplates" }[method] ?? method.split("/")[0] ?? "";
    const more = page + 1 < pages.length ? { nextCursor: String(page + 1) } : {};
    const body = { resultType: "complete", [member]: pages[page], ttlMs: 0, cacheScope: "private", ...more };
    result(arrived, response, JSON.stringify(body));
  };
}

/** A server for one test. */
export async function serverFor(
  t: { teardown(run: () => unknown): void },
  script: Script,
): Promise<TestUpstream> {
  const server = await startUpstream(script);
  t.teardown(() => server.close());
  return server;
}
