/**
 * What can go wrong between the gateway and an upstream, in the few words a client may hear.
 * Addresses, codes and texts of the cause stay in the log.
 */
import { Refusal } from "../errors.ts";

/** A request that got no response head. */
export class UpstreamFailure extends Error {
  override readonly name = "UpstreamFailure";
  readonly refusal: Refusal;
  /** True when not one byte was written: a redeemed state may be given back. */
  readonly nothingSent: boolean;

  constructor(refusal: Refusal, nothingSent: boolean) {
    super(refusal.message, { cause: refusal });
    this.refusal = refusal;
    this.nothingSent = nothingSent;
  }
}

const TIMEOUTS: ReadonlyMap<string, string> = new Map([
  ["UND_ERR_HEADERS_TIMEOUT", "headers_timeout"],
  ["UND_ERR_BODY_TIMEOUT", "idle_timeout"],
]);

const BROKEN: ReadonlyMap<string, string> = new Map([
  ["UND_ERR_HEADERS_OVERFLOW", "headers_overflow"],
  ["UND_ERR_RES_CONTENT_LENGTH_MISMATCH", "length_mismatch"],
]);

/**
 * Maps an error of the HTTP client to a refusal: timeout 504; broken HTTP, unreachable or lost 502.
 * @param sent whether the server may have got the request, so that trying again is not harmless
 */
export function asUpstreamRefusal(error: Error, sent: boolean): Refusal {
  if (error instanceof Refusal) return error;
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  const timeout = TIMEOUTS.get(code);
  if (timeout !== undefined) return new Refusal("upstream_timeout", timeout, { cause: error });
  // The parser's errors carry a code only for some of their causes.
  const unparsed = code.startsWith("HPE_") || error.name === "HTTPParserError";
  const broken = BROKEN.get(code) ?? (unparsed ? "malformed_http" : undefined);
  if (broken !== undefined) return new Refusal("upstream_fault", broken, { cause: error });
  // In TLS 1.3 also what a server says to the gateway's certificate: the request may be written already.
  if (sent) return new Refusal("upstream_lost", "connection_lost", { cause: error });
  const detail = code === "UND_ERR_CONNECT_TIMEOUT" ? "connect_timeout" : reachDetail(code);
  return new Refusal("upstream_unreachable", detail, { cause: error });
}

function reachDetail(code: string): string {
  if (code === "ECONNREFUSED") return "connection_refused";
  if (code === "ENOTFOUND" || code === "EAI_AGAIN") return "dns";
  if (/^ERR_(TLS|SSL)|CERT|SELF_SIGNED|ISSUER|VERIFY/.test(code)) return "tls";
  return "connection_lost";
}
