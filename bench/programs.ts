/**
 * The programs that are measured, each a process of its own, and the processor time it takes. Where there is `taskset`, they run on
 * the last core, and the load and the server behind on the others.
 */
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const TICKS_PER_SECOND = 100;
const STARTED_MS = 10_000;
/** The program as it is installed where it was built: from its sources Node keeps a compiler beside it. */
export const PROGRAM = existsSync(new URL("../dist/main.js", import.meta.url))
  ? "dist/main.js"
  : "src/main.ts";

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

const pinned = (cores: string | undefined, command: string, args: readonly string[]): [string, string[]] =>
  cores === undefined ? [command, [...args]] : ["taskset", ["-c", cores, command, ...args]];

/** Where a process runs: on the core of what is measured, or on those of the rest. */
export type Place = "measured" | "others";

/** Starts a script of this folder, or the program, that says its `url` on standard output. */
export async function startProcess(
  processes: ChildProcess[],
  args: readonly string[],
  place: Place = "others",
): Promise<Started> {
  const [command, all] = pinned(CORES?.[place], process.execPath, args);
  const child = spawn(command, all, {
    cwd: fileURLToPath(new URL("..", import.meta.url)),
    stdio: ["ignore", "pipe", "inherit"],
  });
  processes.push(child);
  let text = "";
  for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
    text += String(chunk);
    const url = /"url":"(http:[^"]+)"/.exec(text)?.[1];
    if (url !== undefined) {
      child.stdout.resume();
      return { url, process: child };
    }
  }
  throw new Error(`${args.join(" ")} ended before it served`);
}

/** nginx as a proxy with one worker and connections that are kept; undefined where it is not installed. */
export async function startNginx(
  processes: ChildProcess[],
  folder: string,
  upstream: URL,
): Promise<Started | undefined> {
  const port = await freePort();
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `${name}_temp_path ${folder}/nginx-${name};`,
  );
  await writeFile(
    join(folder, "nginx.conf"),
    `worker_processes 1; daemon off; pid ${folder}/nginx.pid; error_log stderr error;
${process.getuid?.() === 0 ? "user root;" : ""}
events {}
http { access_log off; client_body_buffer_size 256k; keepalive_requests 10000000; ${temporary.join(" ")}
upstream behind { server ${upstream.host}; keepalive 256; keepalive_requests 10000000; }
server { listen 127.0.0.1:${port}; location / { proxy_pass http://behind; proxy_http_version 1.1; proxy_set_header Connection ""; } } }
`,
  );
  return startOther(
    processes,
    "nginx",
    ["-e", "stderr", "-p", folder, "-c", join(folder, "nginx.conf")],
    port,
  );
}

/** haproxy with one thread and connections that are reused; undefined where it is not installed. */
export async function startHaproxy(
  processes: ChildProcess[],
  folder: string,
  upstream: URL,
): Promise<Started | undefined> {
  const port = await freePort();
  await writeFile(
    join(folder, "haproxy.cfg"),
    `global
  nbthread 1
defaults
  mode http
  timeout client 60s
  timeout server 60s
  timeout connect 5s
  http-reuse always
frontend front
  bind 127.0.0.1:${port}
  default_backend behind
backend behind
  server one ${upstream.host}
`,
  );
  return startOther(processes, "haproxy", ["-db", "-f", join(folder, "haproxy.cfg")], port);
}

async function startOther(
  processes: ChildProcess[],
  name: string,
  args: readonly string[],
  port: number,
): Promise<Started | undefined> {
  // Debian keeps them where only the administrator's PATH looks.
  const env = { ...process.env, PATH: `${process.env["PATH"]}:/usr/sbin:/sbin` };
  if (spawnSync(name, ["-v"], { env }).status !== 0) return undefined;
  const [command, all] = pinned(CORES?.measured, name, args);
  const child = spawn(command, all, { env, stdio: ["ignore", "inherit", "inherit"] });
  processes.push(child);
  const url = `http://127.0.0.1:${port}/mcp`;
  const end = performance.now() + STARTED_MS;
  while (performance.now() < end) {
    try {
      await fetch(url, { method: "HEAD" });
      return { url, process: child };
    } catch {
      await sleep(20);
    }
  }
  throw new Error(`${name} does not answer`);
}

/** User + system time of a process and its children, all their threads, in microseconds (proc(5), fields 14 and 15). */
export function cpuMicroseconds({ pid }: ChildProcess): number {
  const own = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  const ticks = Number(own[11]) + Number(own[12]);
  const below = readdirSync(`/proc/${pid}/task`)
    .flatMap((thread) => readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8").split(" "))
    .filter((child) => child !== "")
    .map((child) => cpuMicroseconds({ pid: Number(child) } as ChildProcess));
  return below.reduce((sum, one) => sum + one, (ticks * 1_000_000) / TICKS_PER_SECOND);
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
