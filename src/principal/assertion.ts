/**
 * Signed assertions of a gateway in front: a short-lived JWT in a header of its own that says who that gateway's caller is. The
 * sending half is upstream/assertion.ts. Judged like an access token, and also by its whole lifetime: it is made for one request
 * or a few, and one that lives for long is not one of those.
 */
import type { JWTPayload } from "jose";
import { compileNetworks } from "../config/networks.ts";
import type { Config } from "../config/schema.ts";
import type { Log } from "../log.ts";
import { checkToken, detailOf, peekIssuer, signedClaims, TokenFault } from "./access-token.ts";
import { ClaimError, ownerByClaims, principalOf } from "./claims.ts";
import { CredentialFault, type Identity, IssuerUnavailable } from "./credential.ts";
import { fileKeys } from "./issuer-keys.ts";
import type { KeySets, OpenKeys } from "./key-sets.ts";
import type { Presented, Principal, Resource } from "./principal.ts";
import { resourceAudiences } from "./resource-metadata.ts";
import { TokenCache, tokenDigest } from "./token-cache.ts";

/** Settings `authentication.forwarded.assertion`: trusted. */
export type AssertionTerms = NonNullable<NonNullable<Config["authentication"]["forwarded"]>["assertion"]>;

const KEPT = 10_000;
const MAX_BYTES = 16 * 1024;

/** What judging assertions needs besides their terms. */
export interface AssertionDeps {
  readonly log: Log;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** The sets of issuers' servers. */
  readonly keySets: KeySets;
  /** Parsed key sets by `jwks.file`. */
  readonly jwksFiles: ReadonlyMap<string, unknown>;
}

interface Verified {
  readonly identity: Identity;
  /** Unix milliseconds. */
  readonly expires: number;
  readonly generation: number;
}

/** Reads assertions. */
export interface Assertions {
  claims(presented: Presented): boolean;
  /** @throws CredentialFault, IssuerUnavailable */
  read(presented: Presented, resource: Resource): Promise<Identity>;
  available(): boolean;
  /** Gives back what it has open. */
  close(): void;
}

/** A reader of assertions by these terms, with the keys of their issuer open until it is closed. */
export function createAssertions(terms: AssertionTerms, deps: AssertionDeps): Assertions {
  const { issuer, header } = terms;
  const { now } = deps;
  const { keys, release } = keysOf(terms, deps);
  const isListed = terms.from === undefined ? () => true : compileNetworks(terms.from);
  const cache = new TokenCache<Verified>(KEPT);
  return {
    claims: ({ headers }) => (headers.get(header) ?? "") !== "",
    async read({ headers, peer }, resource) {
      if (!isListed(peer.address)) throw new CredentialFault("assertion_untrusted");
      const token = headers.get(header) ?? "";
      if (token.length > MAX_BYTES) throw new CredentialFault("assertion_too_large");
      const digest = tokenDigest(token, resource);
      const known = cache.get(digest, now());
      if (known !== undefined && keys.vouches(known.generation)) return known.identity;
      try {
        const verified = await verify(token, resource);
        if (verified.expires > now()) cache.set(digest, verified);
        return verified.identity;
      } catch (error) {
        if (error instanceof IssuerUnavailable) throw error;
        const claims = signedClaims(error);
        const detail = detailOf(error);
        throw new CredentialFault(`assertion_${detail}`, {
          ...(detail === "unverifiable" ? { cause: error } : {}),
          owner: claims === undefined ? undefined : ownerByClaims(issuer, terms.claims, claims),
        });
      }
    },
    available: () => keys.available(),
    close: release,
  };

  async function verify(token: string, resource: Resource): Promise<Verified> {
    if (peekIssuer(token) !== issuer) throw new TokenFault("unknown_issuer");
    const audiences = terms.audiences ?? resourceAudiences(resource.url);
    // Read before the check: a set that is replaced meanwhile must not vouch for what its predecessor verified.
    const { generation } = keys;
    const claims = await checkToken(token, { ...terms, audiences, keys: keys.find, now: now() });
    const { iat, exp } = claims;
    if (typeof iat !== "number" || !Number.isFinite(iat) || (exp - iat) * 1000 > terms.maxLifetime) {
      throw new TokenFault("lifetime", { claims });
    }
    const identity = Object.freeze({ principal: principalFrom(claims), kind: "forwarded" } as const);
    return { identity, expires: exp * 1000, generation };
  }

  function principalFrom(claims: JWTPayload): Principal {
    try {
      return principalOf(issuer, terms.claims, qualified(claims, terms.claims.subject));
    } catch (error) {
      if (!(error instanceof ClaimError)) throw error;
      throw new TokenFault(error.fault, { claims });
    }
  }
}

/**
 * Claims whose `sub` tells apart two people of two issuers who have one name there. A gateway of this kind can be told to send the
 * bare name in `sub`; `sub_id` always has both (RFC 9493 section 3.2.3).
 * @throws ClaimError for a `sub_id` that is of another kind, or of somebody else than `sub`
 */
function qualified(claims: JWTPayload, subject: string): JWTPayload {
  const { sub, sub_id: id } = claims;
  if (id === undefined || subject !== "sub") return claims;
  const {
    format,
    iss,
    sub: name,
  } = (typeof id === "object" && id !== null ? id : {}) as Record<string, unknown>;
  if (format !== "iss_sub" || typeof iss !== "string" || typeof name !== "string" || iss.includes("#")) {
    throw new ClaimError("subject_claim");
  }
  const both = `${iss}#${name}`;
  if (sub !== both && sub !== name) throw new ClaimError("subject_claim");
  return { ...claims, sub: both };
}

function keysOf({ issuer, jwks }: AssertionTerms, { keySets, jwksFiles }: AssertionDeps): OpenKeys {
  if ("file" in jwks) return { keys: fileKeys(jwksFiles.get(jwks.file)), release: () => undefined };
  return keySets.open(issuer, jwks.url);
}
