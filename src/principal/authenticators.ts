/**
 * Who is calling, by whichever kind of credential the request carries. Exactly one kind is asked, and its word is final:
 *
 * - A kind counts where it is configured and the route accepts it.
 * - An `Authorization` header is always judged. One that no kind takes is refused, whatever else the request carries.
 * - Of two kinds at once none is preferred: the request is refused (`ambiguous`). The one exception is a token beside a client
 *   certificate: the token says who is calling, if it is bound to that very certificate (RFC 8705), and is refused otherwise.
 * - Nothing at all is anonymous where that is asked for, and 401 elsewhere.
 */
import type { Config } from "../config/schema.ts";
import { Refusal } from "../errors.ts";
import { createScopeHierarchy } from "../scopes.ts";
import {
  type ChallengeParts,
  parseAuthorization,
  refuseInvalid,
  refuseMissing,
  refuseProof,
  refuseScope,
} from "./bearer.ts";
import { createCertificateAuthenticator } from "./client-certificate.ts";
import {
  type Authenticator,
  type Covers,
  type CredentialAuthenticator,
  CredentialFault,
  type Credentials,
  type Identity,
  IssuerUnavailable,
  ScopeFault,
} from "./credential.ts";
import { createForwardedAuthenticator } from "./forwarded.ts";
import { createIntrospectionAuthenticator, type IntrospectionDeps } from "./introspection.ts";
import { createJwtAuthenticator, type JwtDeps } from "./jwt.ts";
import { ANONYMOUS, type Resource } from "./principal.ts";
import { createProofJudge, type ProofDeps, ProofFault } from "./proofs.ts";
import { tokenKinds } from "./token-form.ts";

/** Kinds that come in the `Authorization` header. */
const TOKENS: ReadonlySet<string> = new Set(["jwt", "introspection"]);

const NOBODY: Identity = Object.freeze({ principal: ANONYMOUS });

/** What authenticators need besides the configuration. */
export interface AuthenticatorDeps extends JwtDeps, Partial<Pick<IntrospectionDeps, "clients" | "count">> {
  /** How scopes include each other; each only itself when absent. */
  readonly covers?: Covers;
  /** Needed with `authentication.dpop`. */
  readonly proofs?: Pick<ProofDeps, "replays" | "nonces">;
}

/**
 * Builds the authenticator. No request leaves before the first credential comes.
 * Throws when the configuration cannot work (nobody to ask, issuer listed twice, algorithm that is not a public-key
 * signature, key file that is no key set): a mistake to show at start.
 */
export function createAuthenticator(
  authentication: Config["authentication"],
  deps: AuthenticatorDeps,
): Authenticator {
  const { issuers, introspection = [], dpop } = authentication;
  const { now = Date.now, proofs, covers = createScopeHierarchy().covers } = deps;
  if (dpop !== undefined && proofs === undefined)
    throw new Error("authentication.dpop needs a memory of proofs");
  const judge = dpop && proofs && createProofJudge(dpop, { ...proofs, now });
  const admission = { covers, proofs: judge };
  const kindOf = tokenKinds(
    issuers.map(({ issuer }) => issuer),
    introspection.map(({ issuer }) => issuer),
  );
  const kinds: CredentialAuthenticator[] = [];
  if (issuers.length > 0) kinds.push(createJwtAuthenticator(issuers, admission, deps));
  if (introspection.length > 0) {
    const { clients = new Map() } = deps;
    kinds.push(createIntrospectionAuthenticator(introspection, admission, { ...deps, clients }));
  }
  const { clientCertificates, forwarded } = authentication;
  if (clientCertificates !== undefined) kinds.push(createCertificateAuthenticator(clientCertificates));
  if (forwarded !== undefined) kinds.push(createForwardedAuthenticator(forwarded, deps));
  const anonymous = authentication.mode === "anonymous";
  if (!anonymous && kinds.length === 0) throw new Error("authentication needs an issuer, or mode anonymous");
  const allScopes = [...new Set([...issuers, ...introspection].flatMap((issuer) => issuer.requiredScopes))];
  return compose(kinds, { anonymous, allScopes, kindOf, proofAlgorithms: dpop?.algorithms });
}

