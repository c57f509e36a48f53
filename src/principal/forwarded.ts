/**
 * Callers whom somebody in front has asked already: a gateway that signs what it says (assertion.ts), or a proxy whose plain headers
 * count because of where they come from (forwarded-headers.ts). Both at once is a choice, and nobody makes it.
 */
import type { Config } from "../config/schema.ts";
import { type AssertionDeps, createAssertions } from "./assertion.ts";
import { type CredentialAuthenticator, CredentialFault } from "./credential.ts";
import { createDocumentReader } from "./document.ts";
import { createForwardedHeaders } from "./forwarded-headers.ts";

const FETCH_TIMEOUT_MS = 5_000;

/** Builds the authenticator of forwarded identities. */
export function createForwardedAuthenticator(
  terms: NonNullable<Config["authentication"]["forwarded"]>,
  deps: Omit<AssertionDeps, "reader" | "now"> & {
    readonly now?: () => number;
    /** Milliseconds for one document; 5000 when absent. */
    readonly fetchTimeout?: number;
  },
): CredentialAuthenticator {
  const reader = createDocumentReader(deps.fetchTimeout ?? FETCH_TIMEOUT_MS);
  const now = deps.now ?? Date.now;
  const assertions = terms.assertion && createAssertions(terms.assertion, { ...deps, now, reader });
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
    close: () => reader.close(),
  };
}
