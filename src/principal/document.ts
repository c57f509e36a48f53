/**
 * Reads the JSON documents of an issuer (discovery, key set): small, quickly, from exactly the URL asked.
 * No redirects, no content coding, a cap on size and on time. URLs that came out of a document and not from the
 * operator are fetched from public addresses only, checked at connect, so that no document can point us inside.
 */

import { type LookupAddress, type LookupOptions, lookup } from "node:dns";
import { BlockList, isIP } from "node:net";
import { Agent, request } from "undici";
import { errorCode } from "../error-code.ts";
import { withoutQuery } from "../log.ts";

/** Largest document read; real key sets are below 20 KiB. */
export const MAX_DOCUMENT_BYTES = 256 * 1024;

/** Why a document cannot be had; for the log. */
export type DocumentFault =
  | "timeout"
  | "unreachable"
  | "status"
  | "too_large"
  | "coding"
  | "json"
  | "address";

/** What the log says besides the fault. */
export interface DocumentDetails {
  /** Origin and path. */
  readonly url?: string;
  /** Of an answer that was not 200. */
  readonly status?: number;
  /** What the system, TLS or the HTTP client calls it: `ECONNREFUSED`, `ENOTFOUND`, `CERT_HAS_EXPIRED` … */
  readonly code?: string;
}

export class DocumentError extends Error {
  override readonly name = "DocumentError";
  readonly fault: DocumentFault;
  readonly details: DocumentDetails;

  constructor(fault: DocumentFault, details: DocumentDetails = {}, cause?: unknown) {
    super(fault, cause === undefined ? undefined : { cause });
    this.fault = fault;
    this.details = details;
  }
}

/** Fetches documents; owns its connections. */
export interface DocumentReader {
  /** `trusted`: the operator wrote this host. Returns the parsed JSON, untrusted. Throws `DocumentError`. */
  read(url: string, trusted: boolean): Promise<unknown>;
  close(): void;
}

/**
 * @param timeout milliseconds for the whole fetch, so a server that drips bytes is cut off, too
 * @param resolve finds the addresses of a host that no operator wrote; the one that is judged is the one connected to
 */
export function createDocumentReader(timeout: number, resolve: Resolve = lookup): DocumentReader {
  const limits = { maxResponseSize: MAX_DOCUMENT_BYTES, headersTimeout: timeout, bodyTimeout: timeout };
  const open = new Agent({ ...limits, connect: { timeout } });
  const guarded = new Agent({ ...limits, connect: { timeout, lookup: publicOnly(resolve) } });
  const closing = new AbortController();
  return {
    async read(url, trusted) {
      const at = { url: withoutQuery(url) };
      // Node does not look up literal addresses, so these are judged here.
      if (!trusted && !isPublicHost(url)) throw new DocumentError("address", at);
      const deadline = AbortSignal.timeout(timeout);
      const signal = AbortSignal.any([deadline, closing.signal]);
      try {
        const text = await fetchText(url, trusted ? open : guarded, signal);
        return parse(text);
      } catch (error) {
        if (error instanceof DocumentError) {
          throw new DocumentError(error.fault, { ...error.details, ...at }, error.cause);
        }
        const code = deadline.aborted ? undefined : errorCode(error);
        const details = code === undefined ? at : { ...at, code };
        throw new DocumentError(deadline.aborted ? "timeout" : faultOf(error), details, error);
      }
    },
    close() {
      closing.abort();
      for (const agent of [open, guarded]) agent.destroy().catch(() => undefined);
    },
  };
}

async function fetchText(url: string, dispatcher: Agent, signal: AbortSignal): Promise<Buffer> {
  const headers = { accept: "application/json", "accept-encoding": "identity" };
  const response = await request(url, { dispatcher, signal, headers });
  const status = response.statusCode;
  const fault = status !== 200 ? "status" : isCoded(response.headers) ? "coding" : undefined;
  if (fault !== undefined) {
    response.body.on("error", () => undefined).destroy();
    throw new DocumentError(fault, fault === "status" ? { status } : {});
  }
  return Buffer.from(await response.body.arrayBuffer());
}

function isCoded(headers: Record<string, string | string[] | undefined>): boolean {
  const coding = headers["content-encoding"];
  return coding !== undefined && coding !== "identity";
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (cause) {
    throw new DocumentError("json", {}, cause);
  }
}

function faultOf(error: unknown): DocumentFault {
  const code = errorCode(error);
  if (code === NOT_PUBLIC) return "address";
  if (code === "UND_ERR_RES_EXCEEDED_MAX_SIZE") return "too_large";
  return code?.endsWith("TIMEOUT") === true ? "timeout" : "unreachable";
}

const NOT_PUBLIC = "ERR_NOT_PUBLIC";

function networks(...lists: string[]): BlockList {
  const found = new BlockList();
  for (const range of lists.flatMap((line) => line.split(" "))) {
    const [network = "", prefix = ""] = range.split("/");
    found.addSubnet(network, Number(prefix), network.includes(":") ? "ipv6" : "ipv4");
  }
  return found;
}

/** What is not the public internet (IANA special-purpose registries, RFC 6890). Node judges IPv4 mapped into IPv6 as IPv4. */
const INTERNAL = networks(
  "0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24",
  "192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/3",
  "2001::/23 2001:db8::/32 2002::/16 3fff::/20",
);
const MAPPED = networks("::ffff:0:0/96");
/** All of IPv6 that is given out as global unicast: what embeds IPv4 elsewhere (RFC 2765, RFC 6052) is not public. */
const GLOBAL = networks("2000::/3");

/** Whether a literal IP address (no brackets) is a public one. */
export function isPublicAddress(address: string): boolean {
  // A zone names an interface of this machine.
  if (address.includes("%")) return false;
  switch (isIP(address)) {
    case 4:
      return !INTERNAL.check(address, "ipv4");
    case 6:
      return (
        !INTERNAL.check(address, "ipv6") && (GLOBAL.check(address, "ipv6") || MAPPED.check(address, "ipv6"))
      );
    default:
      return false;
  }
}

function isPublicHost(url: string): boolean {
  const host = new URL(url).hostname.replace(/^\[|\]$/g, "");
  return isIP(host) === 0 || isPublicAddress(host);
}

type LookupCallback = (
  error: NodeJS.ErrnoException | null,
  address: string | LookupAddress[],
  family?: number,
) => void;

/** `dns.lookup`, or what a test puts in its place. */
export type Resolve = (
  hostname: string,
  options: LookupOptions & { readonly all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/** A lookup that fails when any answer is internal: a name with one good and one bad address is an attack. */
function publicOnly(resolve: Resolve) {
  return (hostname: string, options: LookupOptions, callback: LookupCallback): void => {
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      const first = addresses?.[0];
      if (error !== null || first === undefined) return callback(error ?? notPublic(), "", 0);
      if (!addresses.every(({ address }) => isPublicAddress(address))) return callback(notPublic(), "", 0);
      return options.all === true ? callback(null, addresses) : callback(null, first.address, first.family);
    });
  };
}

function notPublic(): NodeJS.ErrnoException {
  return Object.assign(new Error("not a public address"), { code: NOT_PUBLIC });
}
