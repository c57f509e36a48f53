/**
 * From an issuer's name to its key set's URL: RFC 8414 and OpenID Connect Discovery, as MCP clients do it.
 * The name is the operator's and trusted; the document is not: it must carry exactly this issuer, and the URL in it
 * must be one that we may follow.
 */

import { withoutQuery } from "../log.ts";
import { type DocumentDetails, DocumentError, type DocumentReader } from "./document.ts";

/** Characters of what a document says that the log repeats. */
const MAX_SHOWN = 256;

/** Why no document helped; for the log. */
export type DiscoveryFault = "no_document" | "issuer_mismatch" | "jwks_uri";

/** What the log says besides the fault. */
export interface DiscoveryDetails {
  /** The document that was read. */
  readonly url?: string;
  /** The `issuer` it names instead, cut; the usual difference is a slash at the end. */
  readonly names?: string;
  /** Origin and path of a `jwks_uri` that is not followed; only the scheme where it is not http. */
  readonly jwksUri?: string;
  /** Each place where no document was, and why. */
  readonly tried?: readonly (DocumentDetails & { readonly fault: string })[];
}

export class DiscoveryError extends Error {
  override readonly name = "DiscoveryError";
  readonly fault: DiscoveryFault;
  readonly details: DiscoveryDetails;

  constructor(fault: DiscoveryFault, details: DiscoveryDetails = {}) {
    super(fault);
    this.fault = fault;
    this.details = details;
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

/** What an issuer publishes: the whole document, untrusted, and the key set it names. */
export interface Metadata {
  readonly document: unknown;
  readonly keySet: KeySetLocation;
}

/** Finds the key set. Throws like `discoverMetadata`. */
export async function discoverKeySet(issuer: string, reader: DocumentReader): Promise<KeySetLocation> {
  return (await discoverMetadata(issuer, reader)).keySet;
}

/** Finds the metadata. Throws `DiscoveryError`, or `DocumentError` when the issuer's host cannot be reached at all. */
export async function discoverMetadata(issuer: string, reader: DocumentReader): Promise<Metadata> {
  const tried: (DocumentDetails & { readonly fault: string })[] = [];
  let worst: DiscoveryError | undefined;
  for (const url of discoveryUrls(issuer)) {
    let document: unknown;
    try {
      document = await reader.read(url, true);
    } catch (error) {
      // A host that is down will not be up for the next document; only an answer of another kind lets us go on.
      if (!(error instanceof DocumentError) || ["timeout", "unreachable"].includes(error.fault)) throw error;
      tried.push({ ...error.details, fault: error.fault });
      continue;
    }
    const location = locate(issuer, document, url);
    if (!(location instanceof DiscoveryError)) return { document, keySet: location };
    worst = location;
  }
  throw worst ?? new DiscoveryError("no_document", { tried });
}

function locate(issuer: string, document: unknown, url: string): KeySetLocation | DiscoveryError {
  const read = (name: string): unknown =>
    typeof document === "object" && document !== null && Object.hasOwn(document, name)
      ? Reflect.get(document, name)
      : undefined;
  // RFC 8414 section 3.3: identical, or the document must not be used (one tenant's server naming another's issuer).
  const named = read("issuer");
  if (named !== issuer) {
    const names = typeof named === "string" ? { names: named.slice(0, MAX_SHOWN) } : {};
    return new DiscoveryError("issuer_mismatch", { url, ...names });
  }
  const jwksUri = read("jwks_uri");
  const location = followable(issuer, jwksUri);
  if (location !== undefined) return location;
  return new DiscoveryError("jwks_uri", { url, ...shown(jwksUri) });
}

function shown(jwksUri: unknown): Pick<DiscoveryDetails, "jwksUri"> {
  if (typeof jwksUri !== "string" || !URL.canParse(jwksUri)) return {};
  const { protocol } = new URL(jwksUri);
  const text = /^https?:$/.test(protocol) ? withoutQuery(jwksUri) : protocol;
  return { jwksUri: text.slice(0, MAX_SHOWN) };
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
