/**
 * The headers an upstream gets: an allow-list, written by the gateway. The caller's token, cookies and keys have no way here.
 * Spec: basic/authorization (no token passthrough); basic/transports/streamable-http (mirrored headers).
 */
import type { Headers } from "../headers.ts";
import { encodeMirrored, isParamHeader } from "../mcp/mirrored-headers.ts";

/** A header with the upstream's own credential; the value is secret. */
export interface Credential {
  readonly header: string;
  readonly value: string;
}

const ACCEPT = "application/json, text/event-stream";
/** Relayed from the caller as they are, if present: they carry no authority. */
const TRACE = ["traceparent", "tracestate"];
/** Relayed on legacy traffic only: the session belongs to the upstream. */
const LEGACY = ["mcp-session-id", "last-event-id"];

/** A token as it travels: behind `Bearer` in `Authorization` (RFC 6750 section 2.1), in any other header alone. */
export const carried = (header: string, token: string): Credential => ({
  header,
  value: header === "authorization" ? `Bearer ${token}` : token,
});

/** The headers with the credential in them. It is written last, so that nothing of the caller's stands in its place. */
export const withCredential = (
  headers: Readonly<Record<string, string>>,
  credential: Credential | undefined,
): Readonly<Record<string, string>> =>
  credential === undefined ? headers : { ...headers, [credential.header.toLowerCase()]: credential.value };

/** Headers of a modern POST, but for the credential. `target` is the name or uri to mirror, taken from the checked body. */
export function modernHeaders(
  caller: Headers,
  message: { readonly method: string; readonly target: string | undefined; readonly version: string },
): Record<string, string> {
  const headers: Record<string, string> = {
    "content-type": "application/json",
    accept: ACCEPT,
    "accept-encoding": "identity",
    "mcp-protocol-version": message.version,
    "mcp-method": message.method,
  };
  if (message.target !== undefined) headers["mcp-name"] = encodeMirrored(message.target);
  for (const [name, value] of caller) {
    if (TRACE.includes(name) || isParamHeader(name, value)) headers[name] = value;
  }
  return headers;
}

/** Headers of a legacy request, but for the credential: those of its revision, nothing of the modern one. */
export function legacyHeaders(
  caller: Headers,
  method: "POST" | "GET" | "DELETE",
  version: string | undefined,
): Record<string, string> {
  const headers: Record<string, string> = { accept: method === "GET" ? "text/event-stream" : ACCEPT };
  headers["accept-encoding"] = "identity";
  if (method === "POST") headers["content-type"] = "application/json";
  if (version !== undefined) headers["mcp-protocol-version"] = version;
  for (const name of [...TRACE, ...LEGACY]) {
    const value = caller.get(name);
    if (value !== undefined) headers[name] = value;
  }
  return headers;
}
