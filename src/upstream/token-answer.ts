/**
 * What a token endpoint says: RFC 6749 sections 5.1 and 5.2, RFC 8693 section 2.2. The answer is not trusted to be well formed, and
 * nothing of its text goes anywhere: causes are words of our own. Pure.
 */
import { Refusal } from "../errors.ts";

/** A token that can be used as a bearer token. */
export interface GrantedToken {
  /** Fits into a header, see `TOKEN`. */
  readonly token: string;
  /** Seconds; undefined where the endpoint does not say. */
  readonly expiresIn: number | undefined;
}

/** Longest token, in characters: servers take 8 to 16 KiB of headers, all together. */
const MAX_TOKEN_CHARACTERS = 8 * 1024;
/** RFC 6750 section 2.1. */
const TOKEN = /^[A-Za-z0-9._~+/-]+=*$/;
/** RFC 8693 section 3: what may stand behind `Bearer`. */
const ISSUED_TYPES: ReadonlySet<unknown> = new Set([
  "urn:ietf:params:oauth:token-type:access_token",
  "urn:ietf:params:oauth:token-type:jwt",
]);
/** Errors about what was asked for, by the words that audit and metrics have for them. */
const ABOUT_THE_REQUEST = [
  "invalid_request",
  "invalid_grant",
  "invalid_target",
  "invalid_scope",
  "access_denied",
];
/** Errors about the gateway itself: its operator's to mend. */
const ABOUT_THE_CLIENT: ReadonlySet<unknown> = new Set([
  "invalid_client",
  "unauthorized_client",
  "unsupported_grant_type",
]);

/** The members of a JSON object; undefined for anything else. */
export function parseAnswer(bytes: Buffer): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Reads a 200.
 * @param answer untrusted
 * @param exchanged whether it answers a token exchange, which has to say what it issued
 * @throws Refusal `credential_fault`
 */
export function readGranted(answer: Readonly<Record<string, unknown>>, exchanged: boolean): GrantedToken {
  const { access_token: token, token_type: type, expires_in: expiresIn, issued_token_type: issued } = answer;
  // N_A is no token to be presented, and one of DPoP would need a proof.
  if (typeof type !== "string" || type.toLowerCase() !== "bearer") throw fault("token_type");
  if (exchanged && !ISSUED_TYPES.has(issued)) throw fault("issued_token_type");
  if (typeof token !== "string" || token.length > MAX_TOKEN_CHARACTERS || !TOKEN.test(token))
    throw fault("token");
  return { token, expiresIn: seconds(expiresIn) };
}

/** Some endpoints say it as a text. What is no time at all counts as not said. */
function seconds(value: unknown): number | undefined {
  const given = typeof value === "string" && /^\d{1,9}$/.test(value) ? Number(value) : value;
  return typeof given === "number" && Number.isFinite(given) && given > 0 ? given : undefined;
}

/**
 * The refusal that an error answer stands for.
 * @param status of HTTP, not 200
 * @param answer undefined where there was no JSON object
 * @param inTheName whether the token was asked for in the caller's name, so that the caller can be told no
 */
export function asGrantRefusal(
  status: number,
  answer: Readonly<Record<string, unknown>> | undefined,
  inTheName: boolean,
): Refusal {
  if (status === 429 || status >= 500) return new Refusal("credential_unavailable", "grant_status");
  if (status >= 300 && status < 400) return fault("redirect");
  const error = answer?.["error"];
  if (status === 401 || ABOUT_THE_CLIENT.has(error)) return fault("client");
  if ((status !== 400 && status !== 403) || typeof error !== "string") return fault("status");
  const known = ABOUT_THE_REQUEST.includes(error) ? error : "other";
  return inTheName ? new Refusal("credential_refused", `grant_${known}`) : fault(known);
}

/** A token endpoint that does not do what it should, or does not know us. */
export const fault = (cause: string): Refusal => new Refusal("credential_fault", `grant_${cause}`);
