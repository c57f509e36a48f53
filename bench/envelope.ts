/**
 * What sealing and opening cost beside other ways to protect a state: the TypeScript SDK's codec, which signs and does not
 * encrypt and whose payload is the state alone; jose's JWE `dir` and plain AES-256-GCM, which encrypt the same claims.
 */
import { createCipheriv, createDecipheriv, createSecretKey, randomBytes } from "node:crypto";
import { createRequestStateCodec } from "@modelcontextprotocol/server";
import { CompactEncrypt, compactDecrypt } from "jose";
import type { Claims } from "../src/envelope/format.ts";
import { open } from "../src/envelope/open.ts";
import { randomPool, seal } from "../src/envelope/seal.ts";
import { ephemeralKeyring } from "../src/keyring.ts";

const ROUNDS = 21;
const TIMES = 3_000;
const CAP = 1 << 20;
const AUDIENCE = "https://gateway.example";
const GCM = { authTagLength: 16 } as const;

/** A state of so many bytes: a token, as signing codecs make them, and a JSON text, whose quotes are escaped in the claims. */
const STATES: Readonly<Record<string, (bytes: number) => string>> = {
  "a token": (bytes) => randomBytes(bytes).toString("base64url").slice(0, bytes),
  "a JSON text": (bytes) => {
    const rows = '{"step":"confirm","to":"acct-9","amount":50},'.repeat(bytes / 40);
    return `[${rows}`.slice(0, bytes);
  },
};

interface Way {
  readonly name: string;
  seal(): unknown;
  open(): unknown;
}

/** Seals and opens one state in every way, in turn, and prints best and median times. */
export async function benchEnvelope(): Promise<void> {
  for (const bytes of [200, 4096]) {
    for (const [kind, make] of Object.entries(STATES)) {
      const ways = await prepare(make(bytes));
      for (const verb of ["seal", "open"] as const) {
        const samples = ways.map(() => [] as Sample[]);
        for (let round = 0; round < ROUNDS; round++) {
          for (const [index, way] of ways.entries()) samples[index]?.push(await time(() => way[verb]()));
        }
        print(`${verb} ${kind} of ${bytes} B`, ways, samples);
      }
    }
  }
}

/** Microseconds of one run, on average over many. */
interface Sample {
  readonly wall: number;
  /** User and system time of all threads of the process: WebCrypto works on others than the main one. */
  readonly cpu: number;
}

async function time(run: () => unknown): Promise<Sample> {
  const before = process.cpuUsage();
  const started = performance.now();
  for (let i = 0; i < TIMES; i++) {
    const pending = run();
    if (pending instanceof Promise) await pending;
  }
  const wall = ((performance.now() - started) * 1000) / TIMES;
  const { user, system } = process.cpuUsage(before);
  return { wall, cpu: (user + system) / TIMES };
}

async function prepare(state: string): Promise<Way[]> {
  const ring = ephemeralKeyring();
  const key = createSecretKey(randomBytes(32));
  const random = randomPool();
  const codec = createRequestStateCodec({ key: new Uint8Array(randomBytes(32)) });
  const claims = claimsWith(state);
  const plainSeal = (): string => {
    const nonce = random(12);
    const cipher = createCipheriv("aes-256-gcm", key, nonce, GCM);
    const ciphertext = cipher.update(JSON.stringify(claims));
    cipher.final();
    return Buffer.concat([nonce, ciphertext, cipher.getAuthTag()]).toString("base64url");
  };
  const plainOpen = (token: string): unknown => {
    const bytes = Buffer.from(token, "base64url");
    const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, 12), GCM);
    decipher.setAuthTag(bytes.subarray(-16));
    const plaintext = decipher.update(bytes.subarray(12, -16));
    decipher.final();
    return JSON.parse(plaintext.toString());
  };
  const joseSeal = (): Promise<string> =>
    new CompactEncrypt(Buffer.from(JSON.stringify(claims)))
      .setProtectedHeader({ alg: "dir", enc: "A256GCM" })
      .encrypt(key);
  const token = seal(ring, AUDIENCE, claims);
  const plain = plainSeal();
  const minted = await codec.mint(state, {} as never);
  const jwe = await joseSeal();
  return [
    {
      name: "sealgate",
      seal: () => seal(ring, AUDIENCE, claims),
      open: () => open(ring, AUDIENCE, token, CAP),
    },
    { name: "AES-256-GCM, cached KeyObject, JSON", seal: plainSeal, open: () => plainOpen(plain) },
    {
      name: "SDK createRequestStateCodec (signs only)",
      seal: () => codec.mint(state, {} as never),
      open: () => codec.verify(minted, {} as never),
    },
    {
      name: "jose JWE dir, A256GCM, JSON",
      seal: joseSeal,
      open: async () => JSON.parse(Buffer.from((await compactDecrypt(jwe, key)).plaintext).toString()),
    },
  ];
}

function print(title: string, ways: readonly Way[], samples: readonly (readonly Sample[])[]): void {
  console.log(
    `${title}: µs of wall and of CPU, best and median of ${ROUNDS} × ${TIMES}; best, of sealgate's`,
  );
  const rows = samples.map((own) => ({
    wall: figures(own.map(({ wall }) => wall)),
    cpu: figures(own.map(({ cpu }) => cpu)),
  }));
  for (const [index, { name }] of ways.entries()) {
    const [row, own] = [rows[index], rows[0]];
    if (row === undefined || own === undefined) continue;
    const times = [row.wall.best, row.wall.median, row.cpu.best, row.cpu.median];
    const ratios = [row.wall.best / own.wall.best, row.cpu.best / own.cpu.best];
    const cells = [
      ...times.map((us) => us.toFixed(1).padStart(8)),
      ...ratios.map((ratio) => `${ratio.toFixed(2)}×`.padStart(8)),
    ];
    console.log(`  ${name.padEnd(42)} ${cells.join("")}`);
  }
  console.log();
}

function figures(values: readonly number[]): { readonly best: number; readonly median: number } {
  const sorted = values.toSorted((a, b) => a - b);
  return { best: sorted[0] ?? Number.NaN, median: sorted[Math.floor(sorted.length / 2)] ?? Number.NaN };
}

/** An ordinary round: one form, a few short names. */
export function claimsWith(state: string): Claims {
  const now = Math.floor(Date.now() / 1000);
  const digest = (): string => randomBytes(32).toString("base64url");
  const id = randomBytes(16).toString("base64url");
  return {
    jti: id,
    iat: now,
    exp: now + 600,
    round: 1,
    chain: id,
    chainIat: now,
    route: "/mcp",
    upstream: "http://127.0.0.1:3001/mcp",
    version: "2026-07-28",
    principal: digest(),
    method: "tools/call",
    target: "transfer",
    params: digest(),
    requestId: digest(),
    asked: [
      { key: "confirm", kind: "form", schema: '{"type":"object","properties":{"ok":{"type":"boolean"}}}' },
    ],
    epoch: randomBytes(16).toString("base64url"),
    state,
  };
}
