/**
 * The address of a url question as it is written: whether every reader takes it for the same one. What it says is judged by
 * `address-findings.ts`. Source: MCP 2026-07-28, elicitation in url mode, and its security best practices; WHATWG
 * URL; RFC 5890 for names.
 */
import { domainToUnicode } from "node:url";
import { hasStackedMarks } from "./resource-uri.ts";

/** Why an address may not be shown to a user, whatever the operator says. */
export type UrlFault = "url" | "url_scheme";

/** An address that all readers read alike. */
export interface QuestionUrl {
  readonly scheme: "http" | "https";
  /** Host in ASCII and small letters, as browsers print it. */
  readonly host: string;
  /** Empty for the port of the scheme. */
  readonly port: string;
  /** As written, small letters: in Unicode where it was. */
  readonly writtenHost: string;
  readonly hasUserinfo: boolean;
  /** What stands behind the host, as written. */
  readonly path: string;
  /** Without the question mark. */
  readonly query: string;
  /** Without the number sign. */
  readonly fragment: string;
}

/** Longer than what browsers and servers take; requests for single sign-on have a few thousand. */
export const MAX_URL = 16 * 1024;
/** Characters of a host and of one label; in Unicode it has fewer than in ASCII. */
const MAX_HOST = 253;
const MAX_LABEL = 63;

const SCHEME = /^([a-z][a-z0-9+.-]*):/i;
const LOOPBACK_V4 = /^127\.[0-9]+\.[0-9]+\.[0-9]+$/;
const PORT = /^[1-9][0-9]{0,4}$/;
/** IPv4 in the clothes of IPv6, as browsers print it: compatible, mapped, translated (SIIT, RFC 2765; NAT64, RFC 6052), 6to4. */
const DISGUISED = /^\[(?:::(?:ffff:(?:0:)?)?[0-9a-f]{1,4}:[0-9a-f]{1,4}|64:ff9b:.*|2002:.*)\]$/;

/**
 * Reads an untrusted address: absolute, http or https. Gives a fault instead where a parser would have to repair it,
 * since what one reader repairs, another reads differently: white space, backslashes, addresses of machines in odd
 * spellings, dots at the end.
 */
export function readQuestionUrl(text: string): QuestionUrl | UrlFault {
  // White space, control characters and backslashes are dropped or turned by browsers.
  if (text.length > MAX_URL || /[\s\p{Cc}\p{Cf}\\]/u.test(text)) return "url";
  const scheme = SCHEME.exec(text)?.[1]?.toLowerCase();
  if (scheme === undefined) return "url";
  if (scheme !== "https" && scheme !== "http") return "url_scheme";
  const rest = text.slice(scheme.length + 1);
  if (!rest.startsWith("//") || rest.startsWith("///")) return "url";
  const authority = rest.slice(2).split(/[/?#]/, 1)[0] ?? "";
  const written = readAuthority(authority);
  // Before anything is parsed: parsers and comparers normalise the host.
  if (written === undefined || !isName(written.host)) return "url";
  const url = URL.parse(text);
  if (url === null || !isSpelledAlike(written.host, url.hostname)) return "url";
  const behind = rest.slice(2 + authority.length);
  const hash = behind.indexOf("#");
  const whole = hash === -1 ? behind : behind.slice(0, hash);
  const mark = whole.indexOf("?");
  return {
    scheme,
    host: url.hostname,
    port: url.port,
    writtenHost: written.host,
    hasUserinfo: authority.includes("@"),
    path: mark === -1 ? whole : whole.slice(0, mark),
    query: mark === -1 ? "" : whole.slice(mark + 1),
    fragment: hash === -1 ? "" : behind.slice(hash + 1),
  };
}

/** Whether a host as browsers print it is this machine. */
export function isLoopbackHost(host: string): boolean {
  return host === "localhost" || host.endsWith(".localhost") || host === "[::1]" || LOOPBACK_V4.test(host);
}

/** The host of an authority as written, small letters; undefined for ports in odd spellings. */
function readAuthority(authority: string): { readonly host: string } | undefined {
  const place = authority.slice(authority.lastIndexOf("@") + 1);
  const bracket = place.lastIndexOf("]");
  const colon = place.indexOf(":", Math.max(bracket, 0));
  if (colon !== -1 && !PORT.test(place.slice(colon + 1))) return undefined;
  return { host: (colon === -1 ? place : place.slice(0, colon)).toLowerCase() };
}

/** Whether a host is as short as names in DNS are (RFC 1035, 2.3.4), with something in each label, and without stacks of marks. */
function isName(host: string): boolean {
  return (
    host.length <= MAX_HOST &&
    host.split(".").every(({ length }) => length >= 1 && length <= MAX_LABEL) &&
    !hasStackedMarks(host)
  );
}

/** Whether the host that a browser makes of what is written is what is written. */
function isSpelledAlike(written: string, host: string): boolean {
  if (host === "" || host.endsWith(".") || DISGUISED.test(host)) return false;
  return (
    written === host || (/\P{ASCII}/u.test(written) && written.normalize("NFC") === domainToUnicode(host))
  );
}
