/**
 * Credentials that an authorization server grants: in the caller's name for the caller's own token (RFC 8693), or in the gateway's
 * name (RFC 6749 section 4.4). The caller's token goes to the operator's token endpoint and nowhere else.
 */
import { createHash } from "node:crypto";
import { decodeJwt } from "jose";
import type { Config } from "../config/schema.ts";
import { Refusal } from "../errors.ts";
import { principalDigest } from "../principal/principal.ts";
import { CredentialCache, type Made } from "./credential-cache.ts";
import type { Caller, CredentialOutcome, CredentialSource } from "./credential-source.ts";
import { type Credential, carried } from "./credentials.ts";
import { fault, type GrantedToken } from "./token-answer.ts";
import type { TokenEndpoint } from "./token-endpoint.ts";

type Setting = NonNullable<Config["routes"][number]["upstream"]["credential"]>;
type ClientCredentialsTerms = Extract<Setting, { clientCredentials: unknown }>["clientCredentials"];
/** What a route says about its exchange. */
export type ExchangeTerms = Extract<Setting, { exchange: unknown }>["exchange"];
/** What the sources ask with. */
export interface GrantParts {
  readonly endpoint: Pick<TokenEndpoint, "grant" | "close">;
  /** Audiences of the gateway's own routes: a token for one of them would let the server be its caller here. */
  readonly ownAudiences: readonly string[];
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly count: (outcome: CredentialOutcome) => void;
}

const ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token";
/** Exchanged tokens kept for use again, per route. */
const KEPT = 4_096;
/** A token is not handed out in the last tenth of its life, this much at most: it has to outlive the way to the server. */
const MAX_MARGIN_MS = 60_000;
/** Nor longer than this: who has lost access at the authorization server keeps none for hours. */
const MAX_KEPT_MS = 600_000;

/** A token in the caller's name. */
export function exchangeSource(terms: ExchangeTerms, parts: GrantParts): CredentialSource {
  const { endpoint, ownAudiences, now, count } = parts;
  const cache = new CredentialCache(KEPT, now);
  const target = targetOf(terms);
  const exchange = async (caller: Caller, subjectToken: string): Promise<Made> => {
    const asked = now();
    const form = [
      ["grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"] as const,
      ["subject_token", subjectToken] as const,
      ["subject_token_type", ACCESS_TOKEN] as const,
      ["requested_token_type", ACCESS_TOKEN] as const,
      ...target,
    ];
    const granted = await counted(count, async () => {
      const answer = await endpoint.grant(form, true);
      if (answer.token === subjectToken) throw fault("callers_token");
      return forElsewhere(answer, ownAudiences);
    });
    if (terms.subject === "same" && !isOf(granted.token, subjectToken, caller)) {
      count("refused");
      throw new Refusal("credential_refused", "grant_subject");
    }
    count("obtained");
    const until = Math.min(untilOf(granted, asked), expiryOf(subjectToken) ?? Number.POSITIVE_INFINITY);
    return { credential: carried(terms.header, granted.token), until };
  };
  return {
    kind: "exchange",
    for(caller) {
      const { principal, accessToken } = caller;
      if (principal.anonymous || accessToken === undefined) {
        count("no_identity");
        throw new Refusal("identity_required", principal.anonymous ? "anonymous" : "no_token");
      }
      const name = createHash("sha256")
        .update(`${principalDigest(principal)}\n${accessToken}`, "utf8")
        .digest("base64url");
      return from(cache, name, () => exchange(caller, accessToken), count);
    },
    refused: (credential) => drop(cache, credential, count),
    close: () => endpoint.close(),
  };
}

/** A token in the gateway's own name: the same for every caller. */
export function clientCredentialsSource(terms: ClientCredentialsTerms, parts: GrantParts): CredentialSource {
  const { endpoint, ownAudiences, now, count } = parts;
  const cache = new CredentialCache(1, now);
  const ask = async (): Promise<Made> => {
    const asked = now();
    const form = [["grant_type", "client_credentials"] as const, ...targetOf(terms)];
    const granted = await counted(count, async () =>
      forElsewhere(await endpoint.grant(form, false), ownAudiences),
    );
    count("obtained");
    return { credential: carried(terms.header, granted.token), until: untilOf(granted, asked) };
  };
  return {
    kind: "client_credentials",
    for: () => from(cache, "", ask, count),
    refused: (credential) => drop(cache, credential, count),
    close: () => endpoint.close(),
  };
}

function from(
  cache: CredentialCache,
  name: string,
  make: () => Promise<Made>,
  count: GrantParts["count"],
): Credential | Promise<Credential> {
  const kept = cache.get(name);
  if (kept === undefined) return cache.make(name, make);
  count("reused");
  return kept;
}

function drop(cache: CredentialCache, credential: Credential, count: GrantParts["count"]): void {
  if (cache.drop(credential)) count("dropped");
}

async function counted<T>(count: GrantParts["count"], grant: () => Promise<T>): Promise<T> {
  try {
    return await grant();
  } catch (error) {
    const code = error instanceof Refusal ? error.code : undefined;
    count(
      code === "credential_refused" ? "refused" : code === "credential_unavailable" ? "unavailable" : "fault",
    );
    throw error;
  }
}

/** What the token is asked for. RFC 8693 section 2.1: `audience` and `resource` may stand several times. */
function targetOf({ audience, resource, scope }: ClientCredentialsTerms): (readonly [string, string])[] {
  return [
    ...(audience ?? []).map((name) => ["audience", name] as const),
    ...(resource ?? []).map((url) => ["resource", url] as const),
    ...(scope === undefined ? [] : [["scope", scope.join(" ")] as const]),
  ];
}

/** Until when a token is handed out, in unix milliseconds. One whose life nobody tells is used once. */
function untilOf({ token, expiresIn }: GrantedToken, asked: number): number {
  const expires = expiresIn === undefined ? expiryOf(token) : asked + expiresIn * 1000;
  if (expires === undefined) return asked;
  const life = expires - asked;
  return Math.min(expires - Math.min(life / 10, MAX_MARGIN_MS), asked + MAX_KEPT_MS);
}

/** Unix milliseconds; undefined for a token that is no JWT, or says nothing. */
function expiryOf(token: string): number | undefined {
  const exp = claimsOf(token)?.["exp"];
  return typeof exp === "number" && Number.isFinite(exp) ? exp * 1000 : undefined;
}

/**
 * Whether a granted token is the caller's, as far as it can be read: a JWT must have the subject of the token that was exchanged,
 * or of the principal where that one cannot be read. So no chain goes on as somebody else.
 */
function isOf(granted: string, subjectToken: string, { principal }: Caller): boolean {
  const claims = claimsOf(granted);
  return claims === undefined || claims["sub"] === (claimsOf(subjectToken)?.["sub"] ?? principal.subject);
}

/**
 * A token that is not good at the gateway itself, as far as it can be read. An authorization server that knows no `audience` may give
 * one for where the caller's own was for.
 * @throws Refusal `credential_fault`
 */
function forElsewhere(granted: GrantedToken, ownAudiences: readonly string[]): GrantedToken {
  const { aud } = claimsOf(granted.token) ?? {};
  const named: unknown[] = Array.isArray(aud) ? aud : [aud];
  if (named.some((name) => typeof name === "string" && ownAudiences.includes(name))) throw fault("audience");
  return granted;
}

/** Of a JWT, unverified: the caller's was verified before, the other came from the endpoint itself. */
function claimsOf(token: string): Readonly<Record<string, unknown>> | undefined {
  try {
    return decodeJwt(token);
  } catch {
    return undefined;
  }
}
