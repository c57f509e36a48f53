/** Hosts, ports and URLs as operators write them; what is loopback and what is a private network. Pure. */
import { BlockList, isIP, isIPv4, isIPv6 } from "node:net";

/** Where a listener binds. `host` is a bare address or name, an IPv6 address without brackets. */
export interface Listen {
  host: string;
  port: number;
}

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet("127.0.0.0", 8, "ipv4");
LOOPBACK.addAddress("::1", "ipv6");

const PRIVATE = new BlockList();
for (const [net, prefix] of [
  ["10.0.0.0", 8],
  ["172.16.0.0", 12],
  ["192.168.0.0", 16],
  ["169.254.0.0", 16],
  ["100.64.0.0", 10],
] as const) {
  PRIVATE.addSubnet(net, prefix, "ipv4");
}
PRIVATE.addSubnet("fc00::", 7, "ipv6");
PRIVATE.addSubnet("fe80::", 10, "ipv6");

const PRIVATE_SUFFIXES = [".local", ".internal", ".svc", ".svc.cluster.local", ".lan", ".home.arpa"];
const HOST_NAME = /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/i;
const PORT = /^(0|[1-9][0-9]{0,4})$/;

function bare(host: string): string {
  return host.startsWith("[") && host.endsWith("]") ? host.slice(1, -1) : host;
}

function inList(list: BlockList, host: string): boolean {
  if (isIPv4(host)) return list.check(host, "ipv4");
  return isIPv6(host) && list.check(host, "ipv6");
}

/** Whether only this machine can reach `host` (bare address, bracketed IPv6, or name). Names: `localhost` and below. */
export function isLoopback(host: string): boolean {
  const name = bare(host).toLowerCase();
  return name === "localhost" || name.endsWith(".localhost") || inList(LOOPBACK, name);
}

/** Whether `host` names a private network: RFC 1918 and like ranges, one-label names, the usual internal suffixes. */
export function isPrivate(host: string): boolean {
  const name = bare(host).toLowerCase();
  if (isIP(name) !== 0) return inList(PRIVATE, name);
  return !name.includes(".") || PRIVATE_SUFFIXES.some((suffix) => name.endsWith(suffix));
}

/** `host:port` or `[::1]:port` → its parts; `undefined` for anything else (no host, a path, a port above 65535). */
export function parseListen(text: string): Listen | undefined {
  const [, v6, name, portText] = /^(?:\[([0-9A-Fa-f:.]+)\]|([^:[\]]+)):([0-9]+)$/.exec(text) ?? [];
  if (portText === undefined || !PORT.test(portText)) return undefined;
  const port = Number(portText);
  if (port > 65_535) return undefined;
  if (v6 !== undefined) return isIPv6(v6) ? { host: v6.toLowerCase(), port } : undefined;
  // A name of digits and dots that is no address is a typing mistake, not a host name.
  if (name === undefined || !HOST_NAME.test(name) || (/^[0-9.]+$/.test(name) && !isIPv4(name)))
    return undefined;
  return { host: name.toLowerCase(), port };
}

/** The other way: parts → `host:port`, an IPv6 address in brackets. */
export function printListen({ host, port }: Listen): string {
  return `${isIPv6(host) ? `[${host}]` : host}:${port}`;
}

/** Whether two listeners cannot both bind: same port, and the same host or one of them a wildcard. Port 0 never clashes. */
export function sameListen(a: Listen, b: Listen): boolean {
  const wildcard = (host: string): boolean => host === "0.0.0.0" || host === "::";
  const name = (host: string): string => (host === "localhost" ? "127.0.0.1" : host);
  if (a.port === 0 || a.port !== b.port) return false;
  return name(a.host) === name(b.host) || wildcard(a.host) || wildcard(b.host);
}

/** What a `Host` header may name: `host` or `host:port`, lower case, IPv6 in brackets. */
export function isHostAuthority(text: string): boolean {
  if (text !== text.toLowerCase()) return false;
  if (parseListen(text) !== undefined) return true;
  if (text.startsWith("[")) return text.endsWith("]") && isIPv6(text.slice(1, -1));
  return HOST_NAME.test(text);
}

/** An IP address, or a network in CIDR form with a prefix length that fits its family. */
export function isNetwork(text: string): boolean {
  const [address, prefix, more] = text.split("/");
  const family = isIP(address ?? "");
  // A zone is another one on each machine.
  if (family === 0 || more !== undefined || text.includes("%")) return false;
  return (
    prefix === undefined ||
    (/^(0|[1-9][0-9]{0,2})$/.test(prefix) && Number(prefix) <= (family === 4 ? 32 : 128))
  );
}

/** An absolute URL with a host, or `undefined`. Blanks, control characters and backslashes are refused before the URL parser repairs them. */
export function parseUrl(text: string): URL | undefined {
  if (text.length > 2_048 || !/^[!-[\]-~]+$/.test(text) || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  // The parser lets * ! ' and others stand in a host; Docker's names hold _.
  return /^(\[[0-9a-f:.]+\]|[a-z0-9_.-]+)$/i.test(url.hostname) ? url : undefined;
}
