/** The program itself for tests: `serve --config` in a process of its own, on port 0. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { stringify } from "yaml";
import { PUBLIC_URL } from "./gateway.ts";

const MAIN = fileURLToPath(new URL("../../src/main.ts", import.meta.url));

/** A line of standard output: log or audit. */
export type OutputLine = Readonly<Record<string, unknown>>;

/** A gateway process that listens. */
export interface GatewayProcess {
  readonly url: string;
  readonly pid: number;
  readonly adminUrl: string | undefined;
  readonly lines: readonly OutputLine[];
  /** The first line that fits, past or to come. */
  line(fits: (line: OutputLine) => boolean): Promise<OutputLine>;
  kill(signal: NodeJS.Signals): void;
  /** How it ended: exit code or signal. */
  readonly ended: Promise<number | NodeJS.Signals | null>;
}

/**
 * Starts the program with a configuration of its own and waits until it listens; it is killed at teardown if it still runs.
 * @param sections configuration sections, added to loopback on port 0, anonymous, everything allowed
 */
export async function startProcess(
  t: { teardown(run: () => unknown): void },
  sections: Readonly<Record<string, unknown>>,
  server: Readonly<Record<string, unknown>> = {},
): Promise<GatewayProcess> {
  const folder = await mkdtemp(join(tmpdir(), "sealgate-process-"));
  const file = join(folder, "sealgate.yaml");
  const config = {
    version: 1,
    server: { listen: "127.0.0.1:0", publicUrl: PUBLIC_URL, allowedHosts: ["127.0.0.1"], ...server },
    authentication: { mode: "anonymous" },
    authorization: { default: "allow" },
    ...sections,
  };
  await writeFile(file, stringify(config));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  return runProcess(t, file);
}

/**
 * Starts the program with a configuration file and waits until it listens; it is killed at teardown if it still runs.
 * @param cwd the folder it runs in, for a `file` that is relative
 */
export async function runProcess(
  t: { teardown(run: () => unknown): void },
  file: string,
  cwd = process.cwd(),
): Promise<GatewayProcess> {
  const child = spawn(process.execPath, [MAIN, "serve", "--config", file], {
    cwd,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = new Promise<number | NodeJS.Signals | null>((resolve) => {
    child.once("close", (code, signal) => resolve(code ?? signal));
  });
  t.teardown(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  const { lines, line } = readLines(child);
  const listening = await line(({ msg }) => msg === "sealgate is listening");
  return {
    url: String(listening["url"]),
    pid: child.pid ?? 0,
    adminUrl: typeof listening["admin"] === "string" ? listening["admin"] : undefined,
    lines,
    line,
    kill: (signal) => void child.kill(signal),
    ended,
  };
}

function readLines(child: ChildProcess): Pick<GatewayProcess, "lines" | "line"> {
  const lines: OutputLine[] = [];
  const waiting = new Set<(line: OutputLine) => void>();
  let errors = "";
  child.stderr?.on("data", (piece: Buffer) => {
    errors += piece.toString();
  });
  if (child.stdout === null) throw new Error("no standard output");
  createInterface({ input: child.stdout }).on("line", (text) => {
    const line = JSON.parse(text) as OutputLine;
    lines.push(line);
    for (const take of waiting) take(line);
  });
  return {
    lines,
    line: (fits) =>
      new Promise((resolve, reject) => {
        const found = lines.find(fits);
        if (found !== undefined) return resolve(found);
        const take = (line: OutputLine): void => {
          if (!fits(line)) return;
          waiting.delete(take);
          resolve(line);
        };
        waiting.add(take);
        child.once("close", (code) => reject(new Error(`ended with ${code}: ${errors}`)));
      }),
  };
}
