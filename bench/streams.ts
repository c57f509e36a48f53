/**
 * What an open `subscriptions/listen` stream costs in memory, and what a call costs beside many of them. Resident memory of the process
 * as the system counts it; nobody collects garbage for the occasion.
 */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { closedLoop } from "./load.ts";
import { memoryOf, pinLoad, type Started } from "./programs.ts";
import type { Row } from "./record.ts";
import { callerAt, META, plainCall } from "./requests.ts";
import { Setup } from "./setup.ts";

const FULL = { streams: 1_000, warmUpCalls: 500, calls: 5_000, settleMs: 3_000 };
const QUICK = { streams: 50, warmUpCalls: 50, calls: 100, settleMs: 50 };
type Size = typeof FULL;
/** Of the calls. */
const CONNECTIONS = 32;

/**
 * Measures each proxy idle and with all streams open; and the gateway with calls beside them, when all are closed, and with the same
 * calls alone.
 */
export async function benchStreams(quick: boolean): Promise<Row[]> {
  const size = quick ? QUICK : FULL;
  pinLoad();
  const setup = await Setup.begin();
  try {
    const rows = await ofGateway(setup, await setup.gateway("streams"), size);
    // By default the yardstick holds 128 connections to a server, and as many streams use them up.
    for (const { name, proxy } of await setup.others(4 * FULL.streams)) {
      await callsAt(proxy, size.warmUpCalls, undefined);
      const idle = await settled(proxy, size);
      const sockets = await openStreams(proxy, size, undefined);
      const open = await settled(proxy, size);
      close(sockets);
      rows.push(...memoryRows(name, idle, open, size));
    }
    return rows;
  } finally {
    await setup.end();
  }
}

async function ofGateway(setup: Setup, gateway: Started, size: Size): Promise<Row[]> {
  const { streams, calls, warmUpCalls } = size;
  await callsAt(gateway, warmUpCalls, setup.token);
  const idle = await settled(gateway, size);
  const sockets = await openStreams(gateway, size, setup.token);
  const open = await settled(gateway, size);
  await callsAt(gateway, calls, setup.token);
  const beside = await callsAt(gateway, calls, setup.token);
  const busy = await settled(gateway, size);
  close(sockets);
  await settled(gateway, size);
  const alone = await callsAt(gateway, calls, setup.token);
  const after = await settled(gateway, size);
  return [
    ...memoryRows("sealgate", idle, open, size),
    row(`sealgate, ${streams} streams, after ${2 * calls} calls`, busy),
    row(`sealgate, all streams closed, after ${3 * calls} calls`, after),
    { of: `sealgate, a call with ${streams} streams open`, cpuMicroseconds: beside },
    { of: "sealgate, a call with none open", cpuMicroseconds: alone },
  ];
}

type Memory = ReturnType<typeof memoryOf>;

const row = (of: string, { resident, own }: Memory): Row => ({
  of,
  ...{ residentMiB: resident / 1024, ownMiB: own / 1024 },
});

const memoryRows = (name: string, idle: Memory, open: Memory, { streams, warmUpCalls }: Size): Row[] => [
  row(`${name}, idle, after ${warmUpCalls} calls`, idle),
  { ...row(`${name}, ${streams} streams`, open), perStreamKiB: (open.resident - idle.resident) / streams },
];

/** Opens streams one by one, each up to its first event. */
async function openStreams(proxy: Started, { streams }: Size, token: string | undefined): Promise<Socket[]> {
  const { hostname, port } = new URL(proxy.url);
  const method = "subscriptions/listen";
  const sockets: Socket[] = [];
  for (let id = 0; id < streams; id++) {
    const body = JSON.stringify({ jsonrpc: "2.0", id, method, params: { _meta: META } });
    const socket = connect(Number(port), hostname);
    sockets.push(socket);
    socket.write(
      `POST /mcp HTTP/1.1\r\nhost: ${hostname}\r\n${token === undefined ? "" : `authorization: Bearer ${token}\r\n`}content-type: application/json\r\naccept: application/json, text/event-stream\r\n` +
        `mcp-protocol-version: 2026-07-28\r\nmcp-method: ${method}\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
    let text = "";
    while (!text.includes("acknowledged")) {
      const [chunk] = (await once(socket, "data")) as [Buffer];
      text += chunk.toString();
      if (!text.startsWith("HTTP/1.1 200")) throw new Error(text);
    }
    socket.resume();
  }
  return sockets;
}

const close = (sockets: readonly Socket[]): void => {
  for (const socket of sockets) socket.destroy();
};

/** Microseconds of CPU for each of many calls. */
async function callsAt(proxy: Started, count: number, token: string | undefined): Promise<number> {
  const caller = callerAt(proxy.url, CONNECTIONS, token);
  let left = count;
  const work = (): Promise<void> | undefined => (left-- > 0 ? plainCall(caller) : undefined);
  const { cpu } = await closedLoop([proxy], work, Number.POSITIVE_INFINITY);
  await caller.pool.close();
  return cpu;
}

async function settled(proxy: Started, { settleMs }: Size): Promise<Memory> {
  await sleep(settleMs);
  return memoryOf(proxy.process);
}
