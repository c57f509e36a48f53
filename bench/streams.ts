/**
 * What an open stream costs in memory, and what a call costs beside many of them. Resident memory of the gateway's process as the
 * system counts it (proc(5), VmRSS); nobody collects garbage for the occasion.
 */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { cpuMicroseconds, PROGRAM, type Started } from "./programs.ts";
import type { Row } from "./record.ts";
import { callerAt, META, plainCall } from "./requests.ts";
import { Setup } from "./setup.ts";

const STREAMS = 1_000;
const WARM_UP_CALLS = 500;
const CALLS = 5_000;
const CONNECTIONS = 32;
const SETTLE_MS = 3_000;

/**
 * Measures one gateway idle, with all streams open, with calls beside them, and with the same calls alone; and a plain
 * `@fastify/http-proxy` idle and with as many streams.
 */
export async function benchStreams(): Promise<Row[]> {
  const setup = await Setup.begin();
  const sockets: Socket[] = [];
  try {
    const gateway = await setup.gateway("streams");
    const calls = (count: number): Promise<number> => callsAt(gateway, count, setup.token);
    const open = async ({ url }: Started): Promise<void> => {
      for (let i = 0; i < STREAMS; i++) sockets.push(await openStream(url, i, setup.token));
    };
    const close = (): void => {
      for (const socket of sockets.splice(0)) socket.destroy();
    };
    await calls(WARM_UP_CALLS);
    const idle = await settled(gateway.process);
    await open(gateway);
    const all = await settled(gateway.process);
    await calls(CALLS);
    const beside = await calls(CALLS);
    const busy = await settled(gateway.process);
    close();
    await settled(gateway.process);
    const alone = await calls(CALLS);
    const after = await settled(gateway.process);
    const plain = await setup.httpProxy(4 * STREAMS);
    await callsAt(plain, WARM_UP_CALLS, undefined);
    const plainIdle = await settled(plain.process);
    await open(plain);
    const plainAll = await settled(plain.process);
    const row = (of: string, { resident, own }: Memory): Row => ({
      of,
      residentMiB: resident / 1024,
      ownMiB: own / 1024,
    });
    return [
      row(`${PROGRAM}, idle, after ${WARM_UP_CALLS} calls`, idle),
      row(`with ${STREAMS} streams open`, all),
      row(`with ${STREAMS} streams open, after ${2 * CALLS} calls`, busy),
      row(`all streams closed, after ${3 * CALLS} calls`, after),
      { of: "an open stream", ownKiB: (all.own - idle.own) / STREAMS },
      row(`@fastify/http-proxy, idle, after ${WARM_UP_CALLS} calls`, plainIdle),
      { of: "an open stream, @fastify/http-proxy", ownKiB: (plainAll.own - plainIdle.own) / STREAMS },
      { of: `a call with ${STREAMS} streams open`, cpuMicroseconds: beside },
      { of: "a call with none open", cpuMicroseconds: alone },
    ];
  } finally {
    for (const socket of sockets) socket.destroy();
    await setup.end();
  }
}

/** Opens one stream and waits for its first event. */
async function openStream(base: string, id: number, token: string): Promise<Socket> {
  const { hostname, port } = new URL(base);
  const method = "subscriptions/listen";
  const body = JSON.stringify({ jsonrpc: "2.0", id, method, params: { _meta: META } });
  const socket = connect(Number(port), hostname);
  socket.write(
    `POST /mcp HTTP/1.1\r\nhost: ${hostname}\r\nauthorization: Bearer ${token}\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\n` +
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
async function callsAt(proxy: Started, count: number, token: string | undefined): Promise<number> {
  const caller = callerAt(proxy.url, CONNECTIONS, token);
  const before = cpuMicroseconds(proxy.process);
  let left = count;
  const workers = Array.from({ length: CONNECTIONS }, async () => {
    while (left-- > 0) await plainCall(caller);
  });
  await Promise.all(workers);
  await caller.pool.close();
  return (cpuMicroseconds(proxy.process) - before) / count;
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
