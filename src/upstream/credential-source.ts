/**
 * Where the credential for an upstream comes from: one source for each route. What it hands out is the gateway's own or was made
 * for this caller and this server; the caller's token is never among it.
 */
import type { Principal } from "../principal/principal.ts";
import type { Credential } from "./credentials.ts";

/** The kinds of credential an upstream can get; for audit and metrics. */
export type UpstreamCredentialKind = "bearer" | "header" | "assertion" | "exchange" | "client_credentials";

/** Who is calling, as a source needs it. */
export interface Caller {
  /** Verified. */
  readonly principal: Principal;
  /**
   * The access token that said so, verified by this request's own authentication; undefined where the caller was told otherwise. Goes
   * to the operator's authorization server and nowhere else.
   */
  readonly accessToken: string | undefined;
}

/** What became of one request's credential; a label of a metric. */
export type CredentialOutcome =
  | "obtained"
  | "reused"
  | "refused"
  | "unavailable"
  | "fault"
  | "no_identity"
  | "dropped";

/** See the file's header. */
export interface CredentialSource {
  /** Absent where the upstream gets none. */
  readonly kind?: UpstreamCredentialKind;
  /**
   * The credential for a request of this caller; at once where it is at hand.
   * @throws Refusal, or rejects with one: `identity_required`, `credential_refused`, `credential_unavailable`, `credential_fault`
   */
  for(caller: Caller): Credential | undefined | Promise<Credential>;
  /** The upstream has answered 401 to it: it is not handed out again. */
  refused(credential: Credential): void;
  /** Aborts what is under way. */
  close(): Promise<void>;
}

/** No credential, or one that never changes. */
export function fixedSource(kind?: UpstreamCredentialKind, credential?: Credential): CredentialSource {
  return {
    ...(kind === undefined ? {} : { kind }),
    for: () => credential,
    // An operator's own is the only one there is.
    refused: () => undefined,
    close: async () => undefined,
  };
}
