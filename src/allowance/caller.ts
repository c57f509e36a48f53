/**
 * Whose requests are counted together: those of one person, in whatever client and with whatever token; of callers without a
 * token those of one address. Pure.
 */
import { createHash } from "node:crypto";
import { isIPv4, isIPv6 } from "node:net";
import type { Principal } from "../principal/principal.ts";

const LABEL = "sealgate allowance v1";
/** Two callers with one name of 128 bits are not to be found. */
const NAME_BYTES = 16;
const ADDRESS = "a-";
const PERSON = "p-";

/**
 * The name that a caller is counted under on a route: 24 characters, whatever the subject is called. The client is left out on
 * purpose: who can register clients would have as many budgets as he likes.
 * @param address where the request came from, see `networkOf`; decides only for callers without a name
 */
export function callerOn(route: string, principal: Principal, address: string): string {
  const { anonymous, issuer, subject, tenant } = principal;
  // Quoted part by part, so that no text of an issuer can look like two of them, or like an address.
  const frame = anonymous
    ? [LABEL, route, "address", networkOf(address)]
    : [LABEL, route, "person", issuer, tenant ?? null, subject];
  const digest = createHash("sha256").update(JSON.stringify(frame), "utf8").digest();
  return `${anonymous ? ADDRESS : PERSON}${digest.subarray(0, NAME_BYTES).toString("base64url")}`;
}

/** Whether a name is that of an address. */
export const isAddress = (caller: string): boolean => caller.startsWith(ADDRESS);

/**
 * The network that an address stands for: itself for IPv4, the /64 for IPv6, since whoever has one address of it has all. Proxies
 * that write a port beside it are understood. What is no address is one network with all that is none.
 */
export function networkOf(address: string): string {
  const bare = address
    .replace(/^\[([^\]]*)\](:\d{1,5})?$/, "$1")
    .replace(/^(\d{1,3}(?:\.\d{1,3}){3}):\d{1,5}$/, "$1")
    .replace(/%.*$/s, "");
  if (isIPv4(bare)) return bare;
  if (!isIPv6(bare)) return "unknown";
  const groups = groupsOf(bare);
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, high = 0, low = 0] = groups;
  // IPv4 in the clothes of IPv6 (RFC 4291 section 2.5.5.2), as a listener on both families sees it.
  if ((a | b | c | d | e) === 0 && f === 0xffff) {
    return [high >> 8, high & 255, low >> 8, low & 255].join(".");
  }
  return `${[a, b, c, d].map((group) => group.toString(16)).join(":")}::/64`;
}

/** The eight groups of a valid address. */
function groupsOf(address: string): number[] {
  const hex = address.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, a, b, c, d) => {
    const pair = (high: unknown, low: unknown) => (Number(high) * 256 + Number(low)).toString(16);
    return `${pair(a, b)}:${pair(c, d)}`;
  });
  const [head = "", tail] = hex.split("::");
  const read = (text: string): number[] =>
    text === "" ? [] : text.split(":").map((group) => Number.parseInt(group, 16));
  const [first, last] = [read(head), read(tail ?? "")];
  const missing = tail === undefined ? 0 : 8 - first.length - last.length;
  return [...first, ...new Array<number>(missing).fill(0), ...last];
}
