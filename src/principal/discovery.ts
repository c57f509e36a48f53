/**
 * From an issuer's name to its key set's URL: RFC 8414 and OpenID Connect Discovery, as MCP clients do it.
 * The name is the operator's and trusted; the document is not: it must carry exactly this issuer, and the URL in it
 * must be one that we may follow.
 */

import { DocumentError, type DocumentReader } from "./document.ts";

/** Why no document helped; for the log. */
export type DiscoveryFault = "no_document" | "issuer_mismatch" | "jwks_uri";

export class DiscoveryError extends Error {
  override readonly name = "DiscoveryError";
  readonly fault: DiscoveryFault;

  constructor(fault: DiscoveryFault) {
    super(fault);
    this.fault = fault;
  }
}

/** A key set's URL, and whether its host is the operator's own word. */
export interface KeySetLocation {
  readonly url: string;
  readonly trusted: boolean;
}

/**
 * The documents tried, in order: RFC 8414 with the issuer's path inserted, OpenID Connect the same way, then OpenID
 * Connect with its suffix appended (the form of OpenID Connect Discovery 1.0 section 4).
 */
export function discoveryUrls(issuer: string): string[] {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, "");
  return [
    ...new Set([
      `${origin}/.well-known/oauth-authorization-server${path}`,
      `${origin}/.well-known/openid-configuration${path}`,
      `${origin}${path}/.well-known/openid-configuration`,
    ]),
  ];
}

/** Finds the key set. Throws `DiscoveryError`, or `DocumentError` when the issuer's host cannot be reached at all. */
export async function discoverKeySet(issuer: string, reader: DocumentReader): Promise<KeySetLocation> {
  let worst = new DiscoveryError("no_document");
  for (const url of discoveryUrls(issuer)) {
    let document: unknown;
    try {
      document = await reader.read(url, true);
    } catch (error) {
      // A host that is down will not be up for the next document; only an answer of another kind lets us go on.
      if (!(error instanceof DocumentError) || ["timeout", "unreachable"].includes(error.fault)) throw error;
      continue;
    }
    const location = locate(issuer, document);
    if (!(location instanceof DiscoveryError)) return location;
    worst = location;
  }
  throw worst;
}

function locate(issuer: string, document: unknown): KeySetLocation | DiscoveryError {
  const read = (name: string): unknown =>
    typeof document === "object" && document !== null && Object.hasOwn(document, name)
      ? Reflect.get(document, name)
      : undefined;
  // RFC 8414 section 3.3: identical, or the document must not be used (one tenant's server naming another's issuer).
  if (read("issuer") !== issuer) return new DiscoveryError("issuer_mismatch");
  const location = followable(issuer, read("jwks_uri"));
  return location ?? new DiscoveryError("jwks_uri");
}

/**
 * A `jwks_uri` may be on the issuer's own origin, on any loopback port when the issuer itself is on loopback, or on
 * another https host, which is then fetched from public addresses only. Never plain http elsewhere, never credentials.
 */
function followable(issuer: string, value: unknown): KeySetLocation | undefined {
  if (typeof value !== "string" || !URL.canParse(value)) return undefined;
  const url = new URL(value);
  const home = new URL(issuer);
  if (url.username !== "" || url.password !== "" || !/^https?:$/.test(url.protocol)) return undefined;
  const local = isLoopback(home) && isLoopback(url);
  if (url.origin === home.origin || local) return { url: url.href, trusted: true };
  if (url.protocol !== "https:") return undefined;
  return { url: url.href, trusted: url.hostname === home.hostname };
}

function isLoopback(url: URL): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(url.hostname);
}
