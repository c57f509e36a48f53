/**
 * How a Cluster spreads keys: hash slots, who serves them, and the answers that lead elsewhere. Pure.
 * Source: https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/
 */
import { RedisFailure } from "./failure.ts";
import type { Address } from "./target.ts";

/** Number of hash slots. */
export const SLOTS = 16_384;

/** CRC-16/XMODEM of each byte value. */
const CRC16 = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8;
  for (let bit = 0; bit < 8; bit++) crc = (crc & 0x8000) === 0 ? crc << 1 : (crc << 1) ^ 0x1021;
  return crc;
});

/** The hash slot of a key: of its hash tag, if it has one that is not empty. */
export function slotOf(key: string): number {
  const open = key.indexOf("{");
  const close = open < 0 ? -1 : key.indexOf("}", open + 1);
  let crc = 0;
  for (const byte of Buffer.from(close > open + 1 ? key.slice(open + 1, close) : key)) {
    crc = ((crc << 8) ^ (CRC16[((crc >> 8) ^ byte) & 0xff] as number)) & 0xffff;
  }
  return crc % SLOTS;
}

/** A range of slots and the master that serves it. */
export interface SlotRange {
  readonly first: number;
  readonly last: number;
  readonly master: Address;
}

/**
 * Reads the reply to CLUSTER SLOTS; what is no range is left out. `asked` stands where a server does not know its own name.
 */
export function parseSlots(reply: unknown, asked: Address): SlotRange[] {
  if (!Array.isArray(reply)) return [];
  return reply.flatMap((entry: unknown): SlotRange[] => {
    const [first, last, node] = Array.isArray(entry) ? (entry as unknown[]) : [];
    const [host, port] = Array.isArray(node) ? (node as unknown[]) : [];
    if (!isSlot(first) || !isSlot(last) || !isPort(port)) return [];
    const known = typeof host === "string" && host !== "" && host !== "?";
    return [{ first, last, master: { host: known ? host : asked.host, port } }];
  });
}

/**
 * Where a script has to go, because it has not run: to the server that has the slot by now (`moved`), once to the one that is
 * about to have it (`ask`), or nowhere yet (`later`).
 */
export type Redirection =
  | { readonly kind: "moved" | "ask"; readonly to: Address }
  | { readonly kind: "later" };

/** Reads a failure as a redirection; undefined for any other failure. `asked` is who answered. */
export function redirectionOf(error: unknown, asked: Address): Redirection | undefined {
  if (!(error instanceof RedisFailure)) return undefined;
  if (/^(TRYAGAIN|CLUSTERDOWN)\b/.test(error.reply)) return { kind: "later" };
  const found = /^(MOVED|ASK) \d+ (\S*):(\d+)$/.exec(error.reply);
  if (found === null) return undefined;
  const [, word, host = "", port] = found;
  return {
    kind: word === "MOVED" ? "moved" : "ask",
    to: { host: host === "" || host === "?" ? asked.host : host, port: Number(port) },
  };
}

const isSlot = (value: unknown): value is number =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) < SLOTS;

const isPort = (value: unknown): value is number =>
  Number.isInteger(value) && (value as number) > 0 && (value as number) < 65_536;
