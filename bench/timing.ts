/**
 * Whether the time of a refusal tells why a state is refused: `node bench/timing.ts [SAMPLES]`. The method, docs/envelope.md
 * section 10: a gateway process of its own; one connection; one request at a time, of equal length; the kinds in random order,
 * so that whatever else the machine does falls on all alike. A kind is compared with another by the chance that one sample of
 * it takes longer than one of the other: 0.5 says that samples tell nothing. The second bad tag is the control: its chance
 * differs from 0.5 by noise alone.
 */
import { randomInt } from "node:crypto";
import { connect, type Socket } from "node:net";
import { META } from "./requests.ts";
import { Setup } from "./setup.ts";

const SAMPLES = Number(process.argv[2] ?? 20_000);
const WARM_UP = 5_000;
const ANSWERS = { q: { action: "accept", content: { ok: true } } };

let id = 1_000_000;

function requestOf(amount: number, state?: string): Buffer {
  id += 1;
  const round = state === undefined ? {} : { requestState: state, inputResponses: ANSWERS };
  const params = {
    _meta: META,
    name: "ask",
    arguments: { account: "acct-9", amount, note: "n".repeat(600) },
    ...round,
  };
  const body = JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params });
  const head = [
    "POST /mcp HTTP/1.1",
    "host: 127.0.0.1:8080",
    "content-type: application/json",
    "accept: application/json, text/event-stream",
    "mcp-protocol-version: 2026-07-28",
    "mcp-method: tools/call",
    "mcp-name: ask",
    `content-length: ${Buffer.byteLength(body)}`,
  ];
  return Buffer.from(`${head.join("\r\n")}\r\n\r\n${body}`);
}

/** Sends one request and waits for the whole answer. Nanoseconds, and the text. */
function exchange(socket: Socket, bytes: Buffer): Promise<{ readonly ns: number; readonly text: string }> {
  return new Promise((resolve) => {
    let text = "";
    const take = (piece: Buffer): void => {
      text += piece.toString("latin1");
      const [head = "", body = ""] = text.split("\r\n\r\n");
      const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? Number.NaN);
      if (body.length < length || Number.isNaN(length)) return;
      const ns = Number(process.hrtime.bigint() - started);
      socket.off("data", take);
      resolve({ ns, text });
    };
    socket.on("data", take);
    const started = process.hrtime.bigint();
    socket.write(bytes);
  });
}

/** The same text with one character changed; its length and its key id stay. */
function changed(token: string, at: number): string {
  return token.slice(0, at) + (token[at] === "A" ? "B" : "A") + token.slice(at + 1);
}

async function main(): Promise<void> {
  const setup = await Setup.begin();
  try {
    const gateway = await setup.gateway("timing", { authentication: { mode: "anonymous" } });
    const socket = connect(Number(new URL(gateway.url).port), "127.0.0.1").setNoDelay();
    const { text } = await exchange(socket, requestOf(50));
    const state = /"requestState":"([^"]+)"/.exec(text)?.[1] ?? "";
    if (state === "") throw new Error(text);
    const kinds = [
      { name: "bad tag", request: () => requestOf(50, changed(state, state.length - 8)) },
      { name: "bad tag again (control)", request: () => requestOf(50, changed(state, state.length - 9)) },
      { name: "bad claim: other arguments", request: () => requestOf(51, state) },
      { name: "bad ciphertext", request: () => requestOf(50, changed(state, 200)) },
    ].map((kind) => ({ ...kind, samples: [] as number[] }));
    for (let done = 0; done < WARM_UP + SAMPLES * kinds.length; done++) {
      const kind = kinds[randomInt(kinds.length)];
      if (kind === undefined) continue;
      const { ns, text: answer } = await exchange(socket, kind.request());
      if (!answer.includes("invalid_request_state")) throw new Error(answer);
      if (done >= WARM_UP) kind.samples.push(ns / 1000);
    }
    socket.destroy();
    report(kinds);
  } finally {
    await setup.end();
  }
}

function report(kinds: readonly { readonly name: string; readonly samples: readonly number[] }[]): void {
  const [yardstick] = kinds;
  console.log(`${"".padEnd(28)} samples   median µs   chance to take longer than a bad tag`);
  for (const { name, samples } of kinds) {
    const { chance, error } = longer(samples, yardstick?.samples ?? []);
    const median = samples.toSorted((a, b) => a - b)[Math.floor(samples.length / 2)] ?? Number.NaN;
    const own = name === yardstick?.name ? "" : `${chance.toFixed(4)} ± ${(2 * error).toFixed(4)}`;
    console.log(
      `${name.padEnd(28)} ${String(samples.length).padStart(7)}   ${median.toFixed(1).padStart(9)}   ${own}`,
    );
  }
}

/** The chance that one of `a` is larger than one of `b` (Mann and Whitney), and its standard error if they do not differ. */
function longer(
  a: readonly number[],
  b: readonly number[],
): { readonly chance: number; readonly error: number } {
  const all = [...a.map((value) => ({ value, own: true })), ...b.map((value) => ({ value, own: false }))];
  all.sort((x, y) => x.value - y.value);
  let ranks = 0;
  for (const [index, { own }] of all.entries()) if (own) ranks += index + 1;
  const chance = (ranks - (a.length * (a.length + 1)) / 2) / (a.length * b.length);
  return { chance, error: Math.sqrt((a.length + b.length + 1) / (12 * a.length * b.length)) };
}

await main();