/** How kinds are put together. */
export interface Composition {
  /** Whether a request without any credential is let in. */
  readonly anonymous: boolean;
  /** For the challenge to a request whose issuer is not known, where the resource does not say what to start with. */
  readonly allScopes: readonly string[];
  /** Which kind a token is, by its form. */
  readonly kindOf: (token: string) => "jwt" | "introspection";
  /** Signature algorithms of DPoP proofs; undefined where DPoP is not configured, and its scheme none of ours. */
  readonly proofAlgorithms?: readonly string[] | undefined;
}

/** Puts kinds of credentials together, by the rules at the head of this file. */
export function compose(kinds: readonly CredentialAuthenticator[], composition: Composition): Authenticator {
  const { anonymous, allScopes, kindOf, proofAlgorithms: algorithms } = composition;
  const takesTokens = kinds.some(({ kind }) => TOKENS.has(kind));
  const partsOf = (
    { metadataUrl, startScopes }: Resource,
    { authorization }: Credentials,
  ): ChallengeParts => {
    const asked = authorization.kind === "token" && authorization.scheme === "dpop";
    return { metadataUrl, scopes: startScopes ?? allScopes, dpop: algorithms && { algorithms, asked } };
  };

  return {
    async authenticate(presented, resource) {
      const header = presented.headers.get("authorization");
      // Where no token can be judged it is not passed on either: it changes nothing.
      const authorization = parseAuthorization(
        anonymous && !takesTokens ? undefined : header,
        algorithms !== undefined,
      );
      const tokenKind = authorization.kind === "token" ? kindOf(authorization.token) : undefined;
      const credentials = { presented, authorization, tokenKind };
      const found = chosen(credentials, resource);
      if (found === undefined) {
        if (anonymous && authorization.kind === "none") return NOBODY;
        throw refuseUnclaimed(credentials, partsOf(resource, credentials));
      }
      const { judge, beside } = found;
      try {
        const judged = judge.authenticate(credentials, resource);
        const identity = judged instanceof Promise ? await judged : judged;
        if (beside && identity.confirmedBy?.includes("certificate") !== true) {
          throw new CredentialFault("ambiguous");
        }
        return identity;
      } catch (error) {
        throw refusalOf(error, partsOf(resource, credentials), resource);
      }
    },
    ready: () => kinds.length === 0 || kinds.some((kind) => kind.available()),
    close: () => {
      for (const kind of kinds) kind.close?.();
    },
  };

  /**
   * Who judges the request, and whether a client certificate came beside the token; undefined where no kind claims it.
   * Throws Refusal for credentials that leave a choice.
   */
  function chosen(
    credentials: Credentials,
    resource: Resource,
  ): { judge: CredentialAuthenticator; beside: boolean } | undefined {
    const { accept } = resource;
    let judge: CredentialAuthenticator | undefined;
    let beside = false;
    for (const kind of kinds) {
      if (accept !== undefined && !accept.includes(kind.kind)) continue;
      if (!kind.claims(credentials, resource)) continue;
      if (judge === undefined) judge = kind;
      else if (TOKENS.has(judge.kind) && kind.kind === "certificate") beside = true;
      else throw refuseInvalid("ambiguous", partsOf(resource, credentials));
    }
    if (judge === undefined) return undefined;
    // A header that is there and no token must not be overlooked for what comes beside it.
    if (credentials.authorization.kind !== "none" && !TOKENS.has(judge.kind)) return undefined;
    return { judge, beside };
  }
}

function refuseUnclaimed({ authorization }: Credentials, parts: ChallengeParts): Refusal {
  if (authorization.kind === "none") return refuseMissing("no_token", parts);
  if (authorization.kind === "token") return refuseInvalid("unknown_kind", parts);
  const refuse = authorization.fault === "scheme" ? refuseMissing : refuseInvalid;
  return refuse(`token_${authorization.fault}`, parts);
}

function refusalOf(error: unknown, parts: ChallengeParts, { furtherScopes }: Resource): unknown {
  if (error instanceof ProofFault) return refuseProof(error.message, parts, error);
  if (error instanceof CredentialFault) {
    const cause = error.cause === undefined ? {} : { cause: error.cause };
    return refuseInvalid(error.message, parts, { ...cause, owner: error.owner });
  }
  if (error instanceof ScopeFault) {
    const scopes = new Set([...error.scopes, ...(furtherScopes?.(error.principal) ?? [])]);
    return refuseScope({ ...parts, scopes: [...scopes] }, error.owner);
  }
  if (error instanceof IssuerUnavailable) {
    return new Refusal("issuer_unavailable", error.detail, { cause: error });
  }
  return error;
}
