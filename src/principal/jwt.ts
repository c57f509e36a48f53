/**
 * Access tokens that are signed JWTs (RFC 7519, RFC 8725, RFC 9068), from the issuers the operator lists.
 * The unverified `iss` only picks the issuer whose keys are tried; every claim is then verified, `iss` included.
 * All refusals of a token look the same to the caller; the true cause goes to audit.
 */

import type { JWTPayload } from "jose";
import type { Config } from "../config/schema.ts";
import type { Log } from "../log.ts";
import { checkToken, detailOf, peekIssuer, SIGNATURES, signedClaims, TokenFault } from "./access-token.ts";
import { ClaimError, ownerByClaims, principalOf } from "./claims.ts";
import { splitBinding } from "./confirmation.ts";
import { type CredentialAuthenticator, CredentialFault, IssuerUnavailable } from "./credential.ts";
import { fileKeys, type IssuerKeys } from "./issuer-keys.ts";
import { KeySets, type OpenKeys } from "./key-sets.ts";
import type { Owner, Resource } from "./principal.ts";
import { resourceAudiences } from "./resource-metadata.ts";
import { type Admission, admitToken, type GoodToken, goodToken } from "./token-admission.ts";
import { TokenCache, tokenDigest } from "./token-cache.ts";

const CACHED_TOKENS = 10_000;

type IssuerConfig = Config["authentication"]["issuers"][number];

interface Issuer {
  readonly config: IssuerConfig;
  readonly keys: IssuerKeys;
}

/** A verification worth remembering, and the key set that it rests on. */
interface Verified {
  readonly token: GoodToken;
  /** Unix milliseconds. */
  readonly expires: number;
  readonly issuer: Issuer;
  readonly generation: number;
}

/** What the authenticator of signed tokens needs besides its issuers. */
export interface JwtDeps {
  readonly log: Log;
  /** Unix milliseconds; `Date.now` when absent. */
  readonly now?: () => number;
  /** Parsed key sets by the `jwks.file` of the issuer, as it stands in the configuration. */
  readonly jwksFiles: ReadonlyMap<string, unknown>;
  /** The sets of issuers' servers, shared with other configurations; of its own when absent. */
  readonly keySets?: KeySets;
  /** Of its own sets: milliseconds for one document of an issuer; 5000 when absent. */
  readonly fetchTimeout?: number;
}

/**
 * Builds the authenticator of signed tokens. No request leaves before the first token comes.
 * Throws when the configuration cannot work (issuer listed twice, algorithm that is not a public-key signature, key file that
 * is no key set): a mistake to show at start.
 */
export function createJwtAuthenticator(
  configured: readonly IssuerConfig[],
  admission: Admission,
  deps: JwtDeps,
): CredentialAuthenticator {
  const now = deps.now ?? Date.now;
  const keySets = deps.keySets ?? new KeySets({ ...deps, now });
  const issuers = new Map<string, Issuer>();
  const taken: OpenKeys[] = [];
  const close = (): void => {
    for (const { release } of taken) release();
    if (deps.keySets === undefined) keySets.close();
  };
  const open = (issuer: string, url: string | undefined): IssuerKeys => {
    const opened = keySets.open(issuer, url);
    taken.push(opened);
    return opened.keys;
  };
  try {
    for (const config of configured) {
      if (issuers.has(config.issuer)) throw new Error(`issuer ${config.issuer} is listed twice`);
      issuers.set(config.issuer, { config, keys: keysOf(config, open, deps.jwksFiles) });
    }
  } catch (error) {
    close();
    throw error;
  }
  const cache = new TokenCache<Verified>(CACHED_TOKENS);

  return {
    kind: "jwt",
    claims: ({ tokenKind }) => tokenKind === "jwt",
    authenticate(credentials, resource) {
      const { authorization } = credentials;
      if (authorization.kind !== "token") throw new CredentialFault("malformed");
      const { token } = authorization;
      const digest = tokenDigest(token, resource);
      const known = cache.get(digest, now());
      if (known?.issuer.keys.vouches(known.generation) === true) {
        return admitToken(known.token, credentials, resource, admission);
      }
      return verify(token, digest, resource).then((good) =>
        admitToken(good, credentials, resource, admission),
      );
    },
    available: () => [...issuers.values()].some(({ keys }) => keys.available()),
    close,
  };

  async function verify(token: string, digest: string, resource: Resource): Promise<GoodToken> {
    try {
      return (await verifyAnew(token, digest, resource)).token;
    } catch (error) {
      if (error instanceof IssuerUnavailable) throw error;
      const detail = detailOf(error);
      // jose's errors carry the claims of the token; those have no place in a log.
      const cause = detail === "unverifiable" ? { cause: error } : {};
      throw new CredentialFault(detail, { ...cause, owner: ownerOfRefused(error) });
    }
  }

  /** Known once the signature was good: whoever runs the gateway wants to know whose tokens expire or miss the audience. */
  function ownerOfRefused(error: unknown): Owner | undefined {
    const claims = signedClaims(error);
    const config = claims?.iss === undefined ? undefined : issuers.get(claims.iss)?.config;
    if (claims === undefined || config === undefined) return undefined;
    return ownerByClaims(config.issuer, config.claims, claims);
  }

  async function verifyAnew(token: string, digest: string, resource: Resource): Promise<Verified> {
    const issuer = issuers.get(peekIssuer(token));
    if (issuer === undefined) throw new TokenFault("unknown_issuer");
    const { config, keys } = issuer;
    const audiences = resource.audiences ?? config.audiences ?? resourceAudiences(resource.url);
    // Read before the check: a set that is replaced meanwhile must not vouch for what its predecessor verified.
    const { generation } = keys;
    const claims = await checkToken(token, { ...config, audiences, keys: keys.find, now: now() });
    const verified = { token: goodByClaims(config, claims), expires: claims.exp * 1000, issuer, generation };
    if (verified.expires > now()) cache.set(digest, verified);
    return verified;
  }
}

function goodByClaims(config: IssuerConfig, claims: JWTPayload): GoodToken {
  try {
    const { binding, rest } = splitBinding(claims);
    return goodToken("jwt", principalOf(config.issuer, config.claims, rest), binding, config);
  } catch (error) {
    if (!(error instanceof ClaimError)) throw error;
    throw new TokenFault(error.fault, { claims });
  }
}

function keysOf(
  { issuer, jwks, algorithms }: IssuerConfig,
  open: (issuer: string, url: string | undefined) => IssuerKeys,
  jwksFiles: ReadonlyMap<string, unknown>,
): IssuerKeys {
  const odd = algorithms.find((algorithm) => !SIGNATURES.has(algorithm));
  if (odd !== undefined || algorithms.length === 0) {
    throw new Error(
      `issuer ${issuer}: algorithm ${odd ?? "list"} is not usable; use ${[...SIGNATURES].join(", ")}`,
    );
  }
  if (jwks !== undefined && "file" in jwks) return fileKeys(jwksFiles.get(jwks.file));
  return open(issuer, jwks?.url);
}
