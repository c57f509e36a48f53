/** Certificates in PEM (RFC 7468). Pure. */
import { DerError } from "./der.ts";

/** Certificates in one bundle. */
const MAX_BUNDLE = 256;
const BEGIN = "-----BEGIN CERTIFICATE-----";
const END = "-----END CERTIFICATE-----";

/**
 * The DER of each certificate of a text.
 * @param kind a `bundle` is an operator's file: explanations between the certificates are passed over, other objects refused; a
 *   `value` is what a proxy sent: certificates and line ends, nothing else
 * @throws DerError with a text for the operator
 */
export function readPem(text: string, kind: "bundle" | "value"): Buffer[] {
  const found: Buffer[] = [];
  let at = 0;
  for (;;) {
    const begin = text.indexOf("-----BEGIN ", at);
    const between = text.slice(at, begin === -1 ? undefined : begin);
    if (kind === "value" && !/^[\r\n]*$/.test(between)) throw new DerError("there is more than certificates");
    if (begin === -1) break;
    const end = text.indexOf(END, begin);
    if (!text.startsWith(BEGIN, begin) || end === -1) throw new DerError("not a PEM certificate");
    found.push(decode(text.slice(begin + BEGIN.length, end)));
    if (found.length > MAX_BUNDLE) throw new DerError(`more than ${MAX_BUNDLE} certificates`);
    at = end + END.length;
  }
  if (found.length === 0) throw new DerError("no PEM certificate");
  return found;
}

/** Base64 with line ends, in the one spelling that its bytes have. @throws DerError */
function decode(lines: string): Buffer {
  const text = lines.replace(/[\r\n\t ]+/g, "");
  return decodeBase64(text);
}

/** @throws DerError for anything but padded base64 (RFC 4648 section 4) in the one spelling that its bytes have */
export function decodeBase64(text: string): Buffer {
  const bytes = Buffer.from(text, "base64");
  if (bytes.length === 0 || bytes.toString("base64") !== text) throw new DerError("not base64");
  return bytes;
}
