/**
 * What a state is tied to. Compares opened claims with the request that presents them; pure, no clock, no I/O.
 * Single use is not judged here: that is the last step, in the redemption store.
 */
import { hash, timingSafeEqual } from "node:crypto";
import { type Claims, EnvelopeError } from "./envelope/format.ts";

const REQUEST_ID_LABEL = "sealgate/request-id/1/";
const NUMBER = /^(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE]([+-]?)([0-9]+))?$/;

/** What the request that brings a state is, in the same terms as the claims. */
export interface Presented {
  readonly route: string;
  readonly upstream: string;
  /** Digest of the authenticated principal. */
  readonly principal: string;
  readonly method: string;
  readonly target: string;
  /** Digest of the parameters. */
  readonly params: string;
  readonly version: string;
}

/**
 * Passes only if the state is alive and belongs to this request. `nowSeconds` is unix time; a seal may lie at most
 * `skewSeconds` ahead of it, since clocks of replicas differ.
 * Throws EnvelopeError with the first breach, in this order: `expired`, `not_yet`, `route`, `upstream`, `principal`,
 * `method`, `target`, `version`, `params`. A state is expired from the second `exp` on (RFC 7519 section 4.1.4).
 */
export function checkBinding(
  claims: Claims,
  presented: Presented,
  nowSeconds: number,
  skewSeconds: number,
): void {
  // Both negated, so that a time that is no number refuses.
  if (!(nowSeconds < claims.exp)) throw new EnvelopeError("expired");
  if (!(claims.iat <= nowSeconds + skewSeconds)) throw new EnvelopeError("not_yet");
  if (claims.route !== presented.route) throw new EnvelopeError("route");
  if (claims.upstream !== presented.upstream) throw new EnvelopeError("upstream");
  if (!sameDigest(claims.principal, presented.principal)) throw new EnvelopeError("principal");
  if (claims.method !== presented.method) throw new EnvelopeError("method");
  if (claims.target !== presented.target) throw new EnvelopeError("target");
  if (claims.version !== presented.version) throw new EnvelopeError("version");
  if (!sameDigest(claims.params, presented.params)) throw new EnvelopeError("params");
}

/** Equality of two digests in text form, in time that does not depend on where they differ. */
export function sameDigest(a: string, b: string): boolean {
  const left = Buffer.from(a, "utf8");
  const right = Buffer.from(b, "utf8");
  return left.length === right.length && timingSafeEqual(left, right);
}

/**
 * Digest (base64url SHA-256) of a JSON-RPC id, given as its JSON text. Strings are compared after unescaping, numbers
 * by exact value whatever their spelling or size; a string never equals a number.
 * Throws TypeError for any other JSON, without quoting it: ids are checked before they come here.
 */
export function requestIdDigest(idJson: string): string {
  const framed = idJson.startsWith('"') ? `string:${unescapeAndQuote(idJson)}` : `number:${exact(idJson)}`;
  return hash("sha256", `${REQUEST_ID_LABEL}${framed}`, "base64url");
}

function unescapeAndQuote(text: string): string {
  try {
    // Quoting again keeps unpaired surrogates apart, which UTF-8 would merge into one replacement character.
    return JSON.stringify(JSON.parse(text));
  } catch {
    throw new TypeError("a request id is neither a JSON string nor a number");
  }
}

/** One text per decimal value: digits without zeros at either end, and a power of ten. */
function exact(text: string): string {
  const match = NUMBER.exec(text);
  if (match === null) throw new TypeError("a request id is neither a JSON string nor a number");
  const [, sign = "", whole = "", fraction = "", exponentSign = "", exponentText = "0"] = match;
  const digits = withoutLeadingZeros(whole + fraction);
  if (digits === "") return "0";
  let end = digits.length;
  while (digits[end - 1] === "0") end -= 1;
  const exponent = withoutLeadingZeros(exponentText);
  // Beyond this no sum below would be exact; such a number stays what it is, character by character.
  if (exponent.length > 15) return `as sent ${text}`;
  const power = Number(`${exponentSign}${exponent || "0"}`) - fraction.length + (digits.length - end);
  return `${sign}${digits.slice(0, end)}e${power}`;
}

// Loops, for a pattern anchored at the end would take quadratic time on a long run of zeros.
function withoutLeadingZeros(digits: string): string {
  let start = 0;
  while (digits[start] === "0") start += 1;
  return digits.slice(start);
}
