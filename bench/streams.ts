/**
 * What an open stream costs in memory, and what a call costs beside many of them. Resident memory of the gateway's process as the
 * system counts it (proc(5), VmRSS); nobody collects garbage for the occasion.
 */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Pool } from "undici";
import { configText, cpuMicroseconds, META, plainCall, startProcess } from "./gateway.ts";

const STREAMS = 1_000;
const WARM_UP_CALLS = 500;
const CALLS = 5_000;
const CONNECTIONS = 32;
const SETTLE_MS = 3_000;
/** The program as it is installed where it was built: from its sources Node keeps a compiler beside it. */
const PROGRAM = existsSync(new URL("../dist/main.js", import.meta.url)) ? "dist/main.js" : "src/main.ts";

/** Measures one gateway idle, with all streams open, with calls beside them, and with the same calls alone. */
export async function benchStreams(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "sealgate-bench-"));
  const processes: ChildProcess[] = [];
  const sockets: Socket[] = [];
  try {
    const upstream = await startProcess(processes, ["bench/upstream.ts"]);
    const config = join(folder, "bench.yaml");
    await writeFile(config, configText(upstream.url, join(folder, "audit.log")));
    const gateway = await startProcess(processes, [PROGRAM, "serve", "--config", config]);
    await calls(gateway.url, gateway.process, WARM_UP_CALLS);
    const idle = await settled(gateway.process);
    for (let i = 0; i < STREAMS; i++) sockets.push(await openStream(gateway.url, i));
    const open = await settled(gateway.process);
    await calls(gateway.url, gateway.process, CALLS);
    const beside = await calls(gateway.url, gateway.process, CALLS);
    const busy = await settled(gateway.process);
    for (const socket of sockets) socket.destroy();
    await settled(gateway.process);
    const alone = await calls(gateway.url, gateway.process, CALLS);
    const after = await settled(gateway.process);
    console.log(
      `${PROGRAM}, ${STREAMS} listen streams, each with one event so far; resident, and of that not files`,
    );
    for (const [name, { resident, own }] of [
      [`idle, after ${WARM_UP_CALLS} calls`, idle],
      ["with all streams open", open],
      [`with all streams open, after ${2 * CALLS} calls`, busy],
      [`all streams closed, after ${3 * CALLS} calls`, after],
    ] as const) {
      console.log(`  ${name.padEnd(44)} ${mib(resident)} ${mib(own)}`);
    }
    console.log(
      `  ${"per open stream".padEnd(44)} ${((open.own - idle.own) / STREAMS).toFixed(1).padStart(6)} KiB`,
    );
    console.log(
      `  a call: ${beside.toFixed(0)} µs CPU with all streams open, ${alone.toFixed(0)} µs with none`,
    );
    console.log();
  } finally {
    for (const socket of sockets) socket.destroy();
    for (const child of processes) child.kill("SIGKILL");
    await rm(folder, { recursive: true, force: true });
  }
}

/** Opens one stream and waits for its first event. */
async function openStream(base: string, id: number): Promise<Socket> {
  const { hostname, port } = new URL(base);
  const method = "subscriptions/listen";
  const body = JSON.stringify({ jsonrpc: "2.0", id, method, params: { _meta: META } });
  const socket = connect(Number(port), hostname);
  socket.write(
    `POST /mcp HTTP/1.1\r\nhost: ${hostname}\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\n` +
      `mcp-protocol-version: 2026-07-28\r\nmcp-method: ${method}\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
  let text = "";
  while (!text.includes("acknowledged")) {
    const [chunk] = (await once(socket, "data")) as [Buffer];
    text += chunk.toString();
    if (!text.startsWith("HTTP/1.1 200")) throw new Error(text);
  }
  socket.resume();
  return socket;
}

/** Microseconds of CPU for each of many calls. */
async function calls(url: string, child: ChildProcess, count: number): Promise<number> {
  const pool = new Pool(url, { connections: CONNECTIONS });
  const before = cpuMicroseconds(child);
  let left = count;
  const workers = Array.from({ length: CONNECTIONS }, async () => {
    while (left-- > 0) await plainCall(pool);
  });
  await Promise.all(workers);
  await pool.close();
  return (cpuMicroseconds(child) - before) / count;
}

interface Memory {
  /** KiB. */
  readonly resident: number;
  readonly own: number;
}

async function settled(child: ChildProcess): Promise<Memory> {
  await sleep(SETTLE_MS);
  const status = readFileSync(`/proc/${child.pid}/status`, "utf8");
  const line = (name: string): number => Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)?.[1]);
  return { resident: line("VmRSS"), own: line("RssAnon") };
}

const mib = (kib: number): string => `${(kib / 1024).toFixed(1).padStart(6)} MiB`;
