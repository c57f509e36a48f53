/** What an issuer says of itself: RFC 8414 and OpenID Connect Discovery, read as the gateway reads them, and its key set. */
import { ALGORITHMS } from "../config/algorithms.ts";
import { DiscoveryError, discoverMetadata } from "../principal/discovery.ts";
import { DocumentError, type DocumentReader } from "../principal/document.ts";
import { Unsuitable } from "./unsuitable.ts";

/** What goes into the configuration. */
export interface IssuerFacts {
  /** As the operator wrote it, and as the issuer names itself. */
  readonly issuer: string;
  /** `scopes_supported`; what is no scope is left out. */
  readonly scopes: readonly string[];
  /** Algorithms of the keys that are published now, of those that the gateway takes. */
  readonly algorithms: readonly string[];
}

const SCOPE = /^[!#-[\]-~]{1,256}$/;

/**
 * @param issuer its exact name, http or https
 * @throws Unsuitable when no document can be had, it names another issuer, or its keys cannot be had
 */
export async function surveyIssuer(issuer: string, reader: DocumentReader): Promise<IssuerFacts> {
  try {
    const { document, keySet } = await discoverMetadata(issuer, reader);
    const keys = await reader.read(keySet.url, keySet.trusted);
    return { issuer, scopes: scopesIn(document), algorithms: algorithmsIn(issuer, keys) };
  } catch (error) {
    if (error instanceof DiscoveryError) throw new Unsuitable(`${issuer}: ${mismatch(error)}`);
    if (error instanceof DocumentError) throw new Unsuitable(`${issuer}: ${absence(error)}`);
    throw error;
  }
}

function scopesIn(document: unknown): readonly string[] {
  const found = read(document, "scopes_supported");
  if (!Array.isArray(found)) return [];
  const scopes = found.filter((scope): scope is string => typeof scope === "string" && SCOPE.test(scope));
  return [...new Set(scopes)].sort().slice(0, 200);
}

function algorithmsIn(issuer: string, keySet: unknown): readonly string[] {
  const keys = read(keySet, "keys");
  if (!Array.isArray(keys)) throw new Unsuitable(`${issuer}: its key set holds no list of keys`);
  const signing = keys.filter((key) => read(key, "use") !== "enc");
  const named = signing.map((key) => read(key, "alg"));
  const usable = ALGORITHMS.filter((name) => named.includes(name));
  // A key that names no algorithm may be for any of its kind.
  if (named.some((name) => name === undefined)) return [];
  if (usable.length === 0)
    throw new Unsuitable(`${issuer}: publishes no key for an algorithm that Sealgate takes`);
  return usable;
}

function read(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined;
}

function mismatch({ fault, details }: DiscoveryError): string {
  if (fault === "no_document") return "publishes no metadata (RFC 8414 or OpenID Connect Discovery)";
  if (fault === "jwks_uri") return "its metadata names no key set that may be followed";
  const { names } = details;
  const other =
    names !== undefined && /^[!-~]+$/.test(names) ? `calls itself ${names}` : "calls itself otherwise";
  return `${other}; --issuer must be exactly that, to the last slash`;
}

function absence({ fault, details }: DocumentError): string {
  const at = details.url === undefined ? "" : ` (${details.url})`;
  const why: Readonly<Record<DocumentError["fault"], string>> = {
    timeout: "does not answer in time",
    unreachable: `cannot be reached${details.code === undefined ? "" : `, ${details.code}`}`,
    status: `answers with HTTP ${details.status ?? "?"}`,
    too_large: "answers with a document that is too large",
    coding: "answers with a compressed document, which was not asked for",
    json: "answers with something that is no JSON",
    address: "names an address inside a private network, which a document may not",
  };
  return `${why[fault]}${at}`;
}
