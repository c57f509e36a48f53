/**
 * The signed identity assertion: a short-lived JWT by which the gateway tells a server who is calling. Claims are in
 * docs/upstream-credentials.md. Its subject is the principal that states are bound to, so it is the same in every round of a chain.
 */
import { createHash, randomUUID } from "node:crypto";
import type { JWTPayload } from "jose";
import { Refusal } from "../errors.ts";
import type { Principal } from "../principal/principal.ts";
import type { AssertionSigner } from "./assertion-keys.ts";
import { CredentialCache, type Made } from "./credential-cache.ts";
import type { CredentialOutcome, CredentialSource } from "./credential-source.ts";
import { type Credential, carried } from "./credentials.ts";

/** What a route says about its assertions. */
export interface AssertionTerms {
  readonly issuer: string;
  readonly audience: string;
  /** Milliseconds. */
  readonly lifetime: number;
  readonly subject: "qualified" | "plain";
  readonly claims: readonly ("groups" | "scopes")[];
  readonly anonymous: "refuse" | "send";
  /** Lower case. */
  readonly header: string;
}

/** Assertions kept for use again, per route. */
const KEPT = 10_000;
/** Longest assertion, in characters: servers take 8 to 16 KiB of headers, all together. */
const MAX_CHARACTERS = 6 * 1024;

/**
 * Claims about a principal, but for the times.
 * `sub_id` (RFC 9493 section 3.2.3) has issuer and subject apart. Of the anonymous principal neither it nor `sub` is there, so that
 * nobody can be called as the anonymous are.
 * @throws Refusal `credential_fault` for an issuer with a fragment, which no configured one has
 */
export function assertionClaims(principal: Principal, terms: AssertionTerms): JWTPayload {
  const { anonymous, issuer, subject, client, tenant, groups, scopes } = principal;
  // Two pairs of issuer and subject could have one spelling.
  if (issuer.includes("#")) throw new Refusal("credential_fault", "assertion_issuer");
  return {
    iss: terms.issuer,
    aud: terms.audience,
    ...(anonymous
      ? { anonymous: true }
      : {
          sub: terms.subject === "plain" ? subject : `${issuer}#${subject}`,
          sub_id: { format: "iss_sub", iss: issuer, sub: subject },
        }),
    ...(client === undefined ? {} : { client_id: client }),
    ...(tenant === undefined ? {} : { tenant }),
    ...(terms.claims.includes("groups") ? { groups: [...groups] } : {}),
    ...(terms.claims.includes("scopes") ? { scope: scopes.join(" ") } : {}),
  };
}

/** Makes the source of a route. */
export function assertionSource(
  terms: AssertionTerms,
  {
    signer,
    now,
    count,
  }: {
    readonly signer: AssertionSigner;
    /** Milliseconds since the epoch. */
    readonly now: () => number;
    readonly count: (outcome: CredentialOutcome) => void;
  },
): CredentialSource {
  const cache = new CredentialCache(KEPT, now);
  /** Principals never change, and a token that is known already gives the same one again. */
  const names = new WeakMap<Principal, string>();
  const nameOf = (principal: Principal): string => {
    const known = names.get(principal);
    if (known !== undefined) return known;
    const claims = JSON.stringify(assertionClaims(principal, terms));
    const name = createHash("sha256").update(claims, "utf8").digest("base64url");
    names.set(principal, name);
    return name;
  };
  const sign = async (claims: JWTPayload): Promise<Made> => {
    const at = now();
    const iat = Math.floor(at / 1000);
    const exp = iat + Math.floor(terms.lifetime / 1000);
    const token = await signer.sign({ ...claims, iat, exp, jti: randomUUID() });
    if (token.length > MAX_CHARACTERS) {
      count("fault");
      throw new Refusal("credential_fault", "assertion_too_large");
    }
    count("obtained");
    return { credential: carried(terms.header, token), until: at + terms.lifetime / 2 };
  };
  return {
    kind: "assertion",
    for({ principal }) {
      if (principal.anonymous && terms.anonymous === "refuse") {
        count("no_identity");
        throw new Refusal("identity_required", "anonymous");
      }
      const name = nameOf(principal);
      const kept = cache.get(name);
      if (kept === undefined) return cache.make(name, () => sign(assertionClaims(principal, terms)));
      count("reused");
      return kept;
    },
    refused(credential: Credential) {
      if (cache.drop(credential)) count("dropped");
    },
    close: async () => undefined,
  };
}
