/** Whether a request comes from a page of this very listener. Browsers say so themselves, and no page can say otherwise. Pure. */
import type { IncomingHttpHeaders } from "node:http";

const ORIGIN = /^(https?):\/\/([^\s/@?#]{1,255})$/;

/** Where a page came from, if it is ours. */
export interface OwnOrigin {
  /** The browser came by https, so through something that ends TLS in front. */
  readonly secure: boolean;
}

/**
 * Reads `Origin` and `Sec-Fetch-Site` beside `Host`.
 * @param headers untrusted
 * @returns undefined unless `Origin` is there and names the host that was asked, with the port
 */
export function ownOrigin({ origin, host, ...headers }: IncomingHttpHeaders): OwnOrigin | undefined {
  const [, scheme, from] = ORIGIN.exec(origin ?? "") ?? [];
  const site = headers["sec-fetch-site"];
  if (scheme === undefined || from === undefined || host === undefined) return undefined;
  if (from.toLowerCase() !== withoutDefaultPort(host.toLowerCase(), scheme)) return undefined;
  if (site !== undefined && site !== "same-origin") return undefined;
  return { secure: scheme === "https" };
}

const withoutDefaultPort = (host: string, scheme: string): string =>
  host.endsWith(scheme === "https" ? ":443" : ":80") ? host.slice(0, host.lastIndexOf(":")) : host;
