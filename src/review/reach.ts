/**
 * Which addresses a review connects to: those of this machine, unless it was told otherwise. Names are resolved for each connection,
 * every address that comes of it is judged, and the connection goes to one of exactly these: a name that changes its mind gains
 * nothing.
 */
import { lookup as systemLookup } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import { isLoopback } from "../config/addresses.ts";

/** The endpoint is not on this machine, and the reviewer was not told that it may be elsewhere. The message names no more than the host. */
export class NotHere extends Error {
  override readonly name = "NotHere";
  readonly code = "NOT_HERE";

  constructor(host: string) {
    super(
      `${host} is not on this machine; a review of another machine needs --remote, and the leave of its owner`,
    );
  }
}

/** Resolves like `dns.lookup` with all addresses. */
export type Resolve = (
  host: string,
  done: (error: Error | null, addresses: readonly { address: string; family: number }[]) => void,
) => void;

const RESOLVE: Resolve = (host, done) =>
  systemLookup(host, { all: true }, (error, found) => done(error, found ?? []));

/** @throws NotHere for an address literal that is not of this machine: those are never looked up */
export function checkLiteral(url: URL, remote: boolean): void {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  if (!remote && isIP(host) !== 0 && !isLoopback(host)) throw new NotHere(host);
}

/** The lookup for connections: fails with NotHere unless every address is allowed. */
export function checkedLookup(remote: boolean, resolve: Resolve = RESOLVE): LookupFunction {
  return (host, options, done) => {
    resolve(host, (error, addresses) => {
      const [first] = addresses;
      const fault =
        error ??
        (first === undefined ? new Error("the name has no address") : undefined) ??
        (remote || addresses.every(({ address }) => isIP(address) !== 0 && isLoopback(address))
          ? null
          : new NotHere(host));
      if (fault !== null || first === undefined) return done(fault, "", 0);
      if (options.all === true) done(null, [...addresses]);
      else done(null, first.address, first.family);
    });
  };
}

/** Whether the host may be reached, before anything is sent. @throws NotHere, or what the resolver says */
export async function checkHost(url: URL, remote: boolean, resolve?: Resolve): Promise<void> {
  checkLiteral(url, remote);
  const host = url.hostname.replace(/^\[|\]$/g, "");
  if (isIP(host) !== 0) return;
  await new Promise<void>((done, fail) =>
    checkedLookup(remote, resolve)(host, { all: true }, (error) => (error === null ? done() : fail(error))),
  );
}
