/** The real nginx, with blocks of a page as its configuration. */
import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { program } from "./debian.ts";
import { freePort } from "./redis.ts";

interface Teardown {
  teardown(run: () => unknown): void;
}

/**
 * Starts nginx in a folder of its own; it ends with the test.
 * @param blocks what stands in `http`, for a port
 * @returns the port
 */
export async function startNginx(t: Teardown, blocks: (port: number) => string): Promise<number> {
  const binary = await program("nginx", { debian: "nginx-light", alpine: "nginx" });
  const folder = await mkdtemp(join(tmpdir(), "sealgate-nginx-"));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  for (let tries = 0; tries < 5; tries++) {
    const port = await freePort();
    const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
      (name) => `${name}_temp_path ${folder}/${name};`,
    );
    const text = `worker_processes 1; daemon off; pid ${folder}/pid; error_log stderr notice;
${process.getuid?.() === 0 ? "user root;" : ""}
events {}
http { access_log off; ${temporary.join(" ")}
${blocks(port)}}
`;
    await writeFile(join(folder, "nginx.conf"), text);
    if (await runNginx(t, binary, folder)) return port;
  }
  throw new Error("nginx did not start in five tries");
}

/** Whether it runs; false when its port was taken in between. */
async function runNginx(t: Teardown, binary: string, folder: string): Promise<boolean> {
  const child = spawn(binary, ["-e", "stderr", "-p", folder, "-c", join(folder, "nginx.conf")], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  const ended = new Promise<false>((resolve) => child.once("close", () => resolve(false)));
  const started = new Promise<true>((resolve) => {
    child.stderr.on("data", (piece: Buffer) => {
      said += piece.toString();
      if (said.includes("start worker process ")) resolve(true);
    });
  });
  t.teardown(async () => {
    // At once, with its workers; SIGKILL would leave them.
    child.kill("SIGTERM");
    await ended;
  });
  if (await Promise.race([started, ended])) return true;
  if (said.includes("Address already in use")) return false;
  throw new Error(said);
}
