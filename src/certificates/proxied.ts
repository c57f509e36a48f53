/**
 * A client certificate as a proxy that ended TLS writes it into a header. Three spellings are known:
 *
 *   rfc9440  `Client-Cert: :BASE64:` and `Client-Cert-Chain: :BASE64:, :BASE64:` (RFC 9440, a byte sequence of RFC 8941)
 *   nginx    `$ssl_client_escaped_cert`: one PEM certificate, percent-encoded
 *   envoy    `x-forwarded-client-cert`: one element with `Cert`, perhaps `Chain` and `Hash`, percent-encoded PEM in quotes
 *
 * A value in another spelling, or of two certificates where one belongs, is refused, never read in part. Pure.
 */
import { createHash } from "node:crypto";
import { type Certificate, MAX_CERTIFICATE_BYTES, readCertificate } from "./certificate.ts";
import { DerError } from "./der.ts";
import { MAX_PRESENTED } from "./path.ts";
import { decodeBase64, readPem } from "./pem.ts";

/** One of the spellings in the file's header. */
export type ProxiedFormat = "rfc9440" | "nginx" | "envoy";

/** A certificate, and those that came with it. */
export interface Presented {
  readonly leaf: Certificate;
  readonly others: readonly Certificate[];
}

/** Percent-encoded PEM is a good deal longer than DER. */
const MAX_VALUE = MAX_CERTIFICATE_BYTES * 3;

/**
 * @param value of the header, not empty
 * @param chain of `Client-Cert-Chain`, with `rfc9440` only
 * @throws DerError
 */
export function readProxied(format: ProxiedFormat, value: string, chain: string | undefined): Presented {
  if (value.length > MAX_VALUE || (chain?.length ?? 0) > MAX_VALUE)
    throw new DerError("the header is too large");
  if (format === "rfc9440") return presented([readByteSequence(value), ...readChain(chain)]);
  if (format === "nginx") return presented(only(readPem(unescaped(value), "value")));
  return readElement(value);
}

function presented([leaf, ...others]: readonly Buffer[]): Presented {
  if (leaf === undefined || others.length > MAX_PRESENTED) throw new DerError("no certificate, or too many");
  return { leaf: readCertificate(leaf), others: others.map(readCertificate) };
}

function only(certificates: readonly Buffer[]): readonly Buffer[] {
  if (certificates.length !== 1) throw new DerError("not exactly one certificate");
  return certificates;
}

function readByteSequence(item: string): Buffer {
  const base64 = /^:([A-Za-z0-9+/]+={0,2}):$/.exec(item.trim())?.[1];
  if (base64 === undefined) throw new DerError("not a byte sequence");
  return decodeBase64(base64);
}

function readChain(chain: string | undefined): Buffer[] {
  return chain === undefined ? [] : chain.split(",").map(readByteSequence);
}

/** Percent-encoded text, ASCII only: what else could stand there is no certificate. */
function unescaped(value: string): string {
  if (!/^(?:[!-$&-~]|%[0-7][0-9A-Fa-f])+$/.test(value)) throw new DerError("not percent-encoded text");
  return value.replace(/%(..)/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

/** Each proxy on the way may append an element; whose certificate counts then depends on who is asked, so one is all there may be. */
function readElement(value: string): Presented {
  const parts = new Map<string, string>();
  const pair = /([A-Za-z]{1,16})=(?:"((?:[^"\\]|\\.)*)"|([^",;\\]*))(;|$)/sy;
  while (pair.lastIndex < value.length) {
    const match = pair.exec(value);
    if (match === null) throw new DerError("not one element of pairs");
    const name = (match[1] ?? "").toLowerCase();
    // URI and DNS stand once for each name; nothing is read from them.
    if (parts.has(name) && name !== "uri" && name !== "dns") throw new DerError("a pair stands twice");
    parts.set(name, match[2]?.replace(/\\(.)/gs, "$1") ?? match[3] ?? "");
    if (match[4] === ";" && pair.lastIndex === value.length) throw new DerError("not one element of pairs");
  }
  const [der] = only(readPem(unescaped(parts.get("cert") ?? ""), "value"));
  if (der === undefined) throw new DerError("no certificate");
  const hash = parts.get("hash");
  if (hash !== undefined && hash.toLowerCase() !== createHash("sha256").update(der).digest("hex")) {
    throw new DerError("the hash is of another certificate");
  }
  const chain = parts.get("chain");
  // Envoy's Chain begins with the client's own certificate.
  const others = chain === undefined ? [] : readPem(unescaped(chain), "value");
  return presented([der, ...others.filter((other) => !other.equals(der))]);
}
