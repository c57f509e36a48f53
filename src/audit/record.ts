/**
 * The audit record: one per decision, and all redaction in one place.
 * What is secret is never put in: no state, token, answer, question text or credential has a field here;
 * arguments only where `audit.arguments` asks for them.
 */
import type { Approver } from "../approval/approvals.ts";
import type { Claims } from "../envelope/format.ts";
import type { RefusalCode } from "../errors.ts";
import type { JsonText, Node } from "../json/scan.ts";
import type { Target } from "../mcp/methods.ts";
import type { Confirmation } from "../principal/credential.ts";
import type { CredentialKind, Principal } from "../principal/principal.ts";
import type { NotedFinding } from "../rules/finding.ts";
import type { UpstreamCredentialKind } from "../upstream/credential-source.ts";

/** How a request ended. */
export type Outcome =
  | "preflight"
  | "complete"
  | "tool_error"
  | "input_required"
  | "task"
  | "error"
  | "accepted"
  | "stream"
  | "refused"
  | "cancelled";

/** One decision, as it is written. */
export interface AuditRecord {
  readonly type: "audit";
  /** RFC 3339. */
  readonly time: string;
  readonly requestId: string;
  readonly route: string;
  readonly era?: "modern" | "legacy";
  readonly version?: string;
  /** Address the request came from; behind `server.trustedProxies` the one they forward. */
  readonly address?: string;
  readonly principal?: {
    readonly anonymous?: true;
    readonly issuer?: string;
    readonly subject?: string;
    readonly client?: string;
    readonly tenant?: string;
    readonly groups?: readonly string[];
    readonly scopes?: readonly string[];
  };
  /** The kind of credential that said who is calling, and what showed that the token was its sender's. */
  readonly authenticatedBy?: CredentialKind;
  readonly confirmedBy?: readonly Confirmation[];
  readonly method?: string;
  readonly target?: Target;
  /** Present only with `audit.arguments: true`: JSON text as the client sent it. */
  readonly arguments?: string;
  /** Id of the policy that decided. */
  readonly policy?: string;
  readonly outcome: Outcome;
  /** Refusals: the public code, and the true cause that the client is not told. */
  readonly code?: RefusalCode;
  readonly cause?: string;
  /**
   * What became of the state that the request brought. `opened` passed all bindings and was refused for another cause
   * before it was spent; `repeated` was spent before, and the answer of that run was returned; `already_redeemed` and `outcome_unknown` could not be spent again.
   */
  readonly state?:
    | "opened"
    | "redeemed"
    | "released"
    | "rejected"
    | "reprompted"
    | "repeated"
    | "already_redeemed"
    | "outcome_unknown";
  /** Joins the rounds of one call; with `round` and the id of the sealed state. */
  readonly chain?: string;
  readonly round?: number;
  readonly jti?: string;
  /** Digest of a task's own id: joins the records of one task, and of attempts on it. */
  readonly task?: string;
  /** Items of a list that this principal may not see. */
  readonly hidden?: number;
  /** Rules that were broken, what was done about it, and how they were broken; at most 32 different ones. */
  readonly rules?: readonly NotedFinding[];
  /** Kinds of the questions that went out with this answer. */
  readonly asked?: readonly string[];
  /**
   * The consent that policy asks for: the policies, the code that people tell calls apart by, and digests (base64url SHA-256) of the
   * message and of the form that the user was shown. `action` is what the user did, where this request brought the answer; `fields` what
   * was filled in, where policy keeps it; `others` who else approved; `remembered` the chain in which it was, where nobody
   * was asked; `waiting` the id of somebody else's call that this answer was for.
   */
  readonly approval?: {
    readonly policies: readonly string[];
    readonly code: string;
    readonly message: string;
    readonly schema: string;
    readonly action?: "accept" | "decline" | "cancel";
    readonly fields?: Readonly<Record<string, string>>;
    readonly others?: readonly Approver[];
    readonly remembered?: string;
    readonly waiting?: string;
  };
  /** Actions of the answers that came with this request. */
  readonly answers?: readonly string[];
  /** The kind of credential that was to go to the server. */
  readonly credential?: UpstreamCredentialKind;
  readonly upstreamStatus?: number;
  readonly latencyMs: number;
}

/** What stages add while the request is on its way. */
export type Draft = { -readonly [K in keyof AuditRecord]?: AuditRecord[K] };

/** Groups or scopes shown of one principal. */
const MAX_NAMES = 64;
const MAX_NAME_CHARACTERS = 256;
const MAX_ARGUMENT_CHARACTERS = 16 * 1024;
const METHOD = /^[A-Za-z][A-Za-z0-9_./-]{0,63}$/;

/** The parts of a principal that audit shows. */
export function auditPrincipal(principal: Principal): NonNullable<AuditRecord["principal"]> {
  if (principal.anonymous) return { anonymous: true };
  const { issuer, subject, client, tenant, groups, scopes } = principal;
  return {
    issuer,
    subject: shorten(subject),
    ...(client === undefined ? {} : { client: shorten(client) }),
    ...(tenant === undefined ? {} : { tenant: shorten(tenant) }),
    ...(groups.length === 0 ? {} : { groups: groups.slice(0, MAX_NAMES).map((name) => shorten(name)) }),
    ...(scopes.length === 0 ? {} : { scopes: scopes.slice(0, MAX_NAMES).map((name) => shorten(name)) }),
  };
}

/** A method as audit shows it: free text from a client is not repeated. */
export const auditMethod = (method: string): string => (METHOD.test(method) ? method : "(not a method name)");

/** A target as audit shows it: a uri without userinfo, query and fragment, where secrets ride. */
export function auditTarget(target: Target): Target {
  const name =
    target.kind === "resource"
      ? target.name.replace(/[?#].*$/s, "").replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/]*@/i, "$1")
      : target.name;
  return { kind: target.kind, name: shorten(name) };
}

/** The arguments of a call as sent, for `audit.arguments: true` only; long ones are cut. */
export function auditArguments(doc: JsonText, params: Node | undefined): Pick<AuditRecord, "arguments"> {
  const node = doc.get(params, "arguments");
  return node === undefined ? {} : { arguments: shorten(doc.raw(node), MAX_ARGUMENT_CHARACTERS) };
}

/** The chain members of a sealed state. */
export const auditChain = (claims: Claims): Pick<AuditRecord, "chain" | "round" | "jti"> => ({
  chain: claims.chain,
  round: claims.round,
  jti: claims.jti,
});

function shorten(text: string, max = MAX_NAME_CHARACTERS): string {
  return text.length <= max ? text : `${text.slice(0, max)}…`;
}
