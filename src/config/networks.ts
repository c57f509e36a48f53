/**
 * Lists of addresses whose word counts. Read strictly: an entry that could mean another set of addresses than its author thought
 * of is refused, and an address that is not surely in a list is in none. Pure.
 */
import { BlockList, isIPv4, isIPv6 } from "node:net";

/** Why an entry is none; the text says what is allowed instead. */
export type NetworkFault = "malformed" | "zone" | "mapped" | "host_bits" | "everybody";

interface Network {
  readonly address: string;
  readonly prefix: number;
  readonly family: "ipv4" | "ipv6";
}

const MAPPED = /^::ffff:/i;

/** An address, or a network in CIDR form; undefined for anything else. IPv6 has no zone, and holds no IPv4. */
function readNetwork(text: string): Network | undefined {
  const [, address = "", length] = /^([0-9a-f:.]+)(?:\/(0|[1-9][0-9]{0,2}))?$/i.exec(text) ?? [];
  const family = isIPv4(address) ? "ipv4" : isIPv6(address) ? "ipv6" : undefined;
  const bits = family === "ipv4" ? 32 : 128;
  const prefix = length === undefined ? bits : Number(length);
  return family === undefined || prefix > bits ? undefined : { address, prefix, family };
}

/** What is wrong with an entry of a list whose word counts; undefined for one that means what it says. */
export function networkFault(text: string): NetworkFault | undefined {
  if (text.includes("%")) return "zone";
  const network = readNetwork(text);
  if (network === undefined) return "malformed";
  // Peers are compared in the family that they have, and so it would never fit.
  if (network.family === "ipv6" && isMapped(network.address)) return "mapped";
  if (network.prefix === 0) return "everybody";
  return hasHostBits(network) ? "host_bits" : undefined;
}

/** What hosts can have as an address, first and last: without that, nobody is left out who could call. */
const UNICAST = {
  ipv4: ["1.0.0.0", "223.255.255.255"],
  ipv6: ["2000::", "3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
} as const;

/** Whether entries hold everybody together, though none of them does. Entries with a fault count for nothing. */
export function holdEverybody(entries: readonly string[]): boolean {
  return (["ipv4", "ipv6"] as const).some((family) => {
    const [first, last] = [numberOf(UNICAST[family][0], family), numberOf(UNICAST[family][1], family)];
    const ranges = entries.flatMap((entry) => {
      const network = readNetwork(entry);
      if (network?.family !== family) return [];
      const begin = numberOf(network.address, family);
      return [{ begin, end: begin + (1n << BigInt((family === "ipv4" ? 32 : 128) - network.prefix)) }];
    });
    let next = first;
    for (const { begin, end } of ranges.sort((a, b) => (a.begin < b.begin ? -1 : 1))) {
      if (begin > next) break;
      if (end > next) next = end;
    }
    return next > last;
  });
}

/** Whether an address is in a list. @throws Error for an entry that is no address and no network */
export function compileNetworks(entries: readonly string[]): (address: string) => boolean {
  if (entries.length === 0) return () => false;
  // One list for each: a wide network of IPv6 would hold all of IPv4, too.
  const lists = { ipv4: new BlockList(), ipv6: new BlockList() };
  for (const entry of entries) {
    const network = readNetwork(entry);
    if (network === undefined) throw new Error("a list of addresses has an entry that is none");
    lists[network.family].addSubnet(network.address, network.prefix, network.family);
  }
  return (address) => {
    const plain = plainAddress(address);
    if (isIPv4(plain)) return lists.ipv4.check(plain, "ipv4");
    return isIPv6(plain) && !plain.includes("%") && !isMapped(plain) && lists.ipv6.check(plain, "ipv6");
  };
}

/** A peer's address as a system with both families writes it: IPv4 without the prefix that it has on an IPv6 socket. */
function plainAddress(address: string): string {
  const inner = address.replace(MAPPED, "");
  return inner !== address && isIPv4(inner) ? inner : address;
}

/** A list with all of IPv4 holds exactly those IPv6 addresses that are one of them, however they are written. */
const ALL_IPV4 = new BlockList();
ALL_IPV4.addSubnet("0.0.0.0", 0, "ipv4");

const isMapped = (address: string): boolean => ALL_IPV4.check(address, "ipv6");

/** Whether two addresses of one network were meant, or one host: `10.0.0.1/8`. */
function hasHostBits({ address, prefix, family }: Network): boolean {
  const bits = numberOf(address, family);
  const behind = BigInt((family === "ipv4" ? 32 : 128) - prefix);
  return (bits & ((1n << behind) - 1n)) !== 0n;
}

function numberOf(address: string, family: "ipv4" | "ipv6"): bigint {
  if (family === "ipv4") return address.split(".").reduce((sum, octet) => (sum << 8n) | BigInt(octet), 0n);
  // The URL parser writes an IPv6 address in groups of hex only.
  const [head = "", tail] = new URL(`http://[${address}]/`).hostname.slice(1, -1).split("::");
  const front = head === "" ? [] : head.split(":");
  const back = tail === undefined || tail === "" ? [] : tail.split(":");
  const groups = [...front, ...Array<string>(8 - front.length - back.length).fill("0"), ...back];
  return groups.reduce((sum, group) => (sum << 16n) | BigInt(`0x${group}`), 0n);
}
