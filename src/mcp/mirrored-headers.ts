/**
 * The headers that mirror the body (`Mcp-Method`, `Mcp-Name`, `Mcp-Param-*`): checked when they come in, written anew when
 * they go out. Source: MCP 2026-07-28, Streamable HTTP, standard request headers and value encoding.
 */
import { isUtf8 } from "node:buffer";
import { Refusal } from "../errors.ts";
import type { NotificationMessage, RequestMessage } from "./message.ts";

const MARK = "=?base64?";
const END_MARK = "?=";
const HEADER_TEXT = /^[\t\x20-\x7e]*$/;
const PLAIN = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const PARAM = "mcp-param-";
const PARAM_NAME = /^mcp-param-[!#$%&'*+.^_`|~0-9a-z-]+$/i;

/** What `checkMirrored` compares: untrusted header values, and what the body says. */
export interface Mirrored {
  readonly headers: { readonly method?: string | undefined; readonly name?: string | undefined };
  readonly message: RequestMessage | NotificationMessage;
  /** What `Mcp-Name` has to say (`mirroredName`); undefined for methods without that header. */
  readonly name: string | undefined;
}

/**
 * Compares the mirrored headers with a modern message. On a request both have to be there; on a notification they are
 * compared if they are. Throws Refusal `header_mismatch` with `data.header`.
 */
export function checkMirrored({ headers, message, name }: Mirrored): void {
  const required = message.type === "request";
  if (headers.method !== undefined) {
    if (trim(headers.method) !== message.method) throw mismatch("Mcp-Method", "method_differs");
  } else if (required) throw mismatch("Mcp-Method", "method_missing");
  if (name === undefined) return;
  if (headers.name !== undefined) {
    const decoded = decodeMirrored(headers.name);
    if (decoded === undefined) throw mismatch("Mcp-Name", "name_malformed");
    if (decoded !== name) throw mismatch("Mcp-Name", "name_differs");
  } else if (required) throw mismatch("Mcp-Name", "name_missing");
}

/**
 * The text that a header value stands for: itself, or what its `=?base64?…?=` form holds. undefined when the value has
 * characters that no header may have, or looks like that form and is not exactly it (standard base64, padded, canonical,
 * UTF-8).
 */
export function decodeMirrored(value: string): string | undefined {
  if (!HEADER_TEXT.test(value)) return undefined;
  const text = trim(value);
  if (!text.startsWith(MARK) || !text.endsWith(END_MARK)) return text;
  const encoded = text.slice(MARK.length, -END_MARK.length);
  // Also false for the bare `=?base64?=`, whose marks share a character.
  if (text.length < MARK.length + END_MARK.length || !BASE64.test(encoded)) return undefined;
  const bytes = Buffer.from(encoded, "base64");
  // Unused bits of the last character would give one name several spellings.
  if (bytes.toString("base64") !== encoded || !isUtf8(bytes)) return undefined;
  return bytes.toString("utf8");
}

/** The header value that we send for a name: as it is where that is safe, else in the base64 form. `name` is well formed. */
export function encodeMirrored(name: string): string {
  if (PLAIN.test(name) && !name.toLowerCase().startsWith(MARK)) return name;
  return `${MARK}${Buffer.from(name, "utf8").toString("base64")}${END_MARK}`;
}

/** Whether a header, its name in lower case, may be passed on as an `Mcp-Param-*` header: a token after the prefix, a value of visible ASCII, space and tab. */
export function isParamHeader(name: string, value: string): boolean {
  return name.startsWith(PARAM) && PARAM_NAME.test(name) && HEADER_TEXT.test(value);
}

/** Whether a header value holds only what a header of MCP may: visible ASCII, space and tab. */
export function isHeaderText(value: string): boolean {
  return HEADER_TEXT.test(value);
}

/** Takes optional white space (RFC 9110, section 5.6.3: space and tab) off both ends. Linear in the value. */
export function trim(value: string): string {
  let start = 0;
  let end = value.length;
  while (start < end && isSpace(value[start])) start++;
  while (end > start && isSpace(value[end - 1])) end--;
  return value.slice(start, end);
}

function isSpace(character: string | undefined): boolean {
  return character === " " || character === "\t";
}

function mismatch(header: string, detail: string): Refusal {
  return new Refusal("header_mismatch", detail, { data: { header } });
}
