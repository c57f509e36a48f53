/**
 * The one form question by which the gateway asks for consent: what is shown to a person, what has to be filled in, and the digest
 * of all of it. Pure. Whatever arguments hold cannot change what a person reads, nor take the place of what is always shown.
 */
import type { ApprovalSettings } from "../config/approval-settings.ts";
import type { JsonText, Node } from "../json/scan.ts";
import type { Target } from "../mcp/methods.ts";
import type { Principal } from "../principal/principal.ts";

/** Key of the question among `inputRequests`, and of its answer. */
export const APPROVAL_KEY = "approval";
/** Bytes (UTF-8) of the longest message. */
export const MAX_MESSAGE_BYTES = 4_096;

/** One policy with `effect: approve`, as configured: trusted. Members beside these are part of its digest. */
export interface ApprovePolicy {
  readonly id: string;
  /** Absent where the policy sets nothing: then defaults count. */
  readonly approval?: ApprovalSettings;
}

/** A call that needs consent. */
export interface ApprovalCall {
  /** What people call the server: the route's path, or its configured name. */
  readonly server: string;
  /** The route's path and its upstream's address: bound, and not shown. */
  readonly route: string;
  readonly upstream: string;
  readonly method: string;
  readonly target: Target;
  /** The message, and its `params`. Untrusted, but scanned. */
  readonly doc: JsonText;
  readonly params: Node | undefined;
  readonly principal: Principal;
}

/** A field of the form, and what becomes of what is filled in. */
export interface QuestionField {
  /** The member of the answer's content. */
  readonly key: string;
  /** Of the policy's field; undefined of a typed confirmation. */
  readonly name: string | undefined;
  /** What has to be typed, exactly; undefined of a field. */
  readonly typed: string | undefined;
  readonly audit: boolean;
  readonly offer: "none" | "header" | "meta";
}

/** The question, ready to be sealed and sent. */
export interface ApprovalQuestion {
  /** Plain text in lines; at most `MAX_MESSAGE_BYTES`. */
  readonly message: string;
  /** JSON text of a flat form that `formSchemaFault` accepts. */
  readonly requestedSchema: string;
  /**
   * Digest (base64url SHA-256) of everything shown, of all parameters and of the policies. To be sealed, and compared with that of
   * the question made anew for the retry. It depends on what is masked: not for logs, audit or keys of a store.
   */
  readonly shown: string;
  /** The same without whose call it is and how it was put: equal for two callers who make the same call. As secret. */
  readonly matter: string;
  /** Ids of the policies that ask, in the order of the configuration. */
  readonly policies: readonly string[];
  readonly fields: readonly QuestionField[];
}

/**
 * Puts one question for all policies (one or more) that match a call.
 * @param code what people tell two questions apart by, of a `shown` digest: keyed, so that nobody can guess what is masked by it
 *   (approvalCode)
 * @param requester whose call it is, where another is asked to approve it: `call.principal` is then the requester
 * @throws JsonError `kind` for parameters that are no object
 */
export function approvalQuestion(
  policies: readonly ApprovePolicy[],
  call: ApprovalCall,
  code: (shown: string) => string,
  requester?: "another",
): ApprovalQuestion {
  throw new Error(`not yet ${policies.length} ${call.route} ${code("")} ${requester}`);
}
