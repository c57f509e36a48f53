/** Runs the official suite for servers as its own process, and reads what it wrote. */
import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const { resolve: find } = createRequire(import.meta.url);

/** The revision that the suite is asked for. */
export const REVISION = "2026-07-28";

/** What a check came to, in the suite's words. */
export type Status = "SUCCESS" | "FAILURE" | "WARNING" | "SKIPPED" | "INFO";

/** All checks of one run: `scenario: check` → what it came to. Checks that a scenario makes several times are numbered. */
export type Results = ReadonlyMap<string, Status>;

/** Name and version of a package that takes part. */
export async function versionOf(name: string): Promise<string> {
  const text = await readFile(new URL(`../node_modules/${name}/package.json`, import.meta.url), "utf8");
  return `${name} ${(JSON.parse(text) as { version: string }).version}`;
}

/**
 * Runs every scenario of the suite that there is for the revision, or one.
 * @param url of the server under test
 * @throws Error when the suite wrote no results
 */
export async function runSuite(url: string, scenario?: string): Promise<Results> {
  const folder = await mkdtemp(join(tmpdir(), "sealgate-conformance-"));
  try {
    const program = find("@modelcontextprotocol/conformance/dist/index.js");
    const which = scenario === undefined ? ["--suite", "all"] : ["--scenario", scenario];
    const options = ["--url", url, ...which, "--spec-version", REVISION, "--output-dir", folder];
    // Its exit status says that some check failed, which the results say too.
    await run(process.execPath, [program, "server", ...options], { maxBuffer: 64 * 1024 * 1024 }).catch(
      (error: { code?: unknown }) => {
        if (error.code !== 1) throw error;
      },
    );
    return await readResults(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function readResults(folder: string): Promise<Results> {
  const results = new Map<string, Status>();
  for (const name of (await readdir(folder)).sort()) {
    // `server-SCENARIO-TIME`
    const scenario = /^server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z$/.exec(name)?.[1];
    if (scenario === undefined) throw new Error(`the suite has written ${JSON.stringify(name)}`);
    const text = await readFile(join(folder, name, "checks.json"), "utf8");
    for (const { id, status } of JSON.parse(text) as { id: string; status: Status }[]) {
      let key = `${scenario}: ${id}`;
      for (let again = 2; results.has(key); again += 1) key = `${scenario}: ${id} (${again})`;
      results.set(key, status);
    }
  }
  if (results.size === 0) throw new Error("the suite has checked nothing");
  return results;
}
