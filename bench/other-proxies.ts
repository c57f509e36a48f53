/** nginx and haproxy as plain proxies with one worker, where they are installed (Debian: `apt-get install nginx-light haproxy`). */
import { spawnSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort, type Started, startProgram, WIDE_PATH } from "./programs.ts";

const STARTED_MS = 10_000;
/** nginx as a proxy with one worker and connections that are kept; undefined where it is not installed. */
export async function startNginx(folder: string, upstream: URL): Promise<Started | undefined> {
  const port = await freePort();
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `${name}_temp_path ${folder}/nginx-${name};`,
  );
  await writeFile(
    join(folder, "nginx.conf"),
    `worker_processes 1; daemon off; pid ${folder}/nginx.pid; error_log stderr error;
${process.getuid?.() === 0 ? "user root;" : ""}
events { worker_connections 16384; }
http { access_log off; client_body_buffer_size 256k; keepalive_requests 10000000; ${temporary.join(" ")}
upstream behind { server ${upstream.host}; keepalive 256; keepalive_requests 10000000; }
server { listen 127.0.0.1:${port}; location / { proxy_pass http://behind; proxy_http_version 1.1; proxy_set_header Connection ""; } } }
`,
  );
  return startOther("nginx", ["-e", "stderr", "-p", folder, "-c", join(folder, "nginx.conf")], port);
}

/** haproxy with one thread and connections that are reused; undefined where it is not installed. */
export async function startHaproxy(folder: string, upstream: URL): Promise<Started | undefined> {
  const port = await freePort();
  await writeFile(
    join(folder, "haproxy.cfg"),
    `global
  nbthread 1
  maxconn 8000
defaults
  mode http
  timeout client 1h
  timeout server 1h
  timeout connect 5s
  http-reuse always
  # Or it keeps the first event of a stream back for a fifth of a second.
  option http-no-delay
frontend front
  bind 127.0.0.1:${port}
  default_backend behind
backend behind
  server one ${upstream.host}
`,
  );
  return startOther("haproxy", ["-db", "-f", join(folder, "haproxy.cfg")], port);
}

async function startOther(name: string, args: readonly string[], port: number): Promise<Started | undefined> {
  if (spawnSync(name, ["-v"], { env: { ...process.env, PATH: WIDE_PATH } }).status !== 0) return undefined;
  const child = startProgram(name, args, "measured");
  child.stdout?.resume();
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
