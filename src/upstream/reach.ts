/**
 * Whether a server can be reached around the gateway. What the gateway enforces is worth nothing to whoever can ask the server
 * itself, and a server that was started next to the gateway often listens on all addresses and not on loopback alone.
 *
 * From here this shows only for a server on the gateway's own machine or pod: the gateway dials the server's port at all other
 * addresses of the machine. For a server elsewhere nothing is concluded; `sealgate reach` looks from where clients are.
 * It opens connections and closes them, and never sends a byte.
 */
import { lookup } from "node:dns/promises";
import { connect, isIP, isIPv6 } from "node:net";
import { networkInterfaces } from "node:os";
import { isLoopback, type Listen } from "../config/addresses.ts";

/** Connections that are tried at a time: a host of many containers has hundreds of addresses. */
const AT_ONCE = 8;
const DIAL_MS = 1_000;

/** The machine, as far as this check needs it. */
export interface Surroundings {
  /** All addresses of the machine's interfaces; link-local ones of IPv6 with their zone. */
  addresses(): readonly string[];
  /** The addresses of a host name. Rejects where it has none. */
  resolve(host: string): Promise<readonly string[]>;
  /** Whether a TCP connection can be opened. Never rejects. */
  dial(address: string, port: number, timeout: number): Promise<boolean>;
}

/** This machine. */
export const THIS_MACHINE: Surroundings = {
  addresses: () =>
    Object.entries(networkInterfaces()).flatMap(([name, list]) =>
      (list ?? []).map(({ address, family, scopeid }) =>
        family === "IPv6" && scopeid !== undefined && scopeid !== 0 ? `${address}%${name}` : address,
      ),
    ),
  resolve: async (host) => (await lookup(host, { all: true })).map(({ address }) => address),
  dial: (address, port, timeout) =>
    new Promise((resolve) => {
      const socket = connect({ host: address, port });
      const end = (reached: boolean) => () => {
        socket.destroy();
        resolve(reached);
      };
      socket.setTimeout(timeout, end(false));
      socket.once("connect", end(true)).once("error", end(false));
    }),
};

/** Host (bare) and port of an upstream's URL. */
export function endpointOf(url: string): Listen {
  const { hostname, port, protocol } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, "");
  return { host, port: port === "" ? (protocol === "https:" ? 443 : 80) : Number(port) };
}

/** The addresses of a host, itself if it is one; none where the name is not known. */
export async function addressesOf(host: string, { resolve }: Surroundings): Promise<readonly string[]> {
  if (isIP(host) !== 0) return [host];
  return [...new Set(await resolve(host).catch(() => []))];
}

/**
 * Dials a server around the gateway.
 * @param own where the gateway itself listens, which is no server's address
 * @returns the addresses besides loopback at which something answers on the server's port; undefined where the server is not on
 *   this machine, or its name is not known now, so that nothing can be said
 */
export async function openAround(
  url: string,
  own: readonly Listen[],
  machine: Surroundings,
): Promise<readonly string[] | undefined> {
  const { host, port } = endpointOf(url);
  const here = machine.addresses().filter((address) => !isLoopback(bare(address)));
  const server = await addressesOf(host, machine);
  const isHere = (address: string): boolean =>
    isUnspecified(address) || isLoopback(address) || here.some((other) => bare(other) === address);
  if (!server.some(isHere)) return undefined;
  const isOwn = (address: string): boolean =>
    own.some(
      (listen) => listen.port === port && (listen.host === bare(address) || isUnspecified(listen.host)),
    );
  return dialAll(
    here.filter((address) => !isOwn(address)),
    port,
    machine,
  );
}

/** Those of the addresses at which a connection can be opened, in their order. */
export async function dialAll(
  addresses: readonly string[],
  port: number,
  { dial }: Surroundings,
): Promise<readonly string[]> {
  const open: string[] = [];
  for (let from = 0; from < addresses.length; from += AT_ONCE) {
    const some = addresses.slice(from, from + AT_ONCE);
    const reached = await Promise.all(some.map((address) => dial(address, port, DIAL_MS)));
    open.push(...some.filter((_, index) => reached[index]));
  }
  return open;
}

/** `host:port` for people, an IPv6 address in brackets. */
export const printEndpoint = (address: string, port: number): string =>
  `${isIPv6(bare(address)) ? `[${address}]` : address}:${port}`;

const bare = (address: string): string => address.replace(/%.*$/, "");
const isUnspecified = (address: string): boolean => address === "0.0.0.0" || address === "::";
