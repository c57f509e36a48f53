/**
 * Who may address this listener from where: Host against DNS rebinding, Origin and CORS against web pages.
 * Spec: basic/transports/streamable-http (Origin MUST be validated); Fetch standard, CORS protocol.
 */
import { isLoopback } from "../config/addresses.ts";
import { Refusal } from "../errors.ts";
import type { Headers } from "../headers.ts";

/** What a page may read of a response, also of a refusal. */
const EXPOSED =
  "WWW-Authenticate, DPoP-Nonce, X-Request-Id, Mcp-Session-Id, MCP-Protocol-Version, Retry-After";
const MAX_AGE_SECONDS = "600";

/** The hosts and origins one listener answers for. Built once at start. */
export interface Reach {
  /** Lower-case `host` or `host:port`; an entry without a port admits any port. */
  readonly hosts: ReadonlySet<string>;
  /** Exact origins, as browsers send them. */
  readonly origins: ReadonlySet<string>;
  /** Its origin is the gateway's own. */
  readonly publicUrl: URL;
  /** Whether only this machine can connect. */
  readonly onLoopback: boolean;
}

const LOOPBACK_NAMES = ["localhost", "127.0.0.1", "[::1]"];

/**
 * Computes the reach of a listener: the public URL's host, and on a loopback listener also the loopback names.
 * @param server the resolved `server` section; `publicUrl` is an origin
 */
export function createReach(server: {
  readonly listen: { readonly host: string };
  readonly publicUrl: string;
  readonly allowedHosts?: readonly string[];
  readonly allowedOrigins: readonly string[];
}): Reach {
  const onLoopback = isLoopback(server.listen.host);
  const hosts = new Set(
    (server.allowedHosts ?? [new URL(server.publicUrl).host]).map((h) => h.toLowerCase()),
  );
  if (server.allowedHosts === undefined && onLoopback) {
    for (const name of LOOPBACK_NAMES) hosts.add(name);
  }
  return {
    hosts,
    origins: new Set(server.allowedOrigins),
    publicUrl: new URL(server.publicUrl),
    onLoopback,
  };
}

/**
 * @param target the request target as sent; in its absolute form its host counts, so both have to be served (RFC 9112 section 3.2.2)
 * @throws Refusal `misdirected_host` unless the request is for a host that the listener answers for
 */
export function checkHost(headers: Headers, reach: Reach, target = ""): void {
  const absolute = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/i.exec(target)?.[1];
  for (const named of [headers.get("host") ?? "", ...(absolute === undefined ? [] : [absolute])]) {
    const host = named.trim().toLowerCase();
    if (reach.hosts.has(host) || reach.hosts.has(host.replace(/:\d+$/, ""))) continue;
    throw new Refusal("misdirected_host", "host");
  }
}

/**
 * Call after `checkHost`. The gateway's own origin is that of the public URL, and on a loopback listener that of a loopback name with the
 * port addressed: nobody else can have served a page from there.
 * @returns CORS headers for the response: empty where no Origin was sent (not a browser)
 * @throws Refusal `forbidden_origin` for an Origin that is neither exactly on the list, nor exactly that of the Host addressed
 */
export function checkOrigin(headers: Headers, reach: Reach): Record<string, string> {
  const origin = headers.get("origin");
  if (origin === undefined) return {};
  if (!isOwn(origin, headers.get("host") ?? "", reach) && !reach.origins.has(origin))
    throw new Refusal("forbidden_origin", "origin");
  return {
    "access-control-allow-origin": origin,
    "access-control-expose-headers": EXPOSED,
    vary: "Origin",
  };
}

function isOwn(origin: string, host: string, { publicUrl, onLoopback }: Reach): boolean {
  if (origin !== `${publicUrl.protocol}//${host}`) return false;
  return host === publicUrl.host || (onLoopback && LOOPBACK_NAMES.includes(host.replace(/:\d+$/, "")));
}

/** Headers of the answer to a preflight; browsers send it without a token, so it is answered before authentication. */
export function preflightHeaders(headers: Headers): Record<string, string> {
  return {
    "access-control-allow-methods": "POST, GET, DELETE",
    "access-control-allow-headers": allowedHeaders(headers.get("access-control-request-headers")),
    "access-control-max-age": MAX_AGE_SECONDS,
    vary: "Origin, Access-Control-Request-Headers",
  };
}

const REQUEST_HEADERS = new Set([
  "accept",
  "authorization",
  "content-type",
  "dpop",
  "last-event-id",
  "mcp-method",
  "mcp-name",
  "mcp-protocol-version",
  "mcp-session-id",
  "traceparent",
  "tracestate",
]);

/** The asked headers that the gateway understands; `Mcp-Param-*` names are open, so they are echoed by name. */
function allowedHeaders(asked: string | undefined): string {
  const extra = (asked ?? "")
    .split(",")
    .map((name) => name.trim().toLowerCase())
    .filter((name) => /^mcp-param-[a-z0-9!#$%&'*+.^_`|~-]+$/.test(name));
  return [...REQUEST_HEADERS, ...extra].join(", ");
}
