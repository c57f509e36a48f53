/**
 * From a token that was found good to who is calling: whether whoever brings it may, and whether it has the scopes that all tokens of
 * its issuer need. The same for signed and for introspected tokens, and asked for each request, whatever was remembered of the token.
 */
import type { Binding } from "./confirmation.ts";
import {
  type Confirmation,
  type Covers,
  CredentialFault,
  type Credentials,
  type Identity,
  ScopeFault,
} from "./credential.ts";
import { type CredentialKind, type Owner, ownerOf, type Principal, type Resource } from "./principal.ts";
import type { ProofJudge } from "./proofs.ts";

/** What the issuer's settings ask of its tokens. */
export interface TokenTerms {
  readonly requiredScopes: readonly string[];
  /** `required`: tokens that are bound to nothing are refused. */
  readonly senderConstrained?: "optional" | "required";
}

/** A token that its issuer vouches for, now or a moment ago. */
export interface GoodToken {
  /** Who is calling, once all that is asked below holds. */
  readonly identity: Identity;
  readonly binding: Binding | undefined;
  readonly terms: TokenTerms;
}

/** What tokens are let in by. */
export interface Admission {
  readonly covers: Covers;
  /** Undefined where DPoP is not configured: a token that is bound to a key is refused then. */
  readonly proofs: ProofJudge | undefined;
}

/** Makes the part of a token that is worth remembering. */
export function goodToken(
  kind: CredentialKind,
  principal: Principal,
  binding: Binding | undefined,
  terms: TokenTerms,
): GoodToken {
  const confirmedBy = Object.freeze(
    (["certificate", "key"] as const)
      .filter((name) => binding?.[name] !== undefined)
      .map((name): Confirmation => (name === "key" ? "dpop" : "certificate")),
  );
  const identity = Object.freeze({ principal, kind, ...(binding === undefined ? {} : { confirmedBy }) });
  return { identity, binding, terms };
}

/**
 * Lets the bearer of a good token in. Answers at once where there is no proof to check.
 * @throws CredentialFault (or ProofFault) for a token that its sender may not use, ScopeFault, IssuerUnavailable when the proof
 *   cannot be judged
 */
export function admitToken(
  { identity, binding, terms }: GoodToken,
  credentials: Credentials,
  resource: Resource,
  { covers, proofs }: Admission,
): Identity | Promise<Identity> {
  const { authorization, presented } = credentials;
  const { principal } = identity;
  if (authorization.kind !== "token") throw new CredentialFault("malformed");
  const { scheme, token } = authorization;
  if (binding === undefined && terms.senderConstrained === "required") {
    throw refused("unbound", principal);
  }
  if (binding?.certificate !== undefined) {
    const { certificate } = presented.peer;
    if (certificate === undefined) throw refused("certificate_missing", principal);
    if (certificate.thumbprint !== binding.certificate) {
      throw refused("certificate_mismatch", principal);
    }
  }
  const admit = (): Identity => {
    if (covers(principal.scopes, terms.requiredScopes)) return identity;
    throw new ScopeFault(terms.requiredScopes, principal);
  };
  // RFC 9449 section 7.2: neither a bound token as a plain one, nor a plain one that a proof is thrown in for.
  if (binding?.key === undefined) {
    if (scheme === "dpop") throw refused("proof_for_unbound", principal);
    return admit();
  }
  if (proofs === undefined) throw refused("proof_not_checked", principal);
  if (scheme !== "dpop") throw refused("bound_as_bearer", principal);
  const proof = presented.headers.get("dpop");
  const request = { method: presented.method, url: resource.url, token, key: binding.key };
  return proofs.judge(proof, request, theOwner(principal)).then(admit);
}

const theOwner = ({ issuer, subject, client }: Principal): Owner => ownerOf(issuer, subject, client);

function refused(detail: string, principal: Principal): CredentialFault {
  return new CredentialFault(detail, { owner: theOwner(principal) });
}
