/**
 * The gateway beside a plain @fastify/http-proxy on the same machine in the same run. Each proxy is a process of its own;
 * CPU per request is the process's user + system time, the steadiest figure on a shared machine.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Pool } from "undici";

const CONNECTIONS = 32;
const WARM_UP_MS = 6_000;
const SAMPLE_MS = 2_000;
const PAIRS = 5;
const TICKS_PER_SECOND = 100;

interface Proxy {
  readonly name: string;
  readonly url: string;
  readonly process: ChildProcess;
  readonly work: (pool: Pool) => Promise<number>;
}

export const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "bench", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {} } },
};
const ARGUMENTS = { account: "acct-9", amount: 50, note: "n".repeat(600) };
let id = 0;

async function post(pool: Pool, name: string, extra: object): Promise<string> {
  id += 1;
  const params = { _meta: META, name, arguments: ARGUMENTS, ...extra };
  const response = await pool.request({
    path: "/mcp",
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/call",
      "mcp-name": name,
    },
    body: JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params }),
  });
  const text = await response.body.text();
  if (response.statusCode !== 200) throw new Error(`${response.statusCode} ${text}`);
  return text;
}

/** One call without a state: what every ordinary request costs. */
export async function plainCall(pool: Pool): Promise<number> {
  await post(pool, "plain", {});
  return 1;
}

/** A whole round trip: the question is sealed, the answer opened, checked and redeemed. Two requests. */
async function roundTrip(pool: Pool): Promise<number> {
  const first = await post(pool, "ask", {});
  const { requestState } = JSON.parse(first).result;
  await post(pool, "ask", {
    requestState,
    inputResponses: { q: { action: "accept", content: { ok: true } } },
  });
  return 2;
}

/** Starts an upstream and a gateway before it; the folder holds what they write. */
export async function startPair(
  processes: ChildProcess[],
  folder: string,
): Promise<{ readonly upstream: Started; readonly gateway: Started }> {
  const upstream = await startProcess(processes, ["bench/upstream.ts"]);
  const config = join(folder, "bench.yaml");
  await writeFile(config, configText(upstream.url, join(folder, "audit.log")));
  return { upstream, gateway: await startProcess(processes, ["src/main.ts", "serve", "--config", config]) };
}

/** Measures both proxies in turn and prints the median ratios. */
export async function benchGateway(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "sealgate-bench-"));
  const processes: ChildProcess[] = [];
  try {
    const { upstream, gateway } = await startPair(processes, folder);
    const plain = await startProcess(processes, ["bench/http-proxy.ts", upstream.url]);
    const proxies: Proxy[] = [
      { name: "sealgate, call without state", ...gateway, work: plainCall },
      { name: "sealgate, sealed round trip", ...gateway, work: roundTrip },
      { name: "@fastify/http-proxy, call without state", ...plain, work: plainCall },
    ];
    for (const proxy of proxies) await load(proxy, WARM_UP_MS);
    const samples = proxies.map(() => [] as Sample[]);
    for (let pair = 0; pair < PAIRS; pair++) {
      for (const [index, proxy] of proxies.entries()) samples[index]?.push(await load(proxy, SAMPLE_MS));
    }
    const yardstick = samples.at(-1) ?? [];
    console.log(
      `${CONNECTIONS} connections, ${PAIRS} × ${SAMPLE_MS / 1000} s after ${WARM_UP_MS / 1000} s, medians`,
    );
    for (const [index, { name }] of proxies.entries()) {
      const own = samples[index] ?? [];
      const rps = median(own.map((sample) => sample.rps));
      const cpu = median(own.map((sample) => sample.cpu));
      const ratio = median(own.map((sample, at) => sample.rps / (yardstick[at]?.rps ?? 1)));
      const cpuRatio = median(own.map((sample, at) => sample.cpu / (yardstick[at]?.cpu ?? 1)));
      console.log(
        `  ${name.padEnd(40)} ${rps.toFixed(0).padStart(6)} req/s ${ratio.toFixed(2)}×   CPU ${cpu.toFixed(0).padStart(4)} µs/req ${cpuRatio.toFixed(2)}×`,
      );
    }
  } finally {
    for (const child of processes) child.kill("SIGKILL");
    await rm(folder, { recursive: true, force: true });
  }
}

interface Sample {
  readonly rps: number;
  /** Microseconds of CPU per request. */
  readonly cpu: number;
}

async function load(proxy: Proxy, ms: number): Promise<Sample> {
  const pool = new Pool(proxy.url, { connections: CONNECTIONS });
  const cpuBefore = cpuMicroseconds(proxy.process);
  const started = performance.now();
  let requests = 0;
  const workers = Array.from({ length: CONNECTIONS }, async () => {
    while (performance.now() - started < ms) {
      const done = await proxy.work(pool);
      requests += done;
    }
  });
  await Promise.all(workers);
  const seconds = (performance.now() - started) / 1000;
  const cpu = (cpuMicroseconds(proxy.process) - cpuBefore) / requests;
  await pool.close();
  return { rps: requests / seconds, cpu };
}

/** User + system time of a process, all its threads (proc(5), fields 14 and 15). */
export function cpuMicroseconds(child: ChildProcess): number {
  const fields = readFileSync(`/proc/${child.pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return ((Number(fields[11]) + Number(fields[12])) * 1_000_000) / TICKS_PER_SECOND;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** A process that serves. */
interface Started {
  readonly url: string;
  readonly process: ChildProcess;
}

/** Starts a script of this folder, or the program, that says its `url` on standard output. */
export async function startProcess(processes: ChildProcess[], args: readonly string[]): Promise<Started> {
  const child = spawn(process.execPath, args, {
    cwd: fileURLToPath(new URL("..", import.meta.url)),
    stdio: ["ignore", "pipe", "inherit"],
  });
  processes.push(child);
  let text = "";
  for (;;) {
    const [chunk] = (await once(child.stdout, "data")) as [Buffer];
    text += chunk.toString();
    const url = /"url":"(http:[^"]+)"/.exec(text)?.[1];
    if (url !== undefined) {
      child.stdout.resume();
      return { url, process: child };
    }
  }
}

/** A gateway that is open to all, with its audit records in a file. */
export const configText = (upstream: string, audit: string): string => `version: 1
server: { listen: "127.0.0.1:0", publicUrl: "http://127.0.0.1:8080" }
authentication: { mode: anonymous }
redemption: { store: memory }
authorization: { default: allow }
audit: { sinks: [{ type: file, path: ${JSON.stringify(audit)} }] }
routes: [{ path: /mcp, upstream: { url: ${JSON.stringify(upstream)} } }]
`;
