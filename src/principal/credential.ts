/**
 * The seam between a request and whoever can say whose it is: one authenticator for each kind of credential. Which one is asked
 * is decided by what the request carries, before anything is verified (authenticators.ts); one that fails is the last word.
 */
import type { Authorization } from "./bearer.ts";
import {
  type CredentialKind,
  type Owner,
  ownerOf,
  type Presented,
  type Principal,
  type Resource,
} from "./principal.ts";

/** What a request presents, the `Authorization` header read once for all. Nothing of it is verified. */
export interface Credentials {
  readonly presented: Presented;
  readonly authorization: Authorization;
  /** Of a token, by its form (token-form.ts). */
  readonly tokenKind?: "jwt" | "introspection" | undefined;
}

/** How a token showed that whoever brings it may: by the client certificate of the connection, by a DPoP proof. */
export type Confirmation = "certificate" | "dpop";

/** Who is calling, and by what that is known. Frozen, and the same object for the same token where it can be. */
export interface Identity {
  readonly principal: Principal;
  /** Absent of the anonymous principal. */
  readonly kind?: CredentialKind;
  /** Of tokens that are bound to their sender; each of them has held. */
  readonly confirmedBy?: readonly Confirmation[];
}

/** Turns what a request carries into who is calling. */
export interface Authenticator {
  /**
   * Throws `Refusal` `unauthorized` or `insufficient_scope` with a `WWW-Authenticate` header, and a 5xx one when the
   * issuer's keys cannot be had: an outage is never reported as a bad token.
   */
  authenticate(presented: Presented, resource: Resource): Promise<Identity>;
  /** False while no credential of any kind can be judged (an issuer never asked yet counts as good). */
  ready(): boolean;
  /** Ends open connections and aborts what is under way. */
  close?(): void;
}

/** Judges one kind of credential. */
export interface CredentialAuthenticator {
  readonly kind: CredentialKind;
  /**
   * Whether the request carries a credential of this kind, by its form and nothing else: no secret, no signature, no I/O. Says
   * yes to a broken one, so that it is refused and not overlooked. Called for each request, so it has to be cheap.
   */
  claims(credentials: Credentials, resource: Resource): boolean;
  /**
   * Judges the credential that `claims` has said yes to.
   * @throws CredentialFault for one that is not good here, ScopeFault for a good one without a scope that all its kind need,
   *   IssuerUnavailable when nothing can be said about it now
   */
  authenticate(credentials: Credentials, resource: Resource): Identity | Promise<Identity>;
  /** False while no credential of this kind can be judged. */
  available(): boolean;
  /** Ends open connections and aborts what is under way. */
  close?(): void;
}

/** A credential that is refused. The message is the detail for audit, a word from a bounded set. */
export class CredentialFault extends Error {
  override readonly name = "CredentialFault";
  /** Whose it is, where that was verified. */
  readonly owner: Owner | undefined;

  constructor(detail: string, more: { readonly owner?: Owner | undefined; readonly cause?: unknown } = {}) {
    super(detail, more.cause === undefined ? undefined : { cause: more.cause });
    this.owner = more.owner;
  }
}

/** A good credential that lacks a scope. */
export class ScopeFault extends Error {
  override readonly name = "ScopeFault";
  /** All that were needed, not only those that lack. */
  readonly scopes: readonly string[];
  readonly principal: Principal;

  constructor(scopes: readonly string[], principal: Principal) {
    super("scope");
    this.scopes = scopes;
    this.principal = principal;
  }

  get owner(): Owner {
    const { issuer, subject, client } = this.principal;
    return ownerOf(issuer, subject, client);
  }
}

/** Whether scopes cover what is needed, with all that they include (`authorization.scopeIncludes`). */
export type Covers = (scopes: readonly string[], needed: readonly string[]) => boolean;

/** Nothing can be said about a credential now, good or bad: an outage, which is never told as a bad credential. */
export class IssuerUnavailable extends Error {
  override readonly name = "IssuerUnavailable";
  /** One word for audit, from a bounded set. */
  readonly detail: string;

  constructor(detail = "issuer_unavailable", options?: ErrorOptions) {
    super(detail, options);
    this.detail = detail;
  }
}
