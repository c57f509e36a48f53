/**
 * Callers whom somebody in front has asked already: a gateway that signs what it says (assertion.ts), or a proxy whose plain headers
 * count because of where they come from (forwarded-headers.ts). Both at once is a choice, and nobody makes it.
 */
import type { Config } from "../config/schema.ts";
import { type AssertionDeps, createAssertions } from "./assertion.ts";
import { type CredentialAuthenticator, CredentialFault } from "./credential.ts";
import { createForwardedHeaders } from "./forwarded-headers.ts";
import { KeySets } from "./key-sets.ts";

/** Builds the authenticator of forwarded identities. */
export function createForwardedAuthenticator(
  terms: NonNullable<Config["authentication"]["forwarded"]>,
  deps: Omit<AssertionDeps, "keySets" | "now"> & {
    readonly now?: () => number;
    /** Those of its own when absent. */
    readonly keySets?: KeySets;
    /** Of its own: milliseconds for one document; 5000 when absent. */
    readonly fetchTimeout?: number;
  },
): CredentialAuthenticator {
  const now = deps.now ?? Date.now;
  const keySets = deps.keySets ?? new KeySets({ ...deps, now });
  const assertions = terms.assertion && createAssertions(terms.assertion, { ...deps, now, keySets });
  const headers = terms.headers && createForwardedHeaders(terms.headers);
  return {
    kind: "forwarded",
    claims: ({ presented }) => assertions?.claims(presented) === true || headers?.claims(presented) === true,
    authenticate({ presented }, resource) {
      const isAsserted = assertions?.claims(presented) === true;
      if (isAsserted && headers?.claims(presented) === true) throw new CredentialFault("forwarded_ambiguous");
      if (isAsserted) return assertions.read(presented, resource);
      if (headers === undefined) throw new CredentialFault("forwarded_no_user");
      return headers.read(presented);
    },
    available: () => headers !== undefined || assertions === undefined || assertions.available(),
    close: () => {
      assertions?.close();
      if (deps.keySets === undefined) keySets.close();
    },
  };
}
