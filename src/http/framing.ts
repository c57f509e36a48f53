/**
 * HTTP framing of a request, judged on the raw header list before anything else is believed.
 * Node joins or drops repeated headers by name; only the raw list shows what was really sent.
 * Spec: basic/transports/streamable-http; RFC 9110 sections 5, 7.6.1, 8.3.
 */
import type { IncomingMessage } from "node:http";
import { Refusal } from "../errors.ts";
import type { Headers } from "../headers.ts";
import { remembered } from "../remembered.ts";

/** Headers that may stand on one line only: two parsers must not be able to read two values. */
const SINGLE_LINE = new Set([
  "authorization",
  "content-encoding",
  "content-length",
  "content-type",
  "host",
  "last-event-id",
  "mcp-method",
  "mcp-name",
  "mcp-protocol-version",
  "mcp-session-id",
  "origin",
  "traceparent",
  "transfer-encoding",
]);

/** Headers that `Connection` must not name: removing them would change what the message means. */
const PROTECTED = new Set([...SINGLE_LINE, "accept", "mcp-protocol-version"]);

/** After a doubt about framing nothing more is read from the connection. */
const CLOSE = { connection: "close" };

const isMcp = (name: string): boolean => name.startsWith("mcp-");

/**
 * Reads the raw header list.
 * @throws Refusal `header_mismatch` for a repeated `Mcp-*` line, `malformed_http` for an HTTP version other than 1.0 and
 *   1.1, a missing `Host` on 1.1, any other repeated single-line header, a transfer coding that is not exactly `chunked` or
 *   stands on 1.0, and a `Connection` that names a header the protocol needs.
 *   Identical `MCP-Protocol-Version` lines are accepted: a released client sends them.
 */
export function readHeaders(request: IncomingMessage): Headers {
  // The parser also takes 0.9 and 2.0 on a request line, and other readers see other messages then.
  if (request.httpVersionMajor !== 1) throw new Refusal("malformed_http", "http_version", { headers: CLOSE });
  const headers = new Map<string, string>();
  const raw = request.rawHeaders;
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = (raw[i] ?? "").toLowerCase();
    const value = raw[i + 1] ?? "";
    const before = headers.get(name);
    if (before === undefined) {
      headers.set(name, value);
    } else if (isMcp(name)) {
      if (name === "mcp-protocol-version" && before === value) continue;
      throw new Refusal("header_mismatch", "repeated_header", { data: { header: raw[i] } });
    } else if (SINGLE_LINE.has(name)) {
      throw new Refusal("malformed_http", "repeated_header", { data: { header: name }, headers: CLOSE });
    } else {
      headers.set(name, `${before}, ${value}`);
    }
  }
  if (request.httpVersionMinor > 0 && !headers.has("host")) {
    throw new Refusal("malformed_http", "no_host", { headers: CLOSE });
  }
  // The parser takes the chunks off and leaves every other coding on: what it hands over would not be the body.
  const coding = headers.get("transfer-encoding");
  // In HTTP/1.0 there are no chunks: a message that says so was framed by somebody who did not know (RFC 9112 section 6.1).
  if (coding !== undefined && (coding.trim().toLowerCase() !== "chunked" || request.httpVersionMinor === 0)) {
    throw new Refusal("malformed_http", "transfer_coding", { headers: CLOSE });
  }
  for (const name of list(headers.get("connection"))) {
    if (PROTECTED.has(name) || isMcp(name)) {
      throw new Refusal("malformed_http", "connection_names_header", { data: { header: name } });
    }
  }
  return headers;
}

/**
 * Whether the client waits for a 100 before it sends its body. Other expectations, and those of HTTP/1.0, are not understood and
 * so ignored (RFC 9110 section 10.1.1).
 */
export function waitsForContinue(request: IncomingMessage, headers: Headers): boolean {
  return request.httpVersionMinor > 0 && list(headers.get("expect")).includes("100-continue");
}

/**
 * Checks media type and content coding of a POST.
 * @throws Refusal `unsupported_media_type`
 */
export function checkMediaTypes(headers: Headers): void {
  const { type, parameters } = mediaType(headers.get("content-type") ?? "");
  const charset = parameters.get("charset");
  if (type !== "application/json" || (charset !== undefined && charset !== "utf-8" && charset !== "utf8")) {
    throw new Refusal("unsupported_media_type", "media_type");
  }
  const coding = (headers.get("content-encoding") ?? "identity").trim().toLowerCase();
  if (coding !== "identity") throw new Refusal("unsupported_media_type", "content_coding");
}

/** Whether `Accept` admits both forms of an answer. */
export const acceptsAnswers = (headers: Headers): boolean => acceptsBoth(headers.get("accept") ?? "");

const acceptsBoth = remembered((accept) => {
  const accepted = list(accept).map((range) => mediaType(range));
  return ["application/json", "text/event-stream"].every((wanted) => {
    const family = `${wanted.slice(0, wanted.indexOf("/"))}/*`;
    return accepted.some(
      ({ type, parameters }) =>
        (type === wanted || type === family || type === "*/*") && Number(parameters.get("q") ?? 1) !== 0,
    );
  });
});

/** In lower case, names and values. */
interface MediaType {
  readonly type: string;
  readonly parameters: ReadonlyMap<string, string>;
}

/** Parses a media type (RFC 9110 section 8.3.1): names are case-insensitive, quoted parameters are unquoted. */
export const mediaType = remembered((text: string): MediaType => {
  const [type = "", ...rest] = text.split(";");
  const parameters = new Map<string, string>();
  for (const part of rest) {
    const at = part.indexOf("=");
    if (at < 0) continue;
    const value = part.slice(at + 1).trim();
    parameters.set(part.slice(0, at).trim().toLowerCase(), value.replace(/^"(.*)"$/, "$1").toLowerCase());
  }
  return { type: type.trim().toLowerCase(), parameters };
});

/** Splits a comma-separated header into lower-case members. */
function list(value: string | undefined): string[] {
  return (value ?? "")
    .split(",")
    .map((part) => part.trim().toLowerCase())
    .filter((part) => part !== "");
}
