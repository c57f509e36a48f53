/**
 * Who is calling. The principal is the pair of issuer and subject, with the client and the tenant beside it:
 * a subject is unique only inside its issuer, and one person's approval in one client is not another client's.
 */

import { hash } from "node:crypto";
import type { Certificate } from "../certificates/certificate.ts";
import type { Headers } from "../headers.ts";

/** A verified caller. All strings are the issuer's own, compared byte for byte, never normalised. */
export interface Principal {
  readonly anonymous: boolean;
  /** The configured issuer that vouches; empty for the anonymous principal only. */
  readonly issuer: string;
  readonly subject: string;
  readonly client?: string;
  readonly tenant?: string;
  readonly groups: readonly string[];
  readonly scopes: readonly string[];
}

/** Everybody, where `authentication.mode` is `anonymous`. Bound states then hold for anybody, too. */
export const ANONYMOUS: Principal = Object.freeze({
  anonymous: true,
  issuer: "",
  subject: "",
  groups: Object.freeze([]),
  scopes: Object.freeze([]),
});

const DIGEST_LABEL = "sealgate principal v1";
/** Of principals that are in use: one verified token is one object for as long as it is kept, and nobody writes to it. */
const digests = new WeakMap<Principal, string>();

/**
 * The principal as the envelope claims it: base64url SHA-256 (43 characters) of issuer, subject, client and tenant.
 * The frame is a JSON array: each part is quoted on its own, absent (`null`) and empty (`""`) differ, and no two
 * strings share a spelling. Groups and scopes are left out on purpose: they may change between two rounds.
 */
export function principalDigest(principal: Principal): string {
  const known = digests.get(principal);
  if (known !== undefined) return known;
  const { anonymous, issuer, subject, client, tenant } = principal;
  const frame = JSON.stringify([DIGEST_LABEL, anonymous, issuer, subject, client ?? null, tenant ?? null]);
  const digest = hash("sha256", frame, "base64url");
  digests.set(principal, digest);
  return digest;
}

/** Characters of a subject or client that audit shows. */
const MAX_SHOWN = 256;

/** Whose a refused token is, for audit and for nothing else. Texts are cut. */
export interface Owner {
  readonly issuer: string;
  readonly subject?: string;
  readonly client?: string;
}

/** Cuts what the issuer says about the owner of a token; what is not known is left out. */
export function ownerOf(issuer: string, subject: string | undefined, client: string | undefined): Owner {
  const shorten = (text: string): string =>
    text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN)}…`;
  return {
    issuer,
    ...(subject === undefined ? {} : { subject: shorten(subject) }),
    ...(client === undefined ? {} : { client: shorten(client) }),
  };
}

/** The protected resource (one route) a token is presented to. */
export interface Resource {
  /** The route's public URL: the default audience. */
  readonly url: string;
  /** `routes[].audiences`, which replaces the issuer's and the default. */
  readonly audiences: readonly string[] | undefined;
  /** Where the RFC 9728 document of this resource is served. */
  readonly metadataUrl: string;
  /** `routes[].authentication.accept`: the kinds of credential taken here; all that are configured when absent. */
  readonly accept?: readonly CredentialKind[] | undefined;
  /** `routes[].authentication.introspection`: the one issuer whose opaque tokens are taken here. */
  readonly introspection?: string | undefined;
  /** For a challenge to who has no token yet: the scopes to start with, as the document says. */
  readonly startScopes?: readonly string[] | undefined;
  /** What the request will need beside the scopes that its issuer's tokens all need, so that one challenge names everything. */
  readonly furtherScopes?: ((principal: Principal) => readonly string[]) | undefined;
}

/**
 * The kinds of credential, each with an authenticator of its own: a signed token, an opaque token, the client certificate of the
 * connection, what a trusted proxy says about its own caller.
 */
export type CredentialKind = "jwt" | "introspection" | "certificate" | "forwarded";

/** What a request carries that can say who is calling. Untrusted, but for `peer`. */
export interface Presented {
  readonly headers: Headers;
  /** Of HTTP. */
  readonly method: string;
  /** Whoever has the other end of the connection: the caller, or a proxy in front. */
  readonly peer: Peer;
}

/** The other end of a connection, as the system and TLS say. */
export interface Peer {
  /** IP address. */
  readonly address: string;
  /**
   * The caller's client certificate, from TLS or from the header of a listed proxy. Judged for this very request: one that is
   * not good has refused the request before.
   */
  readonly certificate?: Certificate;
  /** The certificate of the connection where its peer is a listed proxy, judged like the other. It says nothing of the caller. */
  readonly proxyCertificate?: Certificate;
}
