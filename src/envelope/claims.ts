/**
 * The payload of an envelope: one JSON text per claim set, written and read by the same strict rules.
 * What cannot be read back is never written, so `decodeClaims(encodeClaims(c))` equals `c` or sealing fails.
 */
import { isUtf8 } from "node:buffer";
import type { Asked, Claims } from "./format.ts";

/** Last second of the year 9999 (UTC): keeps every time exact in milliseconds too. */
const MAX_TIME = 253_402_300_799;
// The last character carries the unused low bits, which must be zero: one spelling per value.
const ID_128 = /^[A-Za-z0-9_-]{21}[AQgw]$/;
const DIGEST_256 = /^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/;

type Check = (value: unknown) => boolean;
const isText: Check = (value) => typeof value === "string" && value.isWellFormed();
const isName: Check = (value) => isText(value) && value !== "";
const isId: Check = (value) => typeof value === "string" && ID_128.test(value);
const isDigest: Check = (value) => typeof value === "string" && DIGEST_256.test(value);
const isRound: Check = (value) => Number.isSafeInteger(value) && (value as number) >= 1;
const isTime: Check = (value) =>
  Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= MAX_TIME;

const REQUIRED: Readonly<Record<Exclude<keyof Claims, "state">, Check>> = {
  jti: isId,
  iat: isTime,
  exp: isTime,
  round: isRound,
  chain: isId,
  chainIat: isTime,
  route: isName,
  upstream: isName,
  version: isName,
  principal: isDigest,
  method: isName,
  target: isText,
  params: isDigest,
  requestId: isDigest,
  asked: isAskedList,
  epoch: isText,
};
const REQUIRED_COUNT = Object.keys(REQUIRED).length;

/** True when `value` has exactly the members of Claims, each of its type and in its range. Trusts nothing. */
export function isClaims(value: unknown): value is Claims {
  if (!isRecord(value)) return false;
  let required = 0;
  for (const key of Object.keys(value)) {
    if (key === "state") {
      if (!isText(value[key])) return false;
      continue;
    }
    if (!Object.hasOwn(REQUIRED, key)) return false;
    if (!REQUIRED[key as keyof typeof REQUIRED](value[key])) return false;
    required += 1;
  }
  return required === REQUIRED_COUNT && (value["exp"] as number) > (value["iat"] as number);
}

/**
 * The one JSON text of a claim set, as UTF-8: fixed member order, no whitespace, shortest escapes.
 * Throws TypeError for anything that is no valid claim set (a mistake of ours), and never names a value.
 */
export function encodeClaims(claims: Claims): Buffer {
  if (!isClaims(claims)) throw new TypeError("not a valid claim set; nothing was sealed");
  return Buffer.from(print(claims), "utf8");
}

/**
 * Reads an authenticated payload. Returns undefined unless it is the one text that `encodeClaims` gives for some
 * claim set: duplicate members, other orders, spellings and members are all refused by the comparison.
 */
export function decodeClaims(plaintext: Buffer): Claims | undefined {
  if (!isUtf8(plaintext)) return undefined;
  const text = plaintext.toString("utf8");
  const value = parse(text);
  return isClaims(value) && print(value) === text ? value : undefined;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // No JSON, or nested beyond the stack: undefined is no claim set.
    return undefined;
  }
}

function print(c: Claims): string {
  return JSON.stringify({
    jti: c.jti,
    iat: c.iat,
    exp: c.exp,
    round: c.round,
    chain: c.chain,
    chainIat: c.chainIat,
    route: c.route,
    upstream: c.upstream,
    version: c.version,
    principal: c.principal,
    method: c.method,
    target: c.target,
    params: c.params,
    requestId: c.requestId,
    asked: c.asked.map((a) =>
      a.kind === "form" ? { key: a.key, kind: a.kind, schema: a.schema } : { key: a.key, kind: a.kind },
    ),
    epoch: c.epoch,
    state: c.state,
  });
}

function isAskedList(value: unknown): boolean {
  if (!Array.isArray(value)) return false;
  const keys = new Set<string>();
  for (const asked of value) {
    // Two questions under one key would let an answer to one count for the other.
    if (!isAsked(asked) || keys.has(asked.key)) return false;
    keys.add(asked.key);
  }
  return true;
}

function isAsked(value: unknown): value is Asked {
  if (!isRecord(value) || !isText(value["key"])) return false;
  switch (value["kind"]) {
    case "form":
      return isName(value["schema"]) && Object.keys(value).length === 3;
    case "url":
    case "sampling":
    case "roots":
      return Object.keys(value).length === 2;
    default:
      return false;
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
