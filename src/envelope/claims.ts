/**
 * The payload of an envelope: one JSON text per claim set, written and read by the same strict rules.
 * What cannot be read back is never written, so `decodeClaims(encodeClaims(c))` equals `c` or sealing fails.
 */
import { isUtf8 } from "node:buffer";
import type { Approval, Asked, Claims } from "./format.ts";

/** Last second of the year 9999 (UTC): keeps every time exact in milliseconds too. */
const MAX_TIME = 253_402_300_799;
// The last character carries the unused low bits, which must be zero: one spelling per value.
const ID_128 = /^[A-Za-z0-9_-]{21}[AQgw]$/;
const DIGEST_256 = /^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/;

const INNER = String.raw`[^"\\\x00-\x1f]*(?:\\["\\bfnrtu][^"\\\x00-\x1f]*)*`;
const TEXT = `"(${INNER})"`;
const WHOLE = "(0|[1-9][0-9]{0,15})";
const ASKED = `\\{"key":"${INNER}","kind":(?:"form","schema":"${INNER}"|"url"|"sampling"|"roots")\\}`;
/** The grammar of a payload up to its state. No two parts can match the same text, so it takes linear time. */
const BOUND = new RegExp(
  `^\\{"jti":${TEXT},"iat":${WHOLE},"exp":${WHOLE},"round":${WHOLE},"chain":${TEXT},"chainIat":${WHOLE},` +
    `"route":${TEXT},"upstream":${TEXT},"version":${TEXT},"principal":${TEXT},"method":${TEXT},` +
    `"target":${TEXT},"params":${TEXT},"requestId":${TEXT},"asked":(\\[(?:${ASKED}(?:,${ASKED})*)?\\]),` +
    `"epoch":${TEXT}`,
);
const STATE = ',"state":"';
const APPROVAL = new RegExp(
  `^,"approval":(\\{"policies":\\["${INNER}"(?:,"${INNER}")*\\],"shown":"${INNER}","given":(?:true|false)\\})`,
);
/** An escape that could have another spelling: all but those of the quote and the backslash, which have to be escaped. */
const OTHER_ESCAPE = /\\[^"\\]/;
const MEMBER_COUNT = 16;

/** True when `value` has exactly the members of Claims, each of its type and in its range. Trusts nothing. */
export function isClaims(value: unknown): value is Claims {
  if (!isRecord(value)) return false;
  const c = value as Readonly<Record<keyof Claims, unknown>>;
  const hasState = Object.hasOwn(value, "state");
  const hasApproval = Object.hasOwn(value, "approval");
  return (
    isId(c.jti) &&
    isTime(c.iat) &&
    isTime(c.exp) &&
    c.exp > c.iat &&
    isRound(c.round) &&
    isId(c.chain) &&
    isTime(c.chainIat) &&
    isName(c.route) &&
    isName(c.upstream) &&
    isName(c.version) &&
    isDigest(c.principal) &&
    isName(c.method) &&
    isText(c.target) &&
    isDigest(c.params) &&
    isDigest(c.requestId) &&
    isAskedList(c.asked) &&
    isText(c.epoch) &&
    (!hasState || isText(c.state)) &&
    (!hasApproval || (isApproval(c.approval) && (c.approval.given || (!hasState && isOneForm(c.asked))))) &&
    // All of these are there, so this many members are these and no others.
    Object.keys(value).length === MEMBER_COUNT + (hasState ? 1 : 0) + (hasApproval ? 1 : 0)
  );
}

/**
 * The one JSON text of a claim set, as UTF-8: fixed member order, no whitespace, shortest escapes.
 * Throws TypeError for anything that is no valid claim set (a mistake of ours), and never names a value.
 */
export function encodeClaims(claims: Claims): Buffer {
  if (!isClaims(claims)) throw new TypeError("not a valid claim set; nothing was sealed");
  return Buffer.from(JSON.stringify(inOrder(claims)), "utf8");
}

/**
 * Reads an authenticated payload. Returns undefined unless it is the one text that `encodeClaims` gives for some
 * claim set: the grammar admits one order and no white space, and each value is compared with its own print.
 */
export function decodeClaims(plaintext: Buffer): Claims | undefined {
  if (!isUtf8(plaintext)) return undefined;
  const text = plaintext.toString("utf8");
  const bound = orNothing(() => BOUND.exec(text));
  if (bound === undefined || bound === null) return undefined;
  const claims: Record<string, unknown> = {
    jti: readText(bound[1]),
    iat: Number(bound[2]),
    exp: Number(bound[3]),
    round: Number(bound[4]),
    chain: readText(bound[5]),
    chainIat: Number(bound[6]),
    route: readText(bound[7]),
    upstream: readText(bound[8]),
    version: readText(bound[9]),
    principal: readText(bound[10]),
    method: readText(bound[11]),
    target: readText(bound[12]),
    params: readText(bound[13]),
    requestId: readText(bound[14]),
    asked: readCanonical(bound[15]),
    epoch: readText(bound[16]),
  };
  let rest = text.slice(bound[0].length);
  const approval = orNothing(() => APPROVAL.exec(rest));
  if (approval !== undefined && approval !== null) {
    claims["approval"] = readCanonical(approval[1]);
    rest = rest.slice(approval[0].length);
  }
  if (rest !== "}") {
    if (!rest.startsWith(STATE) || !rest.endsWith('"}')) return undefined;
    claims["state"] = readCanonical(rest.slice(STATE.length - 1, -1));
  }
  return isClaims(claims) ? claims : undefined;
}

/** The text that stands between the quotes of a literal; undefined for one with needless escapes. */
function readText(inner = ""): unknown {
  return inner.includes("\\") ? readCanonical(`"${inner}"`) : inner;
}

/** The value of a JSON text without white space and numbers, if this is the text that the value is printed as. */
function readCanonical(text = ""): unknown {
  const value: unknown = orNothing(() => JSON.parse(text));
  // Most texts have one spelling only, and what may be long is not printed again.
  return !OTHER_ESCAPE.test(text) || JSON.stringify(value) === text ? value : undefined;
}

/** Undefined where `read` throws: the text is no JSON, or it needs more stack than there is. */
function orNothing<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** The claims with all members in the order of the payload. */
function inOrder(c: Claims): Claims {
  return {
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
    ...(c.approval === undefined
      ? {}
      : {
          approval: {
            policies: c.approval.policies,
            shown: c.approval.shown,
            given: c.approval.given,
          },
        }),
    ...(c.state === undefined ? {} : { state: c.state }),
  };
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value.isWellFormed();
}

function isName(value: unknown): value is string {
  return isText(value) && value !== "";
}

function isId(value: unknown): value is string {
  return typeof value === "string" && ID_128.test(value);
}

function isDigest(value: unknown): value is string {
  return typeof value === "string" && DIGEST_256.test(value);
}

function isRound(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 1;
}

function isTime(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= MAX_TIME;
}

function isApproval(value: unknown): value is Approval {
  if (!isRecord(value) || Object.keys(value).length !== 3) return false;
  const { policies, shown, given } = value;
  return (
    Array.isArray(policies) &&
    policies.length > 0 &&
    policies.every(isName) &&
    new Set(policies).size === policies.length &&
    isDigest(shown) &&
    typeof given === "boolean"
  );
}

/** The one question of a state that asks for consent. */
function isOneForm(asked: unknown): boolean {
  return Array.isArray(asked) && asked.length === 1 && (asked[0] as Asked | undefined)?.kind === "form";
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
