/**
 * The programs that are measured, each a process of its own, and the processor time it takes. Where there is `taskset`, they run on
 * the last core, and the load and the server behind on the others.
 */
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:net";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const TICKS_PER_SECOND = 100;
const ENDED_MS = 5_000;
/** Debian keeps some programs where only the administrator's PATH looks. */
export const WIDE_PATH = `${process.env["PATH"]}:/usr/sbin:/sbin`;

/** The program that is measured: as it is installed where it was built from these sources; else Node keeps a compiler beside it. */
export const PROGRAM = programOf(fileURLToPath(new URL("..", import.meta.url)));

function programOf(folder: string): string {
  const [built, sources] = [join(folder, "dist/main.js"), join(folder, "src")];
  const changed = (path: string): number => statSync(path).mtimeMs;
  if (!existsSync(built)) return "src/main.ts";
  const files = readdirSync(sources, { recursive: true, encoding: "utf8" });
  return files.every((file) => changed(join(sources, file)) <= changed(built))
    ? "dist/main.js"
    : "src/main.ts";
}

/** A process that serves, with those that it started. */
export interface Started {
  readonly url: string;
  readonly process: ChildProcess;
}

/** The cores for what is measured, and for all else; undefined where nothing can be pinned. */
export const CORES: { readonly measured: string; readonly others: string } | undefined =
  availableParallelism() > 1 && spawnSync("taskset", ["-p", String(process.pid)]).status === 0
    ? { measured: String(availableParallelism() - 1), others: `0-${availableParallelism() - 2}` }
    : undefined;

/** Puts this process, which makes the load, on its cores. */
export function pinLoad(): void {
  if (CORES !== undefined) execFileSync("taskset", ["-acp", CORES.others, String(process.pid)]);
}

/** Where a process runs: on the core of what is measured, or on those of the rest. */
export type Place = "measured" | "others";

const running = new Set<ChildProcess>();
// Whatever ends this process ends what it started. nginx ends its worker where it is asked, and cannot where it is killed.
process.once("exit", () => {
  for (const child of running) child.kill("SIGTERM");
});
for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => process.exit(1));

/** Starts a program that ends with this process at the latest. It holds no pipe of this process. */
export function startProgram(command: string, args: readonly string[], place: Place): ChildProcess {
  const cores = CORES?.[place];
  const [program, ...all] =
    cores === undefined ? [command, ...args] : ["taskset", "-c", cores, command, ...args];
  const child = spawn(program ?? command, all, {
    cwd: fileURLToPath(new URL("..", import.meta.url)),
    env: { ...process.env, PATH: WIDE_PATH },
    stdio: ["ignore", "pipe", "pipe"],
  });
  running.add(child);
  child.once("exit", () => running.delete(child));
  child.stderr.on("data", (chunk: Buffer) => process.stderr.write(chunk));
  return child;
}

/** Starts a script of this folder, or the program, that says its `url` on standard output. */
export async function startServer(args: readonly string[], place: Place): Promise<Started> {
  const child = startProgram(process.execPath, args, place);
  const output = child.stdout as Readable;
  let text = "";
  for await (const chunk of output.iterator({ destroyOnReturn: false })) {
    text += String(chunk);
    const url = /"url":"(http:[^"]+)"/.exec(text)?.[1];
    if (url === undefined) continue;
    output.resume();
    return { url, process: child };
  }
  throw new Error(`${args.join(" ")} ended without an address: ${text}`);
}

/** Ends all that were started: asks them, and does not wait for ever. */
export async function endAll(): Promise<void> {
  const children = [...running];
  const ended = Promise.all(children.map((child) => once(child, "exit")));
  for (const child of children) child.kill("SIGTERM");
  await Promise.race([ended, sleep(ENDED_MS, undefined, { ref: false })]);
  for (const child of running) child.kill("SIGKILL");
}

/** User + system time of a process and its children, all their threads, in microseconds (proc(5), fields 14 and 15). */
export function cpuMicroseconds(process: ChildProcess): number {
  const ticks = familyOf(process.pid).map((pid) => {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
    return Number(fields[11]) + Number(fields[12]);
  });
  return (ticks.reduce((sum, one) => sum + one, 0) * 1_000_000) / TICKS_PER_SECOND;
}

/** Resident memory of a process and its children in KiB (proc(5), `status`); `own` is without the pages of files. */
export function memoryOf(process: ChildProcess): { readonly resident: number; readonly own: number } {
  const statuses = familyOf(process.pid).map((pid) => readFileSync(`/proc/${pid}/status`, "utf8"));
  const sum = (name: string): number =>
    statuses.reduce((kib, text) => kib + Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(text)?.[1]), 0);
  return { resident: sum("VmRSS"), own: sum("RssAnon") };
}

/** A process and those that it started. */
function familyOf(pid: number | undefined): number[] {
  if (pid === undefined) return [];
  const children = readdirSync(`/proc/${pid}/task`)
    .flatMap((thread) => readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8").split(" "))
    .filter((child) => child !== "");
  return [pid, ...children.flatMap((child) => familyOf(Number(child)))];
}

/** A port of loopback that was free a moment ago. */
export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const address = probe.address();
  probe.close();
  await once(probe, "close");
  return typeof address === "object" && address !== null ? address.port : 0;
}
