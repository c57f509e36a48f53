/** What sealing and scanning cost, beside what the SDK's signed-only codec and JSON.parse + JSON.stringify cost. */
import { createRequestStateCodec } from "@modelcontextprotocol/server";
import type { Claims } from "../src/envelope/format.ts";
import { open } from "../src/envelope/open.ts";
import { seal } from "../src/envelope/seal.ts";
import { digestParams } from "../src/json/canonical.ts";
import { scan } from "../src/json/scan.ts";
import { replace, splice } from "../src/json/splice.ts";
import { ephemeralKeyring } from "../src/keyring.ts";

const ROUNDS = 9;
const LIMITS = { bytes: 8 * 1024 * 1024, depth: 64 };

interface Contestant {
  readonly name: string;
  run(): unknown | Promise<unknown>;
}

/** Runs contestants in turn, several rounds, and prints the best time of each and its ratio to the last one. */
async function compare(title: string, times: number, contestants: readonly Contestant[]): Promise<void> {
  const best = contestants.map(() => Number.POSITIVE_INFINITY);
  for (let round = 0; round < ROUNDS; round++) {
    for (const [index, { run }] of contestants.entries()) {
      const started = performance.now();
      for (let i = 0; i < times; i++) {
        const pending = run();
        if (pending instanceof Promise) await pending;
      }
      const each = ((performance.now() - started) * 1000) / times;
      best[index] = Math.min(best[index] ?? each, each);
    }
  }
  const yardstick = best.at(-1) ?? 1;
  console.log(title);
  for (const [index, { name }] of contestants.entries()) {
    const each = best[index] ?? 0;
    console.log(
      `  ${name.padEnd(44)} ${each.toFixed(2).padStart(10)} µs   ${(each / yardstick).toFixed(2)}×`,
    );
  }
  console.log();
}

/** What arguments may be made of: the readers do not cost the same for all. */
const SHAPES: Readonly<Record<string, (index: number) => unknown>> = {
  rows: (index) => ({ id: index, name: `row ${index}`, tags: ["a", "b"], price: 12.5, note: 'plain "text"' }),
  "long texts": () => "The quick brown fox jumps over the lazy dog. ".repeat(8),
  "one digit each": (index) => index % 10,
};

function message(bytes: number, part = SHAPES["rows"]): Buffer {
  const rows: unknown[] = [];
  const params = { name: "put", arguments: { rows }, requestState: "U1" };
  const body = { jsonrpc: "2.0", id: 7, method: "tools/call", params };
  let left = bytes - JSON.stringify(body).length;
  while (left > 0) {
    const row = part?.(rows.length);
    rows.push(row);
    left -= JSON.stringify(row).length + 1;
  }
  return Buffer.from(JSON.stringify(body));
}

/** Compares sealing with the SDK's codec, and scan + splice with parse + stringify. */
export async function benchMicro(): Promise<void> {
  const ring = ephemeralKeyring();
  const audience = "https://gateway.example";
  const now = Math.floor(Date.now() / 1000);
  const codec = createRequestStateCodec({ key: new Uint8Array(32).fill(7) });
  for (const bytes of [200, 4096]) {
    const state = "x".repeat(bytes);
    const claims: Claims = {
      jti: "AAAAAAAAAAAAAAAAAAAAAA",
      iat: now,
      exp: now + 600,
      round: 1,
      chain: "AAAAAAAAAAAAAAAAAAAAAA",
      chainIat: now,
      route: "/mcp",
      upstream: "http://127.0.0.1:3001/mcp",
      version: "2026-07-28",
      principal: "A".repeat(43),
      method: "tools/call",
      target: "transfer",
      params: "A".repeat(43),
      requestId: "A".repeat(43),
      asked: [
        { key: "confirm", kind: "form", schema: '{"type":"object","properties":{"ok":{"type":"boolean"}}}' },
      ],
      epoch: "AAAAAAAAAAAAAAAAAAAAAA",
      state,
    };
    const token = seal(ring, audience, claims);
    const minted = await codec.mint(state, {} as never);
    await compare(`state of ${bytes} B`, 2_000, [
      { name: "seal (encrypted, all claims)", run: () => seal(ring, audience, claims) },
      { name: "SDK codec mint (signed only)", run: () => codec.mint(state, {} as never) },
    ]);
    await compare(`state of ${bytes} B`, 2_000, [
      { name: "open", run: () => open(ring, audience, token, 1 << 20) },
      { name: "SDK codec verify", run: () => codec.verify(minted, {} as never) },
    ]);
  }
  for (const [bytes, times] of [
    [2 * 1024, 5_000],
    [1024 * 1024, 20],
  ] as const) {
    for (const [shape, part] of Object.entries(SHAPES)) {
      const body = message(bytes, part);
      await compare(`message of ${bytes / 1024} KiB, ${shape}, one value changed`, times, [
        {
          name: "scan + splice",
          run: () => {
            const doc = scan(body, LIMITS);
            const node = doc.get(doc.get(doc.root, "params"), "requestState");
            return node === undefined ? body : splice(body, [replace(doc, node, '"sealed"')]);
          },
        },
        {
          name: "JSON.parse + JSON.stringify",
          run: () => {
            const parsed = JSON.parse(body.toString());
            parsed.params.requestState = "sealed";
            return Buffer.from(JSON.stringify(parsed));
          },
        },
      ]);
    }
  }
  const body = message(1024);
  const doc = scan(body, LIMITS);
  await compare("digest of 1 KiB of params", 2_000, [
    { name: "digestParams", run: () => digestParams(doc, doc.get(doc.root, "params")) },
  ]);
}
