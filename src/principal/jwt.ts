/**
 * Access tokens that are signed JWTs (RFC 7519, RFC 8725, RFC 9068), from the issuers the operator lists.
 * The unverified `iss` only picks the issuer whose keys are tried; every claim is then verified, `iss` included.
 * All refusals of a token look the same to the caller; the true cause goes to audit.
 */

import type { JWTPayload } from "jose";
import type { Config } from "../config/schema.ts";
import { Refusal } from "../errors.ts";
import type { Log } from "../log.ts";
import { checkToken, detailOf, peekIssuer, SIGNATURES, signedClaims, TokenFault } from "./access-token.ts";
import {
  type ChallengeParts,
  parseAuthorization,
  refuseInvalid,
  refuseMissing,
  refuseScope,
} from "./bearer.ts";
import { ClaimError, ownerByClaims, principalOf } from "./claims.ts";
import { createDocumentReader, type DocumentReader } from "./document.ts";
import { fileKeys, type IssuerKeys, IssuerUnavailable, RemoteKeys } from "./jwks.ts";
import {
  ANONYMOUS,
  type Authenticator,
  type Owner,
  ownerOf,
  type Principal,
  type Resource,
} from "./principal.ts";
import { TokenCache, tokenDigest, type Verified } from "./token-cache.ts";

const CACHED_TOKENS = 10_000;
const FETCH_TIMEOUT_MS = 5_000;

type IssuerConfig = Config["authentication"]["issuers"][number];

interface Issuer {
  readonly config: IssuerConfig;
  readonly keys: IssuerKeys;
}

/** The key set that a verification rests on. */
interface Voucher {
  readonly issuer: Issuer;
  readonly generation: number;
}

export interface AuthenticatorDeps {
  readonly log: Log;
  /** Unix milliseconds; `Date.now` when absent. */
  readonly now?: () => number;
  /** Parsed key sets by the `jwks.file` of the issuer, as it stands in the configuration. */
  readonly jwksFiles: ReadonlyMap<string, unknown>;
  /** Milliseconds for one document of an issuer; 5000 when absent. */
  readonly fetchTimeout?: number;
}

/**
 * Builds the authenticator. No request leaves before the first token comes.
 * Throws when the configuration cannot work (no issuer, issuer listed twice, algorithm that is not a public-key
 * signature, key file that is no key set): a mistake to show at start.
 */
export function createAuthenticator(
  authentication: Config["authentication"],
  deps: AuthenticatorDeps,
): Authenticator {
  const now = deps.now ?? Date.now;
  const reader = createDocumentReader(deps.fetchTimeout ?? FETCH_TIMEOUT_MS);
  const issuers = new Map<string, Issuer>();
  for (const config of authentication.issuers) {
    if (issuers.has(config.issuer)) throw new Error(`issuer ${config.issuer} is listed twice`);
    issuers.set(config.issuer, { config, keys: keysOf(config, reader, deps, now) });
  }
  const anonymous = authentication.mode === "anonymous";
  if (!anonymous && issuers.size === 0) throw new Error("authentication needs an issuer, or mode anonymous");
  const cache = new TokenCache<Voucher>(CACHED_TOKENS);
  const allScopes = [...new Set(authentication.issuers.flatMap((issuer) => issuer.requiredScopes))];

  return {
    async authenticate({ headers }, resource) {
      const authorization = headers.get("authorization");
      // With no issuer a token cannot be judged, and it is not passed on either: it changes nothing.
      if (anonymous && (authorization === undefined || issuers.size === 0)) return ANONYMOUS;
      const parts: ChallengeParts = { metadataUrl: resource.metadataUrl, scopes: allScopes };
      const presented = parseAuthorization(authorization);
      if (presented.kind === "none") throw refuseMissing("no_token", parts);
      if (presented.kind === "fault") {
        const refuse = presented.fault === "scheme" ? refuseMissing : refuseInvalid;
        throw refuse(`token_${presented.fault}`, parts);
      }
      return await verify(presented.token, resource, parts);
    },
    ready: () => issuers.size === 0 || [...issuers.values()].some(({ keys }) => keys.available()),
    close: () => reader.close(),
  };

  async function verify(token: string, resource: Resource, parts: ChallengeParts): Promise<Principal> {
    try {
      const digest = tokenDigest(token, resource);
      const known = cache.get(digest, now());
      const stands = known?.keys.issuer.keys.vouches(known.keys.generation) === true;
      const { principal, keys } = stands ? known : await verifyAnew(token, digest, resource);
      const { requiredScopes } = keys.issuer.config;
      if (requiredScopes.every((scope) => principal.scopes.includes(scope))) return principal;
      const { issuer, subject, client } = principal;
      throw refuseScope({ ...parts, scopes: requiredScopes }, ownerOf(issuer, subject, client));
    } catch (error) {
      if (error instanceof Refusal) throw error;
      if (error instanceof IssuerUnavailable) {
        throw new Refusal("issuer_unavailable", "issuer_unavailable", { cause: error });
      }
      const detail = detailOf(error);
      // jose's errors carry the claims of the token; those have no place in a log.
      const cause = detail === "unverifiable" ? { cause: error } : {};
      throw refuseInvalid(detail, parts, { ...cause, owner: ownerOfRefused(error) });
    }
  }

  /** Known once the signature was good: whoever runs the gateway wants to know whose tokens expire or miss the audience. */
  function ownerOfRefused(error: unknown): Owner | undefined {
    const claims = signedClaims(error);
    const config = claims?.iss === undefined ? undefined : issuers.get(claims.iss)?.config;
    if (claims === undefined || config === undefined) return undefined;
    return ownerByClaims(config.issuer, config.claims, claims);
  }

  async function verifyAnew(token: string, digest: string, resource: Resource): Promise<Verified<Voucher>> {
    const issuer = issuers.get(peekIssuer(token));
    if (issuer === undefined) throw new TokenFault("unknown_issuer");
    const { config, keys } = issuer;
    const audiences = resource.audiences ?? config.audiences ?? [resource.url];
    // Read before the check: a set that is replaced meanwhile must not vouch for what its predecessor verified.
    const { generation } = keys;
    const claims = await checkToken(token, { ...config, audiences, keys: keys.find, now: now() });
    const principal = principalByClaims(config, claims);
    const verified = { principal, expires: claims.exp * 1000, keys: { issuer, generation } };
    if (verified.expires > now()) cache.set(digest, verified);
    return verified;
  }
}

function principalByClaims({ issuer, claims: mapping }: IssuerConfig, claims: JWTPayload): Principal {
  try {
    return principalOf(issuer, mapping, claims);
  } catch (error) {
    if (!(error instanceof ClaimError)) throw error;
    throw new TokenFault(error.fault, { claims });
  }
}

function keysOf(
  { issuer, jwks, algorithms }: IssuerConfig,
  reader: DocumentReader,
  { log, jwksFiles }: AuthenticatorDeps,
  now: () => number,
): IssuerKeys {
  const odd = algorithms.find((algorithm) => !SIGNATURES.has(algorithm));
  if (odd !== undefined || algorithms.length === 0) {
    throw new Error(
      `issuer ${issuer}: algorithm ${odd ?? "list"} is not usable; use ${[...SIGNATURES].join(", ")}`,
    );
  }
  if (jwks !== undefined && "file" in jwks) return fileKeys(jwksFiles.get(jwks.file));
  return new RemoteKeys({ issuer, reader, log, now, ...(jwks === undefined ? {} : { url: jwks.url }) });
}
